"""`Picture`: a drawing of a position, as SVG or as pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from armarl.core.pictures import raster
from armarl.core.pictures.sheet import WIDTH, Part, Sheet, check_theme

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from armarl.core.variant import Variant


class Sign(NamedTuple):
    """A sign in a game's drawing, for the legend.

    Attributes:
        svg: the sign as an SVG element around the origin, at most 30 units to each side.
        words: the meaning of the sign, in a sentence.
    """

    svg: str
    words: str


class Scene(NamedTuple):
    """The input of a game's functions that draw a position and tell an action in words.

    It contains nothing that the seat may not know.

    Attributes:
        game: the variant.
        view: the result of `describe` for the seat.
        seat: the observing seat, or None for the whole position.
        before: the view of an earlier position, for marking all changes since then, or None.
        last: the last action: the seat that played it, and its notation as the observing seat may
            know it. None if the last action is not given.
        names: a name for each seat.
    """

    game: Variant
    view: dict[str, Any]
    seat: int | None
    before: dict[str, Any] | None
    last: tuple[int, str] | None
    names: tuple[str, ...]


class Told(NamedTuple):
    """An action and its effects in words, as far as a seat may know them.

    Attributes:
        words: sentences, each with its full stop.
        turn: a heading of the turn in which the action was played, such as "turn 3, green", or
            None in games that do not number their turns.
        ends_turn: whether the action ended the turn. `Game.sum_up` can then sum up the turn.
        result: the sentences of `words` that say how the game ended; empty while it is in play.
    """

    words: tuple[str, ...]
    turn: str | None = None
    ends_turn: bool = True
    result: tuple[str, ...] = ()


@dataclass(frozen=True)
class Picture:
    """A drawing of a position, made of parts. A notebook shows it as an image.

    Attributes:
        sheet: the size, colours and definitions that all pictures of the variant share.
        title: a description of the picture in words.
        parts: the parts, from back to front.

    Example:
        >>> import armarl
        >>> game = armarl.make_game("armadora")
        >>> picture = game.picture(game.new_states(0)[0], seat=0)
        >>> picture.svg("dark")[:4]
        '<svg'
    """

    sheet: Sheet
    title: str
    parts: tuple[Part, ...]

    def svg(self, theme: str = "auto") -> str:
        """Return the picture as an SVG document.

        Args:
            theme: "light", "dark", or "auto". "auto" is light, but dark in a browser whose user
                prefers dark pages.

        Raises:
            ValueError: the theme does not exist.
        """
        check_theme(theme)
        sheet, body = self.sheet, "\n".join(part.svg for part in self.parts)
        box = (0.0, 0.0, sheet.width, sheet.height)
        style = sheet.dark_style() if theme == "auto" else ""
        plain = "light" if theme == "auto" else theme
        return sheet.painted(sheet.document(box, body, self.title, style), plain)

    def png(self, width: int = 2 * WIDTH, theme: str = "light") -> bytes:
        """Return the picture as a PNG file.

        Args:
            width: the width in pixels, 16 to 4096, rounded up to an even number. The height follows
                from the width and is also even.
            theme: "light" or "dark".

        Raises:
            TypeError: the width is not an integer.
            ValueError: the width is out of range, or the theme does not exist.
            ImportError: the extra `render` is not installed.
        """
        return raster.png(self.sheet, self.parts, width, theme)

    def pixels(self, width: int = WIDTH, theme: str = "light") -> NDArray[np.uint8]:
        """Return the picture as a new uint8 array (height, width, 3) with even height and width.

        Args:
            width, theme: as for `png`.

        Raises:
            TypeError, ValueError, ImportError: as for `png`.
        """
        return raster.pixels(self.sheet, self.parts, width, theme)

    def _repr_svg_(self) -> str:
        return self.svg()
