"""The pieces of Armada's picture, centred on the origin. Every colour also has its own shape."""

from __future__ import annotations

from armarl.core.pictures.lettering import width_of, write

COLOURS = {
    "page": ("#f3e6c4", "#201c17"),
    "paper": ("#f3e6c3", "#2b251d"),
    "ink": ("#3b2a1a", "#ead9b5"),
    "panel": ("#fbf3dd", "#322b22"),
    "line": ("#3b2a19", "#1a120a"),
    "name": ("#2a1c0e", "#120c06"),
    "sand": ("#efdcae", "#b3a076"),
    "sea": ("#5fa3ad", "#2f5f6d"),
    "deep": ("#3b7d92", "#214a5c"),
    "deepest": ("#235470", "#142f43"),
    "foam": ("#eaf6f2", "#bcd8dc"),
    "wreck": ("#b9b2a2", "#a39c8c"),
    "wood": ("#8a5a33", "#8a5a33"),
    "edge": ("#2b1d10", "#120b05"),
    "white": ("#fff7e2", "#fff7e2"),
    "gold": ("#f2c230", "#e6b527"),
    "gold-edge": ("#8a6412", "#6b4c0b"),
    "glow": ("#fff200", "#fff200"),
    # Green and raspberry are dark, blue and orange are light, so that colour-blind people can tell
    # them apart.
    "green": ("#2f7d3a", "#2f8a40"),
    "raspberry": ("#b01f5a", "#b82a64"),
    "blue": ("#3568c8", "#3f74d6"),
    "orange": ("#e07d1a", "#e0832a"),
    "tribes": ("#6d4022", "#7a4a29"),
}
HATCHES = {  # lines that tint a territory, by owner
    "green": "M-4 4L4 -4M0 16L16 0M12 20L20 12",
    "raspberry": "M-4 12L4 20M0 0L16 16M12 -4L20 4",
    "blue": "M0 8H16",
    "orange": "M8 0V16",
    "tribes": "M4 4h2M12 12h2M12 4h2M4 12h2",
}
DEFINITIONS = {
    f"hatch-{owner}": f'<pattern id="hatch-{owner}" width="16" height="16" '
    f'patternUnits="userSpaceOnUse"><path d="{lines}" stroke="var(--{owner})" stroke-width="3" '
    'stroke-opacity=".75" fill="none"/></pattern>'
    for owner, lines in HATCHES.items()
}
_SHAPES = {  # the symbol of each owner, about 36 units wide and high
    "green": '<rect x="-17" y="-17" width="34" height="34" rx="4"/>',
    "raspberry": '<circle r="19"/>',
    "blue": '<path d="M0 -23L23 0L0 23L-23 0Z"/>',
    "orange": '<path d="M-11 -19H11L22 0L11 19H-11L-22 0Z"/>',
    "tribes": '<path d="M0 -22L21 -3V18H-21V-3Z"/>',
}
CITY = (
    '<g stroke="var(--edge)" stroke-width="1.5" fill="var(--white)">'
    '<path d="M-16 13V-2L-9 -9L-2 -2V13ZM4 13V-3L10 -9L16 -3V13ZM-6 13V-11L1 -19L7 -11V13Z"/>'
    '<path d="M-2 13V5H3V13Z" fill="var(--edge)"/></g>'
)
POST = (
    '<g stroke="var(--edge)" stroke-width="1.7"><path d="M0 -17L16 0L0 17L-16 0Z" '
    'fill="var(--white)"/><path d="M0 -9L9 0L0 9L-9 0Z" fill="var(--gold)"/></g>'
)
CARD = (
    '<g stroke="var(--edge)" stroke-width="1.6"><rect x="-11" y="-16" width="22" height="32" '
    'rx="4" fill="var(--white)"/><rect x="-7" y="-12" width="14" height="24" rx="2" '
    'fill="var(--wood)" stroke="none"/></g>'
)
_HULL = '<path d="M-26 10H26L18 25H-18Z" fill="var(--wood)"/>'
_SAIL = '<path d="M-12 -17Q-2 -20 10 -17Q17 -6 12 6H-12Q-8 -5 -12 -17Z" fill="var(--wreck)"/>'


