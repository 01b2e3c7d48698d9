"""The command `draw`, which draws a position of a recorded game."""

from __future__ import annotations

import argparse
import sys
from itertools import islice

from armarl.common.files import check_replaceable, write_bytes
from armarl.common.messages import printable

_WIDTH = 1024  # width of a PNG in pixels


def draw(options: argparse.Namespace) -> int:
    """Draw a position of a recorded game as SVG or PNG."""
    from armarl.matches.records import read_records

    kind = options.out.suffix.lower()
    if kind not in (".svg", ".png"):
        raise ValueError(f"--out must end in .svg or .png, not {printable(options.out.name)!r}")
    if options.game < 1:
        raise ValueError(f"--game must be 1 or more, not {options.game}")
    if kind == ".svg" and options.width is not None:
        raise ValueError("--width is for PNG: leave out --width, or name a file that ends in .png")
    check_replaceable(options.out, kind[1:].upper())
    before = min(options.game - 1, sys.maxsize)
    record = next(islice(read_records(options.record), before, None), None)
    if record is None:
        raise ValueError(f"{printable(str(options.record))} has no game {options.game}")
    picture = record.picture(options.move, options.seat)
    if kind == ".svg":
        content = picture.svg(options.theme).encode()
    else:
        content = picture.png(_WIDTH if options.width is None else options.width, options.theme)
    write_bytes(options.out, content)
    return 0
