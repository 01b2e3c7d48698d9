"""Without Numba's compiler, all APIs play the same games in plain Python, byte for byte.

In plain Python, a debugger can stop inside a rule. This process uses compiled code. A second
process, started with `NUMBA_DISABLE_JIT=1`, plays the same games in plain Python and prints the
results.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from armarl import SelfPlayBatch, play_match
from armarl.compiler.decorators import PLAIN_PYTHON
from armarl.core import batch_loops
from armarl.core.game import Game
from armarl.games.make_game import make_game
from paths import ROOT
from variants import BASIC, RICH, Variant

STEPS = 60
VARIANTS = [*BASIC, *RICH]


class Trace:
    """A running hash of arrays and bytes."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()

    def note(self, *items: object) -> None:
        for item in items:
            array = item if isinstance(item, bytes) else np.asarray(item).tobytes()
            self.digest.update(array)


def single_game(variant: Variant, trace: Trace) -> None:
    """Play in the AEC environment, and in a game that is saved and loaded again."""
    env = variant.aec("raw_env")
    env.reset(seed=3)
    rng = np.random.default_rng(3)
    for _ in range(STEPS):
        view = env.observe(env.agent_selection)
        trace.note(view["observation"], view["action_mask"], env.state_bytes())
        env.step(int(rng.choice(np.flatnonzero(view["action_mask"]))))
        if any(env.terminations.values()) or any(env.truncations.values()):
            env.reset()


def batches(variant: Variant, trace: Trace) -> None:
    """Run self-play, a vector environment with a greedy opponent, playouts and determinisation."""
    game = variant.make()
    batch = SelfPlayBatch(game, 3)
    turn, chance = batch.reset(seed=5), game.new_chance(np.arange(3))
    for _ in range(STEPS):
        turn = batch.step(game.random_actions(turn.masks, chance))
        trace.note(turn.seats, turn.observations, turn.masks, turn.rewards, turn.ends)
    dealt = game.determinised(batch.states, turn.seats, np.arange(3))
    trace.note(batch.states.tobytes(), dealt.tobytes())
    trace.note(game.concealed(batch.states, turn.seats).tobytes())
    envs = gymnasium.make_vec(
        f"armarl/{variant.title}-v0", num_envs=2, opponents="greedy", **variant.options
    )
    observation, info = envs.reset(seed=7)
    rng = np.random.default_rng(7)
    for _ in range(8):
        legal = [np.flatnonzero(mask) for mask in info["action_mask"]]
        actions = np.array([rng.choice(row) if row.size else 0 for row in legal])
        observation, rewards, _, _, info = envs.step(actions)
        trace.note(observation, rewards, info["action_mask"])


def matches(game: Game, trace: Trace) -> None:
    """Hash players' choices, and the returns at the end of whole games."""
    result = play_match(game, ["greedy", "random"], games=2, seed=1)
    trace.note(np.array([standing.reward for standing in result.standings]), result.mean_actions)


def digests() -> list[str]:
    """Return for each variant one hash of everything that all APIs show."""
    found = []
    for variant in VARIANTS:
        trace = Trace()
        single_game(variant, trace)
        batches(variant, trace)
        found.append(trace.digest.hexdigest())
    trace = Trace()
    matches(make_game("armadora"), trace)
    return [*found, trace.digest.hexdigest()]


@pytest.mark.skipif(PLAIN_PYTHON, reason="this process is the plain one already")
def test_plain_python_plays_the_same_games_in_every_environment():
    program = "import test_plain_python as t; print(*t.digests())"
    folder = Path(__file__).parent
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    settings = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", program]
    done = subprocess.run(command, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == digests()


def test_a_debugger_can_step_into_a_rule_if_nothing_is_compiled():
    """A trace function, as a debugger sets it, sees the lines of a rule."""
    program = (
        "import sys\n"
        "from armarl import make_game\n"
        "from armarl.games.armadora import rules\n"
        "seen = set()\n"
        "def trace(frame, event, argument):\n"
        "    seen.add((frame.f_code.co_filename, frame.f_code.co_name))\n"
        "    return trace\n"
        "game = make_game('armadora')\n"
        "sys.settrace(trace)\n"
        "game.new_states(1)\n"
        "sys.settrace(None)\n"
        "assert (rules.__file__, '_spread_gold') in seen, seen\n"
    )
    path = os.pathsep.join(filter(None, sys.path))
    settings = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", program], env=settings, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_debugger_session_in_the_docs_is_correct(tmp_path):
    """The command in the docs on fixing a rule stops at the shown line, with the shown output."""
    page = (ROOT / "docs" / "development" / "mending-a-rule.md").read_text("utf-8")
    [command] = re.findall(r"```sh\nNUMBA_DISABLE_JIT=1 python (.*?)```", page, re.DOTALL)
    [program] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    [shown] = re.findall(r"```text\n(  play\.py.*?)```", page, re.DOTALL)
    (tmp_path / "play.py").write_text(program)
    settings = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    settings["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, *shlex.split(command.replace("\\\n", ""))],
        cwd=tmp_path,
        env=settings,
        input="where\nq\n",
        capture_output=True,
        text=True,
    )
    # The full path and the line number of a frame depend on the machine and the version.
    seen = re.sub(r"^([> ] )\S*?((armarl/\S*|play\.py))\(\d+\)", r"\1\2 ", done.stdout, flags=re.M)
    assert shown in seen, done.stdout + done.stderr


def test_a_loop_without_the_verbs_of_a_game_explains_how_to_run_it():
    states = make_game("armadora").new_states(1)
    with pytest.raises(NotImplementedError, match=r"game\.compiled\(loop\)"):
        batch_loops.deal_one(states, 0, 1, True, ())
