"""Passes many arrays to a kernel as one pointer.

Numba passes a NamedTuple of arrays array by array, each as its address, shape and strides: hundreds
of arguments at every call, slow to run and slower to compile. A handle is one pointer to a list of
words: the numbers of the tuple and the addresses and shapes of its arrays. A field is read from
there when it is used. In a kernel, a handle looks like the tuple.

A handle lives in one process and keeps the arrays alive; its tuple must not change while a kernel
runs. Handles of tuples with the same fields have the same type, so a kernel is compiled once.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np import arrayobj
from numba.np.numpy_support import from_dtype

Fields = TypeVar("Fields", bound=NamedTuple)


class HandleType(types.Type):
    def __init__(self, fields: tuple[tuple[str, str, int], ...]) -> None:
        """For each field its name, its dtype, and its dimensions: zero for an integer."""
        self.fields = fields
        described = ", ".join(f"{name}: {dtype}/{ndim}" for name, dtype, ndim in fields)
        super().__init__(name=f"Handle({described})")

    def field(self, name: str) -> tuple[int, Any]:
        """The index of a field among the words, and its type."""
        place = 0
        for known, dtype, ndim in self.fields:
            if known == name:
                scalar = from_dtype(np.dtype(dtype))
                return place, types.Array(scalar, ndim, "C") if ndim else scalar
            place += 1 + ndim
        raise AttributeError(name)


def handle_of(fields: Fields) -> Fields:
    """A handle of a tuple of integers and contiguous arrays, to pass to a kernel."""
    return _Handle(fields)  # type: ignore[return-value]


class _Handle:
    def __init__(self, fields: Any) -> None:
        self.fields = fields
        words: list[int] = []
        described = []
        for name, value in fields._asdict().items():
            if isinstance(value, np.ndarray):
                assert value.flags.carray, name
                words += [value.ctypes.data, *value.shape]
                described.append((name, value.dtype.str, value.ndim))
            else:
                words.append(value)
                described.append((name, "<i8", 0))
        self._words = np.array(words, np.int64)
        self.address = self._words.ctypes.data
        self.type = HandleType(tuple(described))


@typeof_impl.register(_Handle)
def _type_of(handle: _Handle, context: Any) -> HandleType:
    return handle.type


@register_model(HandleType)
class _HandleModel(models.PrimitiveModel):
    def __init__(self, manager: Any, of: HandleType) -> None:
        super().__init__(manager, of, ir.IntType(64).as_pointer())  # type: ignore[no-untyped-call]


@unbox(HandleType)  # type: ignore[no-untyped-call, untyped-decorator]
def _unbox(of: HandleType, handle: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(handle, "address")
    word = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    pointer = c.builder.inttoptr(word, ir.IntType(64).as_pointer())
    failed = cgutils.is_not_null(c.builder, c.pyapi.err_occurred())  # type: ignore[no-untyped-call]
    return NativeValue(pointer, is_error=failed)  # type: ignore[no-untyped-call]


@infer_getattr
class _HandleFields(AttributeTemplate):
    key = HandleType

    def generic_resolve(self, of: HandleType, name: str) -> Any:  # type: ignore[override]
        return of.field(name)[1]


@lower_getattr_generic(HandleType)  # type: ignore[no-untyped-call, untyped-decorator]
def _read(context: Any, builder: Any, of: HandleType, pointer: Any, name: str) -> Any:
    place, field_type = of.field(name)

    def word(offset: int) -> Any:
        at = builder.gep(pointer, [ir.Constant(ir.IntType(64), place + offset)])
        loaded = builder.load(at)
        # The words do not change while a kernel runs, so one read serves a whole function.
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if not isinstance(field_type, types.Array):
        return word(0)
    data_type = context.get_data_type(field_type.dtype)
    size = context.get_abi_sizeof(data_type)
    shape = [word(1 + axis) for axis in range(field_type.ndim)]
    strides = [ir.Constant(ir.IntType(64), size)]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(length, strides[0]))
    array = arrayobj.make_array(field_type)(context, builder)  # type: ignore[no-untyped-call]
    arrayobj.populate_array(  # type: ignore[no-untyped-call]
        array,
        data=builder.inttoptr(word(0), data_type.as_pointer()),
        shape=shape,
        strides=strides,
        itemsize=ir.Constant(ir.IntType(64), size),
        meminfo=None,
    )
    return array._getvalue()
