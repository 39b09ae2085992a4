"""The decorators that compile functions with numba and keep the machine code on disk.

Numba optimizes every function and turns it into machine code, and does so again inside each
function that calls it. A kernel of many functions would take minutes that way. Here only an
`entry`, which Python calls, becomes machine code; its parts are lowered to LLVM, linked into it and
optimized there together.

No part allocates, so none counts references to the arrays it is given: that would double the code.

Numba keeps compiled code for as long as the function's own file does not change. Our functions
contain code from many files, so ours is kept until one of those changes: see `source_digest.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, TypeAlias, TypeVar

from numba import _dynfunc, njit, types  # type: ignore[attr-defined]
from numba.core.caching import IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

from runtime.execution.source_digest import source_digest

# Scalars in a kernel. Numba infers their types; to mypy, an element of an array is not an `int`.
Int: TypeAlias = Any
Truth: TypeAlias = Any
Double: TypeAlias = Any

Function = TypeVar("Function", bound=Callable[..., Any])


class _Part(JITCodeLibrary):
    """The code of a part of a kernel: linked with what it calls, but not optimized."""

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


class _Apart(_Part):
    """The same for a function that is not inlined: LLVM would copy it to every caller."""

    attributes: tuple[str, ...] = ("noinline",)

    def finalize(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration:
                for attribute in self.attributes:
                    function.add_function_attribute(attribute)
        super().finalize()


class _Brief(_Apart):
    attributes = ("noinline", "optsize")


class _PartCompiler(Compiler):
    library: type[_Part] = _Part

    def define_pipelines(self) -> Any:
        context, name = self.state.targetctx, self.state.func_id.func_qualname
        self.state.library = self.library(context.codegen(), name)
        context.get_executable = _no_executable
        return super().define_pipelines()  # type: ignore[no-untyped-call]


class _ApartCompiler(_PartCompiler):
    library = _Apart


class _BriefCompiler(_PartCompiler):
    library = _Brief


def _no_executable(library: Any, description: Any, environment: Any) -> Any:
    """Numba's record of a compiled function. A part has no address: Python never calls it."""
    library._ensure_finalized()
    module, name = description.lookup_module(), description.qualname
    return _dynfunc.make_function(module, name, "part of a kernel", 0, environment, (library,))


class _PartDispatcher(CPUDispatcher):
    """Treats a constant argument as any integer: numba would compile the function again for each
    constant."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        plain = [types.unliteral(each) for each in args]  # type: ignore[no-untyped-call]
        return super().get_call_template(plain, kws)


class _CacheFile(IndexDataCacheFile):
    def _load_index(self) -> Any:
        """An index of another version may name types that no longer exist. It is ignored, and
        overwritten."""
        try:
            return super()._load_index()  # type: ignore[no-untyped-call]
        except (ImportError, AttributeError, TypeError, ValueError, EOFError, UnpicklingError):
            return {}


_STAMP = "__source_digest__"  # the name of it in a module
_CACHED: Any = {"cache": True, "nogil": True, "error_model": "numpy"}
_OPTIONS: Any = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


def _cached(function: Function, **options: Any) -> Function:
    dispatcher: Any = njit(**_CACHED, **options)(function)
    file = dispatcher._cache._cache_file
    file.__class__ = _CacheFile
    file._source_stamp = _stamp_of(function)
    return dispatcher  # type: ignore[no-any-return]


def _stamp_of(function: Callable[..., Any]) -> str:
    """The digest of the function's module, once for all its functions."""
    known = function.__globals__
    if _STAMP not in known:
        known[_STAMP] = source_digest(function.__module__, Path(function.__code__.co_filename))
    stamp: str = known[_STAMP]
    return stamp


def cached_njit(function: Callable[..., Any]) -> Any:
    """A function that is compiled separately, as numba does. It may allocate."""
    return _cached(function)


def inlined_njit(function: Callable[..., Any]) -> Any:
    """A small function that becomes part of its compiled callers, of any kind."""
    return _cached(function, inline="always")


def entry(function: Function) -> Function:
    """The function of a kernel that Python calls."""
    return _cached(function, _nrt=False, no_cfunc_wrapper=True)


def compiled(
    function: Function, compiler: type[_PartCompiler] = _PartCompiler, **options: Any
) -> Function:
    """A part of a kernel: entries and other parts call it."""
    # Numba would take unset options from the first caller, including whether to inline.
    options = {"forceinline": False, **_OPTIONS, **options}
    options |= {"nopython": True, "no_cpython_wrapper": True}
    return _PartDispatcher(function, {}, options, compiler)  # type: ignore[return-value]


def apart(function: Function) -> Function:
    """A large part: a kernel has one copy of it."""
    return compiled(function, _ApartCompiler)


def brief(function: Function) -> Function:
    """A large part with short loops: unrolling them takes LLVM long and gains nothing."""
    return compiled(function, _BriefCompiler)


def inlined(function: Function) -> Function:
    """A part that is too small for a call."""
    return compiled(function, forceinline=True)


def scanning(function: Function) -> Function:
    """A part that is one loop over arrays. It is optimized before it is linked, because LLVM
    vectorizes it more readily outside its callers. Sums may be taken in any order."""
    options = {**_OPTIONS, "no_cpython_wrapper": True, "fastmath": {"reassoc"}}
    return njit(**options)(function)  # type: ignore[no-any-return]
