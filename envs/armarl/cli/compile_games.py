"""Compilation of a game's kernels in advance, for container images, clusters and timings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.randomness import seed
from armarl.core.game import Game
from armarl.environments.aec import CheckedAECEnv
from armarl.environments.self_play_batch import SelfPlayBatch
from armarl.environments.vector_env import SeatVectorEnv
from armarl.networks.judge import layout_of
from armarl.players.registry import BUILT_IN
from armarl.policies.afterstates import Afterstates
from armarl.policies.network_players import CriticPlayer, JudgingPlayer
from armarl.roster.make_player import make_player
from armarl.search import JudgeSearchPlayer

_SEARCHES = ("grave", "ismcts", "flat", "rollout")
# Players that are not compiled by name: `human` needs a person, `search` is an alias for one of
# _SEARCHES, and `onnx` needs a file.
_OTHERS = ("human", "search", "onnx")


def compile_game(game: Game) -> Iterator[tuple[str, float]]:
    """Compile all kernels that environments, players and matches of a game use.

    The compiled kernels are stored in the cache folder (`ARMARL_CACHE_DIR`). All processes on
    machines of the same type can load the kernels from there. All variants of the game use the same
    kernels, because their state records have the same layout.

    Yields:
        The name of the part that is ready, and the seconds since the start.

    Example:
        >>> from armarl import make_game
        >>> for part, seconds in compile_game(make_game("armadora")):
        ...     print(part)
        PettingZoo's environment
        batches
        states
        players
        judges
        critics
        search
    """
    begun = time.perf_counter()
    for what, use in _USES.items():
        use(game)
        yield what, time.perf_counter() - begun


def _play_alone(game: Game) -> None:
    env = CheckedAECEnv(game)
    env.reset(seed=0)
    env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    env.load_state(env.state_bytes())


def _play_in_batches(game: Game) -> None:
    envs = SeatVectorEnv(game, 2, opponents="random", autoreset_mode="SAME_STEP")
    _, infos = envs.reset(seed=0)
    envs.step(infos["action_mask"].argmax(axis=1))
    batch = SelfPlayBatch(game, 2)
    batch.step(batch.reset(seed=0).masks.argmax(axis=1))
    batch.reset()


def _use_states(game: Game) -> None:
    """Call the methods of `Game` that matches, records and solvers apply to state records."""
    states, games = game.new_states(np.arange(2)), np.arange(2)
    seed(states[0], 0)  # game records call this kernel directly
    seats, masks = game.statuses(states)[1], game.legal_masks(states)
    game.turns_of(states)
    game.progress(states, seats)
    chance = game.new_chance(games)
    game.random_actions(masks, chance)
    game.questions(states, games, chance)
    game.concealed(states, seats)
    game.determinised(states, seats, games)
    game.views(states, seats)
    game.deal(states, games, games)
    game.apply(states, games, masks.argmax(axis=1))
    game.playouts(states, games)
    game.returns(states, games)


def _choose(*names: str) -> Callable[[Game], None]:
    def use(game: Game) -> None:
        states = game.new_states(0)
        seats = game.statuses(states)[1]
        for name in names:
            make_player(name, game).choose(game.concealed(states, seats), seats, np.zeros(1))

    return use


def _judge(game: Game) -> None:
    """Call the kernels that judges (value networks for positions) and their training use."""
    if game.survey is None:
        return
    states = game.new_states(0)
    afterstates, layout = Afterstates(game), layout_of(game)
    afterstates.surveys(states, game.statuses(states)[1])
    afterstates.parts(states)
    shapes = {
        "near": (1, layout.features),
        "far": (1, layout.rest),
        "prizes": (layout.sides, 1),
        "whole": (1, layout.whole),
        "direct": (1, layout.sides - 1),
    }
    tensors: dict[str, NDArray[np.float32]] = {}
    for part, (outputs, inputs) in shapes.items():
        tensors[f"{part}.0.weight"] = np.zeros((outputs, inputs), np.float32)
        tensors[f"{part}.0.bias"] = np.zeros(outputs, np.float32)
    judge, seats = JudgingPlayer(game, tensors), game.statuses(states)[1]
    for player in (judge, JudgeSearchPlayer(game, judge, 2)):
        player.choose(game.concealed(states, seats), seats, np.zeros(1))


def _critic(game: Game) -> None:
    """Call the kernels that critic players use (a scripted player improved by a value network)."""
    tensors: dict[str, NDArray[np.float32]] = {}
    for part, (outputs, inputs) in {"trunk": (1, game.observation.size), "value": (1, 1)}.items():
        tensors[f"{part}.0.weight"] = np.zeros((outputs, inputs), np.float32)
        tensors[f"{part}.0.bias"] = np.zeros(outputs, np.float32)
    states = game.new_states(0)
    seats = game.statuses(states)[1]
    critic = CriticPlayer(game, tensors, advisers=["greedy"])
    critic.choose(game.concealed(states, seats), seats, np.zeros(1))


_USES: dict[str, Callable[[Game], None]] = {
    "PettingZoo's environment": _play_alone,
    "batches": _play_in_batches,
    "states": _use_states,
    "players": _choose(*(name for name in BUILT_IN if name not in (*_SEARCHES, *_OTHERS))),
    "judges": _judge,
    "critics": _critic,
    "search": _choose(*(f"{name}:2" for name in _SEARCHES)),
}
