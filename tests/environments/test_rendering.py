"""Images, windows, videos and notebooks of every environment."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from pettingzoo.test import render_test
from pettingzoo.utils import wrappers

from armarl import RawAECEnv, SeatEnv, SeatVectorEnv, armadora_v0
from armarl.environments.base import RENDER_FPS
from variants import every_game, every_rich_game

pytest.importorskip("resvg_py")
pygame = pytest.importorskip("pygame")
WIDTH = 120


@pytest.fixture(autouse=True)
def no_screen(monkeypatch):
    """Let pygame draw on a screen that does not exist."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def act(env, rng):
    """Play a random legal action in an AEC environment."""
    observation, _, terminated, truncated, _ = env.last()
    over = terminated or truncated
    env.step(None if over else int(rng.choice(np.flatnonzero(observation["action_mask"]))))


@every_rich_game
def test_every_render_mode_of_pettingzoo_works(variant):
    for face in ("env", "raw_env"):
        render_test(lambda face=face, **more: variant.aec(face, render_width=WIDTH, **more))
        metadata = variant.aec(face).metadata
        assert metadata["render_modes"] == ["human", "ansi", "rgb_array"]
        assert metadata["render_fps"] == RENDER_FPS


@every_rich_game
def test_frames_of_a_game_have_the_same_even_size(variant):
    env, rng = (
        variant.aec(render_mode="rgb_array", render_width=WIDTH + 1),
        np.random.default_rng(0),
    )
    for seed in (0, 1):
        env.reset(seed=seed)
        shapes = set()
        for _ in env.agent_iter(60):
            shapes.add(env.render().shape)
            act(env, rng)
        assert len(shapes) == 1
        ((height, width, colours),) = shapes
        assert (height % 2, width, colours) == (0, WIDTH + 2, 3)


@every_game
def test_an_environment_renders_the_picture_of_its_game(variant):
    """Onlookers see the whole game. The picture marks the changes of the last step."""
    env, rng = (
        variant.aec("raw_env", render_mode="rgb_array", render_width=WIDTH),
        np.random.default_rng(0),
    )
    env.reset(seed=3)
    game = env.game
    assert env.picture(0).svg() == game.draw_svg(env._states[0], 0)
    before, agent = env._states[0].copy(), env.agent_selection
    action = int(rng.choice(np.flatnonzero(env.observe(agent)["action_mask"])))
    env.step(action)
    more = {"before": before, "last": (int(agent[-1]), action)}
    for seat in (None, 0, 1):
        assert env.picture(seat).svg() == game.draw_svg(env._states[0], seat, **more)
    assert np.array_equal(env.render(), game.picture(env._states[0], **more).pixels(WIDTH))
    env.reset(seed=3)
    assert env.picture().svg() == game.draw_svg(env._states[0])


@every_game
def test_rendering_changes_no_game_and_no_copy(variant):
    plain, drawing = variant.aec(), variant.aec(render_mode="rgb_array", render_width=WIDTH)
    rngs = np.random.default_rng(0), np.random.default_rng(0)
    for env in (plain, drawing):
        env.reset(seed=2)
    for _ in range(min(8, variant.midgame)):
        for env, rng in zip((plain, drawing), rngs, strict=True):
            act(env, rng)
    assert plain.state_bytes() == drawing.state_bytes()
    frame = drawing.render()
    for other in (copy.deepcopy(drawing), pickle.loads(pickle.dumps(drawing))):
        assert np.array_equal(other.render(), frame)
        act(other, np.random.default_rng(1))
    assert np.array_equal(drawing.render(), frame)


@every_game
def test_gymnasium_shows_only_what_the_seat_may_know(variant):
    env = variant.seat_env(render_mode="rgb_array", seat=1, render_width=WIDTH)
    _, info = env.reset(seed=1)
    assert np.array_equal(env.render(), env.game.picture(env._states[0], 1).pixels(WIDTH))
    before = env._states[0].copy()
    env.step(int(info["action_mask"].argmax()))
    picture = env.game.picture(env._states[0], 1, before=before)
    assert np.array_equal(env.render(), picture.pixels(WIDTH))
    assert env._repr_svg_() == picture.svg()


@every_game
def test_a_batch_draws_each_game_as_a_single_one(variant):
    options = {"seat": 0, "render_mode": "rgb_array", "render_width": WIDTH, **variant.options}
    envs = SeatVectorEnv(variant.game, 3, autoreset_mode="NEXT_STEP", **options)
    alone = [SeatEnv(variant.game, **options) for _ in range(3)]
    _, infos = envs.reset(seed=5)
    masks = [env.reset(seed=5 + i)[1]["action_mask"] for i, env in enumerate(alone)]
    over = [False] * 3
    for _ in range(12):
        for one, env in zip(envs.render(), alone, strict=True):
            assert np.array_equal(one, env.render())
        actions = infos["action_mask"].argmax(axis=1)
        *_, infos = envs.step(actions)
        for i, env in enumerate(alone):
            if over[i]:
                masks[i] = env.reset()[1]["action_mask"]
                over[i] = False
            else:
                _, _, terminated, truncated, _ = env.step(int(actions[i]))
                over[i] = terminated or truncated


