"""Elementwise operators of core ATen. Their results have torch's element types, to which operands are cast first."""

from __future__ import annotations

from typing import Any

import torch

from .graph import Graph, Value

aten = torch.ops.aten


def promoted(*values: Any) -> torch.dtype:
    """The element type in which operands are compared."""
    scalars = [torch.empty((), dtype=v.dtype) if isinstance(v, Value) and v.rank == 0 else v for v in values if not isinstance(v, Value) or v.rank == 0]
    tensors = [torch.empty((1,), dtype=v.dtype) for v in values if isinstance(v, Value) and v.rank > 0]
    dtype = None
    for value in tensors + scalars:
        dtype = torch.result_type(value, value) if dtype is None else torch.result_type(torch.empty((1,) if tensors else (), dtype=dtype), value)
    return dtype


def unary(name: str):
    """An operator of one operand, in the element type of the result."""

    def row(g: Graph, x: Value, **_: Any) -> Value:
        dtype, shape = g.result
        return g.op(name, [g.cast(x, dtype)], dtype, shape)

    return row


def binary(name: str):
    """An operator of two operands, in the element type of the result."""

    def row(g: Graph, a: Any, b: Any, alpha: Any = 1, **_: Any) -> Value:
        dtype, shape = g.result
        b = g.cast(b, dtype)
        if alpha != 1:
            b = g.op("mul", [b, g.constant(alpha, dtype)], dtype, b.shape)
        return g.op(name, [g.cast(a, dtype), b], dtype, shape)

    return row


def compared(name: str):
    """A comparison."""

    def row(g: Graph, a: Value, b: Any) -> Value:
        dtype = promoted(a, b)
        _, shape = g.result
        return g.op(name, [g.cast(a, dtype), g.cast(b, dtype)], torch.bool, shape)

    return row


def logical(name: str):
    """An operator of booleans."""

    def row(g: Graph, *operands: Value) -> Value:
        _, shape = g.result
        return g.op(name, [g.cast(x, torch.bool) for x in operands], torch.bool, shape)

    return row


def truncated(g: Graph, x: Value) -> Value:
    """Floats rounded toward 0."""
    floor, ceil = (g.op(name, [x], x.dtype, x.shape) for name in ("floor", "ceil"))
    below = g.op("less", [x, g.constant(0, x.dtype)], torch.bool, x.shape)
    return g.op("where", [below, ceil, floor], x.dtype, x.shape)


def div(g: Graph, a: Value, b: Any, rounding_mode: str | None = None) -> Value:
    """A quotient, rounded down, toward 0, or not; of integers in floats of twice their precision."""
    dtype, shape = g.result
    inner = dtype if dtype.is_floating_point else torch.float64
    y = g.op("div", [g.cast(a, inner), g.cast(b, inner)], inner, shape)
    if rounding_mode == "floor":
        y = g.op("floor", [y], inner, shape)
    elif rounding_mode == "trunc":
        y = truncated(g, y)
    return g.cast(y, dtype)


def clamp(g: Graph, x: Value, low: Any = None, high: Any = None) -> Value:
    """Elements within bounds, each a number or a tensor."""
    dtype, shape = g.result
    y = g.cast(x, dtype)
    for name, bound in (("maximum", low), ("minimum", high)):
        if bound is not None:
            y = g.op(name, [y, g.cast(bound, dtype)], dtype, shape)
    return y


def where(g: Graph, condition: Value, a: Value, b: Value) -> Value:
    """One of two elements each."""
    dtype, shape = g.result
    return g.op("where", [g.cast(condition, torch.bool), g.cast(a, dtype), g.cast(b, dtype)], dtype, shape)


def gelu(g: Graph, x: Value, approximate: str = "none") -> Value:
    """x times the normal distribution's integral, by erf or by tanh."""
    dtype, shape = x.dtype, x.shape

    def op(name: str, *operands: Any) -> Value:
        return g.op(name, [g.cast(o, dtype) for o in operands], dtype, shape)

    if approximate == "tanh":
        cube = op("mul", op("mul", x, x), x)
        inner = op("mul", op("add", x, op("mul", cube, 0.044715)), 0.7978845608028654)
        part = op("tanh", inner)
    else:
        part = op("erf", op("mul", x, 0.7071067811865476))
    return op("mul", op("mul", x, 0.5), op("add", part, 1.0))


def leaky_relu(g: Graph, x: Value, slope: float = 0.01) -> Value:
    """x, and a part of it below 0."""
    above = g.op("less", [g.constant(0, x.dtype), x], torch.bool, x.shape)
    return g.op("where", [above, x, g.op("mul", [x, g.constant(slope, x.dtype)], x.dtype, x.shape)], x.dtype, x.shape)


