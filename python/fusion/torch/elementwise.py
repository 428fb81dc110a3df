"""Elementwise operators of core ATen. Their results have torch's element types, to which operands are cast first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .extents import Unsupported, is_known
from .graph import DTYPES, Graph, Value

aten = torch.ops.aten


def promoted(*values: Any) -> torch.dtype:
    """The element type in which operands are compared."""
    scalars = [torch.empty((), dtype=v.dtype) if isinstance(v, Value) else v if is_known(v) else 1.0 if isinstance(v, torch.SymFloat) else 1
               for v in values if not isinstance(v, Value) or v.rank == 0]
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


def of_floats(name: str, otherwise: bool | None = None):
    """An operator of floats; of integers it gives them as they are, or the same answer for all."""

    def row(g: Graph, x: Value) -> Value:
        dtype, shape = g.result
        if x.dtype.is_floating_point:
            return g.op(name, [x], dtype, shape)
        return x if otherwise is None else g.constant(otherwise, torch.bool, shape)

    return row


def bits(g: Graph, x: Value, _: torch.dtype) -> Value:
    """The bits of elements as another type of their size."""
    dtype, shape = g.result
    if dtype.itemsize != x.dtype.itemsize or torch.bool in (dtype, x.dtype):
        raise Unsupported(f"it takes the bits of {x.dtype} as {dtype}, which has another size")
    return g.op("bitcast", [x], dtype, shape, dtype=DTYPES[dtype])


def shifted(name: str):
    """Bits moved by a number of places; out of range nothing but the sign is left."""

    def row(g: Graph, x: Value, by: Any) -> Value:
        dtype, shape = g.result
        return g.op(name, [g.cast(x, dtype), g.cast(by, dtype)], dtype, shape)

    return row


def truncated(g: Graph, x: Value) -> Value:
    """Floats rounded toward 0."""
    floor, ceil = (g.op(name, [x], x.dtype, x.shape) for name in ("floor", "ceil"))
    below = g.op("less", [x, g.constant(0, x.dtype)], torch.bool, x.shape)
    return g.op("where", [below, ceil, floor], x.dtype, x.shape)


def floored(g: Graph, a: Value, b: Value, shape: Sequence[int]) -> Value:
    """A quotient of floats rounded down, by the remainder, as Python's: 1 // 0.1 is 9."""
    dtype = a.dtype

    def op(name: str, *operands: Any, to: torch.dtype = dtype) -> Value:
        operands = [g.cast(o, dtype) if not isinstance(o, Value) else o for o in operands]
        return g.op(name, operands, to, shape)

    rest = op("fmod", a, b)
    quotient = op("div", op("sub", a, rest), b)
    differs = op("logical_xor", op("less", rest, 0, to=torch.bool), g.op("less", [b, g.constant(0, dtype)], torch.bool, b.shape), to=torch.bool)
    has_rest = op("not_equal", rest, 0, to=torch.bool)
    quotient = op("where", op("logical_and", has_rest, differs, to=torch.bool), op("sub", quotient, 1), quotient)
    low = op("floor", quotient)
    low = op("where", op("greater", op("sub", quotient, low), 0.5, to=torch.bool), op("add", low, 1), low)
    plain = op("div", a, b)
    # A quotient of 0 has the sign of the plain one; of a divisor of 0 it is the plain one.
    is_zero = op("equal", quotient, 0, to=torch.bool)
    low = op("where", is_zero, op("mul", plain, 0), low)
    return g.op("where", [g.op("equal", [b, g.constant(0, dtype)], torch.bool, b.shape), plain, low], dtype, shape)


def div(g: Graph, a: Value, b: Any, rounding_mode: str | None = None) -> Value:
    """A quotient, rounded down, toward 0, or not; of integers exact where it is rounded."""
    dtype, shape = g.result
    if rounding_mode is not None and not dtype.is_floating_point:
        a, b = g.cast(a, dtype), g.cast(b, dtype)
        y = g.op("div", [a, b], dtype, shape)
        if rounding_mode == "trunc":
            return y
        zero, rest = g.constant(0, dtype), g.op("fmod", [a, b], dtype, shape)
        # A rest with the sign of the dividend alone was rounded up.
        differs = g.op("logical_xor", [g.op("less", [rest, zero], torch.bool, shape), g.op("less", [b, zero], torch.bool, b.shape)], torch.bool, shape)
        up = g.op("logical_and", [g.op("not_equal", [rest, zero], torch.bool, shape), differs], torch.bool, shape)
        return g.op("where", [up, g.op("sub", [y, g.constant(1, dtype)], dtype, shape), y], dtype, shape)
    inner = torch.float32 if rounding_mode is not None and dtype.itemsize == 2 else dtype
    a, b = g.cast(a, inner), g.cast(b, inner)
    if rounding_mode == "floor":
        return g.cast(floored(g, a, b, shape), dtype)
    y = g.op("div", [a, b], inner, shape)
    return g.cast(truncated(g, y) if rounding_mode == "trunc" else y, dtype)


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
    """A power; of integers exact, as far as their type goes."""
    dtype, shape = g.result
    return g.op("pow", [g.cast(a, dtype), g.cast(b, dtype)], dtype, shape)


def converted(g: Graph, x: Value, *_: Any, **__: Any) -> Value:
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


