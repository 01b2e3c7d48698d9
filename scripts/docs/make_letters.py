"""Write the outlines of the letters in pictures: `python scripts/docs/make_letters.py FONT`.

The script needs fontTools. The font of the present letters is Source Serif Pro Semibold (Adobe),
from the package `font-source-serif-pro`. The font's licence, the SIL Open Font License 1.1, is in
the letters' folder.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont

LETTERS = (
    Path(__file__).resolve().parents[2] / "envs" / "armarl" / "core" / "pictures" / "letters.json"
)
EM = 200  # units per em; the rounding is invisible even in a picture of 2,000 pixels
WANTED = [*range(0x20, 0x7F), *range(0xA1, 0x180), *map(ord, "–—’“”•…−×▲")]


def main() -> None:
    font = TTFont(sys.argv[1])
    glyphs, names = font.getGlyphSet(), font.getBestCmap()
    scale = EM / font["head"].unitsPerEm
    found = {}
    for code in WANTED:
        if code in names:
            pen = SVGPathPen(glyphs, ntos=lambda value: str(round(value)))
            glyphs[names[code]].draw(TransformPen(pen, (scale, 0, 0, -scale, 0, 0)))
            found[chr(code)] = [round(glyphs[names[code]].width * scale), pen.getCommands()]
    text = json.dumps(found, ensure_ascii=False, indent=0, separators=(",", ":"))
    LETTERS.write_text(text.replace("[\n", "[").replace(',\n"M', ',"M').replace("\n]", "]") + "\n")


if __name__ == "__main__":
    main()