def shape(owner: str, scale: float = 1.0) -> str:
    """Return the symbol of an owner, a colour or `tribes`, filled with the owner's colour."""
    size = "" if scale == 1 else f' transform="scale({scale:g})"'
    return (
        f'<g fill="var(--{owner})" stroke="var(--white)" stroke-width="2.2"{size}>'
        f"{_SHAPES[owner]}</g>"
    )


def token(owner: str, count: int) -> str:
    """Return bands or tribes with their number."""
    size = 31 if count < 10 else 26
    return shape(owner) + write(count, 0, 12 if owner == "tribes" else 10, size, "#ffffff")


def coin(count: int) -> str:
    """Return gold with its number."""
    return (
        '<g stroke="var(--gold-edge)" fill="var(--gold)"><circle r="17" stroke-width="2.4"/>'
        '<circle r="13" stroke-width="1"/></g>'
        + write(count, 0, 10, 29 if count < 10 else 23, "#4a3405")
    )


def hull() -> str:
    """Return a small ship that has not been launched."""
    return (
        f'<g transform="scale(.62)" stroke="var(--edge)" stroke-width="2.4">{_HULL}'
        f'<path d="M0 10V-20"/>{_SAIL}</g>'
    )


def ship(colour: str | None, bands: int) -> str:
    """Return a ship at sea. Its sail is the shape of the crew's colour, or grey without a crew."""
    sail = _SAIL if colour is None else f'<g transform="translate(0 -8)">{token(colour, bands)}</g>'
    mast = "" if colour else '<path d="M0 10V-20"/>'
    return (
        f'<g stroke="var(--edge)" stroke-width="1.6" stroke-linejoin="round">{_HULL}{mast}</g>'
        f'<g stroke-linejoin="round">{sail}</g>'
    )


def flag(owner: str) -> str:
    """Return the flag of an owner whose bands have left."""
    return (
        '<path d="M-13 17V-18" stroke="var(--white)" stroke-width="5"/>'
        '<path d="M-13 17V-18" stroke="var(--edge)" stroke-width="2.5"/>'
        f'<g transform="translate(2 -5)">{shape(owner, 0.62)}</g>'
    )


def die(kind: str, face: int) -> str:
    """Return a die that was thrown. Combat shows hits or losses, the other dice show the find."""
    fill = {"combat": "#8f1d1d", "gold": "#a87706", "tribes": "#6d4022"}[kind]
    number = f"+{face}" if kind == "combat" and face > 0 else str(face).replace("-", "−")
    return (
        f'<g fill="{fill}" stroke="var(--white)" stroke-width="2"><rect x="-19" y="-19" width="38" '
        f'height="38" rx="8"/></g>{write(number, 0, 10, 27, "#ffffff")}'
    )


def row(pieces: list[str], x: float, y: float, step: float = 40.0) -> str:
    """Return pieces side by side, centred on a point."""
    left = x - step / 2 * (len(pieces) - 1)
    return "".join(
        f'<g transform="translate({left + step * i:.1f} {y:.1f})">{piece}</g>'
        for i, piece in enumerate(pieces)
    )


def label(text: str, x: float, y: float, size: float, fill: str, halo: str) -> str:
    """Return a name with a halo, so that it stands out from the background."""
    more = f'stroke="{halo}" stroke-width="26" stroke-linejoin="round" paint-order="stroke"'
    return write(text, x, y, size, fill, more=more)


def entry(piece: str, text: str, x: float, y: float, size: float = 25.0) -> tuple[str, float]:
    """Return a piece with words after it, and the x coordinate at which the words end."""
    svg = f'<g transform="translate({x + 16:.1f} {y:.1f}) scale(.8)">{piece}</g>'
    svg += write(text, x + 37, y + 9, size, "var(--ink)", "start")
    return svg, x + 37 + width_of(text, size)
