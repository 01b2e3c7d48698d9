"""Armada's dice (ADA-7): the standard dice, a user's dice, and dice that are refused."""

from __future__ import annotations

import copy
import json
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny
from aec_play import everything, play_randomly
from armarl import armada_v0, load_policy
from armarl.games.armada.actions import ATTACK
from armarl.games.armada.chart.loading import load_chart
from armarl.games.armada.dice import STANDARD, Dice, DiceError, load_dice
from armarl.games.armada.scripted.action_scores import worth_of_attack
from armarl.games.armada.scripted.distance_maps import SCRATCH
from armarl.games.armada.state import border_from
from armarl.games.armada.styles import STYLES
from armarl.games.make_game import make_game, restore_game
from armarl.policies.policy_checks import PolicyError
from armarl.policies.saved_policy import policy_game
from reference.armada.checks import check_games
from reference.armada.table import Table

# These dice have all faces that the standard dice lack: no hit, three hits, three losses, finds
# above four. No face has two hits, so `attack` gives a roll that the die cannot show.
OTHER = {
    "combat": [3, 0, 1, -1, -3, -3],
    "gold": [5, 0, 12, 1, 0, 4],
    "tribes": [0, 1, 6, 12, 0, 3],
}
ALL_OPTIONS = {"cards": True, "enrolment": True}


def test_ada_7_dice() -> None:
    dice = load_dice()
    assert dice == Dice((1, 1, 1, 2, -1, -1), (0, 1, 1, 2, 2, 3), (0, 1, 2, 2, 3, 4))


# --- reading -------------------------------------------------------------------------------------


def test_dice_can_be_written_and_read_as_dict_and_toml(tmp_path: Path) -> None:
    text = "".join(f"{die} = {faces}\n" for die, faces in OTHER.items())
    (tmp_path / "mine.toml").write_text(text)
    path = tmp_path / "mine.toml"
    numbers = {die: tuple(np.array(faces)) for die, faces in OTHER.items()}
    arrays = {die: np.array(faces) for die, faces in OTHER.items()}
    written = json.dumps(OTHER)
    for source in (OTHER, numbers, arrays, text, written, path, str(path), Dice(**OTHER)):
        dice = load_dice(source)
        assert dice.as_dict() == OTHER
        assert json.loads(json.dumps(dice.as_dict())) == OTHER
    assert load_dice(STANDARD) == load_dice()


class Changing(list[int]):
    """A list that gives other numbers when it is read a second time."""

    def __iter__(self) -> Any:
        shown = [99] * 6 if hasattr(self, "asked") else [1] * 6
        self.asked = True
        return iter(shown)


class Lying(int):
    """A number that compares as if it were in any range."""

    def __le__(self, other: object) -> bool:
        return True

    __ge__ = __lt__ = __gt__ = __le__


class LyingDice(Dice):
    """Dice whose faces change after the check."""

    @property
    def faces(self) -> Any:
        return ((99,) * 6,) * 3


