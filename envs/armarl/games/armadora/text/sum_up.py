"""A turn of Armadora in words, from descriptions of the game as one seat sees it."""

from __future__ import annotations

from collections.abc import Sequence

from armarl.common.messages import listed
from armarl.core.pictures.picture import Scene
from armarl.games.armadora.text.tell import deed, walled

_PAST = (  # the first words of `deed`, in the present and in the past tense
    ("as the Orc places", "as the Orc placed"),
    ("as the Goblin lays", "as the Goblin laid"),
    ("as the Elf shoots", "as the Elf shot"),
    ("as the Mage looks", "as the Mage looked"),
    ("reinforces", "reinforced"),
    ("passes", "passed"),
    ("lays", "laid"),
)


def sum_up(scenes: Sequence[Scene]) -> str:
    """Return a turn in words: first all actions except `P …`, then all palisades together."""
    assert scenes[0].last
    name = scenes[0].names[scenes[0].last[0]]
    lines, done = [], []
    for scene in scenes:
        assert scene.last
        seat, notation = scene.last
        if notation.startswith("P "):
            lines.append(notation[2:])
        elif notation != "stop":
            done.append(_past(deed(scene, seat, notation)))
    if lines:
        done.append(f"placed {'a palisade' if len(lines) == 1 else 'palisades'} on {listed(lines)}")
    divided = " ".join(word for scene in scenes for word in walled(scene))
    return f"{name}: {listed(done)}.{divided and ' '}{divided}"


def _past(text: str) -> str:
    for now, then in _PAST:
        if text.startswith(now):
            return then + text.removeprefix(now)
    return text
