"""The arguments of players are checked, because compiled loops trust states, seats and draws."""

from __future__ import annotations

import importlib
import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny
from armarl import play_match
from armarl.arena.play_tournament import play_tournament
from armarl.cli.__main__ import main
from armarl.environments.vector_env import SeatVectorEnv
from armarl.games.make_game import make_game
from armarl.matches.playing import workers_for
from armarl.players.human import HumanPlayer
from armarl.players.player_specs import Spec
from armarl.players.protocol import Player, Thinker, Thoughts, ask_thoughts, choose_legally
from armarl.players.registry import register_player
from armarl.players.simple_players import RandomPlayer
from armarl.players.wrappers import NoisyPlayer, OpeningPlayer
from armarl.policies.network_players import NetworkPlayer
from armarl.policies.saved_policy import load_policy
from armarl.policies.weight_kinds import weight_kind
from armarl.roster.make_player import make_player

GAME = make_game("armadora")
OTHER = make_game("armadora", players=4, advanced=True)
FOUR = np.arange(4)
SEATS, DRAWS = np.zeros(4, np.int64), np.full(4, 0.5)


def weights(*, judge: bool, value: float | None = None) -> dict[str, Any]:
    """Return the weights of a network or judge, all equal to `value` if it is given."""
    path = "armadora-2p" if judge else None
    tensors = load_policy(path, GAME).tensors if path else tiny.tensors(GAME)
    return {
        name: np.full_like(tensor, value) if value is not None else tensor
        for name, tensor in tensors.items()
    }


def player_of(name: str) -> Player:
    if name in ("network", "judge"):
        tensors = weights(judge=name == "judge")
        return weight_kind(tensors).player(GAME, tensors, "tanh", sample=True)
    return make_player(name, GAME)


QUESTIONS: dict[str, tuple[Any, Any, Any]] = {
    "states of another variant": (OTHER.new_states(FOUR), SEATS, DRAWS),
    "no states": (np.zeros(4), SEATS, DRAWS),
    "every second state": (GAME.new_states(np.arange(8))[::2], SEATS, DRAWS),
    "fewer seats": (GAME.new_states(FOUR), SEATS[:1], DRAWS),
    "seats that there are not": (GAME.new_states(FOUR), SEATS + 99_999, DRAWS),
    "fewer draws": (GAME.new_states(FOUR), SEATS, DRAWS[:1]),
    "draws of 1": (GAME.new_states(FOUR), SEATS, DRAWS * 2),
    "draws that are no numbers": (GAME.new_states(FOUR), SEATS, DRAWS * np.nan),
    "draws of float32": (GAME.new_states(FOUR), SEATS, DRAWS.astype(np.float32)),
}


@pytest.mark.parametrize("name", ["random", "greedy", "flat:2", "network", "judge"])
@pytest.mark.parametrize("kind", QUESTIONS)
def test_invalid_arguments_are_refused(name: str, kind: str) -> None:
    """Regression: arrays were read beyond their ends."""
    player = player_of(name)
    with pytest.raises((TypeError, ValueError), match=r"states|seats|draws"):
        player.choose(*QUESTIONS[kind])
    if hasattr(player, "method"):
        with pytest.raises((TypeError, ValueError), match=r"states|seats|draws"):
            player.think(*QUESTIONS[kind])  # type: ignore[attr-defined]


PLAIN = ("random", "random:patient", "greedy:noise=0.5", "greedy:first_random=1")
SEARCHES = ("grave:4", "ismcts:4", "flat:4", "rollout:4")
# A judge, a critic, and a network of logits.
POLICIES = ("armadora-2p", "armada-2p", "armada-2p-ppo")
HOW = ("", ":sample", "+search:8")


@pytest.mark.parametrize(
    "name", [*PLAIN, *SEARCHES, *(f"{one}{how}" for one in POLICIES for how in HOW)]
)
def test_an_empty_batch_gives_empty_answers(name: str) -> None:
    """Regression: judges and critics failed on an empty batch."""
    game = make_game("armada") if name.startswith("armada-") else GAME
    player = make_player(name, game)
    question = game.new_states(FOUR[:0]), SEATS[:0], DRAWS[:0]
    chosen = player.choose(*question)
    assert (chosen.shape, chosen.dtype) == ((0,), np.int64)
    if isinstance(player, Thinker):
        found = player.think(*question).probabilities
        assert found is not None
        assert found.shape == (0, len(game.actions))
    if isinstance(player, NetworkPlayer):
        assert player.probabilities(*question[:2]).shape == (0, len(game.actions))
        assert player.values(*question[:2]).shape == (0,)


