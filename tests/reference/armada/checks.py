"""Checks of the compiled Armada against the reference, after every decision.

A `Match` plays one game with the compiled rules (the kernels) and the reference, and compares
everything after every decision. The rule tests use it on positions made by hand. Other tests use it
on whole games and random positions of many variants. Every failure is an AssertionError with the
variant, the seed and the decisions.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import State, States
from armarl.core.batch_loops import HAS_ENDED, WAS_CUT_SHORT, WAS_ILLEGAL, play_one
from armarl.core.game import Game
from armarl.games.armada import state as layout
from armarl.games.armada.actions import CARD_NAMES
from armarl.games.make_game import make_game
from armarl.players.simple_players import GreedyPlayer
from reference.armada.board import BANDS, CARDS, COLOURS, GOLD, SHIPS, TRIBES
from reference.armada.game import Armada
from reference.armada.memory import agrees
from reference.armada.observed import observed_blocks
from reference.armada.play import Wanderer, random_position
from reference.refusals import check_acceptance, check_refusals

VARIANTS: list[dict[str, Any]] = [
    {"players": players, "cards": cards, "enrolment": enrolment}
    for players, cards, enrolment in product((2, 3, 4), (False, True), (False, True))
]


def variant_name(variant: dict[str, Any]) -> str:
    """Return the name of a variant, such as `3p-cards-enrolment`."""
    options = [name for name in ("cards", "enrolment") if variant[name]]
    return "-".join([f"{variant['players']}p", *options])


def mirror(game: Game, state: State) -> Armada:
    """Return a reference game equal to a newly dealt state."""
    view = game.describe(state)
    return Armada(
        game.attributes["chart"].as_dict(),
        players=game.players,
        cards=game.options["cards"],
        enrolment=game.options["enrolment"],
        max_turns=game.options["max_turns"],
        neutral=view["neutral"],
        hands=view["hands"],
        deck=view["deck"],
        **({"dice": game.options["dice"]} if "dice" in game.options else {}),
    )


class Match:
    """A game that the kernels and the reference play at the same time.

    Attributes:
        states: the game of the kernels, an array with one state.
        reference: the same game in the reference.
        played: the decisions so far.
    """

    def __init__(self, game: Game, seed: int) -> None:
        self.game, self.seed = game, seed
        self.states = game.new_states(seed)
        self.reference = mirror(game, self.states[0])
        self.played: list[str] = []
        self._mask = np.empty(len(game.actions), np.int8)
        self.rewards = np.full(game.players, np.nan)
        self.view = game.describe(self.states[0])
        self.compare()

    def set_up(self, position: dict[str, Any]) -> None:
        """Set up a position in both implementations (see `write_position`)."""
        write_position(self.game, self.states, position)
        self.reference.resume(position)
        self.played = ["(from a position)"]
        self.view = self.game.describe(self.states[0])
        self.compare()

    def play(self, text: str, dice: Sequence[tuple[str, int]] | None = None) -> None:
        """Play a decision in both implementations and compare them.

        `dice` sets the faces that are rolled.
        """
        action = self.game.actions.id(text)
        if dice is not None:
            self._load_dice(action, [list(face) for face in dice])
        self.played.append(text)
        code = self.game.compiled(play_one)(
            self.states, 0, action, self._mask, self.rewards, 0, self.game.fixed_records
        )
        assert code != WAS_ILLEGAL, f"the kernel refuses {text}"
        self.view = self.game.describe(self.states[0])
        self.reference.play(text, self.view["chance"], self.view["deck"])
        result = self.reference.result
        over = WAS_CUT_SHORT if result and result["truncated"] else HAS_ENDED
        expected = self.reference.to_move if result is None else over
        assert code == expected, f"play returned {code}, not {expected}"
        self.compare()

    def compare(self) -> None:
        """Check that mask, description, and the seat whose turn it is, agree with the reference."""
        texts = self.game.actions.legal_texts(self.game.legal_masks(self.states)[0])
        odd = set(texts) ^ self.reference.legal()
        assert not odd, f"legal for the {'kernel' if odd & set(texts) else 'reference'} only: {odd}"
        expected = self.expected_view()
        assert self.view == expected, differences(self.view, expected)
        turn = expected["interrupted"] or expected["turn"]
        assert self.game.turns_of(self.states)[0] == turn["player"]

    def expected_view(self) -> dict[str, Any]:
        """Return the expected result of `describe`."""
        return self.reference.view() | {
            "version": self.game.version,
            "options": dict(self.game.options),
            "chance": self.view["chance"],
        }

    def _load_dice(self, action: int, dice: list[list[Any]]) -> None:
        """Give the state a random number generator with which the action rolls these dice."""
        trial = self.states.copy()
        for rng in range(100_000):
            trial[:] = self.states
            trial["rng"] = rng
            self.game.play(trial, np.array([0]), np.array([action]))
            if self.game.describe(trial[0])["chance"] == dice:
                self.states["rng"] = rng
                return
        raise AssertionError(f"no generator found that throws {dice}")


def differences(one: dict[str, Any], other: dict[str, Any], path: str = "") -> str:
    """Return the differences of two descriptions, as `key: kernel value not reference value`."""
    found = []
    for key in {**one, **other}:
        a, b = one.get(key, "nothing"), other.get(key, "nothing")
        if isinstance(a, dict) and isinstance(b, dict):
            found.append(differences(a, b, f"{path}{key}."))
        elif a != b:
            found.append(f"{path}{key}: {a} not {b}")
    return "; ".join(filter(None, found))


def write_position(game: Game, states: States, position: dict[str, Any]) -> None:
    """Write the result of `describe` at the stage "order", outside raids, into `states[0]`.

    The options, the chart and the random number generator do not change, because the description
    does not contain them.
    """
    s = states[0]
    owners = {name: number for number, name in enumerate(COLOURS)}
    owners |= {"tribes": layout.TRIBES, None: layout.NOBODY}
    nothing = {"owner": None, "colour": None, "bands": 0, "gold": 0}
    s["ships"] = s["tribes"] = 0
    for place, name in enumerate(game.attributes["chart"].places):
        land, ship = position["territories"].get(name), position["ships"].get(name)
        here = land or ship or nothing
        s["owner"][place] = owners[here["colour" if land is None else "owner"]]
        s["bands"][place], s["gold"][place] = here["bands"], here["gold"]
        if ship is not None if land is None else land["ship"]:
            layout.flip_ship(s, place)
        if land is not None and place >= layout.CENTRAL:
            s["tribes"][place - layout.CENTRAL] = land["tribes"]
    lands = position["territories"].values()
    for number, colour in enumerate(COLOURS):
        nobodys = sum(land["bands"] for land in lands if land["colour"] == colour)
        s["reserve"][number] = position["reserve"].get(colour, BANDS - nobodys)
        s["claims"][number] = layout.CLAIM_DUE * (colour in position["claims"])
        if colour in position["new_claims"]:
            s["claims"][number] = layout.NEW_CLAIM
    s["supply_gold"], s["supply_tribes"] = position["supply"]["gold"], position["supply"]["tribes"]
    s["box"] = position["box"]
    turn = position["turn"]
    s["turn"], s["colour"][0], s["coups"][0] = turn["number"], owners[turn["colour"]], turn["coups"]
    s["enrolled"][0], s["more_coups"][0] = turn["enrolled"], turn["more_coups"]
    s["raid"] = s["idle"] = s["asked"] = s["thrown"] = 0
    s["stage"], s["to_move"], s["winner"] = layout.ORDER, turn["player"], -1
    for name in ("order", "origin", "target", "used"):
        s[name] = -1
    for name in ("count", "roll", "due", "looked"):
        s[name] = 0
    if game.options["cards"]:
        s["played"] = [position["played"].count(card) for card in CARD_NAMES]
        write_cards(game, states, position["hands"], position["deck"])
        forget(states)


def write_cards(
    game: Game, states: States, hands: Sequence[Sequence[str]], deck: Sequence[str]
) -> None:
    """Write the hands and the deck (top card first) into `states[0]`."""
    s = states[0]
    for seat, hand in enumerate(hands):
        s["hand"][seat] = [hand.count(card) for card in CARD_NAMES]
        s["hand_size"][seat] = len(hand)
    cards = [1 + CARD_NAMES.index(card) for card in reversed(deck)]
    s["deck"] = cards + [0] * (layout.ALL_CARDS - len(cards))
    s["deck_size"] = len(cards)


def forget(states: States) -> None:
    """Clear all memory of cards and answers in `states[0]`."""
    for name in ("remembered", "drawn", "answers"):
        states[0][name][:] = 0


# --- one game ------------------------------------------------------------------------------------


def check_game(
    variant: dict[str, Any], seed: int, way: str, decisions: int, sample: float
) -> Counter[str]:
    """Play a game in both implementations and check everything.

    Args:
        variant: options of the game.
        seed: the seed of the deal and of the random choices.
        way: "random" for random play from the deal, "position" for random play from a random
            position, or "greedy" for play of the scripted player from the deal.
        decisions: the maximum number of decisions.
        sample: the fraction of the states for which the expensive checks run. The other checks run
            for all states.

    Returns:
        Counts of the special cases that occurred.

    Raises:
        AssertionError: the implementations disagree, or the kernels break a guarantee.
    """
    game = make_game("armada", **variant)
    rng = random.Random(f"{variant} {seed}")
    match = Match(game, seed)
    try:
        if way == "position":
            match.set_up(random_position(match.reference, rng))
        wanderer = Wanderer(rng, game.players, fierce=way == "position")
        choose = partial(_greedy, rng) if way == "greedy" else _of_reference(wanderer.choose)
        _check_game(match, choose, rng, decisions, sample)
    except AssertionError as error:
        where = f"{game.players} players, {dict(game.options)}, seed {seed}"
        raise AssertionError(f"{error}\nin {where} after\n{'; '.join(match.played)}") from error
    return match.reference.events + Counter(states=len(match.played), games=1)


def _of_reference(choose: Callable[[Armada], str]) -> Callable[[Match], str]:
    return lambda match: choose(match.reference)


def _greedy(rng: random.Random, match: Match) -> str:
    """Return the scripted player's choice for the seat to move."""
    seats = np.array([match.reference.to_move])
    seen = match.game.concealed(match.states, seats)
    (action,) = GreedyPlayer(match.game).choose(seen, seats, np.array([rng.random()]))
    return match.game.actions.text(action)


