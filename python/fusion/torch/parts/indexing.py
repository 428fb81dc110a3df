"""Views of other strides and picks of elements: diagonals, windows of an axis, strides, places that follow from a mask."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

aten = torch.ops.aten


def diagonal_places(x: Tensor, offset: int, dim1: int, dim2: int) -> tuple[int, int, int, int, list[int]]:
    """Both axes, the first place of a diagonal in the rows of a matrix, its length, and the axes that are left."""
    first, second = dim1 % x.dim(), dim2 % x.dim()
    rows, columns = x.shape[first], x.shape[second]
    length = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    start = offset if offset >= 0 else -offset * columns
    return first, second, start, length, [a for a in range(x.dim()) if a not in (first, second)]


def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A diagonal of two axes as the last axis: each so many elements of their rows in one."""
    first, second, start, length, rest = diagonal_places(x, offset, dim1, dim2)
    columns = x.shape[second]
    shape = [x.shape[a] for a in rest]
    if not length:
        return x.new_zeros([*shape, 0])
    rows = x.permute([*rest, first, second]).reshape([*shape, x.shape[first] * columns])
    return rows[..., start:start + (length - 1) * (columns + 1) + 1:columns + 1]


def diagonal_scatter(x: Tensor, source: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A diagonal of two axes replaced."""
    first, second, start, length, rest = diagonal_places(x, offset, dim1, dim2)
    if not length:
        return x.clone()
    columns = x.shape[second]
    order, shape = [*rest, first, second], [x.shape[a] for a in rest]
    turned = x.permute(order)
    places = (torch.arange(length) * (columns + 1) + start).expand([*shape, length])
    rows = turned.reshape([*shape, x.shape[first] * columns]).scatter(-1, places, source.to(x.dtype))
    return rows.reshape(turned.shape).permute([order.index(a) for a in range(x.dim())]).contiguous()


def trace(x: Tensor) -> Tensor:
    """The sum of the diagonal."""
    return diagonal(x).sum()


def unfold(x: Tensor, dim: int, size: int, step: int) -> Tensor:
    """Windows of an axis, their elements as the last axis."""
    if not x.dim():
        return x.reshape(1)[:size]
    axis = dim % x.dim()
    count = (x.shape[axis] - size) // step + 1
    places = torch.arange(count).reshape(-1, 1) * step + torch.arange(size)
    taken = x.index_select(axis, places.reshape(-1))
    taken = taken.reshape([*x.shape[:axis], count, size, *x.shape[axis + 1:]])
    return taken.movedim(axis + 1, -1)


def strided_places(x: Tensor, size: Sequence[int], stride: Sequence[int], offset: int | None) -> Tensor | None:
    """Where elements of a view lie in the rows of a tensor; none where some lie outside, or the tensor is a view itself."""
    if not all(isinstance(n, int) for n in (*x.shape, *size, *stride)) or not x.is_contiguous() or x.storage_offset() != 0:
        return None
    places = torch.full((), offset or 0, dtype=torch.int64)
    for n, step in zip(size, stride):
        places = places.unsqueeze(-1) + torch.arange(n) * step
    last = (offset or 0) + sum((n - 1) * step for n, step in zip(size, stride))
    return places if last < x.numel() or 0 in size else None


def as_strided(x: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """A view of a tensor in rows by the strides of its axes; the tensor itself where no stride that counts differs."""
    kept = [(n, step) for n, step in zip(size, stride) if n != 1] == [(n, step) for n, step in zip(x.shape, x.stride()) if n != 1]
    if kept and list(size) == list(x.shape) and storage_offset in (None, x.storage_offset()):
        return x.clone()
    places = strided_places(x, size, stride, storage_offset)
    return NotImplemented if places is None else x.reshape(-1).index_select(0, places.reshape(-1)).reshape(list(size))


def as_strided_scatter(x: Tensor, source: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """A view by strides replaced."""
    places = strided_places(x, size, stride, storage_offset)
    if places is None:
        return NotImplemented
    return x.reshape(-1).scatter(0, places.reshape(-1), source.reshape(-1).to(x.dtype)).reshape(x.shape)


def put(x: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Elements put at places that count through all axes."""
    return x.reshape(-1).index_put([index.reshape(-1)], source.reshape(-1), accumulate).reshape(x.shape)


def masked_scatter(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Where a mask is true, the elements of another tensor, one after the other."""
    x, mask = torch.broadcast_tensors(x, mask)
    if not source.numel():
        return x.clone()
    number = (mask.reshape(-1).to(torch.int64).cumsum(0) - 1).clamp(0, source.numel() - 1)
    return torch.where(mask, source.reshape(-1).index_select(0, number).reshape(x.shape), x)


def put_where(x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
    """Elements put, or added, where a mask of the first axes is true: of one value, or of one after the other."""
    mask = indices[0]
    if mask is None or mask.dtype != torch.bool or len(indices) > 1 or not mask.dim():
        return NotImplemented
    if not values.numel():
        return x.clone()
    slices, values = x.shape[mask.dim():], values.to(x.dtype)
    if values.dim() > len(slices) and values.shape[0] != 1:
        number = (mask.reshape(-1).to(torch.int64).cumsum(0) - 1).clamp(0, values.shape[0] - 1)
        values = values.index_select(0, number).reshape([*mask.shape, *values.shape[1:]])
    elif values.dim() > len(slices):
        values = values.squeeze(0)
    place = mask.reshape([*mask.shape, *[1] * len(slices)])
    return torch.where(place, x + values if accumulate else values, x)


def nonzero_static(x: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first so many places that are not 0, and filling behind them."""
    if not x.numel() or not size:
        return torch.full([size, x.dim()], fill_value, dtype=torch.int64)
    is_one = x.reshape(-1) != 0
    number = is_one.to(torch.int64).cumsum(0) - 1
    # What is not taken goes to a place behind the last.
    goes = torch.where(is_one & (number < size), number, size)
    flat = torch.full([size + 1], -1, dtype=torch.int64).scatter(0, goes, torch.arange(x.numel()))[:size]
    columns, left = [], flat
    for n in reversed(x.shape):
        columns.insert(0, torch.where(flat < 0, fill_value, left % n))
        left = left // n
    return torch.stack(columns, 1) if columns else torch.zeros([size, 0], dtype=torch.int64)


def repeated(repeats: Tensor, *, output_size: int | None = None) -> Tensor:
    """The number of each element as often as it says, where the sum is known."""
    if output_size is None:
        return NotImplemented
    ends = repeats.to(torch.int64).cumsum(0)
    return torch.searchsorted(ends, torch.arange(output_size), right=True).to(repeats.dtype)


# Those that may have extents that are not known.
DYNAMIC = {aten.as_strided.default: as_strided}
PARTS = {
    aten.diagonal.default: diagonal, aten.diagonal_copy.default: diagonal, aten.diagonal_scatter.default: diagonal_scatter, aten.trace.default: trace,
    aten.unfold.default: unfold, aten.unfold_copy.default: unfold, aten.as_strided_copy.default: as_strided,
    aten.as_strided_scatter.default: as_strided_scatter, aten.put.default: put, aten.masked_scatter.default: masked_scatter, aten.index_put.default: put_where,
    aten.nonzero_static.default: nonzero_static, aten.repeat_interleave.Tensor: repeated,
}