BROKEN: dict[str, tuple[Any, str]] = {
    "one face": ({**OTHER, "combat": [1]}, r"the combat die must list 6 faces \(ADA-7\), not 1$"),
    "seven faces": ({**OTHER, "gold": [1] * 7}, "the gold die must list 6 faces .* not 7$"),
    "no list": ({**OTHER, "tribes": "012234"}, "the tribes die must list 6 faces .* not '012234'"),
    "half a hit": (
        {**OTHER, "combat": [1, 1, 1, 1, 1, 1.5]},
        r"combat die: a face must be a whole number from -12 to 12 \(hits above 0, losses below 0, "
        r"never both on one face\), not 1\.5",
    ),
    "hit and loss": ({**OTHER, "combat": [[1, -1], 1, 1, 1, 1, 1]}, r"never both .* not \[1, -1\]"),
    "many losses": ({**OTHER, "combat": [-13, 1, 1, 1, 1, 1]}, "from -12 to 12 .* not -13"),
    "gold lost": (
        {**OTHER, "gold": [0, 1, 1, 2, 2, -3]},
        "gold die: a face must be a whole number from 0 to 12, not -3",
    ),
    "much gold": ({**OTHER, "gold": [0, 1, 1, 2, 2, 13]}, "from 0 to 12, not 13"),
    "a truth": ({**OTHER, "tribes": [True] * 6}, "tribes die: .* from 0 to 12, not True"),
    "a long number": ({**OTHER, "gold": [10**5000] * 6}, "not int with thousands of digits"),
    "one die": ({"combat": [1] * 6}, r"must be combat, gold and tribes, not \['combat'\]"),
    "four dice": ({**OTHER, "wind": [1] * 6}, "must be combat, gold and tribes, not "),
    "a terminal's commands": ({"\x1b[2J": 1}, r"must be combat, gold and tribes, not \['\\x1b\[2J"),
    "a number": (5, "dice must be the path of a TOML file, .*, or None .*; not 5$"),
    "floats": ({**OTHER, "gold": np.ones(6)}, "gold die: a face must be a whole number from 0"),
    "truths": ({**OTHER, "gold": np.ones(6, bool)}, "gold die: a face must be a whole number"),
    "two axes": ({**OTHER, "gold": np.ones((6, 1), int)}, r"must list 6 faces .* not array"),
    "a single number": ({**OTHER, "gold": np.array(6)}, r"must list 6 faces .* not array\(6\)"),
    "nothing": (
        "",
        "^the option dice is empty text; dice must be the path of a TOML file",
    ),
    "a blank": (
        " \n",
        "^the option dice is empty text; dice must be the path of a TOML file",
    ),
    "no JSON": ('{"gold": [', "the dice are not valid JSON: "),
    "one die of JSON": ('{"gold": [1]}', r"must be combat, gold and tribes, not \['gold'\]"),
    "deep JSON": ("{" + "[" * 3000, "the dice are not valid JSON: "),
    "no TOML": ("combat =\n", "the dice are not valid TOML: "),
    "deep TOML": ("combat = " + "[" * 3000 + "\n", "the dice are not valid TOML: "),
    "long TOML": (f"combat = {'9' * 5000}\n", "the text of dice may have at most 4,096 characters"),
    # Regression: this took a minute, because the time to parse a key grows with the square of its
    # length.
    "keys of keys": ("a." * 30_000 + "b = 1\n", "the text of dice may have at most 4,096"),
    "a number that lies": ({**OTHER, "gold": [Lying(99)] * 6}, "gold die: .*from 0 to 12, not "),
    "dice that lie": (LyingDice(**OTHER), "combat die: .* not 99"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_ada_7_broken_dice_are_refused(case: str) -> None:
    source, message = BROKEN[case]
    with pytest.raises(DiceError, match=message) as caught:
        load_dice(source)
    assert len(str(caught.value)) < 500
    assert str(caught.value).isprintable()
    with pytest.raises(DiceError, match=message):
        make_game("armada", dice=source)


def test_a_list_that_changes_is_read_only_once() -> None:
    """Regression: faces were read once for the check and again for the dice."""
    assert load_dice({**OTHER, "gold": Changing([1] * 6)}).gold == (1,) * 6


def test_an_error_names_the_file_of_broken_dice(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("combat = [1]\ngold = []\ntribes = []\n")
    with pytest.raises(DiceError, match=r"mine\.toml: the combat die must list 6 faces"):
        load_dice(path)
    path.write_bytes(b"\xff" * 10)
    with pytest.raises(DiceError, match=r"mine\.toml: .*utf-8"):
        load_dice(path)
    path.write_bytes(b"#" * 2**17)
    with pytest.raises(DiceError, match=r"mine\.toml: it is larger than 4,096 bytes"):
        load_dice(path)
    for other in (tmp_path, Path("/dev/zero")):
        with pytest.raises(DiceError, match="it is not a file"):
            load_dice(other)
    with pytest.raises(FileNotFoundError, match=r"no file nowhere\.toml; dice must be the path"):
        load_dice("nowhere.toml")
    with pytest.raises(OSError, match="dice must be the path") as caught:
        load_dice("x" * 5000)
    assert len(str(caught.value)) < 600


# --- the rules with other dice -------------------------------------------------------------------


def test_ada_7_faces_are_rolled_as_often_as_they_are_on_the_die() -> None:
    """The counts of the faces are within five standard deviations."""
    table, throws = Table(dice=OTHER), 1200
    a, b = table.plain_neighbours("green")
    coast = table.coastal("central")
    table.put(a, "green", 4)
    table.put(b, "orange", 4)
    table.sea(table.coast(coast)[0], "green", 2)
    table.legal()
    game, thrown = table.match.game, Counter[tuple[str, int]]()
    for text in (f"attack {a} {b}", f"explore {coast}"):
        states = np.repeat(table.match.states, throws)
        states["rng"] = 1000 * np.arange(throws)
        game.apply(states, np.arange(throws), np.full(throws, game.actions.id(text)))
        for state in states:
            thrown.update((die, face) for die, face in game.describe(state)["chance"])
    expected = Counter((die, face) for die, six in OTHER.items() for face in six)
    assert thrown.keys() == expected.keys()
    for face, copies in expected.items():
        mean = throws * copies / 6
        assert abs(thrown[face] - mean) < 5 * (mean * (1 - copies / 6)) ** 0.5, face


def battle(*hands: tuple[str, ...]) -> tuple[Table, str, tuple[str, str]]:
    """Return a table with ten bands of green and of orange, the other dice, and green's attack."""
    table = Table(cards=True, dice=OTHER)
    a, b = table.plain_neighbours("orange")
    table.put(a, "green", 10)
    table.put(b, "orange", 10)
    for player, hand in enumerate(hands):
        table.hand(player, *hand)
    return table, f"attack {a} {b}", (a, b)


def test_ada_7_22_hits_and_losses_of_other_dice() -> None:
    table, text, (a, b) = battle()
    for roll, expected in ((3, (10, 7)), (0, (10, 7)), (-3, (7, 7)), (1, (7, 6))):
        table.play(text, dice=[("combat", roll)])
        assert (table.land(a)["bands"], table.land(b)["bands"]) == expected


def test_ada_7_32_cards_are_asked_for_only_if_they_improve_the_roll() -> None:
    table, text, (a, b) = battle(("attack",), (), (), ("defence",))
    table.play(text, dice=[("combat", -3)])  # worse than the defence's two losses
    assert table.legal() == {"play attack", "decline"}
    table.play("decline")
    assert table.view["turn"]["stage"] == "order"
    assert (table.land(a)["bands"], table.land(b)["bands"]) == (7, 10)
    table.play(text, dice=[("combat", 3)])  # better than the attack's two hits
    assert table.legal() == {"play defence", "decline"}
    table.play("decline")
    assert (table.land(a)["bands"], table.land(b)["bands"]) == (7, 7)
    table.play(text, dice=[("combat", 0)])
    table.play("play attack")
    assert table.view["pending"]["roll"] == ["combat", 2]  # no face of this die shows it
    table.match.game.check_states(table.match.states)
    low, high = table.match.game.observation.bounds()
    observation, _ = table.match.game.views(table.match.states, np.array([3]))
    assert ((low <= observation) & (observation <= high)).all()
    table.play("play defence")
    assert (table.land(a)["bands"], table.land(b)["bands"]) == (5, 7)


def test_ada_7_21_the_highest_find_fits_the_supply() -> None:
    table = Table(cards=True, dice=OTHER)
    centre = table.post("Centre")
    beside = table.inland(centre)[0]
    table.put(beside, "green", 3)
    table.hand(0, "discovery")
    table.play(f"play discovery {centre}", dice=[("gold", 12), ("tribes", 12)])
    assert (table.land(centre)["gold"], table.land(centre)["tribes"]) == (48, 48)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_games_with_other_dice_agree_with_the_reference(players: int) -> None:
    """The games are compared after every decision."""
    variant = {"players": players, "dice": OTHER, **ALL_OPTIONS}
    occurred = check_games(variant, range(1), "random", decisions=200, sample=0.01)
    occurred += check_games(variant, range(9), "position", decisions=60, sample=0.02)
    occurred += check_games(variant, range(1), "greedy", decisions=150, sample=0.02)
    assert occurred.keys() >= {"attack", "explore"}


NOTHING_MATTERS = {"combat": [0] * 6, "gold": [0] * 6, "tribes": [0] * 6}
ALWAYS_MOST = {"combat": [12] * 6, "gold": [12] * 6, "tribes": [12] * 6}
ONLY_LOSSES = {"combat": [-12] * 6, "gold": [12] * 6, "tribes": [12] * 6}


@pytest.mark.parametrize("dice", [NOTHING_MATTERS, ALWAYS_MOST, ONLY_LOSSES], ids=str)
def test_games_with_the_most_extreme_dice_reach_their_end(dice: dict[str, list[int]]) -> None:
    """Scripted players, playouts, checks of states and evaluations accept every allowed face."""
    game = make_game("armada", players=3, max_turns=40, dice=dice, **ALL_OPTIONS)
    states = game.new_states(np.arange(6))
    rng = np.random.default_rng(1)
    low, high = game.observation.bounds()
    for step in range(10_000):
        statuses, seats = game.statuses(states)
        going = np.flatnonzero(statuses == 0)
        if not going.size:
            break
        states, seats = game.taken(states, going), seats[going]
        game.check_states(states)
        observations, masks = game.views(states, seats)
        assert ((observations >= low) & (observations <= high)).all()
        if step % 50 == 0:
            game.playouts(states.copy(), np.arange(going.size))
        actions = tiny.random_actions(masks, rng)
        game.apply(states, np.arange(going.size), actions)
    else:
        raise AssertionError("the games never end")
    check_games({"players": 3, "dice": dice, **ALL_OPTIONS}, range(1), "greedy", 150)


def test_the_scripted_player_considers_the_dice() -> None:
    """With standard dice, it attacks four bands with nine. With a die of losses, it does not."""
    worths = {}
    for name, dice in (("standard", None), ("losses", {**OTHER, "combat": [1, -1, -1, -1, -1, 0]})):
        table = Table(dice=dice)
        a, b = table.plain_neighbours("orange")
        table.put(a, "green", 9)
        table.put(b, "orange", 4)
        table.legal()
        game, states = table.match.game, table.match.states
        border = game.actions.id(f"attack {a} {b}") - int(game.fixed["first"][ATTACK])
        maps, place = np.zeros(1, SCRATCH)[0], border_from(border, game.fixed)
        worths[name] = worth_of_attack(
            states[0], STYLES[0], np.int64(0), maps, place, border, game.fixed
        )
    assert worths["standard"] > 0 > worths["losses"]


# --- the variant ---------------------------------------------------------------------------------


def test_dice_are_part_of_the_variant() -> None:
    game, standard = make_game("armada", dice=OTHER), make_game("armada")
    assert game.options["dice"] == game.variant["options"]["dice"] == OTHER
    assert game.attributes["dice"] == Dice(**OTHER)
    assert game.variant != standard.variant
    assert game is make_game("armada", dice=Dice(**OTHER)) is restore_game("armada", game.options)
    assert make_game("armada", dice=load_dice().as_dict()) is standard
    assert standard.attributes["dice"] == load_dice()
    assert pickle.loads(pickle.dumps(game)) is game
    with pytest.raises(
        ValueError, match=r"must contain the dice itself in the option dice \(.*\), not 'mine'"
    ):
        restore_game("armada", {"dice": "mine"})
    states = game.new_states([1])
    with pytest.raises(ValueError, match="of another variant of armada"):
        standard.check_states(states)


def test_a_state_with_a_face_that_its_die_lacks_is_refused() -> None:
    for dice, face in ((OTHER, 2), (None, 12)):
        table = Table(dice=dice)
        coast = table.coastal("central")
        table.sea(table.coast(coast)[0], "green", 2)
        table.play(f"explore {coast}")
        game, states = table.match.game, table.match.states
        game.check_states(states)
        assert game.describe(states[0])["chance"][0][0] == "gold"
        states["face"][0, 0] = face
        with pytest.raises(ValueError, match="impossible faces"):
            game.check_states(states)


@pytest.mark.parametrize("face", ["env", "raw_env"])
def test_an_environment_with_other_dice(face: str) -> None:
    env = getattr(armada_v0, face)(players=3, cards=True, max_turns=6, dice=OTHER)
    env.reset(seed=3)
    assert env.unwrapped.dice == Dice(**OTHER)
    assert env.describe()["options"]["dice"] == OTHER
    play_randomly(env, np.random.default_rng(1), 300)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert everything(twin) == everything(env)
    standard = getattr(armada_v0, face)(players=3, cards=True, max_turns=6)
    standard.reset(seed=3)
    with pytest.raises(ValueError, match="not a saved game of this environment"):
        standard.load_state(env.state_bytes())
    with pytest.raises(DiceError, match="the gold die must list 6 faces"):
        getattr(armada_v0, face)(dice={**OTHER, "gold": [1, 2, 3]})


def test_a_saved_policy_contains_its_dice(tmp_path: Path) -> None:
    game, standard = make_game("armada", dice=OTHER), make_game("armada")
    path = tiny.policy(tmp_path, game)
    assert policy_game(path) is game
    player = load_policy(path)
    assert player.game is game
    states, seats = tiny.positions(game, 5)
    player.choose(states, seats, np.zeros(seats.size))
    with pytest.raises(PolicyError, match=r"was made for options .*dice"):
        load_policy(path, standard)
    other = tmp_path / "standard"
    other.mkdir()
    with pytest.raises(PolicyError, match="was made for options"):
        load_policy(tiny.policy(other, standard), game)


def test_a_chart_and_dice_can_be_combined() -> None:
    chart = json.loads(json.dumps(load_chart().as_dict()).replace('"s1"', '"bay"'))
    game = make_game("armada", chart=chart, dice=OTHER)
    assert game.options["chart"] == chart
    assert restore_game("armada", game.options) is game