def _check_game(
    match: Match,
    choose: Callable[[Match], str],
    rng: random.Random,
    decisions: int,
    sample: float,
) -> None:
    history = [match.states.copy()]
    for _ in range(decisions):
        check_conserved(match.view)
        over = match.reference.result is not None
        if over or rng.random() < sample:
            check_refusals(match.game, match.states)
            check_acceptance(match.game, match.states)
            check_secrets(match, rng)
        if over:
            check_result(match)
            break
        match.play(choose(match))
        history.append(match.states.copy())
    check_repeats(match, np.concatenate(history))


# --- the checks ----------------------------------------------------------------------------------


def check_conserved(view: dict[str, Any]) -> None:
    """Check that bands, gold, tribes, ships and cards are conserved and in possible places."""
    lands, ships = view["territories"].values(), view["ships"].values()
    for colour in COLOURS:
        bands = sum(here["bands"] for here in [*lands, *ships] if here["colour"] == colour)
        if colour != view["neutral"]:
            assert bands + view["reserve"][colour] == BANDS, f"bands of {colour} not conserved"
        assert bands <= BANDS
    assert sum(h["gold"] for h in [*lands, *ships]) + view["supply"]["gold"] == GOLD
    assert sum(h["tribes"] for h in lands) + view["supply"]["tribes"] == TRIBES
    assert sum(h["ship"] for h in lands) + len(ships) + view["box"] == SHIPS
    if view["options"]["cards"]:
        assert sum(map(Counter, view["hands"]), Counter(view["deck"] + view["played"])) == CARDS
    for here in [*lands, *ships]:
        assert (here["bands"] > 0) == (here["colour"] is not None)
    for ship in ships:
        assert ship["bands"] + ship["gold"] <= 10
    for land in lands:
        assert not (land["bands"] and land["tribes"])
        assert land["colour"] in (None, land["owner"])
        assert land["explored"] or land["owner"] is None


