"""Ways to reach rare situations in Armada: random play with a bias, and random positions."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable
from typing import Any

from reference.armada.board import BANDS, CARDS, GOLD, ROOM, SHIPS, TRIBES
from reference.armada.game import Armada

MOODS = ("settler", "hunter", "idler", "wanderer")


class Wanderer:
    """A random player with a bias towards goals, because uniform play never leaves the lair.

    Each player has a mood for the whole game. Settlers go to posts, enemy cities and unexplored
    land. Hunters go to enemy bands. Idlers soon end their turns.
    """

    def __init__(self, rng: random.Random, players: int, fierce: bool = False) -> None:
        self.rng = rng
        odds = (1, 4, 1, 1) if fierce else (1, 1, 1, 1)
        self.moods = rng.choices(MOODS, odds, k=players)
        self.patience = {"settler": 0.02, "hunter": 0.02, "wanderer": 0.1, "idler": 5.0}
        self.weight = {"launch": 2.0, "sail": 1.0, "move": 1.0, "attack": 6.0, "explore": 4.0}
        self.weight |= {"convert": 8.0, "enrol": 3.0, "buy": 4.0, "peek": 1.5, "decline": 1.0}
        self.weight |= {"scuttle": rng.choice((0.01, 0.01, 0.5)), "play": rng.choice((0.1, 2.0))}
        self.pull = rng.choice((1.5, 3.0, 6.0))

    def choose(self, game: Armada) -> str:
        """Choose one of the legal notations."""
        texts = sorted(game.legal())
        distance = self._distances(game) if game.stage == "order" else {}
        weights = [self._weigh(game, text, distance) for text in texts]
        return self.rng.choices(texts, weights)[0]

    def _weigh(self, game: Armada, text: str, distance: dict[str, int]) -> float:
        verb, *words = text.split()
        if verb == "end":
            return self.patience[self.moods[game.player]]
        if verb in ("count", "gold"):
            number, all_of_it = int(words[0]), len(game.legal()) - (verb == "gold")
            if game.stage == "preliminary":
                return 1 / (1 + number)
            return 4 * all_of_it if number == all_of_it else 1
        weight = self.weight.get(verb, 1.0)
        if verb in ("move", "sail"):
            origin, target = words
            weight *= self.pull ** (distance.get(origin, 9) - distance.get(target, 9))
            if target in game.land and game.land[target]["owner"] != game.colour:
                weight *= 8
        return weight

    def _distances(self, game: Armada) -> dict[str, int]:
        """Return each place's distance, in borders, from the nearest goal of the acting colour."""
        goals = set(self._goals(game))
        distance, queue = dict.fromkeys(goals, 0), deque(goals)
        while queue:
            place = queue.popleft()
            for other in game.near[place]:
                if other not in distance:
                    distance[other] = distance[place] + 1
                    queue.append(other)
        return distance

    def _goals(self, game: Armada) -> Iterable[str]:
        if self.moods[game.player] == "hunter":
            return [p for p in [*game.land, *game.ships] if game.is_enemy(game.at(p)["colour"])]
        return [
            name
            for name, land in game.land.items()
            if land["owner"] != game.colour
            and (game.chart[name]["post"] or game.chart[name]["city"] or not land["explored"])
        ]


def random_position(game: Armada, rng: random.Random) -> dict[str, Any]:
    """Return a valid random position in the middle of a turn, in the form of `describe`.

    The position has many pieces. `game` provides the chart and the options.
    """
    while True:
        view = _random_view(game, rng)
        possible = Armada(
            {
                "territories": list(game.chart.values()),
                "sea": [place for place in game.near if place not in game.chart],
                "borders": [(a, b) for a in game.near for b in game.near[a] if a < b],
            },
            game.players,
            enrolment=game.enrolment,
            max_turns=game.max_turns,
            neutral=game.neutral,
        )
        possible.resume(view)
        if possible.stage == "order" and possible.turn == game_turn(view):
            view["claims"] += _in_victory(possible)
            return view


def _in_victory(game: Armada) -> list[str]:
    """Return the colours in victory. In the position, all of them have laid a claim (ADA-28)."""
    found = []
    for colour in game.playing:
        game.turn = game._new_turn(colour, 0)
        found += [colour] if game._in_victory() else []
    return found


def game_turn(view: dict[str, Any]) -> dict[str, Any]:
    """Return the `turn` of a view in the form that the reference stores."""
    return {key: value for key, value in view["turn"].items() if key not in ("number", "stage")}