def power(g: Graph, a: Any, b: Any) -> Value:
    """A power; of integers as floats of twice their precision."""
    dtype, shape = g.result
    inner = dtype if dtype.is_floating_point else torch.float64
    return g.cast(g.op("pow", [g.cast(a, inner), g.cast(b, inner)], inner, shape), dtype)


def converted(g: Graph, x: Value, **_: Any) -> Value:
    """Another element type."""
    return g.cast(x, g.result[0])


def same(g: Graph, x: Value, **_: Any) -> Value:
    """The operand."""
    return x


def bitwise(name: str):
    """An operator of bits; of booleans it is one of logic."""

    def row(g: Graph, *operands: Any) -> Value:
        dtype, shape = g.result
        kind = "logical" if dtype == torch.bool else "bitwise"
        return g.op(f"{kind}_{name}", [g.cast(x, dtype) for x in operands], dtype, shape)

    return row


def of_steps(*steps: tuple[str, Any]):
    """Operators one after the other, each with a number as its other operand, or none."""

    def row(g: Graph, x: Value) -> Value:
        dtype, shape = g.result
        y = g.cast(x, dtype)
        for name, other in steps:
            y = g.op(name, [y] if other is None else [y, g.cast(other, dtype)], dtype, shape)
        return y

    return row


def exp2(g: Graph, x: Value) -> Value:
    """A power of 2."""
    dtype, shape = g.result
    return g.op("pow", [g.constant(2, dtype), g.cast(x, dtype)], dtype, shape)


def elu(g: Graph, x: Value, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Value:
    """x, and an exponential less 1 below 0."""

    def op(name: str, *operands: Any) -> Value:
        return g.op(name, [g.cast(o, x.dtype) for o in operands], x.dtype, x.shape)

    # Above 0 the exponential may be infinite, and is not used.
    low = op("minimum", x, 0)
    below = op("mul", op("sub", op("exp", op("mul", low, input_scale)), 1), alpha * scale)
    above = g.op("less", [g.constant(0, x.dtype), x], torch.bool, x.shape)
    return g.op("where", [above, op("mul", x, scale), below], x.dtype, x.shape)


def remainder(g: Graph, a: Value, b: Any) -> Value:
    """What is left of a quotient that is rounded down."""
    dtype, shape = g.result
    return g.op("mod", [g.cast(a, dtype), g.cast(b, dtype)], dtype, shape)


TABLE = {
    **{getattr(aten, name).default: unary(name) for name in (
        "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp", "floor", "log", "log1p", "neg", "reciprocal", "relu",
        "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh")},
    aten.add.Tensor: binary("add"), aten.add.Scalar: binary("add"), aten.sub.Tensor: binary("sub"), aten.sub.Scalar: binary("sub"),
    aten.mul.Tensor: binary("mul"), aten.mul.Scalar: binary("mul"), aten.maximum.default: binary("maximum"), aten.minimum.default: binary("minimum"),
    aten.div.Tensor: div, aten.div.Scalar: div, aten.div.Tensor_mode: div, aten.div.Scalar_mode: div,
    aten.fmod.Tensor: binary("fmod"), aten.fmod.Scalar: binary("fmod"), aten.remainder.Tensor: remainder, aten.remainder.Scalar: remainder,
    aten.pow.Tensor_Scalar: power, aten.pow.Tensor_Tensor: power, aten.pow.Scalar: power,
    **{getattr(getattr(aten, name), form): compared(op) for name, op in {
        "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}.items() for form in ("Tensor", "Scalar")},
    aten.logical_and.default: logical("logical_and"), aten.logical_or.default: logical("logical_or"), aten.logical_xor.default: logical("logical_xor"),
    aten.logical_not.default: logical("logical_not"), aten.isnan.default: lambda g, x: g.op("is_nan", [x], torch.bool, x.shape),
    aten.isinf.default: lambda g, x: g.op("is_inf", [x], torch.bool, x.shape),
    **{getattr(getattr(aten, f"bitwise_{name}"), form): bitwise(name) for name in ("and", "or", "xor") for form in ("Tensor", "Scalar")},
    aten.bitwise_not.default: bitwise("not"), aten.trunc.default: lambda g, x: truncated(g, x) if x.dtype.is_floating_point else x, aten.exp2.default: exp2, aten.elu.default: elu,
    aten.log2.default: of_steps(("log", None), ("mul", 1.4426950408889634)), aten.log10.default: of_steps(("log", None), ("mul", 0.4342944819032518)),
    aten.clamp.default: clamp, aten.clamp.Tensor: clamp,
    aten.hardtanh.default: lambda g, x, low=-1.0, high=1.0: clamp(g, x, low, high), aten.where.self: where, aten.gelu.default: gelu,
    aten.leaky_relu.default: leaky_relu, aten._to_copy.default: converted, aten.clone.default: same, aten.alias.default: same, aten.detach.default: same,
}
