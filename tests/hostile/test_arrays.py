"""Arrays that `Game` refuses, because its compiled loops run without bounds checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from armarl.compiler.types import States
from armarl.core.errors import IllegalActionError
from armarl.core.game import Game
from armarl.core.threads import set_threads
from armarl.environments.self_play_batch import SelfPlayBatch
from armarl.environments.vector_env import SeatVectorEnv
from armarl.games.make_game import make_game
from armarl.roster.make_player import make_player

GAME = make_game("armadora")
OTHER = make_game("armadora", players=3, advanced=True)
ARMADA = make_game("armada")
FOUR = np.arange(4)
ZEROS = np.zeros(4, np.int64)
LEGAL = int(np.flatnonzero(GAME.legal_masks(GAME.new_states(0))[0])[0])

# Every method of `Game` that takes an array of states, with valid other arguments.
DOORS: dict[str, Callable[[Game, Any], Any]] = {
    "deal": lambda game, states: game.deal(states, FOUR, FOUR),
    "apply": lambda game, states: game.apply(states, FOUR, ZEROS),
    "check_states": lambda game, states: game.check_states(states),
    "legal_masks": lambda game, states: game.legal_masks(states),
    "views": lambda game, states: game.views(states, ZEROS),
    "concealed": lambda game, states: game.concealed(states, ZEROS),
    "determinised": lambda game, states: game.determinised(states, ZEROS, FOUR),
    "statuses": lambda game, states: game.statuses(states),
    "returns": lambda game, states: game.returns(states, FOUR),
    "playouts": lambda game, states: game.playouts(states, FOUR),
    "questions": lambda game, states: game.questions(states, FOUR, np.zeros(4, np.uint64)),
}
WRITING = ("deal", "apply", "playouts")


def bad_states() -> dict[str, Any]:
    states = GAME.new_states(FOUR)
    return {
        "another variant": OTHER.new_states(FOUR),
        "one of another variant": np.concatenate([states[:3], OTHER.new_states(1)]),
        "another game": ARMADA.new_states(FOUR),
        "a list": list(states),
        "bytes": states.tobytes(),
        "every second one": GAME.new_states(np.arange(8))[::2],
        "in rows": states.reshape(2, 2),
        "one record": states[0],
        "numbers": np.zeros(4),
        "of zeros": np.zeros(4, states.dtype),
    }


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", bad_states())
def test_states_of_another_variant_are_refused(door: str, kind: str) -> None:
    with pytest.raises((TypeError, ValueError), match="states"):
        DOORS[door](GAME, bad_states()[kind])


CHOOSING: dict[str, Callable[[States, Any], Any]] = {
    "deal": lambda states, games: GAME.deal(states, games, games),
    "apply": lambda states, games: GAME.apply(states, games, np.full(games.size, LEGAL)),
    "returns": lambda states, games: GAME.returns(states, games),
    "questions": lambda states, games: GAME.questions(states, games, np.zeros(4, np.uint64)),
}


@pytest.mark.parametrize("door", CHOOSING)
def test_only_the_chosen_states_are_used_and_checked(door: str) -> None:
    states = np.concatenate([GAME.new_states(np.arange(3)), OTHER.new_states(1)])
    before = states.tobytes()[-states.itemsize :]
    CHOOSING[door](states, np.array([2, 0]))
    assert states.tobytes()[-states.itemsize :] == before
    with pytest.raises(ValueError, match=r"states\[3\] is of another variant"):
        CHOOSING[door](states, np.array([2, 3]))


@pytest.mark.parametrize("door", WRITING)
def test_read_only_states_are_not_written(door: str, tmp_path: Path) -> None:
    """Regression: `playouts` wrote to the bytes behind `np.frombuffer`.

    A read-only memory map ended the process by SIGSEGV.
    """
    saved = GAME.new_states(FOUR).tobytes()
    path = tmp_path / "states"
    path.write_bytes(saved)
    dtype = GAME.blank.dtype
    for states in (np.frombuffer(saved, dtype), np.memmap(path, dtype, "r")):
        with pytest.raises(ValueError, match="is read-only"):
            DOORS[door](GAME, np.asarray(states))
    assert saved == GAME.new_states(FOUR).tobytes() == path.read_bytes()


def states() -> Any:
    return GAME.new_states(FOUR)


def streams(n: int = 4) -> Any:
    return np.zeros(n, np.uint64)


def test_the_error_for_states_in_place_of_numbers_is_short() -> None:
    """Regression: the error listed all fields of the dtype, in thousands of characters."""
    with pytest.raises(TypeError, match="seats must be an array of int64, not records"):
        GAME.views(states(), states())


BAD_COLUMNS: dict[str, Callable[[], Any]] = {
    "games beyond": lambda: GAME.deal(states(), FOUR + 1, FOUR),
    "games below 0": lambda: GAME.apply(states(), FOUR - 1, ZEROS),
    "a game twice": lambda: GAME.apply(states(), ZEROS, ZEROS),
    "a game dealt twice": lambda: GAME.deal(states(), ZEROS, FOUR),
    "games of int32": lambda: GAME.returns(states(), FOUR.astype(np.int32)),
    "games of float": lambda: GAME.returns(states(), FOUR.astype(float)),
    "games as a list": lambda: GAME.deal(states(), [0, 1], FOUR),
    "games beyond, asked": lambda: GAME.questions(states(), FOUR + 1, streams()),
    "returns of games beyond": lambda: GAME.returns(states(), np.array([4])),
    "fewer seeds": lambda: GAME.deal(states(), FOUR, FOUR[:3]),
    "fewer actions": lambda: GAME.apply(states(), FOUR, FOUR[:3]),
    "seeds in between": lambda: GAME.playouts(states(), np.arange(8)[::2]),
    "seeds of float": lambda: GAME.playouts(states(), FOUR.astype(float)),
    "seeds in rows": lambda: GAME.new_chance(FOUR.reshape(2, 2)),
    "fewer streams": lambda: GAME.questions(states(), FOUR, streams(3)),
    "streams of int": lambda: GAME.questions(states(), FOUR, ZEROS),
    "seats of float": lambda: GAME.views(states(), ZEROS.astype(float)),
    "seats of bool": lambda: GAME.views(states(), ZEROS.astype(bool)),
    "seats beyond": lambda: GAME.views(states(), ZEROS + 2),
    "seats below 0": lambda: GAME.concealed(states(), ZEROS - 1),
    "a seat of bool": lambda: GAME.describe(states()[0], True),
    "a seat of float": lambda: GAME.describe(states()[0], 0.0),  # type: ignore[arg-type]
    "masks of 2": lambda: GAME.random_actions(GAME.legal_masks(states()) * 2, streams()),
    "masks of -1": lambda: GAME.random_actions(-GAME.legal_masks(states()), streams()),
    "masks of NaN": lambda: GAME.random_actions(
        np.full((4, len(GAME.actions)), np.nan),  # type: ignore[arg-type]
        streams(),
    ),
    "narrow masks": lambda: GAME.random_actions(np.ones((4, 3), np.int8), streams()),
    "masks of one row": lambda: GAME.random_actions(GAME.legal_masks(states())[0], streams()),
    "a seed of 1.7": lambda: GAME.new_states(1.7),  # type: ignore[arg-type]
    "a seed of text": lambda: GAME.new_states("7"),  # type: ignore[arg-type]
    "a seed of True": lambda: GAME.new_states(True),
    "a seed of 2**63": lambda: GAME.new_states(2**63),
    "seeds of 2**63": lambda: GAME.new_states(np.array([2**63], np.uint64)),  # type: ignore[arg-type]
    "a seed below": lambda: GAME.new_states(-(2**63) - 1),
    "seeds of objects": lambda: GAME.new_states(np.array([1, None])),
    "1.5 threads": lambda: set_threads(1.5),  # type: ignore[arg-type]
    "threads of True": lambda: set_threads(True),
    "no threads": lambda: set_threads(0),
    "a million threads": lambda: set_threads(10**6),
}


@pytest.mark.parametrize("name", BAD_COLUMNS)
def test_columns_that_do_not_fit_are_refused(name: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        BAD_COLUMNS[name]()
    assert "numba" not in str(caught.value).lower()
    assert len(str(caught.value)) < 300


STATE = GAME.new_states(7)[0]


@pytest.mark.parametrize(
    "look",
    [
        *(lambda state: GAME.describe(state), lambda state: GAME.describe(state, 0)),
        *(lambda state: GAME.draw(state), lambda state: GAME.explain(state, 0)),
    ],
    ids=["describe", "describe to a seat", "draw", "explain"],
)
@pytest.mark.parametrize(
    "state",
    [OTHER.new_states(7)[0], ARMADA.new_states(7)[0], GAME.new_states(FOUR), None, 7],
    ids=["variant", "game", "four", "none", "number"],
)
def test_one_state_of_another_variant_is_refused(look: Callable[[Any], Any], state: Any) -> None:
    """Regression: the text came from another variant's record, or NumPy raised an error."""
    look(STATE)
    with pytest.raises((TypeError, ValueError), match="state"):
        look(state)