def logarithm(factor: float):
    """A logarithm of another base; in float64, so that of a power of the base it is a whole number."""

    def row(g: Graph, x: Value) -> Value:
        dtype, shape = g.result
        y = g.op("log", [g.cast(x, torch.float64)], torch.float64, shape)
        return g.cast(g.op("mul", [y, g.constant(factor, torch.float64)], torch.float64, shape), dtype)

    return row


def exp2(g: Graph, x: Value) -> Value:
    """A power of 2."""
    dtype, shape = g.result
    return g.op("pow", [g.constant(2, dtype), g.cast(x, dtype)], dtype, shape)


def sign(g: Graph, x: Value) -> Value:
    """-1, 0 or 1; of NaN 0."""
    if not x.dtype.is_floating_point:
        return unary("sign")(g, x)
    zero = g.constant(0, x.dtype)
    above, below = (g.cast(g.op(name, [x, zero], torch.bool, x.shape), x.dtype) for name in ("greater", "less"))
    return g.op("sub", [above, below], x.dtype, x.shape)


def log1p(g: Graph, x: Value) -> Value:
    """ln(1 + x) as exact as x where that is small: in float64 by what the rounding of 1 + x does to x (W. Kahan)."""
    dtype, shape = g.result
    x = g.cast(x, dtype)
    if dtype != torch.float64:
        return g.op("log1p", [x], dtype, shape)
    one = g.constant(1, dtype)
    whole = g.op("add", [x, one], dtype, shape)
    log = g.op("log", [whole], dtype, shape)
    kept = g.op("sub", [whole, one], dtype, shape)
    near = g.op("div", [g.op("mul", [x, log], dtype, shape), kept], dtype, shape)
    same = g.op("equal", [whole, one], torch.bool, shape)
    lasts = g.op("is_inf", [log], torch.bool, shape)
    return g.op("where", [same, x, g.op("where", [lasts, log, near], dtype, shape)], dtype, shape)


def dropout(g: Graph, x: Value, part: float, train: bool | None = True) -> tuple[Value, Value]:
    """All elements, where none is dropped."""
    if part and train is not False:
        raise Unsupported("it drops elements at random")
    return x, g.constant(True, torch.bool, x.shape)


def remainder(g: Graph, a: Value, b: Any) -> Value:
    """What is left of a quotient that is rounded down."""
    dtype, shape = g.result
    return g.op("mod", [g.cast(a, dtype), g.cast(b, dtype)], dtype, shape)


TABLE = {
    **{getattr(aten, name).default: unary(name) for name in (
        "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "exp", "log", "neg", "reciprocal", "relu", "rsqrt", "sigmoid",
        "sin", "sinh", "sqrt", "tan", "tanh")},
    aten.add.Tensor: binary("add"), aten.add.Scalar: binary("add"), aten.sub.Tensor: binary("sub"), aten.sub.Scalar: binary("sub"),
    aten.mul.Tensor: binary("mul"), aten.mul.Scalar: binary("mul"), aten.maximum.default: binary("maximum"), aten.minimum.default: binary("minimum"),
    aten.div.Tensor: div, aten.div.Scalar: div, aten.div.Tensor_mode: div, aten.div.Scalar_mode: div, aten.true_divide.Tensor: div,
    aten.fmod.Tensor: binary("fmod"), aten.fmod.Scalar: binary("fmod"), aten.remainder.Tensor: remainder, aten.remainder.Scalar: remainder,
    aten.pow.Tensor_Scalar: power, aten.pow.Tensor_Tensor: power, aten.pow.Scalar: power,
    **{getattr(getattr(aten, name), form): compared(op) for name, op in {
        "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}.items() for form in ("Tensor", "Scalar")},
    aten.logical_and.default: logical("logical_and"), aten.logical_or.default: logical("logical_or"), aten.logical_xor.default: logical("logical_xor"),
    aten.logical_not.default: logical("logical_not"), aten.log1p.default: log1p,
    aten.isnan.default: of_floats("is_nan", False), aten.isinf.default: of_floats("is_inf", False), aten.ceil.default: of_floats("ceil"),
    aten.floor.default: of_floats("floor"), aten.round.default: of_floats("round"), aten.view.dtype: bits,
    **{getattr(getattr(aten, name), form): shifted(f"shift_{way}") for way, other in (("left", "l"), ("right", "r"))
       for name in (f"bitwise_{way}_shift", f"__{other}shift__") for form in getattr(aten, name).overloads() if form in ("Tensor", "Tensor_Scalar", "Scalar")},
    **{getattr(getattr(aten, f"bitwise_{name}"), form): bitwise(name) for name in ("and", "or", "xor") for form in ("Tensor", "Scalar")},
    aten.bitwise_not.default: bitwise("not"), aten.trunc.default: lambda g, x: truncated(g, x) if x.dtype.is_floating_point else x,
    aten.exp2.default: exp2, aten.sign.default: sign,
    aten.log2.default: logarithm(1.4426950408889634), aten.log10.default: logarithm(0.4342944819032518),
    aten.clamp.default: clamp, aten.clamp.Tensor: clamp,
    aten.native_dropout.default: dropout, aten.hardtanh.default: lambda g, x, low=-1.0, high=1.0: clamp(g, x, low, high),
    aten.where.self: where, aten.gelu.default: gelu, aten.leaky_relu.default: leaky_relu, aten._to_copy.default: converted,
    torch.ops.prims.convert_element_type.default: converted, aten.clone.default: same, aten.alias.default: same, aten.detach.default: same,
}
