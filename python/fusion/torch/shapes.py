"""Operators of core ATen that move, pick and make elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .extents import Extent, Unsupported, expression, is_known, is_same
from .graph import DTYPES, Graph, Value, extent, ints, real

aten = torch.ops.aten


def viewed(g: Graph, x: Value, *_: Any, **__: Any) -> Value:
    """The elements in the shape of the result."""
    return g.reshape(x, g.result[1])


def expand(g: Graph, x: Value, *_: Any, **__: Any) -> Value:
    """A broadcast."""
    return g.broadcast(x, g.result[1])


def permute(g: Graph, x: Value, axes: Sequence[int]) -> Value:
    """Axes in another order."""
    return g.transpose(x, [axis % x.rank for axis in axes]) if x.rank else x


def concat(g: Graph, parts: Sequence[Value], dim: int = 0) -> Value:
    """Tensors behind each other."""
    dtype, shape = g.result
    # An empty vector joins anything.
    parts = [g.cast(part, dtype) for part in parts if len(shape) == 1 or part.rank > 1 or not is_known(part.shape[0])]
    return parts[0] if len(parts) == 1 else g.op("concat", parts, dtype, shape, axis=f"{dim % len(shape)} : i64")


LAST = 2**63 - 1


def range_of(n: Extent, start: Extent | None, end: Extent | None) -> tuple[Extent, Extent]:
    """Where a range of an axis begins and ends, as Python's slices do; of an extent that is not known it is one within the axis."""
    if all(map(is_known, (n, start or 0, end or 0))):
        begin, end, _ = slice(None if start is None else int(start), None if end is None else int(end)).indices(int(n))
        return begin, max(end, begin)

    def place(at: Extent) -> Extent:
        return n if is_known(at) and at == LAST else n + at if is_known(at) and at < 0 else at

    return place(start or 0), n if end is None else place(end)


def sliced(g: Graph, x: Value, dim: int = 0, start: Extent | None = None, end: Extent | None = None, step: int = 1) -> Value:
    """A range of an axis."""
    axis = dim % x.rank
    return part(g, x, axis, *range_of(x.shape[axis], start, end), step, g.result[1][axis])


def from_behind(at: Extent, n: Extent) -> int | None:
    """A place as slices have it, of the end if it follows from that of the axis; none where it is another number that is not known."""
    if is_known(at):
        return int(at)
    less = expression(at) - expression(n)
    return (LAST if less == 0 else int(less)) if less.is_Integer and less <= 0 else None