def unwritable(column: Any) -> Any:
    column.flags.writeable = False
    return column


BAD_TURNS: dict[str, Callable[[Any], Any]] = {
    "read-only": unwritable,
    "every second": lambda column: np.repeat(column, 2, axis=0)[::2],
    "not aligned": lambda column: (
        np.zeros(column.nbytes + 1, np.uint8)[1:].view(column.dtype).reshape(column.shape)
    ),
    "a list": lambda column: column.tolist(),
    "missing": lambda column: None,
}


@pytest.mark.parametrize("name", ["seats", "observations", "masks", "rewards", "ends"])
@pytest.mark.parametrize("kind", BAD_TURNS)
def test_turn_arrays_that_cannot_be_written_are_refused(name: str, kind: str) -> None:
    """Regression: loops were compiled for these arrays for seconds, or Numba raised an error."""
    batch = SelfPlayBatch(GAME, 4)
    turn = batch.reset(seed=0)
    if kind == "not aligned" and turn.__dict__[name].dtype.itemsize == 1:
        return  # a byte is always aligned
    bad = replace(turn, **{name: BAD_TURNS[kind](getattr(turn, name))})
    before = batch.states.tobytes()
    for call in (
        lambda: batch.step(ZEROS, out=bad),
        lambda: batch.load_states(GAME.new_states(FOUR), out=bad),
        lambda: batch.reset(seed=5, out=bad),
    ):
        with pytest.raises(ValueError, match=f"out.{name} must be"):
            call()
        assert batch.states.tobytes() == before


