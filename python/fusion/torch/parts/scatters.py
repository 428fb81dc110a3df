"""Reductions into places that tensors give: scatters, segments, bags of embeddings."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def neutral(kind: str, dtype: torch.dtype) -> Any:
    """The number that changes nothing in a reduction."""
    if kind in ("amax", "amin"):
        sign = -1 if kind == "amax" else 1
        if dtype == torch.bool:
            return sign > 0
        return sign * math.inf if dtype.is_floating_point else getattr(torch.iinfo(dtype), "min" if sign < 0 else "max")
    return 1 if kind == "prod" else 0


def scatter_reduce(x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    """Elements reduced into places of an axis, with or without what is there; a mean is a sum and a count."""
    if not x.dim():
        return scatter_reduce(x.reshape(1), 0, index.reshape(1), source.reshape(1), reduce, include_self=include_self).reshape([])
    kind = "sum" if reduce == "mean" else reduce
    if not index.numel():
        return x.clone()
    if include_self and kind == reduce:
        return NotImplemented
    start = x if include_self else x.scatter(dim, index, neutral(kind, x.dtype))
    total = torch.scatter_reduce(start, dim, index, source, kind, include_self=True)
    if kind == reduce:
        return total
    count = torch.full_like(x, 1 if include_self else 0).scatter_add(dim, index, torch.ones(index.shape, dtype=x.dtype)).clamp(min=1)
    return total / count if x.dtype.is_floating_point else torch.div(total, count, rounding_mode="floor")


def index_reduce(x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    """Slices reduced into places of an axis."""
    if not x.dim():
        return index_reduce(x.reshape(1), 0, index.reshape(-1), source.reshape(-1), reduce, include_self=include_self).reshape([])
    axis = dim % x.dim()
    places = index.reshape([-1 if a == axis else 1 for a in range(x.dim())]).expand(source.shape)
    return torch.scatter_reduce(x, axis, places, source, reduce, include_self=include_self)


def reduced_by(ids: Tensor, rows: Tensor, count: int, kind: str, start: Any) -> Tensor:
    """Rows reduced into as many slices as there are ids; an id beyond the last is dropped."""
    begin = torch.full([count + 1, *rows.shape[1:]], start, dtype=rows.dtype)
    return index_reduce(begin, 0, ids, rows, kind)[:count] if kind != "sum" else begin.index_add(0, ids, rows)[:count]


REDUCTIONS = {"sum": ("sum", 0), "mean": ("sum", 0), "max": ("amax", -math.inf), "min": ("amin", math.inf), "prod": ("prod", 1)}


def segment_reduce(
    data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Tensor | None = None, offsets: Tensor | None = None, axis: int = 0,
    unsafe: bool = False, initial: Any = None,
) -> Tensor:
    """Rows of segments, one after the other, reduced to a row each."""
    if axis != 0 or indices is not None or not data.shape[0] or (lengths if offsets is None else offsets).dim() != 1:
        return NotImplemented
    bounds = offsets if lengths is None else torch.cat([torch.zeros(1, dtype=lengths.dtype), lengths.cumsum(0)])
    count = bounds.shape[0] - 1
    ids = torch.searchsorted(bounds, torch.arange(data.shape[0], dtype=bounds.dtype), right=True) - 1
    ids = torch.where((ids < 0) | (ids >= count), count, ids)
    kind, start = REDUCTIONS[reduce]
    result = reduced_by(ids, data, count, kind, start if initial is None else initial)
    if reduce != "mean":
        return result
    sizes = (bounds[1:] - bounds[:-1]).to(data.dtype).reshape([-1] + [1] * (data.dim() - 1))
    # The mean of nothing is what it starts with, or no number.
    return torch.where(sizes > 0, result / sizes.clamp(min=1), math.nan if initial is None else initial)


def embedding_bag(
    weight: Tensor, indices: Tensor, offsets: Tensor, scale_grad_by_freq: bool = False, mode: int = 0, sparse: bool = False,
    per_sample_weights: Tensor | None = None, include_last_offset: bool = False, padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Rows of a matrix, summed, averaged or the greatest of each bag; with the bag of each row and the sizes of bags."""
    count = offsets.shape[0] - (1 if include_last_offset else 0)
    if not indices.numel() or not count:
        return NotImplemented
    number = torch.arange(indices.shape[0], dtype=offsets.dtype)
    ids = (torch.searchsorted(offsets[:count].contiguous(), number, right=True) - 1).clamp(min=0)
    rows = weight.index_select(0, indices)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    is_read = torch.ones_like(ids, dtype=torch.bool) if padding_idx < 0 else indices != padding_idx
    goes = torch.where(is_read, ids, count)
    sizes = torch.zeros(count + 1, dtype=torch.int64).index_add(0, goes, torch.ones_like(goes))[:count]
    column = sizes.reshape(-1, 1)
    if mode == 2:
        result = torch.where(column > 0, reduced_by(goes, rows, count, "amax", -math.inf), 0)
    else:
        inner = torch.float32 if rows.dtype.itemsize == 2 else rows.dtype
        result = reduced_by(goes, rows.to(inner), count, "sum", 0)
        result = (result / column.clamp(min=1) if mode == 1 else result).to(rows.dtype)
    return result, ids.to(indices.dtype), sizes.to(indices.dtype), torch.zeros_like(sizes)


PARTS = {
    aten.scatter_reduce.two: scatter_reduce, aten.index_reduce.default: index_reduce, aten.segment_reduce.default: segment_reduce,
    aten._embedding_bag.default: embedding_bag, aten._embedding_bag_forward_only.default: embedding_bag,
}
