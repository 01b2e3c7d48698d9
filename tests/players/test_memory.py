"""The list of players that may play all games of a deal together, because they have no memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tiny
from armarl import make_game, make_player, register_player
from armarl.matches.match import play_match
from armarl.players import registry
from armarl.players.human import HumanPlayer
from armarl.players.player_specs import Spec
from armarl.players.simple_players import GreedyPlayer, RandomPlayer
from armarl.players.wrappers import NoisyPlayer
from armarl.roster.memory import keeps_no_memory
from armarl_training.networks.torch_players import TorchPlayer
from spies import Spy

MINI = make_game("armadora", board="mini")
TWO = make_game("armadora", players=2)
ARMADA = make_game("armada", players=2, max_turns=6)

OURS = [
    ("random", MINI),
    ("random:patient", MINI),
    ("greedy", MINI),
    ("greedy:noise=0.5,first_random=3", MINI),
    ("grave:8", MINI),
    ("ismcts:8,observers=multiple", MINI),
    ("flat:8", MINI),
    ("search:8", ARMADA),
    ("rollout:8", ARMADA),
    ("armadora-2p", TWO),
    ("armadora-2p:sample", TWO),
    ("armadora-2p+search:8", TWO),
]


@pytest.mark.parametrize(("spec", "game"), OURS, ids=lambda value: str(value)[:40])
def test_our_players_answer_as_if_they_had_never_been_asked(spec: str, game: Any) -> None:
    """These players have no memory, so they are on the list."""
    assert keeps_no_memory(spec)
    assert keeps_no_memory(Spec.parse(spec))
    assert keeps_no_memory(make_player(spec, game))
    states, seats = tiny.positions(game, 12)
    seen, draws = game.concealed(states, seats), np.random.default_rng(1).random(states.size)
    half = seen[:5].copy(), seats[:5].copy(), draws[:5].copy()
    fresh = make_player(spec, game).choose(*half)
    asked = make_player(spec, game)
    for _ in range(2):
        asked.choose(seen, seats, draws)
        assert (asked.choose(*half) == fresh).all()


def test_a_policy_file_and_a_policy_on_torch_are_on_the_list(tmp_path: Any) -> None:
    path = tiny.policy(tmp_path, MINI)
    assert keeps_no_memory(path)
    assert keeps_no_memory(str(path))
    assert keeps_no_memory(TorchPlayer(MINI, tiny.tensors(MINI), "tanh"))


class Posing(RandomPlayer):
    """A user's player whose class looks like one of ours."""


Posing.__module__, Posing.__qualname__, Posing.__name__ = RandomPlayer.__module__, "_", "_"


class Named(RandomPlayer):
    """A user's player with the name of one of ours."""


Named.__module__, Named.__qualname__, Named.__name__ = (
    RandomPlayer.__module__,
    "RandomPlayer",
    "RandomPlayer",
)


def _wrapped(player: Any, times: int) -> Any:
    for _ in range(times):
        player = NoisyPlayer(MINI, player, 0.1)
    return player


STRANGERS: dict[str, Callable[[], Any]] = {
    "a class of users": lambda: "spies:Spy",
    "one behind wrappers": lambda: "spies:Spy+search:2",
    "one behind many wrappers": lambda: "spies:Spy" + "+search:1" * 120,
    "a person": lambda: "human",
    "an ONNX file": lambda: "onnx:x.onnx",
    "nobody": lambda: "nobody",
    "an object": lambda: Spy(MINI),
    "a person as an object": lambda: HumanPlayer(MINI),
    "an object behind a wrapper": lambda: NoisyPlayer(MINI, Spy(MINI), 0.1),
    "an object behind many wrappers": lambda: _wrapped(Spy(MINI), 150),
    "one that says it is ours": lambda: Posing(MINI),
    "one with the name of one of ours": lambda: Named(MINI),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_players_of_users_are_never_on_the_list(name: str) -> None:
    assert not keeps_no_memory(STRANGERS[name]())


def test_registered_players_of_users_are_not_on_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """This is true even if a user's player has the name of one of ours, or returns one of ours."""
    for kind in ("_players", "_around"):
        monkeypatch.setattr(registry, kind, dict(getattr(registry, kind)))
    register_player("greedy", Spy, replace=True)
    register_player("mine", GreedyPlayer)
    register_player("search", lambda game, player, _=1: player, around=True, replace=True)
    for spec in ("greedy", "mine", "armadora-2p+search:2", "random+search:2"):
        assert not keeps_no_memory(spec)
    assert keeps_no_memory("armadora-2p")


class Mine(GreedyPlayer):
    """A user's subclass that plays like our player."""


@pytest.mark.parametrize("players", [2, 3])
def test_playing_all_tables_together_changes_no_game(players: int, tmp_path: Any) -> None:
    game = make_game("armadora", players=players)
    texts = []
    for number, first in enumerate([GreedyPlayer(game), Mine(game)]):
        path = tmp_path / f"{number}.txt"
        play_match(game, [first, "random:patient"], 30, seed=4, records=path)
        texts.append(path.read_text("utf-8"))
    assert texts[0] == texts[1]
    assert [keeps_no_memory(kind(game)) for kind in (GreedyPlayer, Mine)] == [True, False]