@pytest.mark.parametrize("judge", [False, True], ids=["network", "judge"])
@pytest.mark.parametrize("value", [3e38, -3e38, 1e-45])
@pytest.mark.parametrize("temperature", [None, 1e-300, 1.0, 1e6])
def test_extreme_weights_and_temperatures_give_legal_actions(
    judge: bool, value: float, temperature: float | None
) -> None:
    """Regression: logits overflowed or were divided by 0, so the illegal action 0 was chosen."""
    states, seats = tiny.positions(GAME, 40)
    masks, rows = GAME.legal_masks(states), np.arange(states.size)
    draws = np.linspace(0, 1, states.size, endpoint=False)
    assert (masks[:, 0] == 0).any()
    for tensors in (weights(judge=judge), weights(judge=judge, value=value)):
        player: NetworkPlayer = weight_kind(tensors).player(
            GAME, tensors, "relu", temperature=temperature
        )
        assert masks[rows, player.choose(states, seats, draws)].all()
        spread = player.probabilities(states, seats)
        assert not spread[masks == 0].any()
        np.testing.assert_allclose(spread.sum(axis=1), 1)


@pytest.mark.parametrize(
    "text",
    [
        *("grave:4,rows=999999999999", "grave:4,depth=9999999999", "grave:4,reference=9999999999"),
        *("rollout:4,turns=99999999999", "rollout:4,longest=99999999999", f"flat:{2**31}"),
    ],
)
def test_searches_that_are_too_large_are_refused(text: str) -> None:
    """Regression: the searches raised MemoryErrors or OverflowErrors, or an integer overflowed."""
    with pytest.raises(ValueError, match=r"(rows|simulations) must be|at most 16777216 in size"):
        make_player(text, GAME)


def test_a_number_that_is_too_large_is_read_as_infinity() -> None:
    """Regression: a player's own specification with this number could not be read again."""
    assert Spec.parse(str(Spec.parse("x:1e999"))) == Spec.parse("x:1e999")
    with pytest.raises(ValueError, match="must be a probability from 0 to 1, not inf"):
        make_player("greedy:noise=1e999", GAME)


class Odd:
    """A player that returns the object given to its constructor."""

    name = "odd"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def choose(self, states: Any, seats: Any, draws: Any) -> Any:
        return self.answer


@pytest.mark.parametrize("habit", [NoisyPlayer, OpeningPlayer])
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (np.full(4, 0.9), "'odd' returned actions of type float64; action ids must be integers"),
        (np.zeros(4, bool), "'odd' returned actions of type bool"),
        (np.int64(0), r"'odd' returned actions of shape \(\)"),
        (np.full(4, -1), "'odd' of seat 0: there is no action -1"),
    ],
)
def test_wrappers_do_not_hide_wrong_actions(habit: Any, answer: Any, said: str) -> None:
    """Regression: wrappers rounded fractions, and repeated a single action for all games."""
    player = habit(GAME, Odd(answer), 0)
    with pytest.raises((TypeError, ValueError), match=said):
        player.choose(GAME.new_states(FOUR), SEATS, DRAWS)


STRANGE: dict[str, str] = {
    "nothing": "the result of strange_players:nothing is None, not a player; a player has a method",
    "number": "the result of strange_players:number is of type int, not a player; a player has",
    "a_class": "the result of strange_players:a_class is a class, not a player; pass an instance",
    "leaves": r"strange_players:leaves tried to end the program: exit\(0\)",
    "Speechless": "is of type Speechless, not a player; a player has a method choose",
    "Nameless": "is not a player: it has no `name`",
    "Numbered": "is not a player: its `name` is of type int",
    "Fixed": "the `name` of Fixed cannot be set",
    "NUMBER": "strange_players:NUMBER is 7, not a class or function that makes players",
    "Leaver": r"the player 'strange_players:Leaver' tried to end the program: exit\(0\)",
}


