"""Order statistics and scans: medians, modes, greatest elements so far, places in sorted rows, counts of ranges."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def scanned(parts: tuple[Tensor, ...], dim: int, join: Callable[[tuple, tuple], tuple]) -> tuple[Tensor, ...]:
    """Each element joined with all before it, in log2(n) steps of twice the reach (Hillis and Steele, 1986)."""
    n, reach = parts[0].shape[dim], 1
    while reach < n:
        joined = join(tuple(p.narrow(dim, 0, n - reach) for p in parts), tuple(p.narrow(dim, reach, n - reach) for p in parts))
        parts = tuple(torch.cat([p.narrow(dim, 0, reach), j], dim) for p, j in zip(parts, joined))
        reach *= 2
    return parts


def best_so_far(before: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., tuple[Tensor, Tensor]]:
    """The greatest or least element so far, and the last place where it is; NaN from the first on."""

    def join(left: tuple, right: tuple) -> tuple:
        takes = before(left[0], right[0])
        if left[0].dtype.is_floating_point:
            takes = torch.isnan(right[0]) | (takes & ~torch.isnan(left[0]))
        return tuple(torch.where(takes, r, v) for v, r in zip(left, right))

    def parts(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
        if not x.dim():
            return x.clone(), torch.zeros_like(x, dtype=torch.int64)
        places = torch.arange(x.shape[dim]).reshape([-1 if a == dim % x.dim() else 1 for a in range(x.dim())]).expand(x.shape)
        return scanned((x, places), dim, join)

    return parts


def logcumsumexp(x: Tensor, dim: int) -> Tensor:
    """Logarithms of sums of powers so far, each step relative to its greatest."""
    if not x.dtype.is_floating_point:
        return NotImplemented
    if not x.dim():
        return x.clone()
    inner = torch.float32 if x.dtype.itemsize == 2 else x.dtype
    return scanned((x.to(inner),), dim, lambda left, right: (torch.logaddexp(left[0], right[0]),))[0].to(x.dtype)


def kth(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The k-th least element, NaN the greatest."""
    if not x.dim():
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    return tuple(part.narrow(dim, k - 1, 1) if keepdim else part.select(dim, k - 1) for part in torch.sort(x, dim=dim, stable=True))


