"""Gradients of convolutions, pools and attention."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor

from .pooling import along, beside, covered

aten = torch.ops.aten


def weight_gradient(
    data: Tensor, filters: Tensor, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], groups: int,
) -> Tensor:
    """The sums, for each place of a kernel, of elements of an image times those of the result that they are part of: one product of matrices."""
    batch, channels, result = data.shape[0], data.shape[1], filters.shape[2:]
    wide = torch.nn.functional.pad(data, [side for p in reversed(padding) for side in (p, p)])
    places = []
    for at in itertools.product(*(range(k) for k in kernel)):
        part = wide
        for axis, (k, d, s, n) in enumerate(zip(at, dilation, stride, result), 2):
            part = aten.slice.Tensor(part, axis, k * d, k * d + s * (n - 1) + 1, s)
        places.append(part)
    size, count = math.prod(result), len(places)
    # [groups, channels of one and places, batch and image] and [groups, filters of one, batch and image].
    columns = torch.stack(places, 2).reshape([batch, groups, channels // groups * count, size]).permute(1, 2, 0, 3)
    rows = filters.reshape([batch, groups, filters.shape[1] // groups, size]).permute(1, 2, 0, 3)
    columns, rows = (x.reshape([groups, x.shape[1], batch * size]) for x in (columns, rows))
    return torch.bmm(rows, columns.transpose(1, 2)).reshape([filters.shape[1], channels // groups, *kernel])


def cropped(x: Tensor, image: Sequence[int]) -> Tensor:
    """The first elements of the last axes."""
    for axis, n in enumerate(image, x.dim() - len(image)):
        x = x.narrow(axis, 0, n)
    return x


def convolution_backward(
    grad: Tensor, x: Tensor, weight: Tensor, bias_sizes: Sequence[int] | None, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int],
    transposed: bool, output_padding: Sequence[int], groups: int, output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The gradients of a convolution: of its data a transposed one, of its weight a product."""
    axes = x.dim() - 2
    stride, padding, dilation = along(stride, axes), along(padding, axes), along(dilation, axes)
    kernel, image, result = weight.shape[2:], x.shape[2:], grad.shape[2:]
    of_data = of_weight = of_bias = None
    if output_mask[0]:
        if transposed:
            of_data = cropped(aten.convolution(grad, weight, None, stride, padding, dilation, False, [0] * axes, groups), image)
        else:
            more = [n - ((r - 1) * s - 2 * p + d * (k - 1) + 1) for n, r, s, p, d, k in zip(image, result, stride, padding, dilation, kernel)]
            of_data = aten.convolution(grad, weight, None, stride, padding, dilation, True, more, groups)
    if output_mask[1]:
        data, filters = (grad, x) if transposed else (x, grad)
        of_weight = weight_gradient(data, filters, kernel, stride, padding, dilation, groups)
    if output_mask[2]:
        of_bias = grad.sum([0, *range(2, grad.dim())])
    return of_data, of_weight, of_bias


def spread(grad: Tensor, image: Sequence[int], kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]) -> Tensor:
    """Each element of an image added to all of its window: the transposed convolution with a kernel of ones."""
    axes, lead = len(image), grad.shape[:-len(image)]
    planes = grad.reshape([math.prod(lead), 1, *grad.shape[-axes:]])
    more = [n - ((r - 1) * s - 2 * p + k) for n, r, s, p, k in zip(image, grad.shape[-axes:], stride, padding, kernel)]
    # A window that hangs over the end is as wide as the rest of it, which is cut off.
    wide = aten.convolution(planes, planes.new_ones([1, 1, *kernel]), None, stride, padding, [1] * axes, True, [max(m, 0) for m in more], 1)
    return cropped(wide, image).reshape([*lead, *image])


def avg_pool_backward(axes: int):
    """The gradient of means of windows."""

    def parts(grad: Tensor, x: Tensor, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], ceil_mode: bool, count_include_pad: bool,
              divisor_override: int | None) -> Tensor:
        kernel, padding = along(kernel, axes), along(padding, axes)
        stride, image = along(stride or kernel, axes), x.shape[-axes:]
        dtype, grad = grad.dtype, grad.to(torch.float32) if grad.dtype.itemsize == 2 else grad
        if divisor_override is not None:
            grad = grad / divisor_override
        for number in range(axes if divisor_override is None else 0):
            axis = grad.dim() - axes + number
            sizes = covered(image[number], grad.shape[axis], kernel[number], stride[number], padding[number], count_include_pad)
            grad = grad / sizes.to(grad.dtype).reshape([-1] + [1] * (grad.dim() - 1 - axis))
        return spread(grad, image, kernel, stride, padding).to(dtype)

    return parts


def adaptive_avg_pool_backward(axes: int):
    """The gradient of means of parts of an image, which may overlap: of each axis a sum over its parts."""

    def parts(grad: Tensor, x: Tensor) -> Tensor:
        dtype, grad = grad.dtype, grad.to(torch.float32) if grad.dtype.itemsize == 2 else grad
        for axis, n in enumerate(x.shape[-axes:], x.dim() - axes):
            count = grad.shape[axis]
            number, place = torch.arange(count).reshape(-1, 1), torch.arange(n)
            begin, end = number * n // count, ((number + 1) * n + count - 1) // count
            is_own = beside((place >= begin) & (place < end), grad, axis)
            sizes = (end - begin).to(grad.dtype).reshape([-1] + [1] * (grad.dim() - axis))
            grad = torch.where(is_own, grad.unsqueeze(-1) / sizes, 0).sum(axis).movedim(-1, axis)
        return grad.to(dtype)

    return parts


def attention_backward(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, sums: Tensor, dropout_p: float, is_causal: bool, *, attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of attention, from the logarithms of its sums of powers."""
    if dropout_p:
        return NotImplemented
    dtype, inner = q.dtype, torch.float32 if q.dtype.itemsize == 2 else q.dtype
    grad, q, k, v, out = (x.to(inner) for x in (grad, q, k, v, out))
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    scores = torch.matmul(q, k.transpose(-2, -1)) * factor
    if is_causal:
        allowed = torch.arange(q.shape[-2]).reshape(-1, 1) >= torch.arange(k.shape[-2])
        scores = torch.where(allowed, scores, -math.inf)
    if attn_mask is not None:
        scores = scores + attn_mask.to(inner)
    parts = torch.exp(scores - sums.unsqueeze(-1).to(inner))
    of_v = torch.matmul(parts.transpose(-2, -1), grad)
    of_parts = torch.matmul(grad, v.transpose(-2, -1))
    of_scores = parts * (of_parts - (grad * out).sum(-1, keepdim=True)) * factor
    return torch.matmul(of_scores, k).to(dtype), torch.matmul(of_scores.transpose(-2, -1), q).to(dtype), of_v.to(dtype)


PARTS = {
    aten.convolution_backward.default: convolution_backward, aten.avg_pool2d_backward.default: avg_pool_backward(2),
    aten.avg_pool3d_backward.default: avg_pool_backward(3), aten._adaptive_avg_pool2d_backward.default: adaptive_avg_pool_backward(2),
    aten._adaptive_avg_pool3d_backward.default: adaptive_avg_pool_backward(3),
    aten._scaled_dot_product_flash_attention_for_cpu_backward.default: attention_backward,
}
