"""Reductions of core ATen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from .extents import Extent, is_known
from .graph import Graph, Value, ints, whole

aten = torch.ops.aten


def axes_of(x: Value, dims: Any) -> list[int]:
    """Axes that count from the front; all of them for none."""
    if not x.rank or dims is None or isinstance(dims, Sequence) and not dims:
        return list(range(x.rank))
    dims = [dims] if isinstance(dims, int) else dims
    return sorted(dim % max(x.rank, 1) for dim in dims)


def reduced(g: Graph, name: str, x: Value, axes: Sequence[int], keepdim: bool) -> Value:
    """A reduction along axes."""
    shape = [1 if a in axes else n for a, n in enumerate(x.shape)] if keepdim else [n for a, n in enumerate(x.shape) if a not in axes]
    if not axes:
        return x
    return g.op(name, [x], x.dtype, shape, axes=ints(axes), keepdims="true" if keepdim else "false")


def reduction(name: str):
    """A reduction in the element type of the result."""

    def row(g: Graph, x: Value, dims: Any = None, keepdim: bool = False, **_: Any) -> Value:
        dtype, _ = g.result
        return reduced(g, name, g.cast(x, dtype), axes_of(x, dims), keepdim)

    return row


def along(name: str):
    """The greatest or least elements along an axis, and where they are."""

    def row(g: Graph, x: Value, dim: int, keepdim: bool = False) -> tuple[Value | None, Value | None]:
        axis = dim % max(x.rank, 1)
        values = reduced(g, f"reduce_{name}", x, [axis] if x.rank else [], keepdim) if g.is_used(0) else None
        return values, index(g, x, axis, keepdim, f"arg{name}") if g.is_used(1) else None

    return row


def index(g: Graph, x: Value, axis: int, keepdim: bool, name: str) -> Value:
    """Where the greatest or least element of an axis is."""
    if not x.rank:
        return g.constant(0, torch.int64)
    shape = [1 if a == axis else n for a, n in enumerate(x.shape)] if keepdim else [n for a, n in enumerate(x.shape) if a != axis]
    return g.op(name, [x], torch.int64, shape, axis=f"{axis} : i64", keepdims="true" if keepdim else "false")


def arg(name: str):
    """Where the greatest or least element is, of all or along an axis."""

    def row(g: Graph, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
        if dim is None:
            return g.reshape(index(g, g.reshape(x, [math.prod(x.shape)]), 0, False, name), g.result[1])
        return index(g, x, dim % max(x.rank, 1), keepdim, name)

    return row


def boolean(name: str):
    """Whether any or all elements are not 0."""

    def row(g: Graph, x: Value, dims: Any = None, keepdim: bool = False) -> Value:
        return reduced(g, name, g.cast(x, torch.bool), axes_of(x, dims), keepdim)

    return row


def wide(dtype: torch.dtype) -> torch.dtype:
    """The element type in which sums of an element type are computed on: float32 of halves."""
    return torch.float32 if dtype.is_floating_point and dtype.itemsize == 2 else dtype


def moments(g: Graph, x: Value, axes: Sequence[int]) -> tuple[Value, Value]:
    """What is left of elements without their mean, and the sum of its squares; axes are kept."""
    mean = reduced(g, "reduce_mean", x, axes, True)
    centred = g.op("sub", [x, mean], x.dtype, x.shape)
    squares = reduced(g, "reduce_sum", g.op("mul", [centred, centred], x.dtype, x.shape), axes, True)
    return mean, squares


def at_least(number: Extent, least: int) -> Extent:
    """A number that is not below another; one that is not known is not."""
    return max(number, least) if is_known(number) else number


def var(g: Graph, x: Value, dims: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Value:
    """The variance, with Bessel's or another correction."""
    axes, dtype = axes_of(x, dims), x.dtype
    x = g.cast(x, wide(dtype))
    _, squares = moments(g, x, axes)
    divisor = at_least(math.prod(x.shape[axis] for axis in axes) - (1 if correction is None else correction), 0)
    result = g.op("div", [squares, g.constant(divisor, x.dtype)], x.dtype, squares.shape)
    return g.reshape(g.cast(result, dtype), g.result[1])


def var_mean(g: Graph, x: Value, dims: Any = None, *, correction: Any = 1, keepdim: bool = False) -> tuple[Value, Value]:
    """The variance and the mean."""
    return var(g, x, dims, correction=correction, keepdim=keepdim), g.reshape(reduced(g, "reduce_mean", x, axes_of(x, dims), True), g.result[1])


def sort(g: Graph, x: Value, dim: int = -1, descending: bool = False, **_: Any) -> tuple[Value, Value]:
    """All elements along an axis in order, and where they were."""
    if not x.rank:
        return x, g.constant(0, torch.int64)
    return topk(g, x, x.shape[dim % x.rank], dim, descending)


def scan(name: str):
    """Sums or products up to each element of an axis."""

    def row(g: Graph, x: Value, dim: int, **_: Any) -> Value:
        dtype, shape = g.result
        return g.cast(x, dtype) if not x.rank else g.op(name, [g.cast(x, dtype)], dtype, shape, axis=f"{dim % x.rank} : i64")

    return row


def softmax(name: str):
    """A softmax along an axis."""

    def row(g: Graph, x: Value, dim: int, half_to_float: bool = False) -> Value:
        dtype, shape = g.result
        if not x.rank:
            return g.reshape(row(g, g.reshape(x, [1]), 0), [])
        return g.op(name, [g.cast(x, dtype)], dtype, x.shape, axis=f"{dim % x.rank} : i64")

    return row


def topk(g: Graph, x: Value, k: int, dim: int = -1, largest: bool = True, ordered: bool = True) -> tuple[Value, Value]:
    """The k greatest or least elements along an axis, in order, and where they are."""
    dtype, shape = g.result
    values, places = g.op_of_several(
        "topk", [x], [(dtype, shape), (torch.int64, shape)], k=whole(k), axis=f"{dim % x.rank} : i64", smallest="false" if largest else "true")
    return values, places


TABLE = {
    aten.sum.dim_IntList: reduction("reduce_sum"), aten.sum.default: reduction("reduce_sum"), aten.mean.dim: reduction("reduce_mean"),
    aten.mean.default: reduction("reduce_mean"), aten.amax.default: reduction("reduce_max"), aten.amin.default: reduction("reduce_min"),
    aten.prod.default: reduction("reduce_prod"), aten.prod.dim_int: reduction("reduce_prod"),
    aten.max.dim: along("max"), aten.min.dim: along("min"), aten.argmax.default: arg("argmax"), aten.argmin.default: arg("argmin"),
    aten.any.default: boolean("reduce_any"), aten.any.dim: boolean("reduce_any"), aten.any.dims: boolean("reduce_any"),
    aten.var.correction: var, aten.var_mean.correction: var_mean, aten.cumprod.default: scan("cumprod"),
    aten.sort.default: sort, aten.sort.stable: lambda g, x, *, stable=None, dim=-1, descending=False: sort(g, x, dim, descending),
    aten.cumsum.default: scan("cumsum"), aten._softmax.default: softmax("softmax"),
    aten._log_softmax.default: softmax("log_softmax"), aten.topk.default: topk,
}
