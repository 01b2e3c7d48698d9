"""Whether an ONNX file would have other files read: its parts, found without ONNX's own package.

ONNX is a message of protocol buffers: numbered fields, some of which are messages again. A tensor
may say that its numbers lie in another file, at any path, and ONNX Runtime reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

MOST_FIELDS = 1_000_000  # that are looked at; of a network's weights each tensor is one

# Of each kind of message the fields that lead to a tensor, and what kind these are.
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
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_LONGEST_VARINT = 10  # bytes


def reads_other_files(content: bytes) -> bool:
    """Whether a tensor in an ONNX file says that its numbers lie elsewhere.

    Raises:
        ValueError: this is no message, or one of many more fields than a network has.
    """
    left, seen = [("model", 0, len(content))], 0
    while left:
        kind, start, end = left.pop()
        for field, value, after in _fields(content, start, end):
            seen += 1
            if seen >= MOST_FIELDS:
                raise ValueError(f"it has more than {MOST_FIELDS:,} parts")
            if kind == "tensor":
                if field == _EXTERNAL_DATA or (field == _DATA_LOCATION and value):
                    return True
            elif after is not None and field in _LEADS[kind]:
                left.append((_LEADS[kind][field], value, after))
    return False


def _fields(content: bytes, start: int, end: int) -> Iterator[tuple[int, int, int | None]]:
    """The fields of a message: number, and a number and None, or where its bytes begin and end."""
    at = start
    while at < end:
        key, at = _varint(content, at, end)
        field, wire = (key & 0xFFFFFFFF) >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint(content, at, end)
            yield field, value, None
            continue
        size = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}.get(wire)
        if wire == _BYTES:
            size, at = _varint(content, at, end)
        if size is None or size > end - at:
            raise ValueError("a part of it is damaged, or of no kind that networks have")
        yield field, at, at + size if wire == _BYTES else None
        at += size


def _varint(content: bytes, at: int, end: int) -> tuple[int, int]:
    """A number in as many bytes as it needs, and where it ends."""
    number = 0
    for k in range(_LONGEST_VARINT):
        if at + k >= end:
            break
        byte = content[at + k]
        number |= (byte & 0x7F) << (7 * k)
        if byte < 0x80:
            return number, at + k + 1
    raise ValueError("a number in it is cut")
