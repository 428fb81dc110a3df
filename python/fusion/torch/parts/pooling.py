"""Pools over windows that are not of one size, and pools that say where their greatest elements are.

Axes are taken one after the other: the windows of an axis are gathered, and reduced, before the next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

aten = torch.ops.aten


def uneven(n: int, parts: int) -> tuple[Tensor, Tensor]:
    """The places of windows that share an axis as evenly as they can, and which of them are theirs."""
    longest = max(-(-(part + 1) * n // parts) - part * n // parts for part in range(parts))
    number = torch.arange(parts)
    begin, end = number * n // parts, ((number + 1) * n + parts - 1) // parts
    places = begin.reshape(-1, 1) + torch.arange(longest)
    return places.clamp(max=n - 1), places < end.reshape(-1, 1)


def windows(x: Tensor, axis: int, places: Tensor) -> Tensor:
    """Elements of an axis at a matrix of places, whose second axis stands last."""
    taken = x.index_select(axis, places.reshape(-1)).reshape([*x.shape[:axis], *places.shape, *x.shape[axis + 1:]])
    return taken.movedim(axis + 1, -1)


def beside(mask: Tensor, x: Tensor, axis: int) -> Tensor:
    """A matrix of windows in the form of what `windows` gives."""
    form = [1] * (x.dim() + 1)
    form[axis], form[-1] = mask.shape
    return mask.reshape(form)


def adaptive_avg_pool(x: Tensor, size: Sequence[int]) -> Tensor:
    """Means of parts of an image that need not be of one size."""
    image = x.shape[-len(size):]
    if not all(isinstance(n, int) for n in image) or 0 in size:
        return NotImplemented
    if len(size) == 2 and all(n % parts == 0 for n, parts in zip(image, size)):
        return NotImplemented
    dtype, x = x.dtype, x.to(torch.float32) if x.dtype.itemsize == 2 else x
    for axis, parts in enumerate(size, x.dim() - len(size)):
        places, is_own = uneven(x.shape[axis], parts)
        own = beside(is_own, x, axis)
        x = torch.where(own, windows(x, axis, places), 0).sum(-1) / own.sum(-1).to(x.dtype)
    return x.to(dtype)


def greatest(x: Tensor, index: Tensor, axis: int, places: Tensor, is_own: Tensor) -> tuple[Tensor, Tensor]:
    """The greatest element of each window of an axis, with where it is in the rows of the image; of equals the first."""
    own = beside(is_own, x, axis)
    least = -math.inf if x.dtype.is_floating_point else torch.iinfo(x.dtype).min
    values = torch.where(own, windows(x, axis, places), torch.full((), least, dtype=x.dtype))
    best = values.argmax(-1, keepdim=True)
    number = windows(index, axis, places)
    return values.gather(-1, best).squeeze(-1), number.gather(-1, best).squeeze(-1)


def image_index(x: Tensor, axes: int) -> Tensor:
    """The place of each element in the rows of its image."""
    image = x.shape[-axes:]
    return torch.arange(math.prod(image)).reshape(image).expand(x.shape)


def adaptive_max_pool(x: Tensor, size: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The greatest elements of parts of an image that need not be of one size."""
    if not all(isinstance(n, int) for n in x.shape[-len(size):]) or 0 in size or 0 in x.shape:
        return NotImplemented
    index = image_index(x, len(size))
    # From the last axis on, so that among equals the first of the rows is found.
    for back, parts in enumerate(reversed(list(size)), 1):
        axis = x.dim() - back
        places, is_own = uneven(x.shape[axis], parts)
        x, index = greatest(x, index, axis, places, is_own)
    return x, index


def strided(n: int, count: int, kernel: int, stride: int, padding: int, dilation: int) -> tuple[Tensor, Tensor]:
    """The places of windows with strides, and which of them lie inside."""
    begin = torch.arange(count).reshape(-1, 1) * stride - padding
    places = begin + torch.arange(kernel) * dilation
    # A place outside stands for the first inside, which it never beats.
    first = torch.where(begin < 0, begin + -(begin // dilation) * dilation, begin).clamp(max=n - 1)
    is_own = (places >= 0) & (places < n)
    return torch.where(is_own, places, first), is_own


def along(values: Sequence[int] | int, axes: int) -> list[int]:
    """A number an axis."""
    values = [values] if isinstance(values, int) else list(values)
    return values * axes if len(values) == 1 else values


def max_pool_with_indices(axes: int) -> Callable[..., tuple[Tensor, Tensor]]:
    """The greatest elements of windows, and where they are."""

    def parts(x: Tensor, kernel: Sequence[int], stride: Sequence[int] = (), padding: Sequence[int] = (0,), dilation: Sequence[int] = (1,),
              ceil_mode: bool = False) -> tuple[Tensor, Tensor]:
        kernel = along(kernel, axes)
        stride, padding, dilation = along(stride or kernel, axes), along(padding, axes), along(dilation, axes)
        index, image = image_index(x, axes), x.shape[-axes:]
        for number in reversed(range(axes)):
            axis = x.dim() - axes + number
            count = torch._meta_registrations.pooling_output_shape(image[number], kernel[number], padding[number], stride[number], dilation[number], ceil_mode)
            places, is_own = strided(image[number], count, kernel[number], stride[number], padding[number], dilation[number])
            x, index = greatest(x, index, axis, places, is_own)
        return x, index

    return parts


def covered(n: int, count: int, kernel: int, stride: int, padding: int, count_padding: bool) -> Tensor:
    """How many elements each window of an axis counts."""
    begin = torch.arange(count) * stride - padding
    end = (begin + kernel).clamp(max=n + padding)
    return end - begin if count_padding else end.clamp(max=n) - begin.clamp(min=0)


def avg_pool(axes: int) -> Callable[..., Tensor]:
    """Sums of windows over a number that is given: the means, times what their windows count."""

    def parts(x: Tensor, kernel: Sequence[int], stride: Sequence[int] = (), padding: Sequence[int] = (0,), ceil_mode: bool = False,
              count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor:
        if divisor_override is None:
            return NotImplemented
        kernel, padding, is_whole = along(kernel, axes), along(padding, axes), not x.dtype.is_floating_point
        means = getattr(aten, f"avg_pool{axes}d")(x.to(torch.float64) if is_whole else x, kernel, stride, padding, ceil_mode, True)
        for number, (k, s, p) in enumerate(zip(kernel, along(stride or kernel, axes), padding)):
            axis = x.dim() - axes + number
            means = means * covered(x.shape[axis], means.shape[axis], k, s, p, True).to(means.dtype).reshape([-1] + [1] * (x.dim() - 1 - axis))
        return torch.div(torch.round(means).to(x.dtype), divisor_override, rounding_mode="trunc") if is_whole else means / divisor_override

    return parts


# Those that may have a batch that is not known.
DYNAMIC = {
    aten._adaptive_avg_pool2d.default: adaptive_avg_pool, aten._adaptive_avg_pool3d.default: adaptive_avg_pool,
    aten.adaptive_max_pool2d.default: adaptive_max_pool, aten.adaptive_max_pool3d.default: adaptive_max_pool,
}
PARTS = {
    aten.avg_pool2d.default: avg_pool(2), aten.avg_pool3d.default: avg_pool(3), aten.max_pool3d_with_indices.default: max_pool_with_indices(3),
}
