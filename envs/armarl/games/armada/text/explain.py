"""Explanations of illegal actions in Armada."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from armarl.games.armada import actions as act
from armarl.games.armada.actions import ALL_CITIES, CARD_NAMES, CENTRAL, TERRITORIES
from armarl.games.armada.chart.loading import CITIES, COLOURS
from armarl.games.armada.rules.apply import family_of
from armarl.games.armada.rules.legal_answers import most_bands, most_gold
from armarl.games.armada.rules.legal_orders import levies, may_explore, payable_gold, ships_lost
from armarl.games.armada.state import (
    CARD_PRICE,
    DISCOVERY_CARD,
    GOLD_MINE_CARD,
    MORE_COUPS_CARD,
    MUTINY_CARD,
    NOBODY,
    NUMBER_BANDS,
    NUMBER_GOLD,
    ORDER,
    OVER,
    PAY_GOLD,
    PLACE_ENROLLED,
    PLACE_NATIVES,
    PLACE_RECRUITS,
    PLACE_SHIP,
    SHIP_ROOM,
    SHIPS_EACH,
    SHIPYARD_CARD,
    SPREAD_BANDS,
    STAGE_NAMES,
    STRATEGIST_CARD,
    acting_colour,
    acting_seat,
    border_from,
    cities_owned,
    has_ship,
    is_enemy,
    is_sea,
    is_unexplored,
    posts_owned,
    territories_of,
    tribes_on,
)
from armarl.games.armada.text.describe import owner_name, stage_name

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game

_ORDERS = (
    *(act.END, act.LAUNCH, act.SAIL, act.MOVE, act.ATTACK, act.EXPLORE, act.CONVERT, act.SCUTTLE),
    *(act.ENROL, act.BUY, act.SHIPYARD, act.GOLD_MINE, act.MUTINY, act.DISCOVERY, act.PLAY),
)
_ASKED = {  # the action families allowed at each kind of decision
    ORDER: _ORDERS,
    PLACE_SHIP: (act.SHIP,),
    SPREAD_BANDS: (act.COUNT,),
    NUMBER_BANDS: (act.COUNT,),
    NUMBER_GOLD: (act.GOLD,),
    PLACE_ENROLLED: (act.LEVY,),
    PLACE_RECRUITS: (act.LEVY,),
    PLACE_NATIVES: (act.RISE,),
    PAY_GOLD: (act.PAY,),
}
_COSTS = {act.BUY: int(CARD_PRICE), act.SHIPYARD: 0, act.GOLD_MINE: 0, act.MUTINY: 0, act.PLAY: 0}


def explain(game: Game, state: State, action: int) -> str:
    """Return the most direct reason why `action` is illegal in `state`."""
    if state["stage"] == OVER:
        return "the game is over"
    return _Reasons(game, state, action).why()


def asked(game: Game, state: State) -> str:
    """Return a text that begins with ": " and says what the player must decide, or "".

    The text is empty when an order is due, when the question is whether to raid, and when
    the game is over.
    """
    s, stage = state, int(state["stage"])
    if stage == PLACE_SHIP:
        return f": put ship {s['count'] + 1} of {SHIPS_EACH} on a city of its lair"
    if stage == SPREAD_BANDS:
        place = game.attributes["chart"].places[s["target"]]
        return f": how many of the {s['due']} bands left to put on {place}, from `count 0` up"
    if s["order"] < 0 or stage == OVER:
        return ""
    return f": `{game.actions.text(s['order'])}` is under way: {STAGE_NAMES[stage]}"


class _Reasons:
    """The reason why an action is illegal in a state. Each action family has one method."""

    def __init__(self, game: Game, state: State, action: int) -> None:
        self.game, self.s, self.fixed = game, state, game.fixed
        self.family = int(family_of(action, self.fixed))
        self.number = action - int(self.fixed["first"][self.family])
        self.colour, self.seat = int(acting_colour(state)), int(acting_seat(state))
        self.name = COLOURS[self.colour]
        self.coups = int(state["coups"][state["raid"]])

    def why(self) -> str:
        s, family = self.s, self.family
        if family not in _ASKED.get(int(s["stage"]), ()):
            return self._wrong_stage()
        cost = _COSTS.get(family, 1)
        if family in _ORDERS and cost > self.coups:
            left = f"{self.coups or 'none'} {'is' if self.coups == 1 else 'are'} left"
            return f"it costs {cost} coup{'s' * (cost > 1)}, but {left} (ADA-15)"
        reasons: dict[int, Callable[[], str]] = {
            act.COUNT: self._count,
            act.GOLD: self._gold,
            act.SHIP: self._ship,
            act.LAUNCH: self._launch,
            act.SAIL: self._sail,
            act.MOVE: self._move,
            act.ATTACK: self._attack,
            act.EXPLORE: self._explore,
            act.CONVERT: self._convert,
            act.SCUTTLE: self._scuttle,
            act.LEVY: self._levy,
            act.ENROL: self._enrol,
            act.BUY: self._buy,
            act.PAY: self._pay,
            act.SHIPYARD: self._shipyard,
            act.GOLD_MINE: self._gold_mine,
            act.MUTINY: self._mutiny,
            act.DISCOVERY: self._discovery,
            act.PLAY: self._play,
            act.RISE: self._rise,
        }
        return reasons.get(family, self._wrong_stage)()

    # --- words -----------------------------------------------------------------------------------

    def _place(self, place: int) -> str:
        return self.game.attributes["chart"].places[place]

    def _border(self, border: int) -> tuple[int, int]:
        return int(border_from(border, self.fixed)), int(self.fixed["border_to"][border])

    def _own(self, place: int) -> bool:
        return bool(self.s["owner"][place] == self.colour)

    def _not_owned(self, place: int) -> str:
        owner = owner_name(self.s["owner"][place])
        return f"{self._place(place)} belongs to {owner or 'nobody'}, not to {self.name}"

    def _no_bands(self, place: int) -> str | None:
        """Return the reason if the acting colour has no band on a place, else None."""
        if self._own(place) and self.s["bands"][place]:
            return None
        return f"{self.name} has no band on {self._place(place)}"

    def _not_held(self, card: int) -> str | None:
        if self.s["hand"][self.seat, card]:
            return None
        return f"player {self.seat} does not hold the card {CARD_NAMES[card]} (ADA-32)"

    def _wrong_stage(self) -> str:
        s = self.s
        if s["stage"] == ORDER:
            return "no question is open; give an order or `end` (ADA-15)"
        if s["stage"] <= SPREAD_BANDS:
            return f"the preliminary turn is under way{asked(self.game, s)} (ADA-13)"
        if s["order"] < 0:
            return "the open question is whether to raid; answer `play raid` or `decline` (ADA-33)"
        order = self.game.actions.text(s["order"])
        legal = self.game.actions.legal_texts(self.game.legal_masks(np.full(1, s))[0])
        options = ", ".join(f"`{text}`" for text in legal[:4]) + (", …" if len(legal) > 4 else "")
        return (
            f"`{order}` is under way and must be finished first ({stage_name(s['stage'])}); "
            f"choose from {options} (ADA-15)"
        )

    # --- numbers ---------------------------------------------------------------------------------

    def _count(self) -> str:
        if self.s["stage"] == SPREAD_BANDS:
            return f"only {self.s['due']} bands are left to spread (ADA-13)"
        if self.number == 0:
            return "a move takes at least 1 band (ADA-17)"
        return f"at most {most_bands(self.s)} bands can move (ADA-17, ADA-19)"

    def _gold(self) -> str:
        return f"at most {most_gold(self.s)} gold can move with the bands (ADA-17, ADA-19)"

    # --- ships -----------------------------------------------------------------------------------

    def _ship(self) -> str:
        place = int(self.fixed["cities"][self.number])
        if self.number // CITIES != self.colour:
            return f"{self._place(place)} is not a city of {self.name}'s lair (ADA-13)"
        if has_ship(self.s, place):
            return f"{self._place(place)} already has a ship (ADA-13)"
        return self._wrong_stage()

    def _launch(self) -> str:
        place, to = (
            self.game.attributes["chart"].numbers[name]
            for name in self._text().removeprefix("launch ").split()
        )
        if not has_ship(self.s, place):
            return f"there is no ship on {self._place(place)} (ADA-16)"
        if not self._own(place):
            return f"{self._not_owned(place)} (ADA-16)"
        return f"{self._place(to)} already has a ship (ADA-16)"

    def _text(self) -> str:
        return self.game.actions.text(int(self.fixed["first"][self.family]) + self.number)

    def _sail(self) -> str:
        place, to = self._border(int(self.fixed["sea_borders"][TERRITORIES]) + self.number)
        if not has_ship(self.s, place):
            return f"there is no ship on {self._place(place)} (ADA-20)"
        if missing := self._no_bands(place):
            return f"{missing} (ADA-20)"
        return f"{self._place(to)} already has a ship (ADA-20)"

    def _scuttle(self) -> str:
        if self.number < ALL_CITIES:
            place = int(self.fixed["cities"][self.number])
            if not has_ship(self.s, place):
                return f"there is no ship on {self._place(place)} (ADA-24)"
            return f"{self.name} has no band on {self._place(place)} or next to it (ADA-24)"
        place = TERRITORIES + self.number - ALL_CITIES
        if not has_ship(self.s, place):
            return f"there is no ship on {self._place(place)} (ADA-24)"
        if self.s["bands"][place]:
            return f"the ship on {self._place(place)} has bands aboard (ADA-24)"
        return f"{self.name} has no band next to {self._place(place)} (ADA-24)"

    # --- bands -----------------------------------------------------------------------------------

    def _move(self) -> str:
        place, to = self._border(self.number)
        s, name = self.s, self._place(to)
        if missing := self._no_bands(place):
            return f"{missing} (ADA-17)"
        if is_sea(to) and not has_ship(s, to):
            return f"there is no ship on {name} to board (ADA-17)"
        if s["bands"][to] and not self._own(to):
            return f"bands of {owner_name(s['owner'][to])} are on {name} (ADA-18, ADA-19)"
        if is_sea(to):
            return f"the ship on {name} is full: it carries {SHIP_ROOM} pieces (ADA-19)"
        if is_unexplored(s, to):
            return f"{name} is unexplored (ADA-18)"
        return f"tribes are on {name} (ADA-18)"

    def _attack(self) -> str:
        place, to = self._border(self.number)
        s, name = self.s, self._place(to)
        if missing := self._no_bands(place):
            return f"{missing} (ADA-22)"
        if s["bands"][to] and not is_enemy(s, self.colour, int(s["owner"][to])):
            return f"the bands on {name} are not enemies (ADA-11, ADA-22)"
        if not s["bands"][to] and not tribes_on(s, to):
            return f"there is nothing to attack on {name} (ADA-22)"
        return f"an attack needs 2 bands, but {self._place(place)} has only 1 (ADA-22)"

    # --- land ------------------------------------------------------------------------------------

    def _explore(self) -> str:
        territory = CENTRAL + self.number
        if not is_unexplored(self.s, territory):
            return f"{self._place(territory)} is already explored (ADA-21)"
        return (
            f"{self.name} has no band on a ship or in a territory next to "
            f"{self._place(territory)} (ADA-21)"
        )

    def _convert(self) -> str:
        s, fixed, city = self.s, self.fixed, self.number
        at = fixed["cities"][city] if city < ALL_CITIES else fixed["posts"][city - ALL_CITIES]
        place = int(at)
        if not self._own(place):
            return f"{self._not_owned(place)} (ADA-25)"
        if not s["gold"][place]:
            return f"there is no gold on {self._place(place)} (ADA-25)"
        if s["reserve"][self.colour] == 0:
            return f"all 50 bands of {self.name} are on the board (ADA-25)"
        owned = territories_of(s, self.colour)
        if city < ALL_CITIES:
            cities = cities_owned(owned, city // CITIES, fixed)
            return f"{self.name} owns {cities} of the 2 cities it needs in that lair (ADA-25)"
        return f"{self.name} owns {posts_owned(owned, fixed)} of the 3 posts it needs (ADA-25)"

    def _enrol(self) -> str:
        s = self.s
        if s["enrolled"][s["raid"]]:
            return "bands can be enrolled only once per turn or raid (ADA-31)"
        if s["reserve"][self.colour] == 0:
            return f"all 50 bands of {self.name} are on the board (ADA-31)"
        assert levies(s, self.colour) == 0
        return (
            f"{self.name} does not own 4 territories of any lair or of the central group (ADA-31)"
        )

    def _levy(self) -> str:
        if not self._own(self.number):
            return f"{self._not_owned(self.number)} (ADA-31, ADA-32)"
        return self._wrong_stage()

    def _rise(self) -> str:
        s, territory = self.s, CENTRAL + self.number
        if s["owner"][territory] == NOBODY:
            return f"{self._place(territory)} is unexplored (ADA-32)"
        if s["bands"][territory]:
            return f"pirates are on {self._place(territory)} (ADA-32)"
        return self._wrong_stage()

    # --- cards -----------------------------------------------------------------------------------

    def _buy(self) -> str:
        if self.s["deck_size"] == 0:
            return "the deck is empty (ADA-32)"
        gold = payable_gold(self.s, self.colour)
        return f"it costs {CARD_PRICE} gold, but {self.name} can pay only {gold} (ADA-32)"

    def _pay(self) -> str:
        place = self.number
        if not self._own(place):
            if is_sea(place):
                return f"{self.name} does not crew a ship on {self._place(place)} (ADA-32)"
            return f"{self._not_owned(place)} (ADA-32)"
        if not self.s["gold"][place]:
            return f"there is no gold on {self._place(place)} (ADA-32)"
        return self._wrong_stage()

    def _shipyard(self) -> str:
        place = int(self.fixed["cities"][self.number])
        if missing := self._not_held(int(SHIPYARD_CARD)):
            return missing
        if ships_lost(self.s) == 0:
            return "the box has no ship that was scuttled (ADA-32)"
        if not self._own(place):
            return f"{self._not_owned(place)} (ADA-32)"
        return f"{self._place(place)} already has a ship (ADA-32)"

    def _gold_mine(self) -> str:
        if missing := self._not_held(int(GOLD_MINE_CARD)):
            return missing
        if not self._own(self.number):
            return f"{self._not_owned(self.number)} (ADA-32)"
        return "the supply has no gold (ADA-6)"

    def _mutiny(self) -> str:
        s, square = self.s, TERRITORIES + self.number
        if missing := self._not_held(int(MUTINY_CARD)):
            return missing
        if not s["bands"][square]:
            return f"there is no ship with a crew on {self._place(square)} (ADA-32)"
        if not is_enemy(s, self.colour, int(s["owner"][square])):
            return f"the crew on {self._place(square)} is not an enemy (ADA-32)"
        return f"{s['bands'][square]} bands are aboard; at most 3 can mutiny (ADA-32)"

    def _discovery(self) -> str:
        if missing := self._not_held(int(DISCOVERY_CARD)):
            return missing
        assert not may_explore(self.s, CENTRAL + self.number, self.colour, self.fixed)
        return self._explore()

    def _play(self) -> str:
        s = self.s
        card = CARD_NAMES.index(act.PLAIN_CARDS[self.number])
        if missing := self._not_held(card):
            return missing
        if card == MORE_COUPS_CARD:
            return "only one such card may be played per turn or raid (ADA-32)"
        if card == STRATEGIST_CARD:
            if s["deck_size"] == 0:
                return "the deck is empty (ADA-32)"
            return "the first look at the deck costs 1 coup, but none is left (ADA-32)"
        if "natives" in CARD_NAMES[card]:
            if s["supply_tribes"] == 0:
                return "the supply has no tribes (ADA-6)"
            return "no explored central territory is free of pirates (ADA-32)"
        if s["reserve"][self.colour] == 0:
            return f"all 50 bands of {self.name} are on the board (ADA-6)"
        return f"{self.name} owns no territory (ADA-32)"
