"""The signs of Armada's picture and their meanings, for the line under the map and for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armarl.core.pictures.picture import Sign
from armarl.games.armada.chart.geography import COLOURS
from armarl.games.armada.drawing import pieces

if TYPE_CHECKING:
    from armarl.core.game import Game

UNDER_MAP = {  # for each text in the line under the map: its sign, and the sign's meaning
    "city": Sign(pieces.CITY, "A city. Ships are launched from cities (ADA-16)."),
    "post": Sign(
        pieces.POST, "A trading post. Three of them, the Centre among them, help to win (ADA-27)."
    ),
    "gold, {gold} left": Sign(pieces.coin(1), "Gold, with its amount."),
    "tribes, {tribes} left": Sign(
        pieces.token("tribes", 1), "Tribes, with their number. They defend the place (ADA-21)."
    ),
    "ship, {box} left": Sign(pieces.hull(), "A ship in a city, not launched yet."),
    "owner away": Sign(
        pieces.flag("orange"), "A flag: the colour still owns the place, but its bands have left."
    ),
    "deck, {deck} left": Sign(pieces.CARD, "Cards."),
}


def signs(game: Game) -> tuple[Sign, ...]:
    """Return the signs in the picture of a variant, with their meanings."""
    stripes = (
        Sign(
            '<rect x="-26" y="-26" width="52" height="52" fill="var(--sand)"/>'
            f'<rect x="-26" y="-26" width="52" height="52" fill="var(--{colour})" '
            'fill-opacity=".42"/><rect x="-26" y="-26" width="52" height="52" '
            f'fill="url(#hatch-{colour})"/>{pieces.shape(colour, 0.7)}',
            f"Stripes and shape of {colour}: its land, and its bands.",
        )
        for colour in COLOURS
    )
    legend = [
        sign for sign in UNDER_MAP.values() if game.options["cards"] or sign.svg != pieces.CARD
    ]
    return (
        *stripes,
        Sign(pieces.token("green", 5), "Bands of a colour, with their number."),
        Sign(pieces.ship("blue", 7), "A ship at sea, with 7 bands of blue aboard as its sail."),
        Sign(pieces.ship(None, 0), "A ship at sea without a crew: a grey sail."),
        *legend,
        Sign(
            pieces.die("combat", 2),
            "A red die of a fight: + defenders fall, − attackers fall (ADA-22).",
        ),
        Sign(pieces.die("gold", 2), "A yellow die: gold that was found. A brown die: tribes."),
        Sign(
            '<rect x="-26" y="-26" width="52" height="52" rx="6" fill="none" '
            'stroke="var(--glow)" stroke-width="5"/>',
            "A yellow edge: the last action was here, or changed this place.",
        ),
        Sign(
            f'<g transform="scale(.75)">{pieces.entry(pieces.POST, "1/3", -42, 0)[0]}</g>',
            "Under the map: a colour owns 1 of the 3 posts that victory needs. 0/4 with a city: "
            "none of the 4 cities in enemy lairs (ADA-27).",
        ),
    )
