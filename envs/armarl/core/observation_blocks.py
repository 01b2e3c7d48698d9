"""Declare observations block by block, each block together with the kernel that writes it.

A game's `observation.py` is a list of blocks, each with its *writer*, the kernel that writes it:

    blocks = Blocks(look)

    @blocks.add(Declared("gold", (MINES,), 7, "gold on the mines", scale=7.0, on="mines"))
    def _gold(s, view, gold):
        for mine in range(MINES):
            gold.out[mine] = s.gold[mine] * gold.unit

`look(s, seat)` is compiled as well. It returns the `view`, which every writer gets together with
the state. The view contains the seat and everything that several writers need. In a game with a
record `fixed` (`armarl.core.verbs`) the call is `look(s, seat, fixed)`. Blocks that are computed
together share one writer. A block's position in the flat observation follows from the order of the
declarations. The verb `observe` and a variant's observation table are made from the declarations.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.compiler.array_views import window
from armarl.compiler.decorators import kernel, merged
from armarl.core.observation_table import Block, Board, ObservationTable
from armarl.core.verbs import takes_fixed

Writer = Callable[..., None]


class Target(NamedTuple):
    """The output of a writer for one block. The writer must set every number in it.

    Attributes:
        out: the entries of the block, float32, flat.
        unit: 1 / scale, by which a writer multiplies an integer quantity: a float64, or a float64
            array with one number per entry of the last axis. For small integers, multiplying by
            `unit` and rounding to float32 gives the same result as dividing by the scale, in less
            time.
    """

    out: NDArray[np.float32]
    unit: Any


@dataclass(frozen=True)
class Declared:
    """The declaration of a block for all variants of a game.

    `armarl.core.observation_table.Block` explains most attributes. A length in `shape`, the maximum
    or the scale may be the name of an integer field of the state, such as "players".

    Attributes:
        option: the name of the state field that is 1 in variants with this block and 0 in variants
            without it. None if all variants have the block.

    Example:
        >>> from armarl.core.observation_blocks import Declared
        >>> hands = Declared("hand_sizes", ("players",), 16, "Warriors left", scale=16.0)
        >>> hands.of_variant({"players": 3}).shape
        (3,)
    """

    name: str
    shape: tuple[int | str, ...]
    maximum: float | str
    meaning: str
    scale: float | str | tuple[float, ...] = 1.0
    known: str = "public"
    on: str | None = None
    option: str | None = None

    def of_variant(self, values: Mapping[str, int]) -> Block:
        """Return the block of a variant, with the variant's values in place of field names."""

        def number(entry: Any) -> Any:
            return values[entry] if isinstance(entry, str) else entry

        shape = tuple(number(length) for length in self.shape)
        scale = float(number(self.scale)) if isinstance(self.scale, str) else self.scale
        return Block(
            self.name, shape, number(self.maximum), scale, self.known, self.meaning, self.on
        )

    @property
    def size(self) -> str:
        """The number of entries, as a Python expression of the state `s`."""
        factors = [self.option] if self.option else []
        return " * ".join(_field(factor) for factor in (*factors, *self.shape))


def _field(entry: int | str) -> str:
    return f"s.{entry}" if isinstance(entry, str) else str(entry)


class Blocks:
    """The declarations of a game's observation, in order.

    Example:
        >>> from armarl.core.observation_blocks import Blocks, Declared
        >>> blocks = Blocks(lambda s, seat: seat)
        >>> @blocks.add(Declared("to_move", ("players",), 1, "is to move"))
        ... def _to_move(s, seat, block):
        ...     for player in range(s.players):
        ...         block.out[player] = player == s.to_move
        >>> blocks.table({"players": 3}, None).size
        3
    """

    def __init__(self, look: Callable[..., Any]) -> None:
        self._given, self._look = look, merged(look)
        self._written: list[tuple[tuple[Declared, ...], Writer]] = []

    def add(self, *blocks: Declared) -> Callable[[Writer], Writer]:
        """Declare blocks. Use the result to decorate their writer.

        The writer gets the state, the view and a `Target` for each block. It is compiled into
        `observe`. All blocks of a writer must have the same option.

        Raises:
            TypeError: a block is not a `Declared`.
        """
        for block in blocks:
            if not isinstance(block, Declared):
                raise TypeError(
                    f"a block must be a Declared, which describes it for all variants of the game, "
                    f"not {brief(repr(block), 60)}"
                )

        def declare(writer: Writer) -> Writer:
            self._written.append((blocks, merged(writer)))
            return writer

        return declare

    def table(self, values: Mapping[str, int], board: Board | None) -> ObservationTable:
        """Return the observation table of a variant whose state fields have these values."""
        declared = [block for blocks, _ in self._written for block in blocks]
        present = [block for block in declared if not block.option or values[block.option]]
        return ObservationTable([block.of_variant(values) for block in present], board)

    def observe(self, name: str, gap: int = 0) -> Any:
        """Return the verb `observe`, compiled from all writers.

        Args:
            name: the name of the compiled function.
            gap: the number of unused entries before each block, for tests.
        """
        text = "\n".join(self._lines(name, gap)) + "\n"
        file = f"<{name}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        names = self._names()
        exec(compile(text, file, "exec"), names)
        return kernel(names[name])

    def _names(self) -> dict[str, Any]:
        """Return the globals for the source of `observe`."""
        names: dict[str, Any] = {
            "__name__": __name__,
            "look": self._look,
            "Target": Target,
            "window": window,
        }
        for number, (blocks, writer) in enumerate(self._written):
            names[f"write_{number}"] = writer
            for block in blocks:
                if not isinstance(block.scale, str):
                    unit = 1 / np.asarray(block.scale)
                    names[f"{block.name}_unit"] = float(unit) if unit.ndim == 0 else unit
        return names

    def _lines(self, name: str, gap: int) -> Iterator[str]:
        """Yield the source lines of `observe`: all bounds of blocks, then all calls of writers."""
        more = ", fixed" if takes_fixed(self._given) else ""
        yield f"def {name}(s, seat, out{more}):"
        yield f"    view = look(s, seat{more})"
        end = "0"
        for blocks, _ in self._written:
            for block in blocks:
                yield f"    {block.name} = {end}" + (f" + {gap}" if gap else "")
                yield f"    {block.name}_end = {block.name} + {block.size}"
                end = f"{block.name}_end"
        calls = enumerate(blocks for blocks, _ in self._written)
        for option, group in groupby(calls, lambda call: call[1][0].option):
            if option:
                yield f"    if s.{option}:"
            for number, blocks in group:
                targets = ", ".join(map(self._target, blocks))
                yield f"    {'    ' if option else ''}write_{number}(s, view, {targets})"

    @staticmethod
    def _target(block: Declared) -> str:
        scale = block.scale
        unit = f"1 / s.{scale}" if isinstance(scale, str) else f"{block.name}_unit"
        return f"Target(window(out, {block.name}, {block.size}), {unit})"
