"""A slow, plain reference of Armada, written from the rules page alone (ADA-1 to ADA-37).

Nothing here is shared with the kernels. The whole game is one generator that reads like the rules:
it yields at every decision and receives its text, so a chain of decisions is a few lines of
straight code. The reference rolls nothing: dice and shuffles are handed to it, and it checks that
they are possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from itertools import cycle
from typing import Any

COLOURS = ("green", "raspberry", "blue", "orange")  # in play order, ADA-9
OPPOSITE = {"green": "blue", "blue": "green", "raspberry": "orange", "orange": "raspberry"}
BANDS, SHIPS, GOLD, TRIBES = 50, 8, 50, 50  # ADA-6
COMBAT_FACES, GOLD_FACES, TRIBES_FACES = {1, 2, -1}, {0, 1, 2, 3}, {0, 1, 2, 3, 4}  # ADA-7
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


class GameOver(Exception):  # noqa: N818 - it is no error
    """Leaves the game's generator, wherever it stands."""


class Armada:
    """A game: `view()` is the page's `describe`, `legal()` and `play(text, ...)` go on with it."""

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
    ) -> None:
        self.chart = {land["name"]: land for land in chart["territories"]}
        self.near: dict[str, set[str]] = {name: set() for name in [*self.chart, *chart["sea"]]}
        for a, b in chart["borders"]:
            self.near[a].add(b)
            self.near[b].add(a)
        self.players, self.cards, self.enrolment = players, cards, enrolment
        self.max_turns, self.neutral = max_turns, neutral
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
        self._check_deal()
        self.claims: set[str] = set()
        self.turn = self._new_turn(self.playing[0], 0)
        self.interrupted: dict[str, Any] | None = None
        self.turns_ended: int | None = None
        self.idle_turns = 0
        self.pending: dict[str, Any] | None = None
        self.result: dict[str, Any] | None = None
        self.stage, self.to_move = "preliminary", 0
        self.events: Counter[str] = Counter()  # how often what occurred, for the tests' coverage
        self._options: set[str] = set()
        self._dice: list[tuple[str, int]] = []
        self._shuffled: list[str] | None = None
        self._game = self._whole_game()
        self._advance(None)

    # --- the interface ---------------------------------------------------------------------------

    def legal(self) -> set[str]:
        """The texts of the decision that is asked; none when the game is over."""
        return set() if self.result else set(self._options)

    def play(
        self,
        text: str,
        chance: Iterable[Sequence[Any]] = (),
        deck: Sequence[str] | None = None,
    ) -> None:
        """Take a decision. `chance`: the faces thrown by it; `deck`: the deck's order after it."""
        assert text in self._options, f"{text} is not in {sorted(self._options)}"
        self._dice = [(die, face) for die, face in chance]
        self._shuffled = None if deck is None else list(deck)
        self._advance(text)
        assert not self._dice, f"dice thrown for nothing: {self._dice}"

    def resume(self, view: dict[str, Any]) -> None:
        """Go on from a `describe` in which an order is asked, outside raids."""
        assert view["turn"]["stage"] == "order"
        assert view["interrupted"] is None
        self.land = {name: dict(land) for name, land in view["territories"].items()}
        self.ships = {name: dict(ship) for name, ship in view["ships"].items()}
        self.box, self.reserve = view["box"], dict(view["reserve"])
        self.supply = dict(view["supply"])
        self.hands, self.deck = [list(hand) for hand in view["hands"]], list(view["deck"])
        self.played, self.claims = list(view["played"]), set(view["claims"])
        self.turn = {k: v for k, v in view["turn"].items() if k not in ("number", "stage")}
        self.turns_ended = view["turn"]["number"]
        self.interrupted = self.pending = self.result = None
        self._game = self._rest_of_game()
        self._advance(None)

    def view(self) -> dict[str, Any]:
        """The page's public view, without `version`, `options` and `chance`."""
        over = self.result is not None
        return {
            "game": "armada",
            "players": self.players,
            "territories": {name: dict(land) for name, land in self.land.items()},
            "ships": {name: dict(ship) for name, ship in self.ships.items()},
            "box": self.box,
            "reserve": dict(self.reserve),
            "supply": dict(self.supply),
            "neutral": self.neutral,
            "turn": self._turn_view(self.turn) | {"stage": self.stage},
            "interrupted": None if self.interrupted is None else self._turn_view(self.interrupted),
            "pending": None if self.pending is None else dict(self.pending),
            "claims": [colour for colour in COLOURS if colour in self.claims],
            "hands": [sorted(hand) for hand in self.hands],
            "hand_sizes": [len(hand) for hand in self.hands],
            "deck": list(self.deck),
            "deck_size": len(self.deck),
            "played": sorted(self.played),
            "to_move": None if over else self.to_move,
            "legal": sorted(self.legal()),
            "result": self.result,
        }

    # --- the generator and what it asks ----------------------------------------------------------

    def _advance(self, text: str | None) -> None:
        self._options = set()
        try:
            if text is None:
                next(self._game)
            else:
                self._game.send(text)
        except GameOver:
            self.stage, self.pending = "over", None

    def _ask(self, player: int, stage: str, options: Iterable[str]) -> Asking:
        """Ask for one of the options; a choice with one possible answer is not asked (ADA-36)."""
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

    def _roll(self, die: str, faces: set[int]) -> int:
        assert self._dice, f"the {die} die should have been thrown"
        thrown, face = self._dice.pop(0)
        assert thrown == die, f"the {die} die should have been thrown, not {thrown}"
        assert face in faces, f"the {die} die has no face {face}"
        return face

    def _win(self, player: int) -> None:
        self.result = {"winners": [player], "truncated": False}
        raise GameOver

    def _truncate(self) -> None:
        self.result = {"winners": [], "truncated": True}
        raise GameOver

    # --- words of the rules ----------------------------------------------------------------------

    @property
    def colour(self) -> str:
        """The acting colour: the turn's, or the raid's."""
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
        """What lies at a place: a territory, a ship, or an empty square."""
        nothing = {"colour": None, "bands": 0, "gold": 0}
        return self.land.get(place) or self.ships.get(place) or nothing

    def manned(self) -> list[str]:
        """The places that hold bands of the acting colour."""
        return [p for p in [*self.land, *self.ships] if self.at(p)["colour"] == self.colour]

    def is_enemy(self, colour: str | None) -> bool:
        """Any colour, nobody's included, that is not the same player's."""
        return colour is not None and self.player_of.get(colour) != self.player

    def is_own_second(self, colour: str | None) -> bool:
        return colour != self.colour and self.player_of.get(colour) == self.player

    def holds(self, card: str) -> bool:
        return card in self.hands[self.player]

    def add_bands(self, place: str, bands: int) -> int:
        """Bands of the acting colour from its reserve, as many as there are (ADA-6)."""
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
        """Bands off a place, without saying where they go."""
        here = self.at(place)
        here["bands"] -= bands
        assert here["bands"] >= 0
        if here["bands"] == 0:
            here["colour"] = None

    def remove_bands(self, place: str, bands: int) -> None:
        """Lost bands go back to their reserve; what exceeds those present is void (ADA-22)."""
        here = self.at(place)
        self.events["ADA-22: excess is void"] += bands > here["bands"]
        colour, bands = here["colour"], min(bands, here["bands"])
        self.events["ADA-12: nobody's bands lost"] += colour == self.neutral
        self.take_bands(place, bands)
        if colour != self.neutral:
            self.reserve[colour] += bands

    def look_for_last_player(self) -> None:
        """ADA-29."""
        alive = {
            self.player_of[here["colour"]]
            for here in [*self.land.values(), *self.ships.values()]
            if here["colour"] in self.player_of
        }
        if len(alive) == 1:
            self.events["ADA-29: last player wins"] += 1
            self.events["ADA-29: attacker's last bands lost"] += self.player not in alive
            self._win(alive.pop())

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

    # --- setting up ------------------------------------------------------------------------------

    def _fresh(self, name: str) -> dict[str, Any]:
        """ADA-12, ADA-14: lairs are owned and known, the centre is nobody's and unexplored."""
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

    def _check_deal(self) -> None:
        """ADA-32: two cards to each player, the rest is the deck."""
        if self.cards:
            assert all(len(hand) == 2 for hand in self.hands)
            assert sum(map(Counter, self.hands), Counter(self.deck)) == CARDS
        else:
            assert not self.deck
            assert not any(self.hands)

    def _new_turn(self, colour: str, coups: int, raid: bool = False) -> dict[str, Any]:
        return {
            "player": self.player_of[colour],
            "colour": colour,
            "raid": raid,
            "coups": coups,
            "enrolled": False,
            "more_coups": False,
        }

    def _turn_view(self, turn: dict[str, Any]) -> dict[str, Any]:
        return {"number": self.turns_ended} | turn

    # --- the course of the game ------------------------------------------------------------------

    def _whole_game(self) -> Chain:
        for colour in self.playing:
            yield from self._preliminary(colour)
        self.turns_ended = 0
        for colour in cycle(self.playing):
            yield from self._turn(colour)

    def _rest_of_game(self) -> Chain:
        yield from self._spend()
        self._end_turn()
        turns = cycle(self.playing)
        while next(turns) != self.colour:
            pass
        for colour in turns:
            yield from self._turn(colour)

    def _preliminary(self, colour: str) -> Chain:
        """ADA-13."""
        self.turn = self._new_turn(colour, 0)
        left = self._strength(colour)
        for _ in range(2):
            cities = [c for c in self.lair(colour) if self.chart[c]["city"]]
            free = {f"ship {city}" for city in cities if not self.land[city]["ship"]}
            answer = yield from self._ask(self.player, "preliminary", free)
            self._put_ship(answer.split()[1])
        *others, last = self.lair(colour)
        for name in others:
            if left:
                counts = {f"count {n}" for n in range(left + 1)}
                answer = yield from self._ask(self.player, "preliminary", counts)
                left -= self.add_bands(name, int(answer.split()[1]))
        self.add_bands(last, left)

    def _strength(self, colour: str) -> int:
        """Bands at the start: ADA-10, ADA-11, ADA-12."""
        if self.neutral is None:
            return 18
        return 20 if colour == OPPOSITE[self.neutral] else 15

    def _put_ship(self, city: str) -> None:
        assert self.box > 0
        self.box -= 1
        self.land[city]["ship"] = True

    def _turn(self, colour: str) -> Chain:
        self.turn = self._new_turn(colour, TURN_COUPS)
        if self._orders():
            self.idle_turns = 0
            yield from self._offer_raids()
            yield from self._spend()
        else:
            self.idle_turns += 1  # ADA-26
            self.events["ADA-26: idle turn"] += 1
        self._end_turn()

    def _spend(self) -> Chain:
        """A turn's or a raid's orders: it ends when nothing else is left (ADA-15)."""
        while orders := self._orders():
            order = yield from self._ask(self.player, "order", orders | {"end"})
            if order == "end":
                return
            in_raid = " in a raid" if self.turn["raid"] else ""
            yield from self._carry_out(order)
            self.events[" ".join(order.split()[: 1 + (order[:4] == "play")]) + in_raid] += 1
            if not self.turn["raid"]:
                yield from self._offer_raids()
        self.events["ADA-15: ended by itself"] += 1

    def _end_turn(self) -> None:
        """ADA-26, ADA-28, ADA-30."""
        self.turns_ended += 1
        if not self._in_victory():
            self.events["ADA-28: claim withdrawn"] += self.colour in self.claims
            self.claims.discard(self.colour)
        elif self.colour in self.claims:
            self.events["ADA-28: claim fulfilled"] += 1
            self._win(self.player)
        else:
            self.events["ADA-28: claim"] += 1
            self.claims.add(self.colour)
        too_long = self.turns_ended >= self.max_turns
        idle = self.idle_turns == 2 * len(self.playing)
        if too_long or idle:
            self.events["ADA-30: max_turns" if too_long else "ADA-26: nobody can do anything"] += 1
            self._truncate()

    def _in_victory(self) -> bool:
        """ADA-27."""
        if all(len(self.owned_in(lair)) < 4 for lair in COLOURS):
            return False
        posts = {self.chart[name]["post"] for name in self.owned_posts()}
        enemy_cities = [
            city for city in self.owned_cities() if self.is_enemy(self.chart[city]["lair"])
        ]
        by_posts, by_cities = len(posts) >= 3 and "Centre" in posts, len(enemy_cities) >= 4
        self.events["ADA-27: by posts"] += by_posts
        self.events["ADA-27: by cities"] += by_cities
        return by_posts or by_cities

    def _offer_raids(self) -> Chain:
        """ADA-33: the other players who hold the card, once each, from the turn's colour on."""
        here = self.playing.index(self.colour)
        asked = {self.player}
        for colour in self.playing[here + 1 :] + self.playing[:here]:
            player = self.player_of[colour]
            if player in asked:
                continue
            asked.add(player)
            if "raid" in self.hands[player]:
                answer = yield from self._ask(player, "answer", {"play raid", "decline"})
                if answer == "play raid":
                    self.discard(player, "raid")
                    self.events["play raid"] += 1
                    yield from self._raid(colour)

    def _raid(self, colour: str) -> Chain:
        self.interrupted, self.turn = self.turn, self._new_turn(colour, RAID_COUPS, raid=True)
        yield from self._spend()
        if self._in_victory():
            self.events["ADA-34: claim in a raid"] += colour not in self.claims
            self.claims.add(colour)
        self.interrupted, self.turn = None, self.interrupted

    # --- orders: which there are -----------------------------------------------------------------

    def _orders(self) -> set[str]:
        """Every legal order of the acting colour but `end`."""
        texts = set(self._cards_to_play())
        if self.coups >= 1:
            texts |= {f"explore {name}" for name in self._explorable()}
            texts.update(self._launches(), self._sails(), self._moves(), self._attacks())
            texts |= {f"convert {name}" for name in self.owned() if self._convertible(name)}
            texts |= {f"scuttle {name}" for name in self._scuttlable()}
            if self._levies():
                texts.add("enrol")
        if self.coups >= 2 and self.deck and self._purse() >= 2:
            texts.add("buy")
        return texts

    def _launches(self) -> Iterable[str]:
        """ADA-16."""
        for name in self.owned():
            if self.land[name]["ship"]:
                for square in self.near[name] - set(self.land) - set(self.ships):
                    yield f"launch {name} {square}"

    def _sails(self) -> Iterable[str]:
        """ADA-20."""
        for square, ship in self.ships.items():
            if ship["colour"] == self.colour:
                for other in self.near[square] - set(self.land) - set(self.ships):
                    yield f"sail {square} {other}"

    def _moves(self) -> Iterable[str]:
        """ADA-17."""
        for place in self.manned():
            for other in self.near[place]:
                if self._may_enter(other):
                    yield f"move {place} {other}"

    def _may_enter(self, place: str) -> bool:
        """ADA-18 for territories, ADA-19 for ships."""
        if place in self.land:
            land = self.land[place]
            free = land["colour"] in (None, self.colour) and land["tribes"] == 0
            return free and land["explored"]
        if place in self.ships:
            return self.ships[place]["colour"] in (None, self.colour) and self._room(place) > 0
        return False

    def _room(self, square: str) -> int:
        """ADA-19."""
        return ROOM - self.ships[square]["bands"] - self.ships[square]["gold"]

    def _explorable(self) -> list[str]:
        """ADA-21."""
        return [
            name
            for name in self.land
            if not self.land[name]["explored"]
            and any(place in self.near[name] for place in self.manned())
        ]

    def _attacks(self) -> Iterable[str]:
        """ADA-22."""
        for place in self.manned():
            if self.at(place)["bands"] >= 2:
                for other in self.near[place]:
                    tribes = self.at(other).get("tribes", 0)
                    if tribes or self.is_enemy(self.at(other)["colour"]):
                        yield f"attack {place} {other}"

    def _scuttlable(self) -> Iterable[str]:
        """ADA-24."""
        for square, ship in self.ships.items():
            if ship["bands"] == 0 and any(p in self.near[square] for p in self.manned()):
                yield square
        for name in self.owned():
            if self.land[name]["ship"]:
                yield name

    def _convertible(self, name: str) -> bool:
        """ADA-25."""
        if self.land[name]["gold"] == 0 or self.reserve[self.colour] == 0:
            return False
        if self.chart[name]["city"]:
            lair = self.chart[name]["lair"]
            return sum(self.chart[city]["lair"] == lair for city in self.owned_cities()) >= 2
        return self.chart[name]["post"] is not None and len(self.owned_posts()) >= 3

    def _levies(self) -> list[list[str]]:
        """ADA-31: for each band that may be enrolled now, where it may be placed."""
        if not self.enrolment or self.turn["enrolled"]:
            return []
        lairs = [self.owned_in(lair) for lair in COLOURS if len(self.owned_in(lair)) >= 4]
        centre = self.owned_central()
        groups = lairs + [centre] * (len(centre) // 4)
        return groups[: self.reserve[self.colour]]

    def _purses(self) -> list[str]:
        """ADA-32: where gold that the acting colour may spend lies."""
        crewed = [square for square, ship in self.ships.items() if ship["colour"] == self.colour]
        return [place for place in [*self.owned(), *crewed] if self.at(place)["gold"]]

    def _purse(self) -> int:
        return sum(self.at(place)["gold"] for place in self._purses())

    def _cards_to_play(self) -> Iterable[str]:
        """ADA-32: the cards of one's own turn, only where they would change something."""
        reserve = self.reserve[self.colour]
        if self.holds("shipyard") and self.box:
            for city in self.owned_cities():
                if not self.land[city]["ship"]:
                    yield f"play shipyard {city}"
        if self.holds("discovery") and self.coups >= 1:
            for name in self._explorable():
                yield f"play discovery {name}"
        for card in ("recruit", "big-recruit"):
            if self.holds(card) and reserve and self.owned():
                yield f"play {card}"
        for card in ("natives", "big-natives"):
            if self.holds(card) and self.supply["tribes"] and self._native_grounds():
                yield f"play {card}"
        if self.holds("strategist") and self.coups >= 1 and self.deck:
            yield "play strategist"
        if self.holds("gold-mine") and self.supply["gold"]:
            for name in self.owned():
                yield f"play gold-mine {name}"
        if self.holds("mutiny"):
            for square, ship in self.ships.items():
                if self.is_enemy(ship["colour"]) and 1 <= ship["bands"] <= 3:
                    yield f"play mutiny {square}"
        if self.holds("more-coups") and not self.turn["more_coups"]:
            yield "play more-coups"

    def _native_grounds(self) -> list[str]:
        """Explored central territories without pirates, whoever owns them."""
        return [
            name
            for name, land in self.land.items()
            if self.is_central(name) and land["explored"] and land["bands"] == 0
        ]

    # --- orders: what they do --------------------------------------------------------------------

    def _carry_out(self, order: str) -> Chain:
        verb, *places = order.split()
        self.pending = {"order": order}
        if verb != "play":
            self.turn["coups"] -= 2 if verb == "buy" else 1
            yield from getattr(self, f"_do_{verb}")(*places) or ()
        else:
            card, *places = places
            self.discard(self.player, card)
            yield from getattr(self, f"_play_{card.replace('-', '_')}")(*places) or ()
        self.pending = None

    def _do_launch(self, city: str, square: str) -> None:
        self.land[city]["ship"] = False
        self.ships[square] = {"colour": None, "bands": 0, "gold": 0}

    def _do_sail(self, square: str, other: str) -> None:
        self.ships[other] = self.ships.pop(square)

    def _do_move(self, origin: str, target: str) -> Chain:
        """ADA-17, ADA-18."""
        self.pending["numbers"] = []
        source, room = self.at(origin), self._room(target) if target in self.ships else BANDS + GOLD
        bands = yield from self._ask_number("count", range(1, min(source["bands"], room) + 1))
        self.pending["numbers"] = [bands]
        gold = yield from self._ask_number("gold", range(min(source["gold"], room - bands) + 1))
        self.take_bands(origin, bands)
        source["gold"] -= gold
        here = self.at(target)
        here["colour"] = self.colour
        here["bands"] += bands
        here["gold"] += gold
        if target in self.land:
            self.events["ADA-11: own second colour's flag"] += self.is_own_second(here["owner"])
            here["owner"] = self.colour

    def _do_explore(self, name: str, factor: int = 1) -> None:
        """ADA-21."""
        if self.chart[name]["post"] == "Centre":
            self.events["ADA-21: double at the Centre"] += 1
            factor *= 2
        gold, tribes = self._roll("gold", GOLD_FACES), self._roll("tribes", TRIBES_FACES)
        self.put_gold(name, factor * gold)
        self.put_tribes(name, factor * tribes)
        self.land[name]["explored"], self.land[name]["owner"] = True, "tribes"

    def _do_attack(self, origin: str, target: str) -> Chain:
        """ADA-22, with the answers of ADA-32."""
        roll = self._roll("combat", COMBAT_FACES)
        self.pending["roll"] = ["combat", roll]
        attacked = self.player_of.get(self.at(target)["colour"])
        if roll != 2 and (yield from self._answer(self.player, "attack")):
            roll = 2
            self.pending["roll"] = ["combat", roll]
        if roll != -2 and (yield from self._answer(attacked, "defence")):
            roll = -2
        if roll < 0:
            self.remove_bands(origin, -roll)
        elif self.at(target)["bands"]:
            self.remove_bands(target, roll)
        else:
            killed = min(roll, self.land[target]["tribes"])
            self.land[target]["tribes"] -= killed
            self.supply["tribes"] += killed
        self.look_for_last_player()

    def _answer(self, player: int | None, card: str) -> Generator[None, str, bool]:
        if player is None or card not in self.hands[player]:
            return False
        answer = yield from self._ask(player, "answer", {f"play {card}", "decline"})
        if answer == "decline":
            return False
        self.discard(player, card)
        self.events[f"play {card}"] += 1
        return True

    def _do_scuttle(self, place: str) -> None:
        """ADA-24."""
        if place in self.land:
            self.land[place]["ship"] = False
        else:
            self.supply["gold"] += self.ships.pop(place)["gold"]
        self.box += 1

    def _do_convert(self, name: str) -> None:
        """ADA-25."""
        self.spend_gold(name)
        self.add_bands(name, 4)

    def _do_enrol(self) -> Chain:
        """ADA-31."""
        groups = self._levies()
        self.turn["enrolled"] = True
        for group in groups:
            name = yield from self._ask_place("levy", group)
            self.add_bands(name, 1)

    def _do_buy(self) -> Chain:
        """ADA-32."""
        for _ in range(2):
            place = yield from self._ask_place("pay", self._purses())
            self.spend_gold(place)
        self.hands[self.player].append(self.deck.pop(0))

    # --- cards -----------------------------------------------------------------------------------

    def _play_shipyard(self, city: str) -> None:
        self._put_ship(city)

    def _play_discovery(self, name: str) -> None:
        self.turn["coups"] -= 1
        self._do_explore(name, factor=2)

    def _play_recruit(self, times: int = 1) -> Chain:
        used: list[str] = []
        for _ in range(times):
            roll = self._roll("tribes", TRIBES_FACES)
            self.pending["roll"] = ["tribes", roll]
            if min(roll, self.reserve[self.colour]):
                name = yield from self._ask_place("levy", self._another(self.owned(), used))
                self.add_bands(name, roll)
                used.append(name)

    def _play_big_recruit(self) -> Chain:
        yield from self._play_recruit(2)

    def _play_natives(self, times: int = 1) -> Chain:
        used: list[str] = []
        for _ in range(times):
            roll = self._roll("tribes", TRIBES_FACES)
            self.pending["roll"] = ["tribes", roll]
            if min(roll, self.supply["tribes"]):
                grounds = self._another(self._native_grounds(), used)
                name = yield from self._ask_place("rise", grounds)
                self.put_tribes(name, roll)
                self.land[name]["owner"] = "tribes"  # ADA-35
                used.append(name)

    def _play_big_natives(self) -> Chain:
        yield from self._play_natives(2)

    @staticmethod
    def _another(names: list[str], used: list[str]) -> list[str]:
        """ADA-35: the second territory is another one if there is another."""
        return [name for name in names if name not in used] or names

    def _play_strategist(self) -> Chain:
        looked: list[str] = []
        answer = "peek"
        while answer == "peek":
            self.turn["coups"] -= 1
            looked.append(self.deck[len(looked)])
            self.pending["looked"] = list(looked)
            more = self.coups >= 1 and len(looked) < len(self.deck)
            options = {"take", "peek"} if more else {"take"}
            answer = yield from self._ask(self.player, "look", options)
            self.events[answer] += 1
        self.hands[self.player].append(self.deck.pop(len(looked) - 1))
        assert self._shuffled is not None, "the deck is shuffled: tell its new order"
        assert Counter(self._shuffled) == Counter(self.deck)
        self.deck = list(self._shuffled)

    def _play_gold_mine(self, name: str) -> None:
        self.put_gold(name, 3)

    def _play_mutiny(self, square: str) -> None:
        """ADA-35: bands that the limit of 50 does not allow are lost."""
        bands = self.ships[square]["bands"]
        self.events["ADA-35: mutineers lost"] += bands > self.reserve[self.colour]
        self.remove_bands(square, bands)
        self.add_bands(square, bands)
        self.look_for_last_player()

    def _play_more_coups(self) -> None:
        self.turn["coups"] += MORE_COUPS
        self.turn["more_coups"] = True
