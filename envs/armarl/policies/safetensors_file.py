"""Safetensors files with readable metadata and a checksum."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.files import POLICY_FILE, read_bytes, write_bytes
from armarl.common.json_text import check_bounds, read_json
from armarl.common.messages import brief
from armarl.networks.policy_network import Tensors

FORMAT = "armarl-policy-4"


# Earlier formats that can still be read, newest first. Files of format 3 contain no judges. Files
# of format 2 also contain no networks with board parts. Files of format 1 also contain no trunks,
# and their description of the network has no entry `trunk`.
EARLIER_FORMATS = ("armarl-policy-3", "armarl-policy-2", "armarl-policy-1")


MOST_BYTES = 256 << 20  # maximum size of a policy file, in bytes


MOST_HEADER = 4 << 20  # maximum size of the header, in bytes
_TOO_LONG = f"larger than {MOST_HEADER >> 20} MiB"


MOST_TENSORS = 4096


class PolicyError(ValueError):
    """A policy file that cannot be used: damaged, of another kind, or for another game or variant.

    Example:
        >>> import armarl
        >>> game = armarl.make_game("armadora", players=3)
        >>> try:
        ...     armarl.load_policy("armadora-2p", game)
        ... except armarl.PolicyError as error:
        ...     print("was made for 2 players, but this game has 3 players" in str(error))
        True
    """


def write_tensors(path: Path, tensors: Tensors, metadata: Mapping[str, Any]) -> None:
    """Write a safetensors file atomically: `path` always contains the complete old or new file.

    Raises:
        PolicyError: the metadata is too large or too deeply nested to be read again.
        OSError: the disk is full or not writable. An existing file at `path` is left unchanged.
    """
    from safetensors.numpy import save

    try:
        check_bounds(metadata)
    except ValueError as error:
        raise PolicyError(f"{path} cannot be saved with this metadata: {error}") from error
    text = json.dumps(metadata, allow_nan=False)
    data = save(
        {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()},
        {"armarl": text, "sha256": _digest(text, tensors)},
    )
    if int.from_bytes(data[:8], "little") > MOST_HEADER:
        raise PolicyError(
            f"{path} cannot be saved: its header, with the metadata, would be {_TOO_LONG}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, data)


def read_tensors(
    path: Path, *formats: str, most: int = MOST_BYTES
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the tensors and metadata of a file that `write_tensors` wrote.

    Args:
        path: the file.
        formats: accepted values of the metadata's "format". Error messages name the first.
        most: the maximum size of the file, in bytes.

    Raises:
        PolicyError: the file is damaged, or is not a file of these formats.
        FileNotFoundError: the file does not exist.
    """
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load
    except ImportError as error:
        raise ImportError("saved policies need safetensors: pip install 'armarl[play]'") from error
    try:
        content = read_bytes(path, most)
        header = _header(path, content)
        tensors = load(content)
        if not all(array.dtype.isbuiltin == 1 for array in tensors.values()):
            raise ValueError("it has a dtype that NumPy lacks")  # a dtype of ml_dtypes
        text = header.get("armarl", "{}")
        metadata = _metadata(text)
    except (PolicyError, FileNotFoundError):
        raise
    except (
        *(SafetensorError, ValueError, OSError, RecursionError),
        *(TypeError, AttributeError, KeyError),  # raised if NumPy lacks a dtype of the file
    ) as error:
        raise PolicyError(f"{path} is damaged or not a safetensors file: {brief(error)}") from error
    if not isinstance(metadata, dict) or metadata.get("format") not in formats:
        raise PolicyError(_of_another_format(path, metadata, formats[0]))
    if header.get("sha256") != _digest(text, tensors):
        raise PolicyError(f"{path} is damaged: its contents do not match its checksum")
    return tensors, metadata


def _metadata(text: str) -> Any:
    """Parse the metadata. An error says that the metadata is wrong, and not the tensors."""
    try:
        return read_json(text)
    except ValueError as error:
        raise ValueError(f"its metadata are unusable: {error}") from error


def _header(path: Path, content: bytes) -> dict[str, str]:
    """Check the header of a file, and return its texts.

    The header is JSON. Its length is in the first 8 bytes of the file.

    Raises:
        PolicyError: the file is not a safetensors file.
        ValueError: the header is too long or damaged, or there are too many tensors.
    """
    length = int.from_bytes(content[:8], "little")
    if length > MOST_HEADER:
        if content[8:9] != b"{":
            raise PolicyError(
                f"{path} is not a safetensors file; saved policies are safetensors files"
            )
        raise ValueError(f"its header is {_TOO_LONG}")
    header = json.loads(content[8 : 8 + length])
    texts = header.pop("__metadata__", {})
    if len(header) > MOST_TENSORS:
        raise ValueError(f"it has more than {MOST_TENSORS} tensors")
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("a value in its metadata is not text")
    return dict(texts)


def _of_another_format(path: Path, metadata: Any, wanted: str) -> str:
    """Return the error text for a file of another format."""
    found = metadata.get("format") if isinstance(metadata, dict) else None
    found = found if isinstance(found, str) else ""
    if wanted == FORMAT and found.startswith("armarl-checkpoint-"):
        return (
            f"{path} is a training checkpoint, not a policy; give the run's folder {path.parent}, "
            f"or the {POLICY_FILE} in it"
        )
    other = f": its format is {brief(repr(found), 60)}" if found else ""
    return f"{path} is not in the format {wanted!r} of this version of ArmaRL{other}"


def _digest(text: str, tensors: Tensors) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tensor.shape}".encode())
        digest.update(tensor.tobytes())
    return digest.hexdigest()
