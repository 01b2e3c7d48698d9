"""Pixels of a picture, drawn by resvg. Each part is drawn once, cached, and laid over the others.

Few parts of a picture change from one position to the next. Only the areas under these parts are
composed again, so a frame takes little time.
"""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from collections.abc import Hashable
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.common.numbers import whole_number
from armarl.core.pictures.sheet import PLAIN_THEMES, Box, Part, Sheet, check_theme

LEAST_WIDTH, MOST_WIDTH = 16, 4096
_LOCK = threading.Lock()  # threads share and change the cache and its canvases

Area = tuple[int, int, int, int]  # left, top, right, bottom, in pixels
Kind = tuple[Sheet, str, int, int]  # sheet, theme, width, height


class _Sprite(NamedTuple):
    """The pixels of a part."""

    colours: NDArray[np.uint16]  # (height, width, 3), multiplied by the opacity
    gaps: NDArray[np.uint16]  # (height, width, 1), the transparency, 0 to 255


class _Kept:
    """A cache of drawings, limited in number and bytes. It drops the least recently used ones."""

    def __init__(self, things: int, most: int) -> None:
        self.things, self.most, self.bytes = things, most, 0
        self._found: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()  # drawing, its bytes

    def get(self, key: Hashable) -> Any:
        """Return the drawing with this key, or None."""
        found = self._found.pop(key, None)
        if found is None:
            return None
        self._found[key] = found  # now the most recently used
        return found[0]

    def keep(self, key: Hashable, drawn: Any, size: int) -> None:
        """Add a drawing that `get` has not found."""
        self._found[key] = drawn, size
        self.bytes += size
        while self.bytes > self.most or len(self._found) > self.things:
            self.bytes -= self._found.popitem(last=False)[1][1]


# A frame and its parts take 13 MB at a width of 512 pixels, and at most 0.8 GB at 4096.
_KEPT = _Kept(1024, 1 << 30)


def size_of(sheet: Sheet, width: int) -> tuple[int, int]:
    """Return the width and height of a picture in pixels, both even."""
    width = whole_number("the width of a picture", width, LEAST_WIDTH, MOST_WIDTH)
    width += width % 2
    return width, 2 * max(1, round(sheet.height * width / sheet.width / 2))


def pixels(sheet: Sheet, parts: tuple[Part, ...], width: int, theme: str) -> NDArray[np.uint8]:
    """Return a picture as an array, uint8 (height, width, 3)."""
    check_theme(theme, PLAIN_THEMES)
    kind = sheet, theme, *size_of(sheet, width)
    with _LOCK:
        canvas: _Canvas | None = _KEPT.get(kind)
        if canvas is None:
            canvas = _Canvas(kind)
            _KEPT.keep(kind, canvas, canvas.size)
        return canvas.show(parts)


class _Canvas:
    """The last frame of a `Kind` of picture. Only changed areas of the next frame are drawn."""

    def __init__(self, kind: Kind) -> None:
        _, _, width, height = self._kind = kind
        self._whole = (0, 0, width, height)
        self._frame = np.empty((height, width, 3), np.uint8)
        self._parts: tuple[Part, ...] = ()
        self.size = self._frame.nbytes

    def show(self, parts: tuple[Part, ...]) -> NDArray[np.uint8]:
        """Return the frame of these parts, in a new array."""
        pairs = zip(self._parts, parts, strict=False)
        changed = [each for pair in pairs if pair[0] != pair[1] for each in pair]
        stale = [_area(part, self._kind) for part in changed]
        if len(parts) != len(self._parts) or sum(map(_size, stale)) > _size(self._whole):
            stale = [self._whole]
        self._parts = ()  # if the next line fails, the next call draws the whole frame
        self._lay(parts, list(dict.fromkeys(stale)))
        self._parts = parts
        return self._frame.copy()

    def _lay(self, parts: tuple[Part, ...], areas: list[Area]) -> None:
        """Compose the given areas of the frame from all parts that overlap them."""
        under = [np.full((y1 - y0, x1 - x0, 3), 255, np.uint16) for x0, y0, x1, y1 in areas]
        for part in parts:
            x0, y0, x1, y1 = _area(part, self._kind)
            sprite = None
            for here, (left, top, right, bottom) in zip(under, areas, strict=True):
                if x0 >= right or x1 <= left or y0 >= bottom or y1 <= top:
                    continue
                sprite = sprite or _sprite(part, self._kind)
                west, north, east, south = (
                    max(x0, left),
                    max(y0, top),
                    min(x1, right),
                    min(y1, bottom),
                )
                laid = here[north - top : south - top, west - left : east - left]
                there = slice(north - y0, south - y0), slice(west - x0, east - x0)
                laid *= sprite.gaps[there]
                laid += 127
                laid //= 255
                laid += sprite.colours[there]
        for (left, top, right, bottom), drawn in zip(areas, under, strict=True):
            self._frame[top:bottom, left:right] = drawn


def _area(part: Part, kind: Kind) -> Area:
    """Return the pixels that a part's box touches."""
    sheet, _, width, height = kind
    across, down = width / sheet.width, height / sheet.height
    x, y, wide, high = part.box
    left, right = max(0, floor(x * across)), min(width, ceil((x + wide) * across))
    return left, max(0, floor(y * down)), right, min(height, ceil((y + high) * down))


def _size(area: Area) -> int:
    return (area[2] - area[0]) * (area[3] - area[1])


def png(sheet: Sheet, parts: tuple[Part, ...], width: int, theme: str) -> bytes:
    """Return a picture as a PNG file."""
    check_theme(theme, PLAIN_THEMES)
    width, height = size_of(sheet, width)
    body = "\n".join(part.svg for part in parts)
    box = (0.0, 0.0, sheet.width, sheet.height)
    return _rendered(sheet, body, box, width, height, theme)


def _sprite(part: Part, kind: Kind) -> _Sprite:
    """Return the pixels of one part, in the area that its box touches."""
    if (kept := _KEPT.get((part, kind))) is not None:
        return kept  # type: ignore[no-any-return]
    sheet, theme, width, height = kind
    left, top, right, bottom = _area(part, kind)
    across, down = width / sheet.width, height / sheet.height
    box = (left / across, top / down, (right - left) / across, (bottom - top) / down)
    rgba = _decoded(_rendered(sheet, part.svg, box, right - left, bottom - top, theme))
    alpha = rgba[..., 3:].astype(np.uint16)
    sprite = _Sprite((rgba[..., :3] * alpha + 127) // 255, 255 - alpha)
    _KEPT.keep((part, kind), sprite, sprite.colours.nbytes + sprite.gaps.nbytes)
    return sprite


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
