"""Tensors between NumPy, other libraries and compiled models."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

# Element types by their names in MLIR.
DTYPES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i1": "bool", "bool": "bool",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "ui8": "uint8", "ui16": "uint16", "ui32": "uint32", "ui64": "uint64",
    "!relay.string": "object", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}
# Types that NumPy has not by itself; ml_dtypes gives them.
EXTENDED = {"bfloat16": "bf16", "float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2"}
# Types that NumPy gives to others as they are.
SHARED = frozenset(map(np.dtype, "f8 f4 f2 i8 i4 i2 i1 u8 u4 u2 u1".split()))


def numpy_dtype(name: str) -> np.dtype:
    """NumPy's type of an element type, which may be one of ml_dtypes."""
    known = DTYPES.get(name, name)
    try:
        return np.dtype(known)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, known))


def given(value: Any, dtype: np.dtype | None = None) -> Any:
    """What a compiled model takes: an object with `__dlpack__` whose elements lie together, else an element type, shape and bytes, or a shape and
    strings. Numbers and lists become an array of the element type that is expected."""
    if type(value) is np.ndarray and value.dtype is dtype and dtype in SHARED and value.flags.carray:
        return value
    if not hasattr(value, "__dlpack__"):
        value = np.asarray(value, None if hasattr(value, "dtype") else dtype)
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.name in EXTENDED:
        return EXTENDED[value.dtype.name], list(value.shape), value.tobytes()
    if value.dtype.kind in "SUTO":
        return list(value.shape), [text(element) for element in value.ravel().tolist()]
    if not value.dtype.isnative:
        value = value.astype(value.dtype.newbyteorder("="))
    # What is read-only, or is no row-major array, is copied.
    if not value.flags.c_contiguous or not value.flags.writeable:
        value = np.array(value, order="C")
    return value


# A line of a cache, and the widest vector. NumPy aligns to 16 bytes, which has vectors lie in two lines each.
ALIGNMENT = 64
# From so many bytes on it takes longer to write a result across lines than to make an array of aligned bytes, some 2 us.
LARGE = 64 << 10


def maker(shape: Sequence[int] | None, dtype: np.dtype | None) -> Callable[..., np.ndarray]:
    """What makes an array of a shape and an element type for a result: np.empty, or the same aligned, where that pays."""
    size = 0 if shape is None or dtype is None or dtype.hasobject else math.prod(shape) * dtype.itemsize
    if size < LARGE:
        return np.empty

    def aligned(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
        whole = np.empty(size + ALIGNMENT, np.uint8)
        start = -whole.__array_interface__["data"][0] % ALIGNMENT
        return np.ndarray(shape, dtype, whole, start)

    return aligned


def writable(result: Any) -> Any:
    """What a run writes a result into: an object with `__dlpack__`, which for element types that DLPack has none of is one of bytes."""
    if isinstance(result, np.ndarray):
        if not result.flags.carray:
            raise ValueError("a result is written into a row-major array that may be written; give one, or a copy")
        return result.reshape(-1).view(np.uint8) if result.dtype not in SHARED and result.dtype.name in EXTENDED else result
    if hasattr(result, "data_ptr"):
        return result.detach()
    raise TypeError(f"a result is written into an array or a tensor of torch, and a {type(result).__name__} is none")


def copied(results: list[np.ndarray], out: Sequence[Any]) -> Sequence[Any]:
    """Copies results whose shapes are known after a run only."""
    if len(results) != len(out):
        raise ValueError(f"the model gives {len(results)} outputs, but memory for {len(out)} was given")
    for result, to in zip(results, out):
        into = to.detach().numpy() if hasattr(to, "data_ptr") else to
        if not isinstance(into, np.ndarray) or into.shape != result.shape or into.dtype != result.dtype:
            found = f"an array of {into.dtype.name}{list(into.shape)}" if isinstance(into, np.ndarray) else f"a {type(to).__name__}"
            raise ValueError(f"the result is an array of {result.dtype.name}{list(result.shape)}, and {found} was given to write it into")
        np.copyto(into, result)
    return out


def text(element: Any) -> str:
    """An element of an array of strings."""
    if isinstance(element, bytes):
        return element.decode()
    if not isinstance(element, str):
        raise TypeError(f"an array of objects is a tensor where all are strings, and {element!r} is a {type(element).__name__}")
    return element


def array(dtype: str, shape: list[int], data: bytearray | list[str]) -> np.ndarray:
    """The array of a result; it may be written. Strings are objects."""
    if isinstance(data, list):
        return np.array(data, dtype=object).reshape(shape)
    return np.frombuffer(data, dtype=numpy_dtype(dtype)).reshape(shape)


def parted(inputs: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Inputs by the names that a compiled model has for them. One of complex numbers is `z.real` and `z.imag` there, and a map `m.keys` and `m.values`."""
    parts: dict[str, Any] = {}
    for name, value in inputs.items():
        if isinstance(value, Mapping) and f"{name}.keys" in names:
            parts[f"{name}.keys"], parts[f"{name}.values"] = list(value), list(value.values())
        elif f"{name}.real" in names and name not in names:
            value = np.asarray(value)
            parts[f"{name}.real"], parts[f"{name}.imag"] = value.real.copy(), value.imag.copy()
        else:
            parts[name] = value
    return parts


def joined(results: Mapping[str, Any]) -> dict[str, Any]:
    """Results by the model's own names: two that are the parts of complex numbers are one."""
    whole: dict[str, Any] = {}
    for name, value in results.items():
        own = name.removesuffix(".imag")
        if own != name and (real := whole.pop(f"{own}.real", None)) is not None:
            whole[own] = complex_of(real, value)
        else:
            whole[name] = value
    return whole


def complex_of(real: np.ndarray, imag: np.ndarray) -> np.ndarray:
    """An array of complex numbers."""
    whole = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    whole.real, whole.imag = real, imag
    return whole
