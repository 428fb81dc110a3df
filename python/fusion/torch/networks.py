"""Operators of core ATen that networks are made of: products, convolutions, pools, normalizations, attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from .elementwise import truncated
from .extents import Unsupported, is_known
from .graph import Graph, Value, extent, ints, real, whole
from .parts.pooling import max_pool_with_indices
from .reductions import at_least, moments, reduced, wide

aten = torch.ops.aten


def product(g: Graph, a: Value, b: Value, **attributes: str) -> Value:
    """A product of matrices, or of stacks of them."""
    shape = [*a.shape[:-1], b.shape[-1]]
    return g.op("matmul" if a.rank == 2 else "batch_matmul", [a, b], torch.float32 if attributes else a.dtype, shape, **attributes)


def wider(dtype: torch.dtype) -> dict[str, str]:
    """That sums of halves are kept in float32, where more is done with them before they are rounded."""
    return {} if wide(dtype) == dtype else {"out_dtype": "f32"}


def addmm(g: Graph, bias: Value, a: Value, b: Value, *, beta: Any = 1, alpha: Any = 1) -> Value:
    """A product and a sum, each with a factor."""
    dtype, shape = g.result
    y = product(g, a, b, **wider(dtype))
    inner = y.dtype
    if alpha != 1:
        y = g.op("mul", [y, g.constant(alpha, inner)], inner, shape)
    if beta != 0:
        bias = g.cast(bias, inner)
        if beta != 1:
            bias = g.op("mul", [bias, g.constant(beta, inner)], inner, bias.shape)
        y = g.op("add", [y, bias], inner, shape)
    return g.cast(y, dtype)


def mv(g: Graph, a: Value, b: Value) -> Value:
    """A matrix times a vector."""
    return g.reshape(product(g, a, g.reshape(b, [b.shape[0], 1])), g.result[1])


def dot(g: Graph, a: Value, b: Value) -> Value:
    """A product of vectors."""
    return g.reshape(product(g, g.reshape(a, [1, *a.shape]), g.reshape(b, [*b.shape, 1])), [])


def along(values: Sequence[int], axes: int) -> list[int]:
    """A number an axis."""
    values = list(values)
    return values * axes if len(values) == 1 else values


def convolution(
    g: Graph, x: Value, w: Value, bias: Value | None, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any, groups: int
) -> Value:
    """A convolution, or a transposed one."""
    dtype, shape = g.result
    axes = len(shape) - 2
    if axes not in (1, 2, 3):
        raise Unsupported(f"it has a convolution of {axes} axes")
    sides = along(padding, axes)
    attributes = {"strides": ints(along(stride, axes)), "padding": ints(sides * 2), "dilation": ints(along(dilation, axes)), "groups": whole(groups)}
    name = f"conv{axes}d"
    if transposed:
        name += "_transpose"
        attributes["output_padding"] = ints(along(output_padding, axes))
    if bias is None:
        return g.op(name, [x, w], dtype, shape, **attributes)
    more = {} if transposed else wider(dtype)
    inner = torch.float32 if more else dtype
    y = g.op(name, [x, w], inner, shape, **attributes, **more)
    return g.cast(g.op("add", [y, g.cast(g.reshape(bias, [bias.shape[0]] + [1] * axes), inner)], inner, shape), dtype)


def pool(g: Graph, name: str, x: Value, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, **attributes: str) -> Value:
    """A pool over the last axes; a batch may be missing."""
    dtype, shape = x.dtype, g.result[1]
    axes = len(kernel) if len(kernel) > 1 else x.rank - 2
    kernel = along(kernel, axes)
    full = x if x.rank == axes + 2 else g.reshape(x, [1, *x.shape])
    y = g.op(
        f"{name}_pool{axes}d", [full], dtype, [*full.shape[:2], *shape[-axes:]], kernel=ints(kernel), strides=ints(along(stride or kernel, axes)),
        padding=ints(along(padding, axes) * 2), dilation=ints(along(dilation, axes)), ceil_mode="true" if ceil_mode else "false", **attributes,
    )
    return g.reshape(y, shape)


def max_pool(g: Graph, x: Value, kernel: Any, stride: Any = (), padding: Any = (0,), dilation: Any = (1,), ceil_mode: bool = False) -> Any:
    """The greatest elements of windows; where they are is computed where it is asked for."""
    if g.is_used(1):
        return g.inline(max_pool_with_indices(2))
    return pool(g, "max", x, kernel, stride, padding, dilation, ceil_mode), None


def avg_pool(
    g: Graph, x: Value, kernel: Any, stride: Any = (), padding: Any = (0,), ceil_mode: bool = False, count_include_pad: bool = True, divisor: Any = None
) -> Value:
    """The means of windows."""
    dtype, _ = g.result
    x = g.cast(x, dtype if dtype.is_floating_point else torch.float64)
    if divisor is not None:
        raise Unsupported("it gives an average pool a divisor, and windows whose number is not known")
    y = pool(g, "avg", x, kernel, stride, padding, (1,), ceil_mode, count_include_pad="true" if count_include_pad else "false")
    return g.cast(y if dtype.is_floating_point else truncated(g, y), dtype)


def adaptive_avg_pool(g: Graph, x: Value, size: Sequence[int]) -> Value:
    """Means of equal parts of an image."""
    image = x.shape[-len(size):]
    if all(is_known(n) and n == 1 for n in size):
        return reduced(g, "reduce_mean", x, list(range(x.rank - len(size), x.rank)), True)
    if any(n % out for n, out in zip(image, size)):
        raise Unsupported("it pools into parts that are not equal")
    kernel = [n // out for n, out in zip(image, size)]
    return pool(g, "avg", x, kernel, kernel, (0,), (1,), False)


def batch_norm(g: Graph, x: Value, weight: Value | None, bias: Value | None, mean: Value, variance: Value, momentum: Any, epsilon: float) -> tuple:
    """A normalization by statistics that are given."""
    channels = [x.shape[1]]
    weight = weight or g.constant(1, x.dtype, channels)
    bias = bias or g.constant(0, x.dtype, channels)
    y = g.op("batch_norm", [x, *(g.cast(v, x.dtype) for v in (weight, bias, mean, variance))], x.dtype, x.shape, epsilon=f"{real(epsilon)} : f64")
    return y, *(g.constant(0, x.dtype, (0,)) for _ in range(2))


def normalized(g: Graph, x: Value, axes: Sequence[int], epsilon: float) -> tuple[Value, Value, Value, Value]:
    """x less its mean along axes over its deviation, in the type of sums; with the mean, the inverse of the deviation, and the sum of squares."""
    x = g.cast(x, wide(x.dtype))
    mean, squares = moments(g, x, axes)
    variance = g.op("div", [squares, g.constant(math.prod(x.shape[a] for a in axes), x.dtype)], x.dtype, squares.shape)
    inverse = g.op("rsqrt", [g.op("add", [variance, g.constant(epsilon, x.dtype)], x.dtype, squares.shape)], x.dtype, squares.shape)
    return g.op("mul", [g.op("sub", [x, mean], x.dtype, x.shape), inverse], x.dtype, x.shape), mean, inverse, squares


def typed(g: Graph, *values: Value) -> list[Value]:
    """Values in the element types of the results of the node."""
    return [g.cast(value, of.dtype) for value, of in zip(values, g.node.meta["val"])]


def scaled(g: Graph, x: Value, weight: Value | None, bias: Value | None) -> Value:
    """x by a scale and a shift, where there are any."""
    for name, operand in (("mul", weight), ("add", bias)):
        x = x if operand is None else g.op(name, [x, g.cast(operand, x.dtype)], x.dtype, x.shape)
    return x


def trained_batch_norm(
    g: Graph, x: Value, weight: Value | None, bias: Value | None, mean: Value, variance: Value, training: bool, momentum: float, epsilon: float
) -> tuple:
    """A normalization by statistics of the batch, with these, and those that are kept."""
    if not training:
        return *batch_norm(g, x, weight, bias, mean, variance, momentum, epsilon), mean, variance
    axes, channels = [a for a in range(x.rank) if a != 1], x.shape[1]
    y, own, inverse, squares = normalized(g, x, axes, epsilon)
    y = scaled(g, y, *(v and g.reshape(v, [channels] + [1] * (x.rank - 2)) for v in (weight, bias)))

    def kept(old: Value, new: Value) -> Value:
        parts = [g.op("mul", [g.cast(v, y.dtype), g.constant(c, y.dtype)], y.dtype, [channels]) for v, c in ((old, 1 - momentum), (new, momentum))]
        return g.cast(g.op("add", parts, y.dtype, [channels]), old.dtype)

    flat = [g.reshape(v, [channels]) for v in (own, inverse, squares)]
    unbiased = g.op("div", [flat[2], g.constant(at_least(math.prod(x.shape[a] for a in axes) - 1, 1), y.dtype)], y.dtype, [channels])
    return *typed(g, y, flat[0], flat[1]), kept(mean, flat[0]), kept(variance, unbiased)


def layer_norm(g: Graph, x: Value, shape: Sequence[int], weight: Value | None, bias: Value | None, epsilon: float) -> tuple:
    """A normalization of the last axes, with its mean and the inverse of its deviation."""
    axes = list(range(x.rank - len(shape), x.rank))
    if g.is_used(1) or g.is_used(2):
        y, mean, inverse, _ = normalized(g, x, axes, epsilon)
        return tuple(typed(g, scaled(g, y, weight, bias), mean, inverse))
    weight = weight or g.constant(1, x.dtype, shape)
    bias = bias or g.constant(0, x.dtype, shape)
    y = g.op("layer_norm", [x, weight, bias], x.dtype, x.shape, axis=f"{axes[0]} : i64", epsilon=f"{real(epsilon)} : f64")
    return y, None, None


def group_norm(g: Graph, x: Value, weight: Value | None, bias: Value | None, batch: int, channels: int, image: int, groups: int, epsilon: float) -> tuple:
    """A normalization of groups of channels, with its means and the inverses of their deviations."""
    if not (g.is_used(1) or g.is_used(2)):
        weight, bias = weight or g.constant(1, x.dtype, [channels]), bias or g.constant(0, x.dtype, [channels])
        y = g.op("group_norm", [x, weight, bias], x.dtype, x.shape, num_groups=whole(groups), epsilon=f"{real(epsilon)} : f64")
        return y, None, None
    parts = g.reshape(x, [batch, groups, channels // groups * image])
    y, mean, inverse, _ = normalized(g, parts, [2], epsilon)
    y = scaled(g, g.reshape(y, x.shape), *(v and g.reshape(v, [channels] + [1] * (x.rank - 2)) for v in (weight, bias)))
    return tuple(typed(g, y, g.reshape(mean, [batch, groups]), g.reshape(inverse, [batch, groups])))


def attention(
    g: Graph, q: Value, k: Value, v: Value, dropout: float = 0.0, is_causal: bool = False, *, attn_mask: Value | None = None, scale: float | None = None
) -> tuple:
    """softmax(q k^T s + mask) v, and the logarithms of the sums, which training needs."""
    if dropout:
        raise Unsupported("it has attention with dropout")
    (*stack, rows, width), keys = q.shape, k.shape[-2]
    # Scores of halves, and what is exponential in them, have float32.
    more = wider(q.dtype)
    dtype = torch.float32 if more else q.dtype
    turned = g.transpose(k, [*range(k.rank - 2), k.rank - 1, k.rank - 2])
    shape = [*stack, rows, keys]
    scores = g.op("matmul", [q, turned], dtype, shape, **more)
    scores = g.op("mul", [scores, g.constant(width**-0.5 if scale is None else scale, dtype)], dtype, shape)
    if is_causal:
        row, column = (
            g.reshape(g.op("arange", [], torch.int64, [n], size=extent(n), dtype="i64"), form) for n, form in ((rows, [rows, 1]), (keys, [1, keys])))
        allowed = g.op("greater_equal", [row, column], torch.bool, [rows, keys])
        scores = g.op("where", [allowed, scores, g.constant(float("-inf"), dtype)], dtype, shape)
    if attn_mask is not None:
        scores = g.op("add", [scores, g.cast(attn_mask, dtype)], dtype, shape)
    parts = g.cast(g.op("softmax", [scores], dtype, shape, axis=f"{len(shape) - 1} : i64"), v.dtype)
    y = g.op("matmul", [parts, v], v.dtype, [*stack, rows, v.shape[-1]])
    sums = None
    if g.is_used(1):
        most = reduced(g, "reduce_max", scores, [len(shape) - 1], True)
        powers = g.op("exp", [g.op("sub", [scores, most], dtype, shape)], dtype, shape)
        total = g.op("log", [reduced(g, "reduce_sum", powers, [len(shape) - 1], True)], dtype, most.shape)
        sums = g.cast(g.reshape(g.op("add", [total, most], dtype, most.shape), [*stack, rows]), g.node.meta["val"][1].dtype)
    return y, sums


# Operators that torch would take apart.
WHOLE = {aten._scaled_dot_product_flash_attention_for_cpu.default}

TABLE = {
    aten.mm.default: product, aten.bmm.default: product, aten.addmm.default: addmm, aten.mv.default: mv, aten.dot.default: dot,
    aten.convolution.default: convolution, aten.max_pool2d_with_indices.default: max_pool, aten.avg_pool2d.default: avg_pool,
    aten.avg_pool1d.default: avg_pool, aten.avg_pool3d.default: avg_pool, aten._adaptive_avg_pool2d.default: adaptive_avg_pool,
    aten._native_batch_norm_legit_no_training.default: batch_norm, aten._native_batch_norm_legit_functional.default: trained_batch_norm,
    aten.native_layer_norm.default: layer_norm,
    aten.native_group_norm.default: group_norm,
    aten._scaled_dot_product_flash_attention_for_cpu.default: attention,
}