def within(states: States, size: int, dtype: Any = np.int64) -> Any:
    """Return an array that starts in the middle of the states' memory."""
    raw = states.view(np.uint8).reshape(-1)
    begin = raw.size // 2 + -(raw.ctypes.data + raw.size // 2) % 8
    return raw[begin : begin + 8 * size].view(dtype)


def two_within(states: States) -> Any:
    numbers = within(states, 2)
    numbers[:] = 0, 1
    return numbers


TWO = np.arange(2)
OVERLAPS: dict[str, Callable[[States], Any]] = {
    "games dealt": lambda states: GAME.deal(states, two_within(states), TWO),
    "seeds dealt": lambda states: GAME.deal(states, TWO, two_within(states)),
    "games played": lambda states: GAME.apply(states, two_within(states), TWO),
    "actions": lambda states: GAME.apply(states, TWO, two_within(states)),
    "seeds of playouts": lambda states: GAME.playouts(states, within(states, 64)),
    "streams": lambda states: GAME.questions(states, TWO, within(states, 64, np.uint64)),
}


@pytest.mark.parametrize("kind", OVERLAPS)
def test_arrays_that_overlap_the_states_are_refused(kind: str) -> None:
    """Regression: dealing a game overwrote the next index after its check, which gave a SIGSEGV."""
    with pytest.raises(ValueError, match=r"states and .* must not share memory"):
        OVERLAPS[kind](GAME.new_states(np.arange(64)))


def test_turns_that_overlap_the_states_or_each_other_are_refused() -> None:
    batch = SelfPlayBatch(GAME, 64)
    turn = batch.reset(seed=0)
    batch.step(turn.masks.argmax(1), out=turn)
    before = batch.states.tobytes()
    seats = batch.states.view(np.uint8).reshape(-1)[: 64 * 8].view(np.int64)
    with pytest.raises(ValueError, match=r"states and out\.seats must not share memory"):
        batch.step(turn.masks.argmax(1), out=replace(turn, seats=seats))
    rewards = turn.observations.reshape(-1)[: 64 * 2 * 2].view(np.float64).reshape(64, 2)
    with pytest.raises(ValueError, match=r"out\.observations and out\.rewards must not share"):
        batch.step(turn.masks.argmax(1), out=replace(turn, rewards=rewards))
    assert batch.states.tobytes() == before


