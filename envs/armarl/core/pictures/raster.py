"""Pixels of a picture, drawn by resvg. Every part is drawn once and kept, then laid over the rest.

From one position to the next few parts of a picture change. Only what lies under and over them is
laid anew, so that a frame costs little.
"""

from __future__ import annotations

import io
import threading
from functools import lru_cache
from math import ceil, floor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.common.numbers import whole_number
from armarl.core.pictures.sheet import PLAIN_THEMES, Box, Part, Sheet, check_theme

LEAST_WIDTH, MOST_WIDTH = 16, 4096
_KEPT = 1024  # drawn parts
_CANVASES = 8  # last frames
_LOCK = threading.Lock()  # canvases are drawn on

Area = tuple[int, int, int, int]  # left, top, right, bottom, in pixels


class _Sprite(NamedTuple):
    """The pixels of a part."""

    area: Area
    colours: NDArray[np.uint16]  # (height, width, 3), times opacity
    gaps: NDArray[np.uint16]  # (height, width, 1), how much shows through, of 255


def size_of(sheet: Sheet, width: int) -> tuple[int, int]:
    """Return the width and height of a picture in pixels, both even."""
    width = whole_number("the width of a picture", width, LEAST_WIDTH, MOST_WIDTH)
    width += width % 2
    return width, 2 * max(1, round(sheet.height * width / sheet.width / 2))


def pixels(sheet: Sheet, parts: tuple[Part, ...], width: int, theme: str) -> NDArray[np.uint8]:
    """Return a picture as an array, uint8 (height, width, 3)."""
    check_theme(theme, PLAIN_THEMES)
    with _LOCK:
        canvas = _canvas(sheet, theme, *size_of(sheet, width))
        return canvas.show(parts)


@lru_cache(maxsize=_CANVASES)
def _canvas(sheet: Sheet, theme: str, width: int, height: int) -> _Canvas:
    return _Canvas(sheet, theme, width, height)


class _Canvas:
    """The last frame of a kind. The next one differs from it only where parts have changed."""

    def __init__(self, sheet: Sheet, theme: str, width: int, height: int) -> None:
        self._kind = sheet, theme, width, height
        self._whole = (0, 0, width, height)
        self._frame = np.empty((height, width, 3), np.uint8)
        self._sprites: list[_Sprite] = []

    def show(self, parts: tuple[Part, ...]) -> NDArray[np.uint8]:
        """Return the frame of these parts, in a new array."""
        sprites = [_drawn(part, *self._kind) for part in parts]
        pairs = zip(self._sprites, sprites, strict=False)
        stale = [each.area for pair in pairs if pair[0] is not pair[1] for each in pair]
        if len(sprites) != len(self._sprites) or sum(map(_size, stale)) > _size(self._whole):
            stale = [self._whole]
        self._sprites = []  # if the next lines fail, all is stale
        for area in dict.fromkeys(stale):
            self._lay(sprites, area)
        self._sprites = sprites
        return self._frame.copy()

    def _lay(self, sprites: list[_Sprite], area: Area) -> None:
        """Lay the parts over each other in one area."""
        left, top, right, bottom = area
        under = np.full((bottom - top, right - left, 3), 255, np.uint16)
        for (x0, y0, x1, y1), colours, gaps in sprites:
            west, north, east, south = max(x0, left), max(y0, top), min(x1, right), min(y1, bottom)
            if west < east and north < south:
                here = under[north - top : south - top, west - left : east - left]
                there = slice(north - y0, south - y0), slice(west - x0, east - x0)
                here *= gaps[there]
                here += 127
                here //= 255
                here += colours[there]
        self._frame[top:bottom, left:right] = under


def _size(area: Area) -> int:
    return (area[2] - area[0]) * (area[3] - area[1])


def png(sheet: Sheet, parts: tuple[Part, ...], width: int, theme: str) -> bytes:
    """Return a picture as a PNG file."""
    check_theme(theme, PLAIN_THEMES)
    width, height = size_of(sheet, width)
    body = "\n".join(part.svg for part in parts)
    box = (0.0, 0.0, sheet.width, sheet.height)
    return _rendered(sheet, body, box, width, height, theme)


@lru_cache(maxsize=_KEPT)
def _drawn(part: Part, sheet: Sheet, theme: str, width: int, height: int) -> _Sprite:
    """Draw a part alone, on the pixels that its box touches."""
    across, down = width / sheet.width, height / sheet.height
    x, y, wide, high = part.box
    left, right = max(0, floor(x * across)), min(width, ceil((x + wide) * across))
    top, bottom = max(0, floor(y * down)), min(height, ceil((y + high) * down))
    box = (left / across, top / down, (right - left) / across, (bottom - top) / down)
    image = _rendered(sheet, part.svg, box, right - left, bottom - top, theme)
    rgba = _decoded(image)
    alpha = rgba[..., 3:].astype(np.uint16)
    return _Sprite((left, top, right, bottom), (rgba[..., :3] * alpha + 127) // 255, 255 - alpha)


def _rendered(sheet: Sheet, body: str, box: Box, width: int, height: int, theme: str) -> bytes:
    try:
        import resvg_py
    except ImportError as error:
        raise ImportError("pixels of pictures need resvg: pip install 'armarl[render]'") from error
    size = f'width="{width}" height="{height}" preserveAspectRatio="none" '
    svg = sheet.painted(sheet.document(box, body, size=size), theme)
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=True))


def _decoded(png: bytes) -> NDArray[np.uint8]:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("pixels of pictures need Pillow: pip install 'armarl[render]'") from error
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGBA"))