def check_secrets(match: Match, rng: random.Random) -> None:
    """Check that hidden information does not change anything that a seat can see (ADA-37)."""
    game, states = match.game, match.states
    for seat in range(game.players):
        seats = np.array([seat])
        seen = game.describe(states[0], seat)
        expected = seen_by(match.expected_view(), seat)
        assert seen == expected, f"describe({seat}): {differences(seen, expected)}"
        dealt = game.determinised(states, seats, np.array([rng.getrandbits(63)]))
        _assert_same_to(game, states, dealt, seats)
        by_hand = dealt_by_hand(match, seat, rng)
        _assert_same_to(game, states, by_hand, seats)
        assert game.draw(states[0], seat) == game.draw(by_hand[0], seat)
        _assert_same_to(game, states, game.concealed(states, seats), seats)
        again = game.describe(dealt[0])
        check_conserved(again)
        for view in (match.view, again) if game.options["cards"] else ():
            hands, deck = view["hands"], view["deck"]
            assert agrees(match.view["known"], hands, deck, seat), "a seat has wrong knowledge"
        assert again["pending"] == match.view["pending"] or seat != match.view["to_move"]
        low, high = game.observation.bounds()
        observations, masks = game.views(states, seats)
        check_observation(match, seat, observations[0])
        assert ((observations >= low) & (observations <= high)).all(), "observation out of bounds"
        assert set(np.unique(masks)) <= {0, 1}