@pytest.mark.parametrize("mode", ["rgb_array", "ansi"])
def test_a_batch_with_same_step_shows_the_end_of_a_game(mode):
    """The step that ends the game shows the last position. The next step shows the next game."""
    options = {"seat": 0, "render_mode": mode, "board": "mini", "opponents": "random"}
    same = SeatVectorEnv("armadora", 2, autoreset_mode="SAME_STEP", render_width=WIDTH, **options)
    waits = SeatVectorEnv("armadora", 2, autoreset_mode="DISABLED", render_width=WIDTH, **options)
    _, infos = same.reset(seed=5)
    waits.reset(seed=5)
    ends = 0
    for _ in range(12):
        actions = infos["action_mask"].argmax(axis=1)
        *_, terminated, _, infos = same.step(actions)
        waits.step(actions)
        shown = same.render()
        for i in np.flatnonzero(terminated):
            assert np.array_equal(shown[i], waits.render()[i])
            ends += 1
        if terminated.any():
            break
    assert ends
    *_, ended, _, infos = same.step(infos["action_mask"].argmax(axis=1))
    if mode == "ansi":
        for i in np.flatnonzero(~ended):
            assert same.render()[i] == same.game.draw(same._batch.states[i], 0)
    same.reset(seed=5)
    again = SeatVectorEnv("armadora", 2, autoreset_mode="SAME_STEP", render_width=WIDTH, **options)
    again.reset(seed=5)
    assert all(map(np.array_equal, same.render(), again.render()))


def test_batches_have_a_frame_rate_and_no_window():
    envs = SeatVectorEnv("armadora", 2)
    assert envs.metadata["render_modes"] == ["ansi", "rgb_array"]
    assert envs.metadata["render_fps"] == SeatEnv.metadata["render_fps"] == RENDER_FPS
    with pytest.raises(TypeError, match="None or 'ansi' or 'rgb_array', not 'human'"):
        SeatVectorEnv("armadora", 2, render_mode="human")


# --- videos --------------------------------------------------------------------------------------


@pytest.fixture
def clips(monkeypatch):
    """Return the frames of every video that is written."""
    moviepy = pytest.importorskip("moviepy.video.io.ImageSequenceClip")
    written = []

    class Clip:
        def __init__(self, frames, fps):
            written.append((list(frames), fps))

        def write_videofile(self, path, logger=None):
            pass

    monkeypatch.setattr(moviepy, "ImageSequenceClip", Clip)
    return written


def test_gymnasiums_video_ends_with_the_last_position(clips, tmp_path):
    env = gymnasium.make(
        "armarl/Armadora-2p-v0", opponents="greedy", render_mode="rgb_array", render_width=WIDTH
    )
    env = gymnasium.wrappers.RecordVideo(env, str(tmp_path))
    _, info = env.reset(seed=0)
    done, rng = False, np.random.default_rng(0)
    while not done:
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        _, _, terminated, truncated, info = env.step(action)
        done = terminated or truncated
    last = env.render()
    assert env.unwrapped.describe()["result"]
    env.close()
    ((frames, fps),) = clips
    assert fps == RENDER_FPS
    assert np.array_equal(frames[-1], last)
    assert len({frame.shape for frame in frames}) == 1


def test_a_batchs_video_ends_with_the_last_position(clips, tmp_path):
    envs = SeatVectorEnv("armadora", 2, board="mini", render_mode="rgb_array", render_width=WIDTH)
    envs = gymnasium.wrappers.vector.RecordVideo(envs, str(tmp_path))
    _, infos = envs.reset(seed=0)
    result, steps = None, 0
    while result is None and steps < 20:
        _, _, ended, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
        result, steps = (envs.render()[0] if ended[0] else None), steps + 1
    envs.step(np.zeros(2, np.int64))
    envs.close()
    assert result is not None
    height, width = result.shape[:2]
    frames = [frame[:height, :width] for clip, _ in clips for frame in clip]
    assert any(np.array_equal(frame, result) for frame in frames)


def test_pettingzoos_video_ends_with_the_last_position(clips, tmp_path):
    env = armadora_v0.env(board="mini", render_mode="rgb_array", render_width=WIDTH)
    env = wrappers.RecordVideo(env, str(tmp_path))
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in env.agent_iter():
        act(env, rng)
    last = env.render()
    env.close()
    ((frames, fps),) = clips
    assert fps == RENDER_FPS
    assert np.array_equal(frames[-1], last)


def test_a_video_can_be_written(tmp_path):
    pytest.importorskip("moviepy")
    env = armadora_v0.env(board="mini", render_mode="rgb_array", render_width=WIDTH)
    env = wrappers.RecordVideo(env, str(tmp_path))
    env.reset(seed=0)
    for _ in env.agent_iter():
        act(env, np.random.default_rng(0))
    env.close()
    (video,) = tmp_path.glob("*.mp4")
    assert video.stat().st_size > 1000


# --- windows and notebooks -----------------------------------------------------------------------