@pytest.fixture
def _strange(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


@pytest.mark.usefixtures("_strange")
@pytest.mark.parametrize("name", STRANGE)
def test_objects_of_users_that_are_not_players_are_refused(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Regression: these objects caused AttributeErrors in the package.

    A player that exited ended `armarl evaluate` with status 0.
    """
    words = [f"strange_players:{name}", "random", "--game", "armadora", "--games", "4"]
    assert main(["evaluate", *words, "--workers", "1"]) == 1
    assert re.search(STRANGE[name], capsys.readouterr().err)


@pytest.mark.usefixtures("_strange")
def test_a_player_that_raises_stop_iteration_is_reported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Regression: a StopIteration ended the match, so a player could stop it while it was ahead."""
    for command in ("evaluate", "arena"):
        assert main([command, "strange_players:Exhausted,3", "random", "--workers", "1"]) == 1
        told = capsys.readouterr()
        assert "the player 'strange_players:Exhausted,3' raised StopIteration" in told.err
        assert "in Exhausted.choose" in told.err
        assert not told.out


@pytest.mark.usefixtures("_strange")
def test_an_error_that_cannot_be_pickled_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: the error was reported as a killed worker."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    with pytest.raises(RuntimeError, match="TwoWordsError: no boat") as found:
        play_match(GAME, ["strange_players:Stranded", "random"], 200, workers=2)
    assert "while asking the player 'strange_players:Stranded'" in "".join(found.value.__notes__)


@pytest.mark.usefixtures("_strange")
def test_a_player_that_exits_when_its_weights_are_hashed_is_reported() -> None:
    with pytest.raises(RuntimeError, match=r"weights_digest\(\) of .* tried to end the program"):
        play_tournament(GAME, ["strange_players:SecretLeaver", "random"], 2)


def test_a_person_is_asked_in_the_main_process() -> None:
    """Worker processes have no terminal."""
    person = NoisyPlayer(GAME, HumanPlayer(GAME), 0.5)
    assert workers_for([RandomPlayer(GAME), person], 8) == 1
    assert workers_for([RandomPlayer(GAME)], 8) == 8


class Restless(RandomPlayer):
    """A player that steps or resets the environment that is asking it for an action."""

    env: Any = None
    call = "reset"

    def choose(self, states: Any, seats: Any, draws: Any) -> Any:
        if self.env is not None:
            if self.call == "reset":
                self.env.reset(seed=1)
            else:
                self.env.step(np.zeros(self.env.num_envs, np.int64))
        return super().choose(states, seats, draws)


@pytest.mark.parametrize("call", ["reset", "step"])
def test_a_player_cannot_step_the_environment_that_asks_it(call: str) -> None:
    """Regression: a nested reset made the outer reset run for ever."""
    player = Restless(GAME)
    envs = SeatVectorEnv(GAME, 4, opponents=player)
    player.env, player.call = envs, call
    with pytest.raises(RuntimeError, match="while they wait for its choice"):
        envs.reset(seed=0)
    player.env = None
    envs.reset(seed=0)


@pytest.mark.usefixtures("_strange")
def test_objects_that_are_not_players_are_refused() -> None:
    """Regression: a class given as a player was called without `self`."""
    strange = importlib.import_module("strange_players")
    for given, said in (
        (strange.Leaver, r"Leaver'> is a class, .*, or its name strange_players:Leaver"),
        (strange.Nameless(GAME), "is not a player: it has no `name`"),
        (strange.Speechless(GAME), "a player must be a specification, a path or a Player, not"),
    ):
        with pytest.raises(TypeError, match=said):
            play_match(GAME, [given, "random"], games=2)
    assert make_player(strange.Fixed(GAME), GAME).name == "fixed"
    with pytest.raises(RuntimeError, match="'leaver' tried to end the program"):
        ask_thoughts(strange.Leaver(GAME), GAME, GAME.new_states(FOUR), SEATS, DRAWS)


class Lying(np.ndarray):
    """An array with a false shape."""

    @property
    def shape(self) -> Any:
        return FOUR.size, len(GAME.actions)


class Dreamer(RandomPlayer):
    """A player that returns the thoughts that the test sets."""

    answer: Any = None

    def think(self, states: Any, seats: Any, draws: Any) -> Any:
        return self.answer


WIDE = (FOUR.size, len(GAME.actions))


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (None, TypeError, "think must return Thoughts, not NoneType"),
        ((None, None, None, None), TypeError, "think must return Thoughts, not tuple"),
        (Thoughts(np.ones((4, 3))), ValueError, r"probabilities .* must have shape \(4, 229\)"),
        (Thoughts(np.ones((4, 3)).view(Lying)), ValueError, r"must have shape .*, not \(4, 3\)"),
        (Thoughts(visits=np.ones((2, *WIDE))), ValueError, "visits"),
        (Thoughts(value=np.ones(WIDE)), ValueError, r"value .* must have shape \(4,\)"),
        (Thoughts(value=0.5), ValueError, r"value .* must have shape \(4,\)"),  # type: ignore[arg-type]
        (Thoughts(values=np.full(WIDE, "1")), TypeError, "values .* must be numbers"),
        (Thoughts(value=np.full(4, 10**400, object)), TypeError, "value .* must be numbers"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
def test_invalid_thoughts_are_refused(answer: Any, error: type[Exception], said: str) -> None:
    """Regression: the thoughts were accepted, and later a command or page failed in NumPy."""
    player = Dreamer(GAME)
    player.answer = answer
    with pytest.raises(error, match=said):
        ask_thoughts(player, GAME, GAME.new_states(FOUR), SEATS, DRAWS)


def test_thoughts_cannot_change_after_their_check() -> None:
    player, own = Dreamer(GAME), np.zeros(WIDE)
    player.answer = Thoughts(own.view(Lying))
    found = ask_thoughts(player, GAME, GAME.new_states(FOUR), SEATS, DRAWS).probabilities
    own[:] = 1
    assert type(found) is np.ndarray
    assert not found.any()


class HeldOn:
    """An answer that converts to the player's own array instead of a copy."""

    def __init__(self, actions: Any) -> None:
        self.actions = actions

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.actions


class Switching(RandomPlayer):
    """A player that changes its answer while the answer is checked."""

    def choose(self, states: Any, seats: Any, draws: Any) -> Any:
        self.given = super().choose(states, seats, draws)
        return HeldOn(self.given)


def test_an_answer_cannot_change_during_its_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: a change of the answer after the check ended the process with SIGSEGV."""
    player = Switching(GAME)
    legal_masks, explained = GAME.legal_masks, np.flatnonzero

    def switched(illegal: Any) -> Any:
        found = explained(illegal)
        player.given[:] = 10**6
        return found

    states = GAME.new_states(FOUR)
    seats = GAME.statuses(states)[1]
    monkeypatch.setattr("armarl.players.protocol.np.flatnonzero", switched)
    chosen = choose_legally(player, GAME, states, seats, DRAWS)
    assert player.given[0] == 10**6
    assert legal_masks(states)[FOUR, chosen].all()


@pytest.mark.parametrize("name", ["armadora-2p:temperature=0.05", "armadora-2p:sample"])
def test_players_can_think_in_every_numpy_error_mode(name: str) -> None:
    """Regression: a probability that underflowed to 0 raised an error in some modes."""
    player = make_player(name, GAME)
    states = GAME.new_states(FOUR)
    seats = GAME.statuses(states)[1]
    seen = GAME.concealed(states, seats)
    expected = player.choose(seen, seats, DRAWS)
    with np.errstate(all="raise"):
        assert np.array_equal(player.choose(seen, seats, DRAWS), expected)


def test_the_name_of_a_shipped_policy_cannot_be_registered() -> None:
    with pytest.raises(ValueError, match="another player has the name 'armadora-2p'"):
        register_player("armadora-2p", RandomPlayer)


SEARCH = (
    "milliseconds temperature rows exploration bias reference urgency depth scripted patient led"
)
SEARCH += " evaluated margin_share observers reward simulations"
OPTIONS = {  # the options of a player in a game
    ("armadora", "greedy:"): "noise first_random style",
    ("armadora", "random:"): "noise first_random patient",
    ("mini", "grave:"): SEARCH,
    ("mini", "ismcts:"): SEARCH,
    ("armada", "rollout:"): "simulations milliseconds candidates turns longest doubt style reward",
    ("armadora", "armadora-2p:"): "sample temperature noise",
    ("armadora", "armadora-2p+search:"): "simulations milliseconds exploration sharpness reward",
    ("armada", "armada-2p+search:"): "simulations rounds",
    ("armada", "armada-2p-ppo+search:"): (
        "simulations candidates turns longest eta entropy sample"
    ),
}
ENDLESS = ("exploration", "bias", "urgency", "doubt")  # infinity is a valid value of these


@pytest.mark.filterwarnings("ignore:.*made for version")
@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "1e999", "-1e999"])
@pytest.mark.parametrize(("name", "spec"), OPTIONS, ids="".join)
def test_infinities_and_nan_are_refused_in_every_option(name: str, spec: str, value: str) -> None:
    """Regression: the error said that 1e999 is not a number. NaN random actions never ended."""
    game = make_game("armadora", board="mini") if name == "mini" else make_game(name)
    for option in OPTIONS[name, spec].split():
        if option in ENDLESS and value in ("inf", "1e999") and "+" not in spec:
            assert make_player(f"{spec}{option}={value}", game)
            continue
        with pytest.raises(ValueError, match=rf"\b{option}\b") as refused:
            make_player(f"{spec}{option}={value}", game)
        assert {"1e999": "inf", "-1e999": "-inf"}.get(value, value) in str(refused.value)
        assert len(str(refused.value)) < 500


def test_nan_random_actions_are_refused() -> None:
    game = make_game("armadora")
    with pytest.raises(ValueError, match="first_random must be 0 or more, not nan"):
        OpeningPlayer(game, make_player("greedy", game), float("nan"))  # type: ignore[arg-type]
