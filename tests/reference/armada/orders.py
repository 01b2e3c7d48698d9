"""The slow reference of Armada: the legal orders and cards, and their effects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable

from reference.armada.board import (
    BANDS,
    COLOURS,
    GOLD,
    MORE_COUPS,
    ROOM,
    Board,
    Chain,
)


class Offers(Board):
    """The legal orders of a colour."""

    def _orders(self) -> set[str]:
        """Return all legal orders of the acting colour except `end`."""
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
        """Yield the legal launches (ADA-16)."""
        for name in self.owned():
            if self.land[name]["ship"]:
                for square in self.near[name] - set(self.land) - set(self.ships):
                    yield f"launch {name} {square}"

    def _sails(self) -> Iterable[str]:
        """Yield the legal voyages (ADA-20)."""
        for square, ship in self.ships.items():
            if ship["colour"] == self.colour:
                for other in self.near[square] - set(self.land) - set(self.ships):
                    yield f"sail {square} {other}"

    def _moves(self) -> Iterable[str]:
        """Yield the legal moves of bands (ADA-17)."""
        for place in self.manned():
            for other in self.near[place]:
                if self._may_enter(other):
                    yield f"move {place} {other}"

    def _may_enter(self, place: str) -> bool:
        """Return whether bands may enter: ADA-18 for territories, ADA-19 for ships."""
        if place in self.land:
            land = self.land[place]
            free = land["colour"] in (None, self.colour) and land["tribes"] == 0
            return free and land["explored"]
        if place in self.ships:
            return self.ships[place]["colour"] in (None, self.colour) and self._room(place) > 0
        return False

    def _room(self, square: str) -> int:
        """Return how many more bands and gold fit on a ship (ADA-19)."""
        return ROOM - self.ships[square]["bands"] - self.ships[square]["gold"]

    def _explorable(self) -> list[str]:
        """Return the territories that may be explored (ADA-21)."""
        manned = set(self.manned())
        return [
            name
            for name, land in self.land.items()
            if not land["explored"] and self.near[name] & manned
        ]

    def _attacks(self) -> Iterable[str]:
        """Yield the legal attacks (ADA-22)."""
        for place in self.manned():
            if self.at(place)["bands"] >= 2:
                for other in self.near[place]:
                    tribes = self.at(other).get("tribes", 0)
                    if tribes or self.is_enemy(self.at(other)["colour"]):
                        yield f"attack {place} {other}"

    def _scuttlable(self) -> Iterable[str]:
        """Yield the places of ships that may be scuttled (ADA-24)."""
        manned = set(self.manned())
        for square, ship in self.ships.items():
            if ship["bands"] == 0 and self.near[square] & manned:
                yield square
        for name, land in self.land.items():
            if land["ship"] and (self.near[name] | {name}) & manned:
                yield name

    def _convertible(self, name: str) -> bool:
        """Return whether gold in a territory may be converted to bands (ADA-25)."""
        if self.land[name]["gold"] == 0 or self.reserve[self.colour] == 0:
            return False
        if self.chart[name]["city"]:
            lair = self.chart[name]["lair"]
            return sum(self.chart[city]["lair"] == lair for city in self.owned_cities()) >= 2
        return self.chart[name]["post"] is not None and len(self.owned_posts()) >= 3

    def _levies(self) -> list[list[str]]:
        """Return, for each band that may be enrolled now, its possible territories (ADA-31)."""
        if not self.enrolment or self.turn["enrolled"]:
            return []
        lairs = [self.owned_in(lair) for lair in COLOURS if len(self.owned_in(lair)) >= 4]
        centre = self.owned_central()
        groups = lairs + [centre] * (len(centre) // 4)
        return groups[: self.reserve[self.colour]]

    def _purses(self) -> list[str]:
        """Return the places with gold that the acting colour may spend (ADA-32)."""
        crewed = [square for square, ship in self.ships.items() if ship["colour"] == self.colour]
        return [place for place in [*self.owned(), *crewed] if self.at(place)["gold"]]

    def _purse(self) -> int:
        return sum(self.at(place)["gold"] for place in self._purses())

    def _cards_to_play(self) -> Iterable[str]:
        """Return the cards with an effect that a player may play in its own turn (ADA-32)."""
        reserve = self.reserve[self.colour]
        if self.holds("shipyard") and self.box > (2 if self.neutral else 0):
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
        """Return the explored central territories without pirates, with any owner."""
        return [
            name
            for name, land in self.land.items()
            if self.is_central(name) and land["explored"] and land["bands"] == 0
        ]


class Orders(Offers):
    """The effects of orders and cards."""

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
        self.pending, self.detail = None, {}

    def _do_launch(self, city: str, square: str) -> None:
        self.land[city]["ship"] = False
        self.ships[square] = {"colour": None, "bands": 0, "gold": 0}

    def _do_sail(self, square: str, other: str) -> None:
        self.ships[other] = self.ships.pop(square)

    def _do_move(self, origin: str, target: str) -> Chain:
        """Move bands and gold, after decisions about their numbers (ADA-17, ADA-18)."""
        self.pending["numbers"] = []
        source, room = self.at(origin), self._room(target) if target in self.ships else BANDS + GOLD
        bands = yield from self._ask_number("count", range(1, min(source["bands"], room) + 1))
        self.pending["numbers"], self.detail = [bands], {"count": bands}
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
        """Explore a territory (ADA-21)."""
        if self.chart[name]["post"] == "Centre":
            self.events["ADA-21: double at the Centre"] += 1
            factor *= 2
        gold, tribes = self._roll("gold"), self._roll("tribes")
        self.put_gold(name, factor * gold)
        self.put_tribes(name, factor * tribes)
        self.land[name]["explored"], self.land[name]["owner"] = True, "tribes"

    def _do_attack(self, origin: str, target: str) -> Chain:
        """Attack (ADA-22). Each side may answer the roll with a card (ADA-32)."""
        roll = self._roll("combat")
        self.pending["roll"] = ["combat", roll]
        attacked = self.player_of.get(self.at(target)["colour"])
        if roll < 2 and (yield from self._answer(self.player, "attack")):
            roll = 2
            self.pending["roll"] = ["combat", roll]
        if roll > -2 and (yield from self._answer(attacked, "defence")):
            roll = -2
        if roll < 0:
            self.remove_bands(origin, -roll)
            self.look_for_last_player()
        elif self.at(target)["bands"]:
            self.remove_bands(target, roll)
            self.look_for_last_player()
        else:
            killed = min(roll, self.land[target]["tribes"])
            self.land[target]["tribes"] -= killed
            self.supply["tribes"] += killed

    def _answer(self, player: int | None, card: str) -> Generator[None, str, bool]:
        if player is None or not self.is_asked(player, card):
            return False
        answer = yield from self._ask(player, "answer", {f"play {card}", "decline"})
        if answer == "decline":
            return False
        self.discard(player, card)
        self.events[f"play {card}"] += 1
        return True

    def _do_scuttle(self, place: str) -> None:
        """Scuttle a ship (ADA-24)."""
        if place in self.land:
            self.land[place]["ship"] = False
        else:
            self.supply["gold"] += self.ships.pop(place)["gold"]
        self.box += 1

    def _do_convert(self, name: str) -> None:
        """Convert gold to bands (ADA-25)."""
        self.spend_gold(name)
        self.add_bands(name, 4)

    def _do_enrol(self) -> Chain:
        """Enrol bands, after a decision about the place of each (ADA-31)."""
        groups = self._levies()
        self.turn["enrolled"] = True
        for placed, group in enumerate(groups):
            self.detail = {"count": placed, "due": len(groups) - placed}
            name = yield from self._ask_place("levy", group)
            self.add_bands(name, 1)

    def _do_buy(self) -> Chain:
        """Buy a card, after a decision about the place of each gold paid (ADA-32)."""
        for paid in range(2):
            self.detail = {"due": 2 - paid}
            place = yield from self._ask_place("pay", self._purses())
            self.spend_gold(place)
        self.draw(self.player)

    # --- cards -----------------------------------------------------------------------------------

    def _play_shipyard(self, city: str) -> None:
        self._put_ship(city)

    def _play_discovery(self, name: str) -> None:
        self.turn["coups"] -= 1
        self._do_explore(name, factor=2)

    def _play_recruit(self, times: int = 1) -> Chain:
        used: list[str] = []
        for rolled in range(1, times + 1):
            roll = self._roll("tribes")
            self.pending["roll"] = ["tribes", roll]
            if min(roll, self.reserve[self.colour]):
                names = self._another(self.owned(), used)
                self._note_used(used, names, times - rolled)
                name = yield from self._ask_place("levy", names)
                self.add_bands(name, roll)
                used.append(name)

    def _play_big_recruit(self) -> Chain:
        yield from self._play_recruit(2)

    def _play_natives(self, times: int = 1) -> Chain:
        used: list[str] = []
        for rolled in range(1, times + 1):
            roll = self._roll("tribes")
            self.pending["roll"] = ["tribes", roll]
            if min(roll, self.supply["tribes"]):
                grounds = self._another(self._native_grounds(), used)
                self._note_used(used, grounds, times - rolled)
                name = yield from self._ask_place("rise", grounds)
                self.put_tribes(name, roll)
                self.land[name]["owner"] = "tribes"  # ADA-35
                used.append(name)

    def _play_big_natives(self) -> Chain:
        yield from self._play_natives(2)

    def _note_used(self, used: list[str], names: list[str], due: int) -> None:
        """Store the number of rolls left, and the territory that may not be used again (ADA-35)."""
        self.detail = {"due": due, "used": next((name for name in used if name not in names), None)}

    @staticmethod
    def _another(names: list[str], used: list[str]) -> list[str]:
        """Return the territories not used yet, or all if none are left (ADA-35)."""
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
        self.seen.append(("look", self.player, looked))
        self.draw(self.player, len(looked) - 1)
        assert self._shuffled is not None, "the deck is shuffled; `play` needs its new order"
        assert Counter(self._shuffled) == Counter(self.deck)
        self.deck = list(self._shuffled)

    def _play_gold_mine(self, name: str) -> None:
        self.put_gold(name, 3)

    def _play_mutiny(self, square: str) -> None:
        """Take over a ship. Bands beyond the limit of 50 are lost (ADA-35)."""
        bands = self.ships[square]["bands"]
        self.events["ADA-35: mutineers lost"] += bands > self.reserve[self.colour]
        self.remove_bands(square, bands)
        self.add_bands(square, bands)
        self.look_for_last_player()

    def _play_more_coups(self) -> None:
        self.turn["coups"] += MORE_COUPS
        self.turn["more_coups"] = True
