"""The slow reference of Armada: the pieces on the board, and the terms of the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from typing import Any

from reference.armada.memory import Event

COLOURS = ("green", "raspberry", "blue", "orange")  # in play order, ADA-9
BANDS, SHIPS, GOLD, TRIBES = 50, 8, 50, 50  # ADA-6
DICE = {"combat": [1, 1, 1, 2, -1, -1], "gold": [0, 1, 1, 2, 2, 3], "tribes": [0, 1, 2, 2, 3, 4]}
ROOM = 10  # ADA-19
TURN_COUPS, RAID_COUPS, MORE_COUPS = 10, 3, 3
CARDS = Counter(
    {
        "attack": 5,
        "defence": 5,
        "shipyard": 3,
        "raid": 4,
        "discovery": 2,
        "recruit": 1,
        "big-recruit": 1,
        "natives": 1,
        "big-natives": 1,
        "strategist": 8,
        "gold-mine": 8,
        "mutiny": 2,
        "more-coups": 5,
    }
)

Chain = Generator[None, str, None]
Asking = Generator[None, str, str]


class GameOver(Exception):  # noqa: N818 - not an error
    """An exception that ends the generator of the game, from any depth of its calls."""


class Board:
    """The state of a game, with methods that query it, ask for decisions and roll dice."""

    def __init__(
        self,
        chart: dict[str, Any],
        players: int,
        cards: bool = False,
        enrolment: bool = False,
        max_turns: int = 400,
        neutral: str | None = None,
        hands: Sequence[Sequence[str]] | None = None,
        deck: Sequence[str] = (),
        dice: dict[str, Sequence[int]] = DICE,
    ) -> None:
        self.chart = {land["name"]: land for land in chart["territories"]}
        self.near: dict[str, set[str]] = {name: set() for name in [*self.chart, *chart["sea"]]}
        for a, b in chart["borders"]:
            self.near[a].add(b)
            self.near[b].add(a)
        self.players, self.cards, self.enrolment = players, cards, enrolment
        self.max_turns, self.neutral, self.faces = max_turns, neutral, dice
        assert (neutral is not None) == (players == 3)  # ADA-12
        self.playing = [colour for colour in COLOURS if colour != neutral]
        self.player_of = {
            colour: number % 2 if players == 2 else number  # ADA-9, ADA-11
            for number, colour in enumerate(self.playing)
        }
        self.land = {name: self._fresh(name) for name in self.chart}
        self.ships: dict[str, dict[str, Any]] = {}
        self.box = SHIPS
        self.reserve = dict.fromkeys(self.playing, BANDS)
        self.supply = {"gold": GOLD, "tribes": TRIBES}
        self.hands = [sorted(hand) for hand in hands or [[] for _ in range(players)]]
        self.deck, self.played = list(deck), []
        self.seen = self._dealt()
        self.claims: set[str] = set()
        # The colours that laid a claim in this turn. The end of this turn does not judge these.
        self.laid_this_turn: set[str] = set()
        self.turn = self._new_turn(self.playing[0], 0)
        self.interrupted: dict[str, Any] | None = None
        self.turns_ended: int | None = None
        self.idle_turns = 0
        self.pending: dict[str, Any] | None = None
        # Details of the current chain (decisions that make one order): count, due, target, used.
        self.detail: dict[str, Any] = {}
        self.result: dict[str, Any] | None = None
        self.stage, self.to_move = "preliminary", 0
        # Counts of special cases, with which tests check that all of them occur.
        self.events: Counter[str] = Counter()
        self._options: set[str] = set()
        self._dice: list[tuple[str, int]] = []
        self._shuffled: list[str] | None = None

    def _dealt(self) -> list[Event]:
        """Return the events of the deal, in the form that `memory` reads."""
        return [("deal", player, card) for player, hand in enumerate(self.hands) for card in hand]

    def _fresh(self, name: str) -> dict[str, Any]:
        """Return a territory as it is at the start of the game (ADA-12, ADA-14).

        Lairs have owners and are explored. Central territories have no owners and are unexplored.
        """
        lair = self.chart[name]["lair"]
        central = lair == "central"
        bands = (3 if self.chart[name]["city"] else 1) if lair == self.neutral else 0
        return {
            "owner": None if central else lair,
            "explored": not central,
            "bands": bands,
            "colour": lair if bands else None,
            "tribes": 0,
            "gold": 0,
            "ship": False,
        }

    def _new_turn(self, colour: str, coups: int, raid: bool = False) -> dict[str, Any]:
        return {
            "player": self.player_of[colour],
            "colour": colour,
            "raid": raid,
            "coups": coups,
            "enrolled": False,
            "more_coups": False,
        }

    # --- the generator and its questions ---------------------------------------------------------

    def _ask(self, player: int, stage: str, options: Iterable[str]) -> Asking:
        """Ask for one of the options. If only one answer is possible, do not ask (ADA-36)."""
        options = set(options)
        assert options
        if len(options) == 1:
            (text,) = options
            self.events[f"ADA-36: {text.split()[0]} not asked"] += 1
            return text
        self.to_move, self.stage, self._options = player, stage, options
        return (yield)

    def _ask_place(self, word: str, places: Iterable[str]) -> Asking:
        answer = yield from self._ask(self.player, "place", {f"{word} {name}" for name in places})
        return answer.split()[1]

    def _ask_number(self, word: str, numbers: Iterable[int]) -> Generator[None, str, int]:
        answer = yield from self._ask(self.player, "number", {f"{word} {n}" for n in numbers})
        return int(answer.split()[1])

    def _roll(self, die: str) -> int:
        assert self._dice, f"the {die} die should have been thrown"
        thrown, face = self._dice.pop(0)
        assert thrown == die, f"the {die} die should have been thrown, not {thrown}"
        assert face in self.faces[die], f"the {die} die has no face {face}"
        return face

    def _win(self, player: int) -> None:
        self.result = {"winners": [player], "truncated": False}
        raise GameOver

    def _truncate(self) -> None:
        self.result = {"winners": [], "truncated": True}
        raise GameOver

    # --- terms of the rules ----------------------------------------------------------------------

    @property
    def colour(self) -> str:
        """Return the acting colour: the colour of the turn or of the raid."""
        return self.turn["colour"]

    @property
    def player(self) -> int:
        return self.turn["player"]

    @property
    def coups(self) -> int:
        return self.turn["coups"]

    def is_central(self, name: str) -> bool:
        return self.chart[name]["lair"] == "central"

    def lair(self, colour: str) -> list[str]:
        return [name for name, land in self.chart.items() if land["lair"] == colour]

    def owned(self) -> list[str]:
        return [name for name, land in self.land.items() if land["owner"] == self.colour]

    def owned_central(self) -> list[str]:
        return [name for name in self.owned() if self.is_central(name)]

    def owned_in(self, lair: str) -> list[str]:
        return [name for name in self.owned() if self.chart[name]["lair"] == lair]

    def owned_cities(self) -> list[str]:
        return [name for name in self.owned() if self.chart[name]["city"]]

    def owned_posts(self) -> list[str]:
        return [name for name in self.owned() if self.chart[name]["post"] is not None]

    def at(self, place: str) -> dict[str, Any]:
        """Return the contents of a place: a territory, a ship, or an empty square."""
        nothing = {"colour": None, "bands": 0, "gold": 0}
        return self.land.get(place) or self.ships.get(place) or nothing

    def manned(self) -> list[str]:
        """Return the places with bands of the acting colour."""
        colour, everywhere = self.colour, (*self.land.items(), *self.ships.items())
        return [place for place, here in everywhere if here["colour"] == colour]

    def is_enemy(self, colour: str | None) -> bool:
        """Return whether a colour, even the neutral one, is an enemy of the acting player."""
        return colour is not None and self.player_of.get(colour) != self.player

    def is_own_second(self, colour: str | None) -> bool:
        return colour != self.colour and self.player_of.get(colour) == self.player

    def holds(self, card: str) -> bool:
        return card in self.hands[self.player]

    def add_bands(self, place: str, bands: int) -> int:
        """Add bands of the acting colour, at most as many as its reserve has (ADA-6).

        Return the number added.
        """
        wanted, bands = bands, min(bands, self.reserve[self.colour])
        self.events["ADA-6: fewer bands than wanted"] += bands < wanted
        if bands:
            self.reserve[self.colour] -= bands
            here = self.at(place)
            assert here["colour"] in (None, self.colour)
            here["colour"] = self.colour
            here["bands"] += bands
        return bands

    def take_bands(self, place: str, bands: int) -> None:
        """Take bands from a place. The caller puts them somewhere else."""
        here = self.at(place)
        here["bands"] -= bands
        assert here["bands"] >= 0
        if here["bands"] == 0:
            here["colour"] = None

    def remove_bands(self, place: str, bands: int) -> None:
        """Remove lost bands from a place and put them into their colour's reserve.

        Losses beyond the number of bands at the place are ignored (ADA-22).
        """
        here = self.at(place)
        self.events["ADA-22: excess is void"] += bands > here["bands"]
        colour, bands = here["colour"], min(bands, here["bands"])
        self.events["ADA-12: nobody's bands lost"] += colour == self.neutral
        self.take_bands(place, bands)
        if colour != self.neutral:
            self.reserve[colour] += bands

    def look_for_last_player(self) -> None:
        """End the game if only one player is left (ADA-29)."""
        everywhere = [*self.land.values(), *self.ships.values()]
        alive = {self.player_of.get(here["colour"]) for here in everywhere} - {None}
        if len(alive) == 1:
            (player,) = alive
            others = set(self.player_of.values()) - alive
            if any(self._has_something_left(other) for other in others):
                self.events["ADA-29: kept in by a card, gold or enrolment"] += 1
                return
            self.events["ADA-29: last player wins"] += 1
            self.events["ADA-29: attacker's last bands lost"] += self.player != player
            self._win(player)

    def _has_something_left(self, player: int) -> bool:
        """Return whether a player has a card, gold, or bands to enrol (ADA-29, ADA-31)."""
        for colour in (c for c in self.playing if self.player_of[c] == player):
            owned = [name for name, land in self.land.items() if land["owner"] == colour]
            groups = Counter(self.chart[name]["lair"] for name in owned)
            if any(self.land[name]["gold"] for name in owned):
                return True
            if self.enrolment and any(number >= 4 for number in groups.values()):
                return True
        return bool(self.hands[player])

    def put_gold(self, name: str, gold: int) -> None:
        self.events["ADA-6: less gold than wanted"] += gold > self.supply["gold"]
        gold = min(gold, self.supply["gold"])
        self.supply["gold"] -= gold
        self.land[name]["gold"] += gold

    def put_tribes(self, name: str, tribes: int) -> int:
        self.events["ADA-6: fewer tribes than wanted"] += tribes > self.supply["tribes"]
        tribes = min(tribes, self.supply["tribes"])
        self.supply["tribes"] -= tribes
        self.land[name]["tribes"] += tribes
        return tribes

    def spend_gold(self, place: str) -> None:
        self.at(place)["gold"] -= 1
        self.supply["gold"] += 1

    def discard(self, player: int, card: str) -> None:
        self.hands[player].remove(card)
        self.played.append(card)
        self.seen.append(("play", player, card))

    def draw(self, player: int, depth: int = 0) -> None:
        card = self.deck.pop(depth)
        self.hands[player].append(card)
        self.seen.append(("draw", player, card))

    def is_asked(self, player: int, card: str) -> bool:
        """Return whether a player has a card and is therefore asked whether it plays the card."""
        held = card in self.hands[player]
        if self.cards:
            self.seen.append(("asked" if held else "not asked", player, card))
        return held