def check_observation(match: Match, seat: int, observation: NDArray[np.float32]) -> None:
    """Check the blocks of the observation against the description."""
    table = match.game.observation
    blocks = table.decode(observation)
    expected_blocks = observed_blocks(match.view, seat, match.reference)
    assert blocks.keys() == expected_blocks.keys()
    for name, expected in expected_blocks.items():
        same = np.array_equal(blocks[name], np.array(expected))
        assert same, f"seat {seat} observes a wrong {name!r}: {blocks[name]} not {expected}"
    for block in table.blocks:
        exact = blocks[block.name] / np.asarray(block.scale)
        close = np.allclose(table.views(observation)[block.name], exact, atol=1e-6)
        assert close, f"{block.name!r} is not quantity / scale"


def dealt_by_hand(match: Match, seat: int, rng: random.Random) -> States:
    """Return a copy of the state with another `rng`, and other cards where `seat` knows none."""
    view, game = match.view, match.game
    looked = len((view["pending"] or {}).get("looked", ()))
    known = looked if seat == view["to_move"] else 0
    places = [view["deck"][known:]]
    places += [list(hand) for player, hand in enumerate(view["hands"]) if player != seat]
    cells = [(place, i) for place in places for i in range(len(place))]
    top, own = view["deck"][:known], view["hands"][seat]
    for _ in range(100 if len(cells) > 1 else 0):
        (here, i), (there, j) = rng.sample(cells, 2)
        here[i], there[j] = there[j], here[i]
        if not agrees(view["known"], _hands(places, own, seat), top + places[0], seat):
            here[i], there[j] = there[j], here[i]
    dealt = match.states.copy()
    if game.options["cards"]:
        write_cards(game, dealt, _hands(places, own, seat), top + places[0])
        for player in range(game.players):
            if player != seat:
                dealt["remembered"][0, player] = rng.randrange(3)
    dealt["rng"] = rng.getrandbits(64)
    return dealt


