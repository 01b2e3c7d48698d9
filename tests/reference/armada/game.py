"""A slow, plain reference of Armada, written only from the rules page (ADA-1 to ADA-37).

The reference shares no code with the kernels. The whole game is one generator that reads like the
rules. It yields at every decision and receives the text of the decision. A *chain*, which is an
order that needs several decisions, is therefore a few lines of straight code. The reference does
not roll dice: it receives dice and shuffles, and checks that they are possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import cycle
from typing import Any

from reference.armada.board import (
    CARDS,
    COLOURS,
    RAID_COUPS,
    TURN_COUPS,
    Chain,
    GameOver,
)
from reference.armada.memory import known
from reference.armada.orders import Orders


class Armada(Orders):
    """A game. `view()` returns the description of the rules page. `legal()` and `play()` play it.

    The arguments are those of `Board`: the chart as plain types, the options, and the deal (neutral
    colour, hands and deck).
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._check_deal()
        self._game = self._whole_game()
        self._advance(None)

    # --- public methods --------------------------------------------------------------------------

    def legal(self) -> set[str]:
        """Return the notations of all legal actions, or none when the game is over."""
        return set() if self.result else set(self._options)

    def play(
        self,
        text: str,
        chance: Iterable[Sequence[Any]] = (),
        deck: Sequence[str] | None = None,
    ) -> None:
        """Play a decision.

        Args:
            text: the notation of the action.
            chance: the dice that the decision rolls, as (die, face).
            deck: the order of the deck after a shuffle, or None.
        """
        assert text in self._options, f"{text} is not in {sorted(self._options)}"
        self._dice = [(die, face) for die, face in chance]
        self._shuffled = None if deck is None else list(deck)
        self._advance(text)
        assert not self._dice, f"dice that were not needed: {self._dice}"

    def resume(self, view: dict[str, Any]) -> None:
        """Continue from the result of `describe` at the stage "order", outside raids."""
        assert view["turn"]["stage"] == "order"
        assert view["interrupted"] is None
        self.land = {name: dict(land) for name, land in view["territories"].items()}
        self.ships = {name: dict(ship) for name, ship in view["ships"].items()}
        self.box, self.reserve = view["box"], dict(view["reserve"])
        self.supply = dict(view["supply"])
        self.hands, self.deck = [list(hand) for hand in view["hands"]], list(view["deck"])
        self.seen = self._dealt()
        self.played, self.claims = list(view["played"]), set(view["claims"])
        self.laid_this_turn = set(view["new_claims"])
        self.turn = {k: v for k, v in view["turn"].items() if k not in ("number", "stage")}
        self.turns_ended = view["turn"]["number"]
        self.interrupted = self.pending = self.result = None
        self._game = self._rest_of_game()
        self._advance(None)

    def view(self) -> dict[str, Any]:
        """Return the public view of the rules page, without `version`, `options` and `chance`."""
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
            "new_claims": [colour for colour in COLOURS if colour in self.laid_this_turn],
            "hands": [sorted(hand) for hand in self.hands],
            "hand_sizes": [len(hand) for hand in self.hands],
            "deck": list(self.deck),
            "deck_size": len(self.deck),
            "played": sorted(self.played),
            "known": known(self.seen, self.hands) if self.cards else [],
            "to_move": None if over else self.to_move,
            "legal": sorted(self.legal()),
            "result": self.result,
        }

    def _advance(self, text: str | None) -> None:
        self._options = set()
        try:
            if text is None:
                next(self._game)
            else:
                self._game.send(text)
        except GameOver:
            self.stage, self.pending, self.detail = "over", None, {}

    def _check_deal(self) -> None:
        """Check the cards (ADA-32): each player has two, and the deck has the rest."""
        if self.cards:
            assert all(len(hand) == 2 for hand in self.hands)
            assert sum(map(Counter, self.hands), Counter(self.deck)) == CARDS
        else:
            assert not self.deck
            assert not any(self.hands)

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
        """Play a colour's preliminary turn (ADA-13)."""
        self.turn = self._new_turn(colour, 0)
        left = self._strength(colour)
        for placed in range(2):
            self.detail = {"count": placed}
            cities = [c for c in self.lair(colour) if self.chart[c]["city"]]
            free = {f"ship {city}" for city in cities if not self.land[city]["ship"]}
            answer = yield from self._ask(self.player, "preliminary", free)
            self._put_ship(answer.split()[1])
        *others, last = self.lair(colour)
        for name in others:
            if left:
                self.detail = {"due": left, "target": name}
                counts = {f"count {n}" for n in range(left + 1)}
                answer = yield from self._ask(self.player, "preliminary", counts)
                left -= self.add_bands(name, int(answer.split()[1]))
        self.add_bands(last, left)
        self.detail = {}

    def _strength(self, colour: str) -> int:
        """Return the number of bands of a colour at the start (ADA-10, ADA-11, ADA-12)."""
        if self.neutral is None:
            return 18
        return 20 if colour == self._farthest(self.neutral) else 15

    def _farthest(self, colour: str) -> str:
        """Return the lair that is farthest from a colour's lair.

        If several lairs are equally far, return the opposite one, which is the next but one in play
        order (ADA-12).
        """
        cities = {c: [n for n in self.lair(c) if self.chart[n]["city"]] for c in COLOURS}
        others = [COLOURS[(COLOURS.index(colour) + k) % 4] for k in (2, 1, 3)]
        ways = [self._ways_from(city) for city in cities[colour]]
        nowhere = len(self.near)  # a distance greater than that of any reachable place
        apart = [
            sum(way.get(city, nowhere) for way in ways for city in cities[other])
            for other in others
        ]
        return others[apart.index(max(apart))]

    def _ways_from(self, start: str) -> dict[str, int]:
        """Return the number of borders on the shortest way to each reachable place."""
        ways, edge, crossed = {start: 0}, {start}, 0
        while edge:
            crossed += 1
            edge = set().union(*(self.near[place] for place in edge)) - ways.keys()
            ways |= dict.fromkeys(edge, crossed)
        return ways

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
        """Ask for the orders of a turn or raid, until `end` or until none is possible (ADA-15)."""
        while orders := self._orders():
            order = yield from self._ask(self.player, "order", orders | {"end"})
            if order == "end":
                return
            in_raid = " in a raid" if self.turn["raid"] else ""
            yield from self._carry_out(order)
            self._claim()
            self.events[" ".join(order.split()[: 1 + (order[:4] == "play")]) + in_raid] += 1
            if not self.turn["raid"]:
                yield from self._offer_raids()
        self.events["ADA-15: ended by itself"] += 1

    def _end_turn(self) -> None:
        """End a turn (ADA-26, ADA-28 to ADA-30)."""
        self.turns_ended += 1
        self._claim()
        if self.colour in self.claims - self.laid_this_turn:
            if self._in_victory():
                self.events["ADA-28: claim fulfilled"] += 1
                self._win(self.player)
            self.events["ADA-28: claim withdrawn"] += 1
            self.claims.discard(self.colour)
        self.laid_this_turn.clear()
        self.look_for_last_player()
        too_long = self.turns_ended >= self.max_turns
        idle = self.idle_turns == 2 * len(self.playing)
        if too_long or idle:
            self.events["ADA-30: max_turns" if too_long else "ADA-26: nobody can do anything"] += 1
            self._truncate()

    def _claim(self) -> None:
        """Update the claims after an order, a turn or a raid (ADA-28, ADA-34)."""
        if self.colour not in self.claims and self._in_victory():
            self.events["ADA-34: claim in a raid" if self.turn["raid"] else "ADA-28: claim"] += 1
            self.claims.add(self.colour)
            if not self.turn["raid"]:
                self.laid_this_turn.add(self.colour)

    def _in_victory(self) -> bool:
        """Return whether the acting colour is in victory (ADA-27)."""
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
        """Ask each other player with a raid card once, in play order after this colour (ADA-33)."""
        here = self.playing.index(self.colour)
        asked = {self.player}
        for colour in self.playing[here + 1 :] + self.playing[:here]:
            player = self.player_of[colour]
            if player in asked:
                continue
            asked.add(player)
            if self.is_asked(player, "raid"):
                answer = yield from self._ask(player, "answer", {"play raid", "decline"})
                if answer == "play raid":
                    self.discard(player, "raid")
                    self.events["play raid"] += 1
                    yield from self._raid(colour)

    def _raid(self, colour: str) -> Chain:
        self.interrupted, self.turn = self.turn, self._new_turn(colour, RAID_COUPS, raid=True)
        yield from self._spend()
        self._claim()
        self.interrupted, self.turn = None, self.interrupted