def median(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The lower of the middle elements; NaN where one is."""
    if not x.dim():
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    middle, place = kth(x, (x.shape[dim] + 1) // 2, dim, keepdim)
    if not x.dtype.is_floating_point:
        return middle, place
    is_nan = torch.isnan(x)
    found, where = is_nan.any(dim, keepdim), is_nan.to(torch.int64).argmax(dim, keepdim)
    return torch.where(found, math.nan, middle), torch.where(found, where, place)


def nanmedian(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The lower of the middle elements that are numbers."""
    if not x.dim() or not x.dtype.is_floating_point:
        return median(x, dim, keepdim)
    values, places = torch.sort(x, dim=dim, stable=True)
    middle = ((~torch.isnan(x)).sum(dim, keepdim=True) - 1).clamp(min=0) // 2
    taken = tuple(part.gather(dim, middle) for part in (values, places))
    return taken if keepdim else tuple(part.squeeze(dim) for part in taken)


def of_all(function: Callable[..., tuple[Tensor, Tensor]]) -> Callable[[Tensor], Tensor]:
    """The value of all elements as one row."""

    def parts(x: Tensor) -> Tensor:
        return function(x.reshape(-1), 0)[0] if x.numel() else NotImplemented

    return parts


def extreme(name: str) -> Callable[[Tensor], Tensor]:
    """The greatest or least of all elements."""
    return lambda x: getattr(torch, name)(x)


def mode(x: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The least of the most frequent elements, and a place of it, by comparing all with all."""
    if not x.dim():
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    values, places = torch.sort(x, dim=dim, stable=True)
    row, where = values.movedim(dim, -1), places.movedim(dim, -1)
    # NaN is not equal to itself, and each one counts alone.
    counts = (row.unsqueeze(-1) == row.unsqueeze(-2)).sum(-1).clamp(min=1)
    first = counts.argmax(-1, keepdim=True)
    last = first + counts.gather(-1, first) - 1
    taken = row.gather(-1, last), where.gather(-1, last)
    return tuple(t.movedim(-1, dim) if keepdim else t.squeeze(-1) for t in taken)


def found(edges: Tensor, values: Tensor, right: bool, sorter: Tensor | None = None) -> Tensor:
    """How many of sorted edges lie before each value, halving what is left in each step."""
    n = edges.shape[-1]
    low, high = torch.zeros_like(values, dtype=torch.int64), torch.full_like(values, n, dtype=torch.int64)
    for _ in range(n.bit_length()):
        middle = (low + high) // 2
        place = middle.clamp(max=n - 1)
        place = place if sorter is None else sorter.gather(-1, place)
        edge = edges.gather(-1, place)
        # NaN lies behind all numbers.
        goes = (low < high) & ~(edge > values if right else edge >= values)
        low, high = torch.where(goes, middle + 1, low), torch.where(goes, high, middle)
    return low


def searchsorted(edges: Tensor, values: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None, sorter: Tensor | None = None) -> Tensor:
    """Where values would stand in sorted rows."""
    right, kind = side == "right" if side is not None else right, torch.int32 if out_int32 else torch.int64
    given = values if isinstance(values, Tensor) else torch.full((), values, dtype=edges.dtype)
    dtype = torch.promote_types(edges.dtype, given.dtype)
    if not isinstance(edges.shape[-1], int):
        return NotImplemented
    if not edges.shape[-1]:
        return torch.zeros_like(given, dtype=kind)
    edges, rows = edges.to(dtype), given.to(dtype)
    rows = rows.reshape(-1) if edges.dim() == 1 else rows
    return found(edges, rows, right, sorter).reshape(given.shape).to(kind)


def bucketize(values: Any, edges: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """The bucket of each value."""
    return searchsorted(edges, values, out_int32=out_int32, right=right)


def placed(values: Tensor, edges: Tensor) -> tuple[Tensor, Tensor]:
    """The range between edges that each value lies in, the last of them with its end, and whether there is one."""
    place = torch.where(values == edges[-1], edges.shape[0] - 2, found(edges, values, True) - 1)
    return place.clamp(0, edges.shape[0] - 2), (values >= edges[0]) & (values <= edges[-1])


def counted(values: Tensor, edges: Tensor, weight: Tensor | None, dtype: torch.dtype) -> Tensor:
    """How much lies between neighbouring edges, the last of them included."""
    n, (place, inside) = edges.shape[0] - 1, placed(values, edges)
    amount = inside.to(dtype) if weight is None else torch.where(inside, weight.reshape(-1).to(dtype), 0)
    return torch.zeros(n, dtype=dtype).scatter_add(0, place, amount)


def even_edges(x: Tensor, bins: int, low: Any, high: Any, apart: float) -> Tensor:
    """Edges of ranges of one width, of the data's where none are given; ends that are one number are moved apart."""
    low, high = (x.min(), x.max()) if low is None else (torch.full((), end, dtype=x.dtype) for end in (low, high))
    same = low == high
    low, high = torch.where(same, low - apart, low), torch.where(same, high + apart, high)
    return torch.cat([low + (high - low) / bins * torch.arange(bins, dtype=x.dtype), high.reshape(1)])


def histc(x: Tensor, bins: int = 100, min: Any = 0, max: Any = 0) -> Tensor:  # noqa: A002, the words of the operator
    """Counts of ranges of one width, by how far an element lies between the ends."""
    if not x.dtype.is_floating_point or not x.numel():
        return NotImplemented
    edges = even_edges(x, bins, *((None, None) if min == max else (min, max)), 1)
    values, low, high = x.reshape(-1), edges[0], edges[-1]
    inside = (values >= low) & (values <= high)
    place = ((values - low) * bins / (high - low)).to(torch.int64).clamp(0, bins - 1)
    return torch.zeros(bins, dtype=x.dtype).scatter_add(0, place, inside.to(x.dtype))


def shares(amount: Tensor, edges: Tensor, density: bool) -> Tensor:
    """Amounts as densities, whose integral is 1."""
    return amount / (amount.sum() * (edges[1:] - edges[:-1])) if density else amount


def histogram_of_edges(x: Tensor, bins: Tensor, *, weight: Tensor | None = None, density: bool = False) -> tuple[Tensor, Tensor]:
    """Counts between edges."""
    return shares(counted(x.reshape(-1), bins, weight, x.dtype), bins, density), bins.clone()


def histogram(x: Tensor, bins: int = 100, *, range: Any = None, weight: Tensor | None = None, density: bool = False) -> tuple[Tensor, Tensor]:  # noqa: A002
    """Counts of ranges of one width, with their edges."""
    if not x.numel():
        return NotImplemented
    return histogram_of_edges(x, even_edges(x, bins, *(range or (None, None)), 0.5), weight=weight, density=density)


def histogramdd_edges(x: Tensor, bins: Sequence[int], *, range: Any = None, weight: Tensor | None = None, density: bool = False) -> list[Tensor]:  # noqa: A002
    """The edges of each column of points."""
    if not x.numel():
        return NotImplemented
    ends = [range[2 * n:2 * n + 2] if range else (None, None) for n in builtins.range(len(bins))]
    return [even_edges(x.reshape(-1, len(bins))[:, n], count, *ends[n], 0.5) for n, count in enumerate(bins)]


def histogramdd_of_edges(x: Tensor, edges: Sequence[Tensor], *, weight: Tensor | None = None, density: bool = False) -> Tensor:
    """Counts of points in boxes between edges."""
    points = x.reshape(-1, len(edges))
    inside, number = torch.ones(points.shape[0], dtype=torch.bool), torch.zeros(points.shape[0], dtype=torch.int64)
    for column, ends in enumerate(edges):
        place, is_in = placed(points[:, column], ends)
        inside, number = inside & is_in, number * (ends.shape[0] - 1) + place
    shape = [ends.shape[0] - 1 for ends in edges]
    amount = inside.to(x.dtype) if weight is None else torch.where(inside, weight.reshape(-1).to(x.dtype), 0)
    result = torch.zeros(math.prod(shape), dtype=x.dtype).scatter_add(0, number, amount).reshape(shape)
    if density:
        result = result / result.sum()
        for axis, ends in enumerate(edges):
            result = result / (ends[1:] - ends[:-1]).reshape([-1] + [1] * (len(shape) - 1 - axis))
    return result


def histogramdd(x: Tensor, bins: Sequence[int], *, range: Any = None, weight: Tensor | None = None, density: bool = False) -> Tensor:  # noqa: A002
    """Counts of points in boxes of one size."""
    edges = histogramdd_edges(x, bins, range=range)
    return edges if edges is NotImplemented else histogramdd_of_edges(x, edges, weight=weight, density=density)


PARTS = {
    aten.cummax.default: best_so_far(torch.le), aten.cummin.default: best_so_far(torch.ge), aten.logcumsumexp.default: logcumsumexp,
    aten.kthvalue.default: kth, aten.median.dim: median, aten.nanmedian.dim: nanmedian, aten.median.default: of_all(median),
    aten.nanmedian.default: of_all(nanmedian), aten.mode.default: mode, aten.max.default: extreme("amax"), aten.min.default: extreme("amin"),
    aten.searchsorted.Tensor: searchsorted, aten.searchsorted.Scalar: searchsorted, aten.bucketize.Tensor: bucketize, aten.bucketize.Scalar: bucketize,
    aten.histc.default: histc, aten.histogram.bins_tensor: histogram_of_edges, aten.histogram.bin_ct: histogram,
    aten._histogramdd_bin_edges.default: histogramdd_edges, aten._histogramdd_from_bin_cts.default: histogramdd,
    aten._histogramdd_from_bin_tensors.default: histogramdd_of_edges,
}
