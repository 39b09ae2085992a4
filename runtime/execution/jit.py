"""How kernels of many functions are compiled: as one, once for all queries, and kept on disk.

Numba optimises every function and makes machine code of it, and does so again in each function
that calls it. Here only an `entry`, which Python calls, is made machine code; what it calls is
lowered to LLVM's language, linked into it, and optimised there, together.

No function allocates, so none counts references to the arrays it is given: that would double the
code. Numba keeps what it compiled for as long as a function's own file does not change; here
functions of many files end up in one another, so it is kept until any of them changes.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, TypeAlias, TypeVar

from numba import _dynfunc, njit, types  # type: ignore[attr-defined]
from numba.core.caching import IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

# Scalars in a kernel: numba infers what they are, and elements of arrays are no `int` elsewhere.
Int: TypeAlias = Any
Truth: TypeAlias = Any
Double: TypeAlias = Any

Function = TypeVar("Function", bound=Callable[..., Any])

# Files of this folder whose code is in the kernels of others.
_COMMON = ("wide_float.py", "kernel_args.py", "jit.py", "prefetch.py", "cycle_clock.py")


class _Part(JITCodeLibrary):
    """The code of a function that is part of kernels: linked, and left at that."""

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


class _Apart(_Part):
    """The same, of a function that stays one: LLVM would put a copy wherever it is called."""

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
    """What numba knows a compiled function by. It has no address: nobody calls it from Python."""
    library._ensure_finalized()
    module, name = description.lookup_module(), description.qualname
    return _dynfunc.make_function(module, name, "part of a kernel", 0, environment, (library,))


class _PartDispatcher(CPUDispatcher):
    """Takes constants for what they are, whole numbers: numba would compile a function anew for
    each that it is given."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        plain = [types.unliteral(each) for each in args]  # type: ignore[no-untyped-call]
        return super().get_call_template(plain, kws)


class _CacheFile(IndexDataCacheFile):
    def _load_index(self) -> Any:
        """What another version of ours left may name types that are gone: as if it were not there.
        It is written anew."""
        try:
            return super()._load_index()  # type: ignore[no-untyped-call]
        except (ImportError, AttributeError, TypeError, ValueError, EOFError, UnpicklingError):
            return {}


_OPTIONS: Any = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


def entry(function: Function) -> Function:
    """What Python calls."""
    dispatcher: Any = njit(cache=True, **_OPTIONS)(function)
    file = dispatcher._cache._cache_file
    file.__class__ = _CacheFile
    file._source_stamp = sources(Path(function.__code__.co_filename))
    return dispatcher  # type: ignore[no-any-return]


def compiled(
    function: Function, compiler: type[_PartCompiler] = _PartCompiler, **options: Any
) -> Function:
    """What entries and other parts call."""
    # What is not said here is taken from who calls it first, also whether it is put into its place.
    options = {"forceinline": False, **_OPTIONS, **options}
    options |= {"nopython": True, "no_cpython_wrapper": True}
    return _PartDispatcher(function, {}, options, compiler)  # type: ignore[return-value]


def apart(function: Function) -> Function:
    """A part that is large: there is one of it in a kernel."""
    return compiled(function, _ApartCompiler)


def brief(function: Function) -> Function:
    """The same, with loops that are short: to unroll them takes LLVM long and gains nothing."""
    return compiled(function, _BriefCompiler)


def inlined(function: Function) -> Function:
    """A part that is too small to be called."""
    return compiled(function, forceinline=True)


def scanning(function: Function) -> Function:
    """A part that is one loop over arrays. It is optimised before it is linked, so that it becomes
    vector code: inside of what calls it, LLVM sees less. Sums may be taken in any order."""
    options = {**_OPTIONS, "no_cpython_wrapper": True, "fastmath": {"reassoc"}}
    return njit(**options)(function)  # type: ignore[no-any-return]


def sources(file: Path) -> str:
    """A digest of a kernel's folder and of what all kernels have in common."""
    files = [*sorted(file.parent.glob("*.py")), *(Path(__file__).parent / name for name in _COMMON)]
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
