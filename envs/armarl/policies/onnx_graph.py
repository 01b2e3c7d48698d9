"""Checks of an ONNX file, without the `onnx` package, for external data and random nodes.

An ONNX file is a protocol buffer message: numbered fields, some of which are themselves messages. A
tensor may say that its numbers are in another file, at any path, and ONNX Runtime would read that
file. A node may draw numbers from ONNX Runtime's random generator, which ArmaRL cannot seed. Even
if the node has its own seed, its numbers depend on the batch size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

MOST_FIELDS = 1_000_000  # a file must have fewer fields; all numbers of a tensor are one field

# For each kind of message: the numbers of the fields that lead to a tensor or a node, and the kind
# of message in each of these fields.
_LEADS: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {
        **{5: "tensor", 6: "graph", 10: "tensor", 11: "graph"},
        **{22: "sparse", 23: "sparse"},
    },
    "sparse": {1: "tensor", 2: "tensor"},
}
_EXTERNAL_DATA, _DATA_LOCATION = 13, 14  # fields of a tensor
_INPUT, _OP_TYPE = 1, 4  # fields of a node
_RANDOM = frozenset(
    {
        *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
        *("Multinomial", "Bernoulli", "Sampling"),
    }
)
# For each kind of node, the index of the input that turns on training mode. In training mode the
# node draws random numbers. Without the input, training mode is off.
_TRAINING_INPUT = {"Dropout": 2, "BitmaskDropout": 2, "BiasDropout": 4, "BitmaskBiasDropout": 4}
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_LONGEST_VARINT = 10  # maximum number of bytes


class Field(NamedTuple):
    """A field of a message. Its content is the number `value`, or the bytes `value` to `end`."""

    number: int
    value: int
    end: int | None


def reads_other_files(content: bytes) -> bool:
    """Return whether the numbers of a tensor in an ONNX file are in another file.

    Raises:
        ValueError: the content is not a message, or it has MOST_FIELDS fields or more.
    """
    return any(
        field.number == _EXTERNAL_DATA or (field.number == _DATA_LOCATION and field.value)
        for kind, fields in _messages(content)
        if kind == "tensor"
        for field in fields
    )


def random_node(content: bytes) -> str | None:
    """Return the kind of a node that draws random numbers, or None if there is none.

    Raises:
        ValueError: as in `reads_other_files`.
    """
    for kind, fields in _messages(content):
        if kind == "node":
            inputs = [one for one in fields if one.number == _INPUT and one.end is not None]
            for name in (_text(content, one) for one in fields if one.number == _OP_TYPE):
                at = _TRAINING_INPUT.get(name, len(inputs))
                # In ONNX, an empty name means that the node does not have this input.
                in_training = at < len(inputs) and inputs[at].value != inputs[at].end
                if name in _RANDOM or in_training:
                    return name
    return None


def _text(content: bytes, field: Field) -> str:
    return content[field.value : field.end or field.value].decode("utf-8", "replace")


def _messages(content: bytes) -> Iterator[tuple[str, list[Field]]]:
    """Yield the kind and fields of every message that may be or contain a tensor or a node.

    Raises:
        ValueError: as in `reads_other_files`.
    """
    left, seen = [("model", 0, len(content))], 0
    while left:
        kind, start, end = left.pop()
        fields = []
        for field in _fields(content, start, end):
            seen += 1
            if seen >= MOST_FIELDS:
                raise ValueError(f"it has {MOST_FIELDS:,} fields or more")
            fields.append(field)
            if field.end is not None and field.number in _LEADS.get(kind, ()):
                left.append((_LEADS[kind][field.number], field.value, field.end))
        yield kind, fields


def _fields(content: bytes, start: int, end: int) -> Iterator[Field]:
    """Yield the fields of a message."""
    at = start
    while at < end:
        key, at = _varint(content, at, end)
        field, wire = (key & 0xFFFFFFFF) >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint(content, at, end)
            yield Field(field, value, None)
            continue
        size = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}.get(wire)
        if wire == _BYTES:
            size, at = _varint(content, at, end)
        if size is None or size > end - at:
            raise ValueError("one of its fields is damaged or has an unknown type")
        yield Field(field, at, at + size if wire == _BYTES else None)
        at += size


def _varint(content: bytes, at: int, end: int) -> tuple[int, int]:
    """Return a number of variable length, and the position of its end."""
    number = 0
    for k in range(_LONGEST_VARINT):
        if at + k >= end:
            break
        byte = content[at + k]
        number |= (byte & 0x7F) << (7 * k)
        if byte < 0x80:
            return number, at + k + 1
    raise ValueError("a number in it is cut off")