def part(g: Graph, x: Value, axis: int, begin: Extent, end: Extent, step: int = 1, size: Extent | None = None) -> Value:
    """Elements of an axis from one to another."""
    n = x.shape[axis]
    size = -(-(end - begin) // step) if size is None else size
    if is_same([size], [n]) and step == 1:
        return x
    shape = [size if a == axis else extent for a, extent in enumerate(x.shape)]
    first, last = from_behind(begin, n), from_behind(end, n)
    if first is not None and last is not None and first != LAST:
        return g.op("slice", [x], x.dtype, shape, begin=ints([first]), end=ints([last]), axes=ints([axis]), strides=ints([step]))
    numbers = g.op("arange", [], torch.int64, [size], size=extent(size), step=f"{real(step)} : f64", dtype="i64")
    places = g.op("add", [numbers, g.constant(begin, torch.int64)], torch.int64, [size])
    return g.op("gather", [x, places], x.dtype, shape, axis=f"{axis} : i64")


def select(g: Graph, x: Value, dim: int, index: Extent) -> Value:
    """One place of an axis."""
    axis = dim % x.rank
    n = x.shape[axis]
    index = index + n if is_known(index) and index < 0 else index
    return g.reshape(part(g, x, axis, index, index + 1, 1, 1), g.result[1])


def split(g: Graph, x: Value, sizes: Sequence[Extent], dim: int = 0) -> list[Value]:
    """An axis in parts."""
    parts, begin = [], 0
    for size in sizes:
        parts.append(part(g, x, dim % x.rank, begin, begin + size, 1, size))
        begin += size
    return parts


def index_select(g: Graph, x: Value, dim: int, index: Value) -> Value:
    """Places of an axis."""
    dtype, shape = g.result
    if not x.rank:
        return g.reshape(x, shape)
    return g.op("gather", [x, index], dtype, shape, axis=f"{dim % x.rank} : i64")


def embedding(g: Graph, weight: Value, indices: Value, *_: Any) -> Value:
    """Rows of a matrix."""
    dtype, shape = g.result
    return g.op("gather", [weight, indices], dtype, shape, axis="0 : i64")


def gather(g: Graph, x: Value, dim: int, index: Value, **_: Any) -> Value:
    """An element of an axis each."""
    dtype, shape = g.result
    return g.op("gather_elements", [x, index], dtype, shape, axis=f"{dim % max(x.rank, 1)} : i64")


def counted(g: Graph, places: Value, n: int) -> Value:
    """Places of an axis that count from the front."""
    negative = g.op("less", [places, g.constant(0, places.dtype)], torch.bool, places.shape)
    turned = g.op("add", [places, g.constant(n, places.dtype)], places.dtype, places.shape)
    return g.op("where", [negative, turned, places], places.dtype, places.shape)


def places_of(g: Graph, x: Value, indices: Sequence[Value | None], name: str) -> tuple[list[int], list[Value]]:
    """The axes that are indexed, and the places along each."""
    given = [(axis, value) for axis, value in enumerate(indices) if value is not None]
    if any(value.dtype not in (torch.int32, torch.int64) for _, value in given):
        raise Unsupported(f"it indexes by booleans in {name}")
    return [axis for axis, _ in given], [counted(g, g.cast(value, torch.int64), x.shape[axis]) for axis, value in given]


def joined(g: Graph, places: Sequence[Value]) -> Value:
    """Places along several axes, which broadcast, as the last axis of one tensor."""
    shape = list(torch.broadcast_shapes(*(p.shape for p in places)))
    columns = [g.reshape(g.broadcast(p, shape), [*shape, 1]) for p in places]
    return columns[0] if len(columns) == 1 else g.op("concat", columns, torch.int64, [*shape, len(columns)], axis=f"{len(shape)} : i64")


def index(g: Graph, x: Value, indices: Sequence[Value | None]) -> Value:
    """Places of axes by tensors of integers."""
    axes, places = places_of(g, x, indices, "aten.index.Tensor")
    dtype, shape = g.result
    if len(axes) == 1:
        return g.op("gather", [x, places[0]], dtype, shape, axis=f"{axes[0]} : i64")
    rest = [a for a in range(x.rank) if a not in axes]
    turned = x if [*axes, *rest] == list(range(x.rank)) else g.transpose(x, [*axes, *rest])
    where = joined(g, places)
    found = g.op("gather_nd", [turned, where], dtype, [*where.shape[:-1], *(x.shape[a] for a in rest)])
    # The axes of places stand where the first indexed one was, if all are neighbours; else in front.
    if axes != list(range(axes[0], axes[0] + len(axes))) or not axes[0]:
        return found
    front, count = axes[0], where.rank - 1
    return g.transpose(found, [*range(count, count + front), *range(count), *range(count + front, found.rank)])


def index_put(g: Graph, x: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False) -> Value:
    """Elements put, or added, at places of the first axes."""
    axes, places = places_of(g, x, indices, "aten.index_put.default")
    if axes != list(range(len(axes))):
        raise Unsupported("it puts elements along axes that are not the first in aten.index_put.default")
    where = joined(g, places)
    updates = g.broadcast(g.cast(values, x.dtype), [*where.shape[:-1], *x.shape[len(axes):]])
    return g.op("scatter_nd", [x, where, updates], x.dtype, x.shape, reduction='"add"' if accumulate else '"none"')


def scatter(reduction: str):
    """Elements put, or added, at places of an axis each."""

    def row(g: Graph, x: Value, dim: int, index: Value, source: Any) -> Value:
        updates = g.cast(source, x.dtype)
        if not x.rank:
            places, updates = (g.reshape(v, [1]) for v in (index, updates))
            return g.reshape(row(g, g.reshape(x, [1]), 0, places, updates), [])
        if updates.rank == 0:
            updates = g.broadcast(updates, index.shape)
        for axis, n in enumerate(index.shape):
            updates = part(g, updates, axis, 0, n)
        return g.op("scatter_elements", [x, index, updates], x.dtype, x.shape, axis=f"{dim % x.rank} : i64", reduction=f'"{reduction}"')

    return row


SCATTERS = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min", "add": "add", "multiply": "mul"}


def scatter_reduce(g: Graph, x: Value, dim: int, index: Value, source: Any, reduce: str, *, include_self: bool = True) -> Value:
    """Elements reduced into places of an axis each, with what is there."""
    if reduce not in SCATTERS or not include_self:
        raise Unsupported(f"it scatters with the reduction {reduce!r}")
    return scatter(SCATTERS[reduce])(g, x, dim, index, source)


def put_slice(g: Graph, x: Value, source: Value, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Value:
    """A range of an axis replaced."""
    axis, n = dim % x.rank, x.shape[dim % x.rank]
    if step != 1:
        raise Unsupported("it replaces each so many elements in aten.slice_scatter.default")
    begin, end = range_of(n, start, end)
    parts = [part(g, x, axis, 0, begin), g.cast(source, x.dtype), part(g, x, axis, end, n)]
    parts = [p for p in parts if not is_known(p.shape[axis]) or p.shape[axis]]
    return parts[0] if len(parts) == 1 else g.op("concat", parts, x.dtype, x.shape, axis=f"{axis} : i64")


def put_place(g: Graph, x: Value, source: Value, dim: int, index: int) -> Value:
    """One place of an axis replaced."""
    axis = dim % x.rank
    place = index + x.shape[axis] if is_known(index) and index < 0 else index
    return put_slice(g, x, g.reshape(source, [1 if a == axis else n for a, n in enumerate(x.shape)]), axis, place, place + 1)


def full(g: Graph, shape: Any, value: Any, **_: Any) -> Value:
    """A tensor of one number."""
    dtype, shape = g.result
    return g.constant(value, dtype, shape)


def arange(g: Graph, start: Any, end: Any = None, step: Any = 1, **_: Any) -> Value:
    """Numbers in a row."""
    dtype, shape = g.result
    if end is None:
        start = 0
    size = extent(shape[0])
    if all(is_known(number) and abs(number) < 2**53 for number in (start, step)):
        return g.op("arange", [], dtype, shape, size=size, start=f"{real(start)} : f64", step=f"{real(step)} : f64", dtype=DTYPES[dtype])
    numbers = g.op("arange", [], dtype, shape, size=size, dtype=DTYPES[dtype])
    return g.op("add", [g.op("mul", [numbers, g.constant(step, dtype)], dtype, shape), g.constant(start, dtype)], dtype, shape)


def pad(g: Graph, x: Value, padding: Sequence[int], value: Any = 0) -> Value:
    """Elements of one number around a tensor; a negative number removes some."""
    dtype, shape = g.result
    begin, end = [0] * x.rank, [0] * x.rank
    for number in range(len(padding) // 2):
        axis = x.rank - 1 - number
        begin[axis], end[axis] = padding[2 * number], padding[2 * number + 1]
    return g.op("pad", [x], dtype, shape, padding=ints(begin + end), value=f"{real(value)} : f64")


def flip(g: Graph, x: Value, dims: Sequence[int]) -> Value:
    """Axes from behind."""
    return g.op("reverse", [x], x.dtype, x.shape, axes=ints([dim % x.rank for dim in dims])) if dims else x


def repeat(g: Graph, x: Value, repeats: Sequence[int]) -> Value:
    """A tensor several times along its axes."""
    dtype, shape = g.result
    x = g.reshape(x, [1] * (len(repeats) - x.rank) + list(x.shape))
    if not all(map(is_known, repeats)):
        apart = g.reshape(x, [size for n in x.shape for size in (1, n)])
        return g.reshape(g.broadcast(apart, [size for pair in zip(repeats, x.shape) for size in pair]), shape)
    return g.op("tile", [x], dtype, shape, reps=ints(repeats))


TABLE = {
    **{row: viewed for row in (aten.view.default, aten._unsafe_view.default, aten.reshape.default, aten.unsqueeze.default, aten.squeeze.dims,
                               aten.squeeze.dim, aten.squeeze.default)},
    aten.expand.default: expand, aten.permute.default: permute, aten.cat.default: concat, aten.slice.Tensor: sliced, aten.select.int: select,
    aten.split_with_sizes.default: split, aten.index_select.default: index_select, aten.embedding.default: embedding, aten.gather.default: gather,
    aten.index.Tensor: index, aten.full.default: full, aten.scalar_tensor.default: lambda g, value, **_: full(g, (), value),
    aten.full_like.default: lambda g, x, value, **_: full(g, (), value), aten.arange.start_step: arange, aten.constant_pad_nd.default: pad,
    aten.index_put.default: index_put, aten.scatter.src: scatter("none"), aten.scatter.value: scatter("none"), aten.scatter_add.default: scatter("add"),
    aten.scatter_reduce.two: scatter_reduce, aten.scatter.reduce: scatter_reduce, aten.scatter.value_reduce: scatter_reduce,
    aten.slice_scatter.default: put_slice, aten.select_scatter.default: put_place,
    # What is not set may be anything.
    **{row: lambda g, *_, **__: full(g, (), 0) for row in (aten.empty.memory_format, aten.empty_permuted.default, aten.empty_strided.default)},
    aten.copy.default: lambda g, x, source, *_: g.broadcast(g.cast(source, x.dtype), x.shape), aten.lift_fresh_copy.default: lambda g, x: x,
    aten.flip.default: flip, aten.repeat.default: repeat,
}
