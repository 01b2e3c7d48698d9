"""Pixels of a picture, drawn by resvg. Every part is drawn once and kept, then laid over the rest.

From one position to the next few parts of a picture change, so that a frame costs little.
"""

from __future__ import annotations

import io
from functools import lru_cache
from math import ceil, floor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.common.numbers import whole_number
from armarl.core.pictures.picture import PLAIN_THEMES, Box, Part, Picture, Sheet, check_theme

LEAST_WIDTH, MOST_WIDTH = 16, 4096
_KEPT = 1024  # drawn parts


class _Sprite(NamedTuple):
    """The pixels of a part that are not clear: their places in the frame, colours and gaps."""

    places: NDArray[np.int32]  # (n,)
    colours: NDArray[np.uint16]  # (n, 3), times opacity
    gaps: NDArray[np.uint16]  # (n, 1), what shows through, of 255


def size_of(sheet: Sheet, width: int) -> tuple[int, int]:
    """Return the width and height of a picture in pixels, both even."""
    width = whole_number("the width of a picture", width, LEAST_WIDTH, MOST_WIDTH)
    width += width % 2
    return width, 2 * max(1, round(sheet.height * width / sheet.width / 2))


def pixels(picture: Picture, width: int, theme: str) -> NDArray[np.uint8]:
    """Return a picture as an array, uint8 (height, width, 3)."""
    check_theme(theme, PLAIN_THEMES)
    width, height = size_of(picture.sheet, width)
    frame = np.full((height * width, 3), 255, np.uint16)
    for part in picture.parts:
        sprite = _drawn(part, picture.sheet, theme, width, height)
        if sprite.places.size:
            beneath = frame[sprite.places]
            beneath *= sprite.gaps
            beneath += 127
            beneath //= 255
            beneath += sprite.colours
            frame[sprite.places] = beneath
    return frame.astype(np.uint8).reshape(height, width, 3)


def png(picture: Picture, width: int, theme: str) -> bytes:
    """Return a picture as a PNG file."""
    check_theme(theme, PLAIN_THEMES)
    width, height = size_of(picture.sheet, width)
    body = "\n".join(part.svg for part in picture.parts)
    box = (0.0, 0.0, picture.sheet.width, picture.sheet.height)
    return _rendered(picture.sheet, body, box, width, height, theme)


@lru_cache(maxsize=_KEPT)
def _drawn(part: Part, sheet: Sheet, theme: str, width: int, height: int) -> _Sprite:
    """Draw a part alone, on the pixels that its box touches."""
    across, down = width / sheet.width, height / sheet.height
    x, y, wide, high = part.box
    left, right = max(0, floor(x * across)), min(width, ceil((x + wide) * across))
    top, bottom = max(0, floor(y * down)), min(height, ceil((y + high) * down))
    box = (left / across, top / down, (right - left) / across, (bottom - top) / down)
    image = _rendered(sheet, part.svg, box, right - left, bottom - top, theme)
    rgba = _decoded(image).reshape(-1, 4)
    alpha = rgba[:, 3:].astype(np.uint16)
    seen = np.flatnonzero(alpha)
    rows, columns = np.divmod(seen, right - left)
    alpha = alpha[seen]
    colours = (rgba[seen, :3] * alpha + 127) // 255
    return _Sprite(((rows + top) * width + columns + left).astype(np.int32), colours, 255 - alpha)


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
