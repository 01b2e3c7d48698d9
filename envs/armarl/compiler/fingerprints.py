"""Fingerprints of kernels: hashes of everything that a kernel is compiled from.

Numba's own cache checks only the file of the function itself. It does not notice when a *callee* in
another file changes. In ArmaRL's cache, the name of an entry depends on everything from which the
kernel is compiled.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from enum import EnumType
from importlib.util import MAGIC_NUMBER
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba import types

# Releases of one minor version of Python and NumPy share bytecode and binary interfaces.
_COMPILERS = (
    *(numba.__version__, llvmlite.__version__, np.__version__.split(".")[:2]),
    *(sys.implementation.cache_tag, MAGIC_NUMBER),
)
_SETTINGS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")
_KNOWN_BY_VERSION = ("builtins", "llvmlite", "math", "numba", "numba_cuda", "numpy")
_PLAIN = (int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic, np.dtype)


def fingerprint(dispatcher: Any) -> str:
    """Hash everything that the compiler sees of a kernel and of the kernels that it calls.

    The hash covers the kernels' bytecode, their constants, the values of the global names that they
    use, and the versions of the compilers. So the hash also covers external games and the contents
    of tables, without a list of files. A changed comment does not change the hash.

    Raises:
        TypeError: a kernel uses a value of a kind that cannot be hashed here.
    """
    settings = [getattr(numba.config, name, None) for name in _SETTINGS]
    digest = hashlib.sha256(f"{_COMPILERS}{settings}".encode())
    _feed(dispatcher, set(), digest, {})
    return digest.hexdigest()[:32]


def _feed(value: Any, names: set[str], digest: Any, seen: dict[int, int]) -> None:
    """Add a value to the hash. For a module, add only the values of its attributes in `names`."""
    digest.update(f"{type(value).__name__}:".encode())
    if id(value) in seen:
        digest.update(str(seen[id(value)]).encode())
    elif isinstance(value, _PLAIN):
        digest.update(f"{value!r};".encode())
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype!r}{value.shape};".encode() + value.tobytes())
    elif isinstance(value, (tuple, list)):
        digest.update(f"{getattr(value, '_fields', '')}{len(value)};".encode())
        for item in value:
            _feed(item, names, digest, seen)
    elif isinstance(value, ModuleType):
        _feed_module(value, names, digest, seen)
    elif hasattr(value, "py_func"):  # a dispatcher for the CPU or a GPU
        seen[id(value)] = len(seen)
        digest.update(f"{_options(value)};".encode())
        _feed(value.py_func, names, digest, seen)
    elif isinstance(function := inspect.unwrap(value), FunctionType):  # unwraps an intrinsic
        seen[id(value)] = len(seen)
        _feed_function(function, digest, seen)
    elif isinstance(value, types.Type):
        digest.update(f"{value!r};".encode())
    elif isinstance(value, EnumType):
        digest.update(f"{ {one.name: one.value for one in list[Any](value)} };".encode())
    elif isinstance(value, (type, BuiltinFunctionType, np.ufunc)):
        fields = getattr(value, "_fields", "")  # a NamedTuple has fields
        digest.update(f"{value.__module__}.{value.__qualname__}{fields};".encode())
    else:
        raise TypeError(f"a kernel uses {value!r}, which cannot be hashed for the cache")


def _options(dispatcher: Any) -> dict[str, Any]:
    """Return a dispatcher's options. Sets are sorted, because their order differs by process."""
    return {
        name: sorted(value) if isinstance(value, (set, frozenset)) else value
        for name, value in dispatcher.targetoptions.items()
    }


def _feed_module(module: ModuleType, names: set[str], digest: Any, seen: dict[int, int]) -> None:
    digest.update(f"{module.__name__};".encode())
    if module.__name__.split(".")[0] not in _KNOWN_BY_VERSION:
        for name in sorted(names & vars(module).keys()):
            digest.update(f"{name}=".encode())
            _feed(vars(module)[name], names, digest, seen)


def _feed_function(function: FunctionType, digest: Any, seen: dict[int, int]) -> None:
    if function.__module__ and function.__module__.split(".")[0] in _KNOWN_BY_VERSION:
        digest.update(f"{function.__module__}.{function.__qualname__};".encode())
        return
    names = _feed_code(function.__code__, function.__doc__, digest)
    for name in sorted(names & function.__globals__.keys()):
        digest.update(f"{name}=".encode())
        _feed(function.__globals__[name], names, digest, seen)
    for cell in function.__closure__ or ():
        _feed(cell.cell_contents, names, digest, seen)
    _feed(function.__defaults__, names, digest, seen)


def _feed_code(code: CodeType, doc: str | None, digest: Any) -> set[str]:
    """Add bytecode and constants, without the docstring, to the hash. Return all names used."""
    names = set(code.co_names)
    # Other flags are left out, because profilers change them.
    flags = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    known = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    digest.update(f"{known}{code.co_argcount},{flags};".encode() + code.co_code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _feed_code(constant, None, digest)
        elif doc is None or constant != doc:
            digest.update(f"{constant!r};".encode())
    return names
