"""Help for a person who plays Armada on a web page: places to click, questions, how to play."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armarl.games.armada.actions import CARD_NAMES
from armarl.games.armada.chart.geography import COLOURS
from armarl.games.armada.drawing.signs import signs as signs
from armarl.games.armada.state import (
    ANSWER_ATTACK,
    ANSWER_DEFENCE,
    ANSWER_RAID,
    NUMBER_BANDS,
    NUMBER_GOLD,
    ORDER,
    OVER,
    PAY_GOLD,
    PEEKING,
    PLACE_ENROLLED,
    PLACE_NATIVES,
    PLACE_RECRUITS,
    PLACE_SHIP,
    SHIPS_EACH,
    SPREAD_BANDS,
    acting_colour,
)
from armarl.games.armada.text.claims import claim_in_words, claims_of

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game

_QUESTIONS = {
    NUMBER_BANDS: "How many bands move (ADA-17)?",
    NUMBER_GOLD: "How much gold moves with the bands (ADA-17)?",
    PLACE_ENROLLED: "Where does the enrolled band go (ADA-31)?",
    PAY_GOLD: "From where do you pay one gold (ADA-32)?",
    PLACE_RECRUITS: "Which of your territories gets the {roll} bands from the die (ADA-32)?",
    PLACE_NATIVES: "Which central territory gets the {roll} tribes from the die (ADA-32)?",
    ANSWER_ATTACK: "The roll is {roll}. Do you play `attack`, for 2 hits (ADA-32)?",
    ANSWER_DEFENCE: "You are attacked, and the roll is {roll}. Do you play `defence` (ADA-32)?",
    ANSWER_RAID: "Do you interrupt this turn with a raid of 3 coups (ADA-33)?",
    PEEKING: "Do you take the last card looked at, or look at the next one for a coup (ADA-32)?",
}

OPTIONS = {
    "cards": "cards to buy and play, and raids (ADA-32 to ADA-36)",
    "enrolment": "more bands for the lairs and central territories that you hold (ADA-31)",
    "max_turns": "the game ends without a winner after this number of colour turns (ADA-30)",
}
EXAMPLE = {  # an example of a position, which the page shows
    "game": "armada",
    "players": 2,
    "territories": {
        "G4": {"owner": "green", "bands": 6, "gold": 2},
        "R4": {"owner": "raspberry", "bands": 4},
        "C1": {"owner": "tribes", "tribes": 3, "gold": 2},
    },
    "ships": {"s14": {"colour": "green", "bands": 5}},
    "turn": {"number": 4, "coups": 7},
}
HOW_TO_PLAY = (
    (
        "The aim",
        "With one colour, own at least 4 territories of one lair, and either 3 trading posts with "
        "the Centre among them or 4 cities in enemy lairs. You then claim victory, and win if you "
        "also own enough at the end of your next turn (ADA-27, ADA-28). A territory is yours "
        "from the moment you enter it, even when your bands have left (ADA-18).",
    ),
    (
        "The start",
        "Put two ships on two of your cities: click a city. Then spread your bands over your "
        "seven territories: give a number for each in turn (ADA-13).",
    ),
    (
        "Your turn",
        "You have 10 coups. Coups that you do not use are lost (ADA-15). For an order between two "
        "places, "
        "click the first place and then the second. Move bands, and gold with them (ADA-17). "
        "Launch a ship from a city to the sea, and sail it (ADA-16, ADA-20). A ship carries 10 "
        "pieces, bands and gold together (ADA-19).",
    ),
    (
        "Exploring",
        "Central territories hide gold and tribes. Click one next to your ship or your bands: two "
        "dice decide what is there (ADA-21). Tribes must be beaten before you enter.",
    ),
    (
        "Fighting",
        "Attack a place next to 2 or more of your bands. Each roll costs a coup and removes "
        "defenders or attackers (ADA-22). Then move in (ADA-23).",
    ),
    (
        "Gold",
        "One gold in a city or post of yours becomes 4 bands, if you own 2 cities of that lair or "
        "3 posts (ADA-25). With cards, 2 gold and 2 coups buy a card (ADA-32).",
    ),
    (
        "Two, three and four players",
        "With two players each has two colours, which take separate turns and never share a "
        "place (ADA-11). With three, one lair is nobody's and only defends (ADA-12).",
    ),
)


def _claims(state: State) -> str:
    """Return sentences about the claims of victory under way, to add to a question."""
    return "".join(
        f" {claim_in_words(claim.colour)} It wins if it still owns enough at the end of "
        f"{'its turn' if claim.this_turn else 'its next turn'} (ADA-28)."
        for claim in claims_of(state)
    )


def cells(game: Game) -> list[str]:
    """Return the ids of the places in the picture, in the order of the action table's cells."""
    return [f"place-{name}" for name in game.attributes["chart"].places]


def edges(game: Game) -> list[str]:
    """Return an empty list: to give an order along a border, a person clicks two places."""
    return []


def must_remember(game: Game) -> bool:
    """Return False: the page always shows everything that the player has learnt."""
    return False


def warnings(game: Game, state: State) -> dict[str, str]:
    """Return warnings before actions that cannot be taken back, by action family."""
    said = {
        "explore": "Two dice decide what is there. Exploring costs a coup and cannot be taken "
        "back (ADA-21).",
        "scuttle": "To scuttle is to sink this ship, so that nobody can use it. Gold aboard is "
        "lost (ADA-24).",
    }
    if state["stage"] == ORDER and (coups := int(state["coups"][state["raid"]])):
        what = "raid" if state["raid"] else "turn"
        lost = f"{coups} coups are" if coups > 1 else "1 coup is"
        said["end"] = f"{lost} left in this {what}, and will be lost (ADA-15)."
    return said


def question(game: Game, state: State) -> tuple[str, list[int]]:
    """Return the question for the seat to move, and the places that the question is about."""
    s, stage = state, int(state["stage"])
    if stage == OVER:
        return "", []
    colour = COLOURS[acting_colour(s)]
    if stage == PLACE_SHIP:
        return f"Put ship {s['count'] + 1} of {SHIPS_EACH} on a {colour} city (ADA-13).", []
    if stage == SPREAD_BANDS:
        place, left = int(s["target"]), int(s["due"])
        name = game.attributes["chart"].places[place]
        rest = "The number may be 0, and your last territory gets the rest"
        return f"How many of the {left} bands left go on {name}? {rest} (ADA-13).", [place]
    if stage == ORDER:
        coups = int(s["coups"][s["raid"]])
        what = "raid" if s["raid"] else "turn"
        held = bool(s["cards"]) and any(s["hand"][s["to_move"], k] for k in range(len(CARD_NAMES)))
        more = ", or play a card" if held else ""
        how = f"Give {colour} an order from one place to another{more}."
        budget = f"There are {coups} coups (actions) left in its {what} (ADA-15)."
        return f"{how} {budget}{_claims(state)}", []
    asked = _QUESTIONS[stage].format(roll=int(s["roll"]))
    order = int(s["order"])
    places = game.actions.places
    about = [] if order < 0 else [int(places.origin[order]), int(places.target[order])]
    return asked, [place for place in about if place >= 0]
