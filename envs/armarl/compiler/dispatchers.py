"""Numba's dispatchers, with two forms of each kernel: one for Python, one for other kernels.

Numba makes machine code and an entry point for every function that it compiles, also for the
hundreds of kernels that only other kernels call. Their code is compiled again as a part of each of
their callers, so the first machine code is never run. Making it takes more than half of the time
until the first step. So here a kernel that a kernel calls is compiled as far as LLVM's intermediate
code. Only a kernel that Python calls becomes machine code, together with all that it calls.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering

_NO_ENTRY = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class EntryDispatcher(CPUDispatcher):  # type: ignore[misc]
    """A kernel. Python calls it, and other kernels call its `part`."""

    keep: Callable[[Any], Any] | None = None  # gives the part a disk cache

    @cached_property
    def part(self) -> PartDispatcher:
        """The form for other kernels, compiled apart from this one."""
        made = PartDispatcher(
            self.py_func,
            targetoptions={**self.targetoptions, **_NO_ENTRY},
            pipeline_class=_PartCompiler,
        )
        return self.keep(made) if self.keep else made

    # Numba calls these two to compile a caller.

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return self.part.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        return self.part.get_overload(sig)


class PartDispatcher(CPUDispatcher):  # type: ignore[misc]
    """A kernel in the form for other kernels. Python cannot call it."""

    def add_overload(self, cres: Any) -> None:
        self.overloads[tuple(cres.signature.args)] = cres

    def _compile_for_args(self, *arguments: Any, **named: Any) -> Any:
        raise TypeError(f"{self.py_func.__qualname__} is for other kernels; call its py_func")

    def rebuilt(self, target_context: Any, saved: Any) -> CompileResult:
        """Return a compiled part from what Numba's `CompileResult` has put on disk."""
        library, fndesc, environment, signature, *_ = saved
        return CompileResult(
            typing_context=target_context.typing_context,
            target_context=target_context,
            entry_point=_Key(),
            typing_error=None,
            type_annotation="",
            signature=signature,
            objectmode=False,
            lifted=(),
            fndesc=fndesc,
            library=_PartLibrary.restored(target_context.codegen(), library),
            call_helper=None,
            environment=environment,
            metadata=None,
            reload_init=[],
            referenced_envs=[],
        )


class _PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Intermediate code for callers. It is optimised as a part of each of them."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == binding.Linkage.external:
                function.linkage = "linkonce_odr"  # several parts of a caller may contain it
        self._shared_module = self._final_module
        self._finalized = True

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """There is no object code. Numba's `CompileResult` calls this to pickle a library."""
        self._ensure_finalized()
        return self.name, "part", self._final_module.as_bitcode()

    @classmethod
    def restored(cls, codegen: Any, saved: tuple[str, str, bytes]) -> _PartLibrary:
        """Return the library that `serialize_using_object_code` gave."""
        name, _, bitcode = saved
        library = cls(codegen, name)
        library._final_module = library._shared_module = binding.parse_bitcode(bitcode)
        library._finalized = True
        return library


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(NativeLowering):  # type: ignore[misc]
    """Numba's lowering, without machine code."""

    _name = "armarl_part_lowering"

    def run_pass(self, state: Any) -> bool:
        state.flags.no_compile = True
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        super().run_pass(state)
        lowered, key = state["cr"], _Key()
        state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        state["cr"] = _LowerResult(lowered.fndesc, lowered.call_helper, cfunc=key, env=lowered.env)
        return True


class _PartCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler with `_PartLowering`."""

    def define_pipelines(self) -> list[Any]:
        [manager] = super().define_pipelines()
        manager.passes = [
            (_PartLowering if step is NativeLowering else step, words)
            for step, words in manager.passes
        ]
        return [manager]


class _Key:
    """Stands where an entry point would be: Numba finds a compiled function by it."""
