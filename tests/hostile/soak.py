"""A long test with mixed use: `python tests/hostile/soak.py --minutes 15`.

Environments, threads, players, matches in processes, records, tournaments and training run in
random order, several at the same time. While nothing runs, the script counts memory, file
descriptors, threads and child processes. It fails on an error, or if a count is higher in the
second half than in the first. The beginning, when caches fill, does not count.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import multiprocessing
import random
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1] / "helpers"))  # for `tiny`

import numpy as np

import tiny
from armarl import play_match
from armarl.arena.play_tournament import play_tournament
from armarl.arena.tournament_folder import read_tournament
from armarl.core.errors import IllegalActionError
from armarl.core.game import Game
from armarl.core.threads import set_threads
from armarl.environments.aec import CheckedAECEnv
from armarl.environments.seat_env import SeatEnv
from armarl.environments.self_play_batch import SelfPlayBatch
from armarl.environments.vector_env import SeatVectorEnv
from armarl.games.make_game import make_game
from armarl.matches.records import read_records
from armarl.policies.safetensors_file import PolicyError
from armarl.policies.saved_policy import load_policy
from armarl_training.config.training_config import TrainingConfig
from armarl_training.run.run import RunError, resume_run, start_run

VARIANTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("armadora", {}),
    ("armadora", {"players": 3, "advanced": True}),
    ("armadora", {"board": "mini"}),
    ("armada", {"cards": True, "enrolment": True, "max_turns": 6}),
)
AT_ONCE = 3  # uses that run at the same time
WARM_UP = 0.2  # share of the time that does not count
LEEWAY = 32 << 20  # bytes by which memory may grow


@cache
def _games() -> list[Game]:
    return [make_game(name, **options) for name, options in VARIANTS]


def _game(rng: random.Random) -> Game:
    return rng.choice(_games())


# --- uses ----------------------------------------------------------------------------------------


def one_game(rng: random.Random, folder: Path) -> None:
    """Play the PettingZoo environment, and sometimes save and load it."""
    env = CheckedAECEnv(_game(rng), render_mode="ansi")
    env.reset(seed=rng.getrandbits(62))
    for agent in env.agent_iter(300):
        observation, _reward, terminated, truncated, _info = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        if rng.random() < 0.1:
            env.render()
            env.describe(env.possible_agents.index(agent))
            env.load_state(env.state_bytes())
        legal = np.flatnonzero(observation["action_mask"])
        env.step(int(rng.choice(legal.tolist())))


def one_seat(rng: random.Random, folder: Path) -> None:
    """Play the Gymnasium environment against search players and scripted players."""
    game = _game(rng)
    opponent = rng.choice(["random", "greedy", "greedy:noise=0.2", "flat:8", "grave:8"])
    env = SeatEnv(game, opponents=opponent, render_mode="ansi")
    env.reset(seed=rng.getrandbits(62))
    for _ in range(20):
        legal = np.flatnonzero(env.action_masks())
        *_rest, terminated, truncated, _info = env.step(int(rng.choice(legal.tolist())))
        if terminated or truncated:
            env.reset()
    env.render()
    env.close()


def many_seats(rng: random.Random, folder: Path) -> None:
    """Play the vector environment in the autoreset modes that need no reset by the caller."""
    mode = rng.choice(["NEXT_STEP", "SAME_STEP"])
    size = rng.choice([1, 7, 200])
    env = SeatVectorEnv(_game(rng), size, opponents="random", autoreset_mode=mode)
    env.reset(seed=rng.getrandbits(60))
    actions = np.random.default_rng(rng.getrandbits(60))
    for _ in range(20):
        masks = env.action_masks()
        env.step(
            np.array([int(actions.choice(np.flatnonzero(m))) if m.any() else 0 for m in masks])
        )
    env.close()


def many_games(rng: random.Random, folder: Path) -> None:
    """Run self-play and playouts on several threads, with a varying number of threads."""
    set_threads(rng.randint(1, 4))
    game = _game(rng)
    batch = SelfPlayBatch(game, rng.choice([1, 64, 1000]))
    turn, chance = batch.reset(seed=7), game.new_chance(np.arange(batch.size))
    for _ in range(30):
        turn = batch.step(game.random_actions(turn.masks, chance), out=turn)
    game.playouts(game.new_states(np.arange(256)), np.arange(256))


def a_refusal(rng: random.Random, folder: Path) -> None:
    """Check that refused arguments do not stay in memory."""
    game, other = rng.sample(_games(), 2)
    states = game.new_states(np.arange(64))
    for call in (
        lambda: other.playouts(states, np.arange(64)),
        lambda: game.apply(states, np.arange(64), np.full(64, -1)),
        lambda: game.check_states(states[::2]),
    ):
        try:
            call()
        except (TypeError, ValueError, IllegalActionError):
            continue
        raise AssertionError("it was not refused")


def a_match(rng: random.Random, folder: Path) -> None:
    """Play a match with records, sometimes in worker processes, and read the records."""
    game = _games()[rng.choice([0, 2])]
    path = folder / "games.txt"
    workers = 2 if rng.random() < 0.1 else 1
    play_match(game, ["greedy", "random"], 150, rng.getrandbits(30), workers, records=path)
    for record, _ in zip(read_records(path), range(10), strict=False):
        assert record.actions


def a_tournament(rng: random.Random, folder: Path) -> None:
    """Play a tournament in a folder, and read it."""
    players = ["random", "greedy", "random:patient"]
    play_tournament(_games()[2], players, 20, seed=rng.getrandbits(30), folder=folder / "arena")
    assert read_tournament(folder / "arena").games


def a_policy(rng: random.Random, folder: Path) -> None:
    """Save, load, play and damage a policy."""
    game = _game(rng)
    path = tiny.policy(folder, game, seed=rng.getrandbits(20))
    player = load_policy(path, game, sample=True)
    play_match(game, [player, "random"], 4, 3)
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1
    path.write_bytes(content)
    try:
        load_policy(path, game)
    except PolicyError:
        return
    raise AssertionError("it was not refused")


def a_judge(rng: random.Random, folder: Path) -> None:
    """Let a shipped judge play a match and return its thoughts."""
    game = _games()[0]
    player = load_policy("armadora-2p", game, sample=True)
    play_match(game, [player, rng.choice(["random", "greedy"])], 20, rng.getrandbits(30))
    states = game.new_states(np.arange(50))
    player.think(states, game.statuses(states)[1], np.full(50, rng.random()))


def a_training(rng: random.Random, folder: Path) -> None:
    """Start a training run, save a checkpoint, and resume it. Refuse a second run in its folder."""
    learner = rng.choice(["ppo", "td", "critic", "maskable_ppo"])
    settings = tiny.settings(learner=learner, options={"board": "mini"})
    with start_run(TrainingConfig(**settings), folder / "run") as run:
        for _ in range(2):
            run.learner.iterate(0.5)
        run.log.note({"decisions": float(run.decisions), "minutes": 0.0})
        run.save()
        try:
            resume_run(folder / "run")
        except RunError:
            pass
        else:
            raise AssertionError("two trainings in one folder")
    with resume_run(folder / "run") as again:
        again.learner.iterate(0.5)


USES: tuple[Callable[[random.Random, Path], None], ...] = (
    *(one_game, one_seat, many_seats, many_games, a_refusal),
    *(a_match, a_tournament, a_policy, a_judge, a_training),
)
ALONE = (a_training,)  # one at a time, because SB3 and torch have global random number generators
_training = threading.Lock()


def _use(number: int, errors: list[str], done: Counter[str]) -> None:
    rng = random.Random(number)
    use = rng.choice(USES)
    folder = Path(tempfile.mkdtemp(prefix="armarl-soak-"))
    try:
        if use in ALONE:
            with _training:
                use(rng, folder)
        else:
            use(rng, folder)
        done[use.__name__] += 1
    except BaseException:
        errors.append(f"use {number}, {use.__name__}:\n{traceback.format_exc()[-3000:]}")
    finally:
        shutil.rmtree(folder)


# --- counts --------------------------------------------------------------------------------------


class Reading(NamedTuple):
    """Resources that this process uses while nothing runs."""

    seconds: float
    memory: int  # resident anonymous bytes, after unused memory was returned
    objects: int  # memory blocks of Python objects
    descriptors: int
    threads: int
    children: int


def read(begin: float) -> Reading:
    """Read the counts from /proc on Linux. On other systems some counts are 0."""
    gc.collect()
    memory = descriptors = count = 0
    if sys.platform == "linux":
        with suppress(AttributeError):  # the C library is not glibc
            ctypes.CDLL(None).malloc_trim(0)
        status = Path("/proc/self/status").read_text("ascii")
        memory = int(status.split("RssAnon:")[1].split()[0]) << 10
        descriptors = len(list(Path("/proc/self/fd").iterdir()))
        count = len(list(Path("/proc/self/task").iterdir()))
    children = len(multiprocessing.active_children())
    seconds, objects = time.monotonic() - begin, sys.getallocatedblocks()
    return Reading(seconds, memory, objects, descriptors, count, children)


def growth(readings: list[Reading]) -> list[str]:
    """Return a text for each count that is higher in the second half than in the first."""
    last = readings[-1].seconds
    later = [r for r in readings if r.seconds > WARM_UP * last]
    half = len(later) // 2
    early, late = later[:half], later[half:]
    if not early:
        return ["too few readings; run it for longer"]
    grown = []
    for name in ("descriptors", "threads", "children"):
        before, after = (max(getattr(r, name) for r in part) for part in (early, late))
        if after > before:
            grown.append(f"{name}: {before} at most in the first half, {after} in the second")
    before, after = (sorted(r.memory for r in part)[len(part) // 2] for part in (early, late))
    if after > before + LEEWAY:
        grown.append(f"memory: {before >> 20} MiB in the first half, {after >> 20} in the second")
    return grown


def soak(minutes: float, seed: int, pause: float = 20.0) -> int:
    """Run random uses for some minutes, and return the exit status."""
    resource_tracker.ensure_running()  # otherwise the first worker would add a file descriptor
    begin, number = time.monotonic(), seed
    errors: list[str] = []
    done: Counter[str] = Counter()
    readings: list[Reading] = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        while time.monotonic() - begin < 60 * minutes and not errors:
            until = time.monotonic() + pause
            while time.monotonic() < until:
                numbers = range(number, number + 2 * AT_ONCE)
                list(pool.map(lambda n: _use(n, errors, done), numbers))
                number = numbers.stop
            readings.append(read(begin))
            r = readings[-1]
            print(
                f"{r.seconds:6.0f} s  {number - seed:6} uses  {r.memory >> 20:5} MiB  "
                f"{r.objects:8} objects  "
                f"{r.descriptors:3} descriptors  {r.threads:3} threads  {r.children} children",
                flush=True,
            )
    for text in (*errors, *(grown := growth(readings))):
        print(text)
    print(", ".join(f"{name} {times}" for name, times in sorted(done.items())))
    return int(bool(errors or grown))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--seed", type=int, default=0, help="the number of the first use")
    chosen = parser.parse_args()
    return soak(chosen.minutes, chosen.seed)


if __name__ == "__main__":
    sys.exit(main())