def _random_view(game: Armada, rng: random.Random) -> dict[str, Any]:
    strong, strength = game.playing, {c: rng.choice((1, 3, 10, 20, 50)) for c in game.playing}
    leader, beaten = None, False
    if rng.random() < 0.4:  # one player has almost won
        leader, beaten = rng.randrange(game.players), rng.random() < 0.5
        strong = [c for c in game.playing if game.player_of[c] == leader]
        last = rng.choice([c for c in game.playing if c not in strong])
        strength = {c: 30 if c in strong else int(c == last) for c in game.playing}
    colour = rng.choice(strong)
    ships_at_sea = rng.randint(0, 5)
    ships_on_land = rng.randint(0, min(3, SHIPS - 2 * (game.neutral is not None) - ships_at_sea))
    squares = rng.sample([p for p in game.near if p not in game.land], ships_at_sea)
    docks = rng.sample([n for n in game.land if game.chart[n]["city"]], ships_on_land)
    land = {name: _random_land(game, name, rng) | {"ship": name in docks} for name in game.land}
    if rng.random() < 0.4:  # a colour is in victory (ADA-27), or nearly
        master = rng.choice(strong)
        for name in land:
            if game.chart[name]["post"]:
                land[name] |= {"owner": master, "explored": True}
    if beaten:  # the other players have one band in total, and two territories (ADA-29)
        weak = [name for name in land if land[name]["owner"] in {*game.playing} - {*strong}]
        kept = [name for name in weak if land[name]["owner"] == last][:2]
        for name in weak:
            land[name]["owner"] = land[name]["owner"] if name in kept else rng.choice(strong)
    ships = {
        square: {"colour": rng.choice([None, *strong]), "bands": 0, "gold": 0} for square in squares
    }
    reserve = dict.fromkeys(game.playing, BANDS)
    for c in game.playing:
        places = [place for place in land if land[place]["owner"] == c]
        crewed = [square for square in ships if ships[square]["colour"] == c]
        if c not in strong:
            owned = {name for name in land if land[name]["owner"] in strong}
            places = [place for place in places if game.near[place] & owned] or places
        for place in crewed + rng.choices(places + crewed, k=strength[c] * bool(places or crewed)):
            here = land.get(place) or ships[place]
            if reserve[c] and (place in land or here["bands"] < ROOM):
                here["bands"] += 1
                here["colour"] = c
                reserve[c] -= 1
    supply = {"gold": GOLD, "tribes": TRIBES}
    for _ in range(rng.choice((0, 10, 30, 49, 50))):
        here = rng.choice([*land.values(), *ships.values()])
        full = "explored" not in here and here["bands"] + here["gold"] >= ROOM
        spent = beaten and here.get("owner") not in {*strong, "tribes"} and "owner" in here
        if here.get("explored", True) and not full and not spent:
            here["gold"] += 1
            supply["gold"] -= 1
    if wild := [here for here in land.values() if here["owner"] == "tribes"]:
        for _ in range(rng.choice((0, 10, 49, 50))):
            rng.choice(wild)["tribes"] += 1
            supply["tribes"] -= 1
    hands, deck, played = _random_cards(game, rng)
    if beaten:
        for player in {*range(game.players)} - {leader}:
            played, hands[player] = sorted(played + hands[player]), []
    more_coups = game.cards and rng.random() < 0.3
    return {
        "territories": land,
        "ships": ships,
        "box": SHIPS - ships_at_sea - ships_on_land,
        "reserve": reserve,
        "supply": supply,
        "neutral": game.neutral,
        "turn": {
            "number": rng.randrange(min(30, game.max_turns)),
            "player": game.player_of[colour],
            "colour": colour,
            "raid": False,
            "coups": rng.choice((1, 3, 6, 10)) + 3 * more_coups,
            "enrolled": game.enrolment and rng.random() < 0.3,
            "more_coups": more_coups,
            "stage": "order",
        },
        "interrupted": None,
        "claims": [c for c in game.playing if rng.random() < 0.3],
        "new_claims": [],
        "hands": hands,
        "deck": deck,
        "played": played,
    }


def _random_land(game: Armada, name: str, rng: random.Random) -> dict[str, Any]:
    """Return a territory with an owner and no bands, except neutral bands."""
    lair, owner = game.chart[name]["lair"], rng.choice(game.playing)
    explored = lair != "central" or rng.random() < 0.8
    if lair == "central":
        owner = rng.choice(("tribes", owner)) if explored else None
    elif rng.random() < 0.6:
        owner = lair
    bands = rng.randint(0, 3) if owner is not None and owner == game.neutral else 0
    return {
        "owner": owner,
        "explored": explored,
        "bands": bands,
        "colour": owner if bands else None,
        "tribes": 0,
        "gold": 0,
    }


def _random_cards(game: Armada, rng: random.Random) -> tuple[list[list[str]], list[str], list[str]]:
    if not game.cards:
        return [[] for _ in range(game.players)], [], []
    cards = list(CARDS.elements())
    rng.shuffle(cards)
    sizes = [rng.choice((0, 2, 5, 8)) for _ in range(game.players)]
    hands = [sorted(cards.pop() for _ in range(size)) for size in sizes]
    left = rng.choice((0, 1, 2, 5, len(cards)))
    left = min(left, len(cards))
    return hands, cards[:left], sorted(cards[left:])
