"""Kernels that other kernels call: compiled only to LLVM code, and finished in each caller.

Numba compiles every function to machine code with entry points for Python, and compiles its code
again in each function that calls it. But most kernels are called only by kernels. So a `Kernel`
has two dispatchers (Numba's objects that compile and call a function): itself for calls from
Python, and its `part` for calls from kernels. A part is neither optimised nor compiled to machine
code separately. With an empty cache, the first step of an environment takes only 0.53 to 0.60 of
the CPU time that it would take without parts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import llvmlite.binding as llvm
from numba.core import types
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder, compile_result
from numba.core.registry import CPUDispatcher

Keep = Callable[[Any], Any]

_USUAL = {"nopython": True, "boundscheck": None}  # the defaults of `numba.njit`
_NO_ENTRY = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class _Code(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part, as LLVM's intermediate representation."""

    def _optimize_final_module(self) -> None:
        """Do nothing: the caller is optimised with all its parts."""

    def _finalize_final_module(self) -> None:
        names = (variable.name for variable in self._final_module.global_variables)
        if any(name.startswith(RuntimeLinker.PREFIX) for name in names):
            super()._finalize_final_module()  # the code calls itself by its address in memory
        else:
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = True

    @property
    def codegen(self) -> _Code:
        """The object whose `set_env` Numba calls."""
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Set a variable of the code, if the code is in memory."""
        if self._codegen._engine.is_symbol_defined(name):
            self._codegen.set_env(name, env)

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        return self.name, self._final_module.as_bitcode()


class _Compiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler, which puts the code into a library of class `_Code`."""

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = _Code(state.targetctx.codegen(), state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


class Part(CPUDispatcher):  # type: ignore[misc]
    """A compiled function that kernels can call. Python cannot call it."""

    def rebuilt(self, target_context: Any, saved: Any) -> CompileResult:
        """Return the `CompileResult` from the data that `CompileResult._reduce` returned."""
        (name, code), fndesc, env, signature, _, _, annotation, init, envs = saved
        library = _Code(target_context.codegen(), name)
        library._final_module = llvm.parse_bitcode(code)
        library._finalize_final_module()
        return compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            environment=env,
            entry_point=target_context.get_executable(library, fndesc, env),
            fndesc=fndesc,
            type_annotation=annotation,
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=init,
            referenced_envs=envs,
        )


def make_part(function: Any, keep: Keep, **options: Any) -> Any:
    """Compile a function for kernels only."""
    return keep(Part(function, {}, {**_USUAL, **options, **_NO_ENTRY}, _Compiler))


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled function that Python can call. Kernels call its `part`."""

    @cached_property
    def part(self) -> Any:
        """The dispatcher for calls from kernels. Only a part from `make_kernel` has a cache."""
        return make_part(self.py_func, _uncached, **self.targetoptions)

    @property
    def _numba_type_(self) -> types.Type:
        """The type that kernels see: the type of the part, unless this kernel calls itself."""
        return types.Dispatcher(self if self.is_compiling else self.part)

    def add_overload(self, result: Any) -> None:
        """Add a compiled signature, after setting the variables of its parts."""
        for env in result._find_referenced_environments():
            result.library.codegen.set_env(env.env_name, env)
        super().add_overload(result)


def make_kernel(function: Any, keep: Keep, **options: Any) -> Any:
    """Compile a function for Python and for kernels.

    Args:
        function: the function.
        keep: the function that gives a dispatcher a disk cache (`kernel_cache.keep`).
        options: Numba's options.
    """
    kernel = Kernel(function, {}, {**_USUAL, **options})
    kernel.part = make_part(function, keep, **options)  # before `keep`, which may change the name
    return keep(kernel)


def _uncached(dispatcher: Any) -> Any:
    return dispatcher