@pytest.mark.parametrize("kind", bad_states())
def test_a_batch_refuses_invalid_states(kind: str) -> None:
    batch = SelfPlayBatch(GAME, 4)
    batch.reset(seed=0)
    with pytest.raises((TypeError, ValueError), match="states"):
        batch.load_states(bad_states()[kind])


def test_an_illegal_action_changes_no_game() -> None:
    for action in (-1, len(GAME.actions), 2**62, GAME.actions.id("stop")):
        played = states()
        actions = np.array([0, 0, action, 0])
        with pytest.raises(IllegalActionError):
            GAME.apply(played, FOUR, actions)
        assert played.tobytes() == states().tobytes()


def test_valid_arrays_are_accepted() -> None:
    batch = states()
    GAME.apply(batch, FOUR[::-1].copy(), ZEROS)
    assert (GAME.new_states(7) == GAME.new_states(np.array([7]))).all()
    assert (GAME.new_states([7, -1]) == GAME.new_states(np.array([7, -1]))).all()  # type: ignore[arg-type]
    assert GAME.new_states(np.empty(0, np.int64)).size == 0
    assert GAME.views(batch[:0], ZEROS[:0])[0].shape == (0, GAME.observation.size)


def test_the_error_for_masked_arrays_names_their_type() -> None:
    masked = np.ma.array(GAME.new_states(FOUR))
    with pytest.raises(TypeError, match=r"array of .*, not MaskedArray"):
        GAME.legal_masks(masked)


@pytest.mark.parametrize("size", [2.5, True, "3", None, 0, -1, 2**63])
def test_invalid_numbers_of_games_are_refused(size: Any) -> None:
    for face in (SelfPlayBatch, SeatVectorEnv):
        with pytest.raises((TypeError, ValueError), match=r"the number of games must be "):
            face(GAME, size)


def test_replaced_arrays_are_checked_again() -> None:
    """Regression: if an object of arrays was used again, its replaced array was not checked."""
    batch = SelfPlayBatch(GAME, 4)
    out: Any = SimpleNamespace(**vars(batch.new_turn()))
    batch.reset(seed=1, out=out)
    before = batch.states.tobytes()
    size = batch.states.view(np.uint8)[: 4 * GAME.players * 8].view(np.float64)
    out.rewards = size.reshape(4, GAME.players)
    with pytest.raises(ValueError, match=r"states and out\.rewards must not share memory"):
        batch.step(out.masks.argmax(axis=1), out=out)
    assert batch.states.tobytes() == before


# --- arrays that change, or that have false attributes -------------------------------------------


class Liar(np.ndarray):
    """An array whose attributes and methods return false values that a check would accept."""

    size = property(lambda self: 4)  # type: ignore[assignment]
    shape = property(lambda self: (4,))  # type: ignore[assignment]
    ndim = property(lambda self: 1)  # type: ignore[assignment]

    def min(self, *_arguments: Any, **_more: Any) -> Any:
        return 0

    max = any = __len__ = min  # type: ignore[assignment]


def liar(numbers: Any) -> Any:
    return np.array(numbers).view(Liar)