def _hands(places: list[list[str]], own: list[str], seat: int) -> list[list[str]]:
    """Return all hands, by seat. `places` has the deck first, then the hands of the other seats."""
    return [*places[1 : seat + 1], own, *places[seat + 1 :]]


def seen_by(view: dict[str, Any], seat: int) -> dict[str, Any]:
    """Return a description without the information that is hidden from a seat (ADA-37)."""
    seen = dict(view)
    seen["hands"] = [h if player == seat else None for player, h in enumerate(view["hands"])]
    seen["deck"] = None
    seen["known"] = [
        known if player == seat else known | {"in_deck": None}
        for player, known in enumerate(view["known"])
    ]
    if view["pending"] and "looked" in view["pending"] and seat != view["to_move"]:
        seen["pending"] = view["pending"] | {"looked": None}
    if view["to_move"] not in (None, seat):
        seen["legal"] = None
    return seen


def _assert_same_to(game: Game, states: States, others: States, seats: NDArray[np.int64]) -> None:
    """Check that observation, mask, description and concealed record of `seats[0]` are equal."""
    seat = int(seats[0])
    for one, other, what in zip(
        game.views(states, seats), game.views(others, seats), ("observation", "mask"), strict=True
    ):
        assert one.tobytes() == other.tobytes(), f"a secret leaks into the {what} of seat {seat}"
    assert game.describe(states[0], seat) == game.describe(others[0], seat)
    concealed = [game.concealed(array, seats).tobytes() for array in (states, others)]
    assert concealed[0] == concealed[1], "hidden information remains in a concealed state"


def check_repeats(match: Match, history: States) -> None:
    """Check that the same decisions from the same state give the same bytes again."""
    states = np.frombuffer(history[0].tobytes(), history.dtype).copy()
    first = 1 if match.played[:1] == ["(from a position)"] else 0
    for step, text in enumerate(match.played[first:]):
        assert states.tobytes() == history[step].tobytes(), "a game does not repeat"
        match.game.apply(states, np.array([0]), np.array([match.game.actions.id(text)]))
    assert states.tobytes() == history[-1].tobytes(), "a game does not repeat"


def check_result(match: Match) -> None:
    """Check the status and the returns of a finished game."""
    game, result = match.game, match.reference.result
    assert result is not None
    assert game.statuses(match.states)[0][0] == 1 + result["truncated"]
    rewards = match.rewards
    assert abs(rewards.sum()) < 1e-12, "the returns do not add up to 0"
    if result["truncated"]:
        assert not rewards.any()
    else:
        (winner,) = result["winners"]
        assert rewards[winner] == 1
        assert all(rewards[seat] < 0 for seat in range(game.players) if seat != winner)


def check_games(
    variant: dict[str, Any], seeds: range, way: str, decisions: int, sample: float = 0.0
) -> Counter[str]:
    """Check one game of a variant for each seed.

    A third of the games have a low turn limit (ADA-30).
    """
    occurred: Counter[str] = Counter()
    for seed in seeds:
        options = variant | {"max_turns": 20 if seed % 3 == 1 else 400}
        occurred += check_game(options, seed, way, decisions, sample)
    return occurred


def check_random_games(variant: dict[str, Any], seeds: range, sample: float) -> Counter[str]:
    """Check a game for each seed. Eight of ten games start from random positions, two from deals.

    One of these two has random players, and the other has scripted players. Most games start from
    positions, because they then reach more rules in fewer decisions.
    """
    occurred: Counter[str] = Counter()
    for seed in seeds:
        way = {0: "random", 5: "greedy"}.get(seed % 10, "position")
        decisions = 150 if way == "position" else 100_000
        occurred += check_games(variant, range(seed, seed + 1), way, decisions, sample)
    return occurred