@every_game
def test_a_window_shows_every_step(variant):
    env = variant.aec(render_mode="human", render_width=WIDTH)
    env.reset(seed=0)
    first = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    assert np.array_equal(first, env.picture().pixels(WIDTH))
    act(env, np.random.default_rng(0))
    second = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    assert np.array_equal(second, env.picture().pixels(WIDTH))
    assert not np.array_equal(first, second)
    env.close()
    assert not pygame.display.get_init()
    seat = variant.seat_env(render_mode="human", render_width=WIDTH)
    seat.reset(seed=0)
    assert pygame.display.get_init()
    seat.close()


def test_a_window_without_a_screen_gives_a_clear_error():
    program = (
        "import armarl.armadora_v0 as game\n"
        "env = game.env(render_mode='human')\n"
        "try:\n    env.reset(seed=0)\nexcept RuntimeError as error:\n    print(error)"
    )
    bare = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    bare["SDL_VIDEODRIVER"] = "x11"
    out = subprocess.run([sys.executable, "-c", program], env=bare, capture_output=True, text=True)
    assert "there is no screen" in out.stdout, out.stderr
    assert "render_mode='rgb_array'" in out.stdout


def printed(program, **settings):
    """Return the output of a program that starts without a screen and without settings of SDL."""
    names = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER", "SDL_FRAMEBUFFER_ACCELERATION")
    bare = {key: value for key, value in os.environ.items() if key not in names}
    arguments = [sys.executable, "-c", program]
    out = subprocess.run(arguments, env=bare | settings, capture_output=True, text=True, check=True)
    return out.stdout


@pytest.mark.parametrize("driver", [None, "offscreen"])
def test_a_window_that_nobody_sees_gives_a_warning_unless_the_user_asked_for_it(driver):
    program = (
        "import warnings, numpy\n"
        "from armarl.core.pictures import window\n"
        "with warnings.catch_warnings(record=True) as given:\n"
        "    warnings.simplefilter('always')\n"
        "    try:\n"
        "        for _ in range(2):\n"
        "            window.show(numpy.zeros((40, 60, 3), numpy.uint8), 'title', 10)\n"
        "        print(*(one.message for one in given))\n"
        "    except RuntimeError as error:\n"
        "        print(error)"
    )
    out = printed(program, **({"SDL_VIDEODRIVER": driver} if driver else {}))
    assert out.count("there is no screen") == (driver is None)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="lists the loaded libraries")
@pytest.mark.parametrize("asked", [None, "1"])
def test_a_window_does_not_load_opengl_unless_the_user_asks(asked):
    """Software OpenGL is slow, and its LLVM crashes PyTorch's Triton."""
    program = (
        "import os, numpy\n"
        "from armarl.core.pictures import window\n"
        "window.show(numpy.zeros((40, 60, 3), numpy.uint8), 'title', 10)\n"
        "libraries = open('/proc/self/maps').read()\n"
        "print('libEGL' in libraries, os.environ['SDL_FRAMEBUFFER_ACCELERATION'])"
    )
    settings = {} if asked is None else {"SDL_FRAMEBUFFER_ACCELERATION": asked}
    out = printed(program, SDL_VIDEODRIVER="offscreen", **settings)
    assert out.endswith("False 0\n" if asked is None else " 1\n")


def test_missing_pygame_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    env = armadora_v0.env(render_mode="human", render_width=WIDTH)
    with pytest.raises(ImportError, match=r"pip install 'armarl\[render\]'"):
        env.reset(seed=0)


@every_game
def test_a_notebook_shows_the_game(variant):
    env, seat = variant.aec(), variant.seat_env(seat=1)
    assert env._repr_svg_() is None
    assert seat._repr_svg_() is None
    env.reset(seed=0)
    seat.reset(seed=0)
    assert env._repr_svg_() == env.game.draw_svg(env._states[0])
    assert seat._repr_svg_() == seat.game.draw_svg(seat._states[0], 1)
    picture = env.picture(0)
    assert picture._repr_svg_() == picture.svg("auto")


def test_playing_imports_no_drawing_library():
    program = (
        "import sys, armarl.armadora_v0 as game\n"
        "env = game.env(render_mode='rgb_array'); env.reset(seed=0)\n"
        "print([m for m in ('resvg_py', 'PIL', 'pygame') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert out.stdout == "[]\n", out.stderr


@pytest.mark.parametrize("width", [0, 15, 4097, 1.5, "wide"])
def test_impossible_widths_are_refused(width):
    for make in (armadora_v0.env, lambda **o: SeatEnv("armadora", **o)):
        with pytest.raises((ValueError, TypeError), match="render_width must be"):
            make(render_width=width)


def test_a_game_without_a_drawing_is_shown_as_text(capsys):
    game = replace(armadora_v0.env().game, _picture=None)
    with pytest.raises(TypeError, match="None or 'human' or 'ansi', not 'rgb_array'"):
        RawAECEnv(game, render_mode="rgb_array")
    plain = RawAECEnv(game, render_mode="human")
    assert plain.metadata["render_modes"] == ["human", "ansi"]
    plain.reset(seed=0)
    assert capsys.readouterr().out == game.draw(plain._states[0]) + "\n"
    assert plain._repr_svg_() is None
