"""Safetensors files with readable metadata and a checksum."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.files import POLICY_FILE, write_bytes
from armarl.common.json_text import read_json
from armarl.common.messages import brief
from armarl.networks.policy_network import Tensors

FORMAT = "armarl-policy-4"


# Formats of earlier versions that can still be read. The first one listed has no judges, the second
# also has no parts for a board, and the third also has no trunk, nor one in its description of the
# network.
EARLIER_FORMATS = ("armarl-policy-3", "armarl-policy-2", "armarl-policy-1")


MOST_HEADER = 4 << 20  # largest size of the header, in bytes


MOST_TENSORS = 4096


class PolicyError(ValueError):
    """A policy file that cannot be used: damaged, of another kind, or for another game or variant.

    Example:
        >>> import armarl
        >>> game = armarl.make_game("armadora", players=3)
        >>> try:
        ...     armarl.load_policy("armadora-2p", game)
        ... except armarl.PolicyError as error:
        ...     print("was made for players 2, this game has players 3" in str(error))
        True
    """


def write_tensors(path: Path, tensors: Tensors, metadata: Mapping[str, Any]) -> None:
    """Write a safetensors file atomically: `path` always holds the complete old or new file.

    Raises:
        OSError: the disk is full or not writable. An existing file at `path` is left unchanged.
    """
    from safetensors.numpy import save

    text = json.dumps(metadata, allow_nan=False)
    data = save(
        {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()},
        {"armarl": text, "sha256": _digest(text, tensors)},
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, data)


def read_tensors(path: Path, *formats: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the tensors and metadata of a file that `write_tensors` wrote.

    Args:
        path: the file.
        formats: accepted values of the metadata's "format". Error messages name the first.

    Raises:
        PolicyError: the file is damaged, or is not a file of these formats.
        FileNotFoundError: the file does not exist.
    """
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise ImportError("saved policies need safetensors: pip install 'armarl[play]'") from error
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        _check_header(path)
        with safe_open(path, framework="numpy") as file:
            header, names = file.metadata() or {}, file.keys()
            if len(names) > MOST_TENSORS:
                raise ValueError(f"it holds more than {MOST_TENSORS} tensors")
            tensors = {name: file.get_tensor(name) for name in names}
        if not all(array.dtype.isbuiltin == 1 for array in tensors.values()):
            raise ValueError("it has a dtype that NumPy lacks")  # a dtype of ml_dtypes
        text = header.get("armarl", "{}")
        metadata = read_json(text)
    except PolicyError:
        raise
    except (
        *(SafetensorError, ValueError, OSError, RecursionError),
        *(TypeError, AttributeError),  # NumPy lacks the dtype
    ) as error:
        raise PolicyError(f"{path} is damaged or not a safetensors file: {brief(error)}") from error
    if not isinstance(metadata, dict) or metadata.get("format") not in formats:
        raise PolicyError(_of_another_format(path, metadata, formats[0]))
    if header.get("sha256") != _digest(text, tensors):
        raise PolicyError(f"{path} is damaged: its contents do not match its checksum")
    return tensors, metadata


def _check_header(path: Path) -> None:
    """Check the header length: the first 8 bytes of the file, followed by a `{`.

    Raises:
        PolicyError: the file is not a safetensors file.
        ValueError: the header is too long.
    """
    with path.open("rb") as raw:
        length, brace = int.from_bytes(raw.read(8), "little"), raw.read(1)
    if length <= MOST_HEADER:
        return
    if brace != b"{":
        raise PolicyError(f"{path} is not a safetensors file; saved policies are safetensors files")
    raise ValueError(f"its header is larger than {MOST_HEADER >> 20} MiB")


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
    return f"{path} was not written by this version of ArmaRL as {wanted!r}{other}"


def _digest(text: str, tensors: Tensors) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tensor.shape}".encode())
        digest.update(tensor.tobytes())
    return digest.hexdigest()
