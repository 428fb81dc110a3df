"""Images sampled between their elements, distances of rows, and products of three tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def reflected(at: Tensor, low: float, high: float) -> Tensor:
    """Coordinates turned back at two borders as often as they meet them."""
    if low == high:
        return torch.zeros_like(at)
    span = high - low
    way = (at - low).abs()
    rest = torch.fmod(way, span)
    return torch.where(torch.floor(way / span) % 2 == 0, rest + low, high - rest)


def unnormalized(at: Tensor, n: int, padding: int, align_corners: bool) -> Tensor:
    """Coordinates of -1 to 1 as places of an axis."""
    place = (at + 1) / 2 * (n - 1) if align_corners else ((at + 1) * n - 1) / 2
    if padding == 2:
        place = reflected(place, 0, n - 1) if align_corners else reflected(place, -0.5, n - 0.5)
    return place.clamp(0, n - 1) if padding else place


def grid_sampler_3d(x: Tensor, grid: Tensor, mode: int, padding: int, align_corners: bool) -> Tensor:
    """Elements of a solid at points of a grid: of the nearest place, or of the eight around, by their nearness."""
    batch, channels, *solid = x.shape
    points = grid.shape[1:4]
    places = [unnormalized(grid[..., 2 - axis], n, padding, align_corners) for axis, n in enumerate(solid)]
    flat = x.reshape(batch, channels, math.prod(solid))

    def taken(at: Sequence[Tensor]) -> Tensor:
        inside, number = torch.ones_like(at[0], dtype=torch.bool), torch.zeros_like(at[0], dtype=torch.int64)
        for place, n in zip(at, solid):
            inside = inside & (place >= 0) & (place < n)
            number = number * n + place.clamp(0, n - 1).to(torch.int64)
        rows = number.reshape(batch, 1, -1).expand(batch, channels, math.prod(points))
        return torch.where(inside.unsqueeze(1), flat.gather(2, rows).reshape(batch, channels, *points), 0)

    if mode == 1:
        return taken([torch.round(place) for place in places])
    if mode != 0:
        return NotImplemented
    total = None
    for corner in range(8):
        at, weight = [], None
        for axis, place in enumerate(places):
            low = torch.floor(place)
            goes = corner >> axis & 1
            near = place - low if goes else low + 1 - place
            at.append(low + goes)
            weight = near if weight is None else weight * near
        part = taken(at) * weight.unsqueeze(1)
        total = part if total is None else total + part
    return total


def smoothed(x: Tensor, axis: int, n: int, align_corners: bool, scale: float | None) -> Tensor:
    """An axis at another resolution, each element the mean of those around it by a triangle as wide as a step, or as one element."""
    before = x.shape[axis]
    if align_corners:
        step = (before - 1) / (n - 1) if n > 1 else 0.0
    else:
        step = 1 / scale if scale else before / n
    reach = max(step, 1.0)
    centre = (torch.arange(n, dtype=torch.float64) + (0 if align_corners else 0.5)) * step
    centre = centre if not align_corners else centre + 0.5
    first = (centre - reach + 0.5).clamp(min=0).to(torch.int64)
    last = (centre + reach + 0.5).clamp(max=before).to(torch.int64)
    count = math.ceil(reach) * 2 + 1
    places = first.reshape(-1, 1) + torch.arange(count)
    distance = ((places - centre.reshape(-1, 1) + 0.5) / reach).abs()
    weight = torch.where(places < last.reshape(-1, 1), (1 - distance).clamp(min=0), 0)
    weight = (weight / weight.sum(1, keepdim=True)).to(x.dtype)
    taken = x.index_select(axis, places.clamp(max=before - 1).reshape(-1)).reshape([*x.shape[:axis], n, count, *x.shape[axis + 1:]])
    form = [1] * taken.dim()
    form[axis], form[axis + 1] = n, count
    return (taken * weight.reshape(form)).sum(axis + 1)


def upsample_bilinear2d_aa(x: Tensor, output_size: Sequence[int], align_corners: bool, scales_h: float | None = None, scales_w: float | None = None) -> Tensor:
    """An image at another resolution without patterns that are not in it."""
    if not x.dtype.is_floating_point or not all(isinstance(n, int) for n in (*x.shape[-2:], *output_size)):
        return NotImplemented
    inner = x.to(torch.float32) if x.dtype.itemsize == 2 else x
    for axis, n, scale in ((3, output_size[1], scales_w), (2, output_size[0], scales_h)):
        inner = smoothed(inner, axis, n, align_corners, scale)
    return inner.to(x.dtype)


def norm_of(difference: Tensor, p: float) -> Tensor:
    """The p-norm of rows."""
    size = difference.abs()
    if p == 0:
        return (size != 0).to(size.dtype).sum(-1)
    if p == math.inf:
        return size.amax(-1)
    if p == 1:
        return size.sum(-1)
    return (size * size).sum(-1).sqrt() if p == 2 else (size**p).sum(-1) ** (1 / p)


def cdist(a: Tensor, b: Tensor, p: float, compute_mode: int | None) -> Tensor:
    """The distances of all rows of one matrix from all of another."""
    if not a.shape[-1]:
        return a.new_zeros([*torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-2]])
    return norm_of(a.unsqueeze(-2) - b.unsqueeze(-3), p)


def pdist(x: Tensor, p: float = 2.0) -> Tensor:
    """The distances of all pairs of rows."""
    if not isinstance(x.shape[0], int):
        return NotImplemented
    if x.shape[0] < 2 or not x.shape[1]:
        return x.new_zeros([x.shape[0] * (x.shape[0] - 1) // 2])
    first, second = torch.triu_indices(x.shape[0], x.shape[0], 1)
    return norm_of(x.index_select(0, first) - x.index_select(0, second), p)


def trilinear(
    a: Tensor, b: Tensor, c: Tensor, expand1: Sequence[int], expand2: Sequence[int], expand3: Sequence[int], sumdim: Sequence[int], unroll_dim: int = 1,
) -> Tensor:
    """A sum of products of three tensors along axes that each may lack."""
    parts: list[Tensor] = [a, b, c]
    for number, axes in enumerate((expand1, expand2, expand3)):
        for axis in sorted(axes):
            parts[number] = parts[number].unsqueeze(axis)
    product = parts[0] * parts[1] * parts[2]
    return product.sum(list(sumdim)) if sumdim else product


PARTS: dict[Any, Any] = {
    aten.grid_sampler_3d.default: grid_sampler_3d, aten._upsample_bilinear2d_aa.default: upsample_bilinear2d_aa, aten._cdist_forward.default: cdist,
    aten._pdist_forward.default: pdist, aten._trilinear.default: trilinear,
}
