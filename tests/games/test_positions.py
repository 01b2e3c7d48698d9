"""States from descriptions: `state_from` is the inverse of `describe`, and refuses other input."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from armarl import make_game
from armarl.core.verbs import PLAYING
from variants import GOLDEN, KUHN_POKER

OURS = [variant for variant in GOLDEN if variant not in KUHN_POKER]
# A description does not contain chance, or the effects of an unfinished chain of decisions.
UNTOLD = {
    "armadora": {"rng", "looking_at"},
    "armada": {"rng", "die", "face", "target", "due", "count", "used", "asked", "idle"},
}
OVER = {"to_move"}  # no player is to move


def states_of(game, seed):
    """Yield all states of a random game."""
    rng, states = np.random.default_rng(seed), game.new_states(seed)
    while True:
        yield states[0].copy()
        if game.statuses(states)[0][0] != PLAYING:
            return
        action = int(rng.choice(np.flatnonzero(game.legal_masks(states)[0])))
        game.apply(states, np.array([0]), np.array([action]))


@pytest.mark.parametrize("variant", OURS, ids=str)
def test_a_description_gives_back_its_state(variant):
    game = variant.make()
    every = {"armadora": 3, "armada": 17}[variant.game]
    last = None
    for k, state in enumerate(states_of(game, seed=11)):
        last = state
        if k % every == 0:
            comes_back(game, state)
    comes_back(game, last)


def comes_back(game, state):
    view = game.describe(state)
    again = game.state_from(json.loads(json.dumps(view)), seed=5)
    assert game.describe(again) == view
    game.check_states(np.full(1, again))
    untold = UNTOLD[game.name] | (OVER if view["result"] is not None else set())
    for name in state.dtype.names:
        if name not in untold:
            assert np.array_equal(again[name], state[name]), name
    if game.name == "armadora" and state["looking_at"].any():
        return  # without peek, a value that a Mage has just read is shown to it only once
    for seat in range(game.players):
        assert game.describe(again, seat) == game.describe(state, seat)


def test_the_same_seed_gives_the_same_state_and_chance():
    game = make_game("armada", cards=True)
    view = game.describe(game.new_states(1)[0])
    one, same, other = (game.state_from(view, seed) for seed in (7, 7, 8))
    assert one.tobytes() == same.tobytes()
    assert one["rng"] != other["rng"]
    assert game.describe(other) == view


# --- short descriptions --------------------------------------------------------------------------


def test_a_short_description_gives_a_position_of_armadora():
    game = make_game("armadora", players=3, advanced=True)
    state = game.state_from(
        {
            "characters": ["elf", "goblin", "mage"],
            "warriors": {
                "c4": {"player": 0, "value": 4},
                "c3": {"player": 1, "value": 2, "face_up": True, "arrows": 1},
            },
            "seen": [[], [], ["c4"]],
            "palisades": ["a1-b1", "c3-c4"],
            "to_move": 1,
        }
    )
    view = game.describe(state)
    assert view["powers"] == [1, 0, 1]  # one power of each of these players was used
    assert view["hand_sizes"] == [10, 10, 11]
    assert view["hands"][0]["4"] == 0
    assert view["palisades_left"] == 33
    assert view["reinforcements"] == [1, 1, 1]
    assert "P a2-b2" in view["legal"]
    assert "W4 a1" in view["legal"] or "W1 a1" in view["legal"]


def test_the_end_of_armadora_is_scored():
    game = make_game("armadora")
    state = game.state_from({"warriors": {"c4": {"player": 1, "value": 1}}, "passed": [True, True]})
    view = game.describe(state)
    assert view["stage"] == "over"
    assert view["result"] == {"gold": [0, 40], "piles": [[], [40]], "winners": [1]}


def test_barred_lines_are_found_as_in_play():
    """ARM-12: after two palisades in a corner, the line that would close it is barred."""
    game = make_game("armadora")
    state = game.state_from({"palisades": ["b1-c1", "b2-c2", "a2-a3"]})
    assert "P b2-b3" in game.describe(state)["legal"]
    state = game.state_from({"palisades": ["a2-b2", "a3-a4"]})
    for line in ("a1-b1", "a3-b3"):
        assert f"P {line}" in game.describe(state)["legal"]
    state = game.state_from({"palisades": ["a1-b1", "a2-b2"]})
    assert "P a2-a3" not in game.describe(state)["legal"]


def test_a_short_description_gives_a_position_of_armada():
    game = make_game("armada", players=4)
    state = game.state_from(
        {
            "territories": {
                "G4": {"owner": "green", "bands": 6, "gold": 2},
                "R4": {"owner": "raspberry", "bands": 1},
                "B4": {"owner": "blue", "bands": 1},
                "O4": {"owner": "orange", "bands": 1},
                "C1": {"owner": "tribes", "tribes": 3, "gold": 2},
            },
            "ships": {"s14": {"colour": "green", "bands": 5}},
            "turn": {"number": 4, "coups": 7},
        }
    )
    view = game.describe(state)
    assert view["turn"]["colour"] == "green"
    assert view["to_move"] == 0
    assert view["reserve"]["green"] == 39
    assert view["supply"] == {"gold": 46, "tribes": 47}
    assert view["box"] == 7
    assert any(text.startswith("sail s14 ") for text in view["legal"])


def test_an_attack_can_wait_for_an_answer():
    game = make_game("armada", cards=True)
    hands = [["attack"], ["defence", "raid"]]
    near = next(text for text in game.actions.texts if text.startswith("attack R1 "))
    target = near.split()[2]
    state = game.state_from(
        {
            "territories": {
                "R1": {"owner": "green", "bands": 4},
                target: {"owner": "raspberry", "bands": 3},
            },
            "turn": {"number": 0, "coups": 9, "stage": "answer"},
            "pending": {"order": near, "roll": ["combat", 1]},
            "hands": hands,
            "known": [
                {"in_deck": [], "drawn": [0, 0], "holds": {"attack": True}},
                {"in_deck": [], "drawn": [0, 0], "holds": {}},
            ],
        }
    )
    assert game.describe(state)["legal"] == ["decline", "play attack"]
    assert game.describe(state)["deck_size"] == 43


def test_the_order_of_entries_matters_only_in_the_deck():
    game = make_game("armadora")
    one, same = (
        game.state_from({"palisades": lines}) for lines in (["a1-b1", "h4-h5"], ["h4-h5", "a1-b1"])
    )
    assert one.tobytes() == same.tobytes()
    game = make_game("armada", cards=True)
    view = game.describe(game.new_states(1)[0])
    assert (
        game.describe(game.state_from({**view, "deck": view["deck"][::-1]}))["deck"]
        == (view["deck"][::-1])
    )


# --- invalid descriptions ------------------------------------------------------------------------

ARMADORA = make_game("armadora")
ARMADA = make_game("armada", players=3, cards=True)


@pytest.mark.parametrize(
    ("description", "says"),
    [
        ({"warriors": {"z9": {"player": 0, "value": 1}}}, "'z9'"),
        ({"warriors": {"b2": {"player": 0, "value": 1}}}, "must be one of"),  # a mine
        ({"warriors": {"c4": {"player": 2, "value": 1}}}, "from 0 to 1, not 2"),
        ({"warriors": {"c4": {"player": 0, "value": None}}}, "from 1 to 5, not None"),
        ({"warriors": {"c4": {"player": 0, "value": True}}}, "not True"),
        ({"warriors": {"c4": 3}}, "must be a dictionary, not 3"),
        ({"warriors": [1]}, "must be a dictionary"),
        (
            {"warriors": {name: {"player": 0, "value": 5} for name in ("c4", "c3")}},
            "ARM-7",
        ),
        ({"palisades": ["a1-a2", "a1-b1"]}, "ARM-12"),
        ({"palisades": ["a1-c1"]}, "must be one of"),
        ({"palisades": 7}, "must be a list"),
        ({"gold": {"d1": 40}}, "ARM-6"),
        ({"gold": {"a1": 3}}, "must be one of"),
        ({"to_move": 5}, "from 0 to 1"),
        ({"to_move": 0, "passed": [True, False]}, "ARM-8"),
        ({"stage": "second palisade"}, "ARM-13"),
        ({"stage": "nap"}, "must be one of"),
        ({"passed": [True]}, "2 entries, one for each player"),
        ({"hands": [{"1": 11}, {"1": 11}]}, "ARM-7"),
        ({"hands": [None, {"1": 11}]}, "the view of one seat"),
        ({"powers": [1, 0]}, "'powers'"),
        ({"palisades_left": 3}, "'palisades_left' would be 35 in this position, not 3"),
        ({"legal": ["pass"]}, "'legal' would be"),
        ({"colour": 3}, "has no key 'colour'"),
        ({"game": "armada"}, "has game 'armada', but this game has 'armadora'"),
        ({"options": {"advanced": True}}, "has options"),
        ({"players": 3}, "has players 3"),
        ({"gold": {1, 2}}, "JSON"),
    ],
)
def test_invalid_descriptions_of_armadora_are_refused(description, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        ARMADORA.state_from(description)


@pytest.mark.parametrize(
    ("description", "says"),
    [
        ({"territories": {"Z1": {}}}, "'Z1'"),
        ({"territories": {"G1": {"owner": "pink"}}}, "must be one of"),
        ({"territories": {"C1": {"owner": "green", "bands": 60}}}, "from 0 to 50, not 60"),
        ({"territories": {n: {"owner": "green", "bands": 50} for n in ("C1", "C2")}}, "ADA-6"),
        ({"territories": {"C2": {"bands": 3}}}, "ADA-8"),
        ({"territories": {"C2": {"owner": "green", "explored": False}}}, "'explored'"),
        ({"ships": {"s1": {"colour": "green", "bands": 11}}}, "from 0 to 10"),
        ({"ships": {"s1": {"colour": "green", "bands": 6, "gold": 6}}}, "ADA-19"),
        ({"ships": {"G1": {}}}, "must be one of"),
        ({"turn": {"coups": 30}}, "ADA-15"),
        ({"turn": {"number": 1, "colour": "green"}}, "ADA-15"),
        ({"turn": {"stage": "answer"}}, "ADA-33"),
        ({"turn": {"stage": "number"}}, "does not say which decision"),
        ({"hands": [["raid"] * 9, [], []]}, "ADA-32"),
        ({"hands": [["joker"], [], []]}, "must be one of"),
        ({"deck": ["raid"]}, "ADA-32"),
        ({"chance": [["combat", 9]]}, "ADA-7"),
        ({"chance": [["dice", 1]]}, "must be one of"),
        ({"chance": [3]}, "'chance'"),
        ({"claims": ["green"], "neutral": "green"}, "ADA-28"),
        ({"claims": ["blue"], "new_claims": ["blue"], "neutral": "orange"}, "ADA-28"),
        ({"new_claims": ["green"]}, "ADA-28"),
        ({"claims": ["green"], "new_claims": ["pink"]}, "must be one of"),
        ({"result": {"winners": [0], "truncated": False}}, "ADA-2"),
        ({"box": 3}, "'box' would be"),
        ({"legal": []}, "'legal' would be"),
    ],
)
def test_invalid_descriptions_of_armada_are_refused(description, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        ARMADA.state_from(description)


def test_descriptions_of_other_types_are_refused():
    for wrong in (None, 3, [], "x"):
        with pytest.raises(TypeError, match="a description must be a dictionary"):
            ARMADORA.state_from(wrong)
    deep = current = {}
    for _ in range(2000):
        current["gold"] = current = {}
    with pytest.raises(ValueError, match="JSON"):
        ARMADORA.state_from(deep)


@pytest.mark.parametrize("game", [ARMADORA, ARMADA], ids=["armadora", "armada"])
def test_the_view_of_a_seat_is_refused(game):
    states = game.new_states(3)
    rng = np.random.default_rng(0)
    for _ in range(12):
        action = int(rng.choice(np.flatnonzero(game.legal_masks(states)[0])))
        game.apply(states, np.array([0]), np.array([action]))
    with pytest.raises(ValueError, match="the view of one seat"):
        game.state_from(game.describe(states[0], 1))


def test_a_game_without_descriptions_says_so():
    plain = replace(ARMADORA, _states_from=None)
    with pytest.raises(ValueError, match="armadora cannot make states from descriptions"):
        plain.state_from({})


def test_random_damage_is_refused_or_gives_a_valid_state():
    rng = np.random.default_rng(3)
    values = [None, -1, 0, 1, 255, 2**70, 1.5, "x", [], {}, [None], True]
    for game in (ARMADORA, ARMADA):
        views = [game.describe(state) for state in list(states_of(game, 2))[5:200:40]]
        for view in views:
            for _ in range(40):
                wrong = copy.deepcopy(view)
                place, key = wrong, rng.choice(list(wrong))
                while isinstance(place[key], dict) and place[key] and rng.random() < 0.7:
                    place = place[key]
                    key = str(rng.choice(list(place)))
                place[key] = values[rng.integers(len(values))]
                try:
                    state = game.state_from(wrong)
                except ValueError:
                    continue
                game.check_states(np.full(1, state))
