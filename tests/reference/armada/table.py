"""Positions of Armada made by hand for the rule tests. Kernels and reference both play them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from typing import Any

from armarl.games.make_game import make_game
from reference.armada.board import BANDS, CARDS, COLOURS, GOLD, SHIPS, TRIBES
from reference.armada.checks import Match
from reference.armada.game import Armada

Dice = list[tuple[str, int]]


class Table:
    """A position of Armada to set up, which the kernels and the reference then play.

    At first every colour owns its lair, with five bands at its `home`. All ships are in the box,
    nothing is explored, hands are empty, and it is the first colour's turn. `put`, `sea`, `own`,
    `hand` and `turn` change the position. The first call of `legal` or `play` starts the game.
    """

    GARRISON = 5

    def __init__(self, players: int = 4, neutral: str | None = None, **options: Any) -> None:
        game = make_game("armada", players=players, **options)
        self.match = next(
            match
            for match in (Match(game, seed) for seed in itertools.count())
            if match.reference.neutral == neutral
        )
        self.near = self.reference.near
        self.chart = self.reference.chart
        self.lands = {name: self.reference._fresh(name) for name in self.chart}
        self.ships: dict[str, dict[str, Any]] = {}
        for colour in self.reference.playing:
            self.put(self.home(colour), colour, self.GARRISON)
        self.hands: list[list[str]] = [[] for _ in range(players)]
        self.deck: list[str] | None = None
        self.claims: list[str] = []
        self.new_claims: list[str] = []
        self.turn(self.reference.playing[0])
        self._begun = False

    @property
    def reference(self) -> Armada:
        return self.match.reference

    # --- places ----------------------------------------------------------------------------------

    def lair(self, colour: str) -> list[str]:
        return [name for name, land in self.chart.items() if land["lair"] == colour]

    def home(self, colour: str) -> str:
        """Return a lair's last inland territory without a city, where its bands are at first."""
        lair = self.lair(colour)
        return [n for n in lair if self.inland(n) and not self.chart[n]["city"]][-1]

    def cities(self, colour: str) -> list[str]:
        return [name for name in self.lair(colour) if self.chart[name]["city"]]

    def post(self, post: str) -> str:
        return next(name for name, land in self.chart.items() if land["post"] == post)

    def coast(self, name: str) -> list[str]:
        """Return the squares next to a territory."""
        return sorted(self.near[name] - set(self.chart))

    def inland(self, name: str) -> list[str]:
        """Return the territories next to a territory or square."""
        return sorted(self.near[name] & set(self.chart))

    def coastal(self, lair: str) -> str:
        """Return the first territory of a lair (or of the central group) that has a coast."""
        return next(name for name in self.lair(lair) if self.coast(name))

    def plain_neighbours(self, lair: str) -> tuple[str, str]:
        """Return two neighbouring territories of a lair that have no city or post."""
        plain = {n for n in self.lair(lair) if not (self.chart[n]["city"] or self.chart[n]["post"])}
        return next((a, b) for a in sorted(plain) for b in sorted(self.near[a] & plain))

    # --- setting up ------------------------------------------------------------------------------

    def put(self, name: str, owner: str | None, bands: int = 0, **more: Any) -> None:
        """Set the contents of a territory, which is explored if it has an owner.

        `more` sets gold, tribes and ship.
        """
        self.lands[name] |= {"owner": owner, "bands": bands, "colour": owner if bands else None}
        self.lands[name] |= {"explored": owner is not None} | more

    def sea(self, square: str, colour: str | None = None, bands: int = 0, gold: int = 0) -> None:
        """Put a ship at sea."""
        self.ships[square] = {"colour": colour, "bands": bands, "gold": gold}

    def own(self, colour: str | None, names: Iterable[str]) -> None:
        """Set the owner of territories without bands."""
        for name in names:
            self.put(name, colour)

    def hand(self, player: int, *cards: str) -> None:
        self.hands[player] = list(cards)

    def turn(self, colour: str = "green", coups: int = 10, number: int = 0, **more: Any) -> None:
        self._turn = {"number": number, "colour": colour, "raid": False, "coups": coups}
        self._turn |= {"enrolled": False, "more_coups": False, "stage": "order"} | more
        self._turn["player"] = self.reference.player_of[colour]

    def position(self) -> dict[str, Any]:
        here = [*self.lands.values(), *self.ships.values()]
        bands = {
            c: sum(h["bands"] for h in here if h["colour"] == c) for c in self.reference.playing
        }
        left = CARDS - sum(map(Counter, self.hands), Counter())
        deck = sorted(left.elements()) if self.deck is None else list(self.deck)
        cards = self.reference.cards
        return {
            "territories": self.lands,
            "ships": self.ships,
            "box": SHIPS - len(self.ships) - sum(land["ship"] for land in self.lands.values()),
            "reserve": {colour: BANDS - number for colour, number in bands.items()},
            "supply": {
                "gold": GOLD - sum(h["gold"] for h in here),
                "tribes": TRIBES - sum(land["tribes"] for land in self.lands.values()),
            },
            "neutral": self.reference.neutral,
            "turn": self._turn,
            "interrupted": None,
            "claims": self.claims,
            "new_claims": self.new_claims,
            "hands": self.hands,
            "deck": deck if cards else [],
            "played": sorted((left - Counter(deck)).elements()) if cards else [],
        }

    # --- playing ---------------------------------------------------------------------------------

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self.match.set_up(self.position())
            assert self.reference.stage == "order", "the position ends the turn by itself"

    def legal(self, *verbs: str) -> set[str]:
        """Return the legal notations, or only those that start with one of `verbs`."""
        self._begin()
        return {
            text
            for text in self.reference.legal()
            if not verbs or any(text == verb or text.startswith(f"{verb} ") for verb in verbs)
        }

    def play(self, *texts: str, dice: Dice | None = None) -> None:
        """Play some decisions. `dice` are the dice that the last decision rolls."""
        self._begin()
        for text in texts[:-1]:
            self.match.play(text)
        self.match.play(texts[-1], dice)

    @property
    def view(self) -> dict[str, Any]:
        """Return the result of `describe`, which is equal for kernels and reference."""
        self._begin()
        return self.match.view

    @property
    def coups(self) -> int:
        coups: int = self.view["turn"]["coups"]
        return coups

    def land(self, name: str) -> dict[str, Any]:
        land: dict[str, Any] = self.view["territories"][name]
        return land

    @property
    def winners(self) -> list[int] | None:
        """Return the winners ([] after the turn limit), or None if the game is not over."""
        result = self.view["result"]
        return None if result is None else result["winners"]


LEFT = ["nothing", "card", "gold", "enrolment"]  # what orange has besides its last band (ADA-29)


def last_band_of_orange(left: str, attackers: int) -> tuple[Table, str]:
    """Return a table where orange has one band and all others but green none, and green's attack.

    Args:
        left: one of LEFT.
        attackers: green's bands beside the last band of orange.
    """
    table = Table(cards=True, enrolment=left == "enrolment")
    a, b = table.plain_neighbours("green")
    for colour in COLOURS[1:]:
        table.put(table.home(colour), colour, 0)
        if left == "enrolment" and colour != "orange":
            table.own("green", table.lair(colour)[:4])  # its owner cannot enrol there
    table.put(a, "green", attackers)
    table.put(b, "orange", 1, gold=int(left == "gold"))
    table.hand(3, *(["gold-mine"] if left == "card" else []))
    return table, f"attack {a} {b}"