LIES: dict[str, Callable[[], Any]] = {
    "games beyond": lambda: GAME.returns(states(), liar([0, 1, 2, 10**6])),
    "games beyond, played": lambda: GAME.apply(states(), liar([0, 1, 2, 10**6]), ZEROS),
    "more games": lambda: GAME.deal(states(), liar(np.arange(9)), FOUR),
    "seats beyond": lambda: GAME.views(states(), liar([0, 0, 0, 10**6])),
    "fewer seats": lambda: GAME.views(states(), liar([0])),
    "fewer actions": lambda: GAME.apply(states(), FOUR, liar([0])),
    "fewer seeds": lambda: GAME.playouts(states(), liar([0])),
    "fewer streams": lambda: GAME.questions(states(), FOUR, liar(np.zeros(1, np.uint64))),
    "states in rows": lambda: GAME.legal_masks(states().reshape(2, 2).view(Liar)),
    "fewer states": lambda: GAME.apply(GAME.new_states(0).view(Liar), FOUR, ZEROS),
    "draws beyond": lambda: PLAYER.choose(states(), ZEROS, liar([0, 0, 0, 7.0])),
    "fewer draws": lambda: PLAYER.choose(states(), ZEROS, liar([0.0])),
    "masks of 7": lambda: GAME.random_actions(
        np.full((4, len(GAME.actions)), 7, np.int8).view(Liar), streams()
    ),
    "games to reset": lambda: SelfPlayBatch(GAME, 4).reset(games=liar([True] * 9)),
    "actions of a batch": lambda: begun(SelfPlayBatch(GAME, 4)).step(liar([0])),
    "states of a batch": lambda: begun(SelfPlayBatch(GAME, 4)).load_states(
        GAME.new_states(0).view(Liar)
    ),
    "turns": lambda: SelfPlayBatch(GAME, 4).reset(
        out=replace(SelfPlayBatch(GAME, 4).new_turn(), seats=liar(ZEROS[:1]))
    ),
    "seeds of a batch": lambda: SelfPlayBatch(GAME, 4).reset(seed=ShortSeeds()),
}
PLAYER = make_player("random", GAME)


class ShortSeeds(list[int]):
    def __len__(self) -> int:
        return 4


def begun(batch: SelfPlayBatch) -> SelfPlayBatch:
    batch.reset(seed=0)
    return batch


@pytest.mark.parametrize("kind", LIES)
def test_arrays_with_false_attributes_are_refused(kind: str) -> None:
    """Regression: checks trusted the attributes of subclasses, and loops accessed other memory."""
    with pytest.raises((TypeError, ValueError)):
        LIES[kind]()


def test_a_subclass_with_true_attributes_is_accepted() -> None:
    told = states().view(Liar)
    GAME.apply(told, FOUR.view(Liar), np.full(4, LEGAL).view(Liar))
    played = states()
    GAME.apply(played, FOUR, np.full(4, LEGAL))
    assert told.tobytes() == played.tobytes()


def test_actions_that_change_after_their_check_are_not_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Regression: another thread replaced the actions, and illegal actions were played."""
    played, games, actions = states(), FOUR.copy(), np.full(4, LEGAL)
    expected = states()
    GAME.apply(expected, FOUR, np.full(4, LEGAL))
    run = Game.run

    def changing(game: Game, body: Any, *arguments: Any, **more: Any) -> None:
        run(game, body, *arguments, **more)
        games[:], actions[:] = 10**6, GAME.actions.id("stop")

    monkeypatch.setattr(Game, "run", changing)
    GAME.apply(played, games, actions)
    assert played.tobytes() == expected.tobytes()
    GAME.check_states(played)


def test_two_memory_maps_of_one_file_are_found_to_overlap(tmp_path: Path) -> None:
    """Regression: dealing the first game overwrote the index of the second through another map."""
    path, size = tmp_path / "states", GAME.blank.itemsize
    path.write_bytes(GAME.new_states(np.arange(64)).tobytes())
    free = set(range(0, size - 16, 8)) - {
        place - place % 8 - back for place in GAME.option_bytes[0].tolist() for back in (0, 8)
    }
    begin = max(free)
    mapped: Any = np.memmap(path, GAME.blank.dtype, "r+")
    games: Any = np.memmap(path, np.uint8, "r+")[begin : begin + 16].view(np.int64)
    games[:] = 0, 1
    GAME.deal(mapped, games, np.array([7, 8]))
    expected = GAME.new_states(np.array([7, 8, *range(2, 64)]))
    assert mapped.tobytes() == expected.tobytes()


def test_states_that_change_after_their_check_are_not_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Regression: a batch checked the caller's array, and copied it only afterwards."""
    batch, given = begun(SelfPlayBatch(GAME, 4)), GAME.new_states(FOUR)
    expected, check = given.tobytes(), Game.check_states

    def changing(game: Game, states: States) -> None:
        check(game, states)
        given.view(np.uint8)[:] = 255

    monkeypatch.setattr(Game, "check_states", changing)
    batch.load_states(given)
    assert batch.states.tobytes() == expected


def test_functions_without_checks_are_not_public() -> None:
    assert not {"deal_one", "view_one", "play_one"} & set(dir(GAME))
