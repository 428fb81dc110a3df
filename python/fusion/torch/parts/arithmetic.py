"""Elementwise functions that relay has no operator of, as sums, choices and bits of others.

Signs of zeros, infinities and NaN are those of the C library, as torch's are. Halves are computed in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten

# Integers as wide as floats, with the bits of the fraction and the bias of the exponent.
BITS = {torch.float16: (torch.int16, 10, 15), torch.bfloat16: (torch.int16, 7, 127), torch.float32: (torch.int32, 23, 127), torch.float64: (torch.int64, 52, 1023)}


def in_floats(function: Callable[..., Tensor], wide: bool = False) -> Callable[..., Tensor]:
    """A function of floats for all types: halves are computed in float32, or all in float64."""

    @wraps(function)
    def parts(*operands: Any, **options: Any) -> Tensor:
        result = operands[0] if len(operands) == 1 else sum_type(*operands)
        dtype = result.dtype if isinstance(result, Tensor) else result
        dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
        if dtype not in BITS:
            return NotImplemented
        inner = torch.float64 if wide else torch.float32 if dtype.itemsize == 2 else dtype
        return function(*(x.to(inner) if isinstance(x, Tensor) else torch.full((), x, dtype=inner) for x in operands), **options).to(dtype)

    return parts


def sum_type(*operands: Any) -> torch.dtype:
    """The element type of a sum."""
    return torch.result_type(*operands)


def sign_bit(x: Tensor) -> Tensor:
    """Whether the sign is set, of -0 and of NaN as well."""
    return x.view(BITS[x.dtype][0]) < 0 if x.dtype.is_floating_point else torch.zeros_like(x, dtype=torch.bool) if x.dtype in (torch.bool, torch.uint8) else x < 0


def copysign(a: Any, b: Any) -> Tensor:
    """The number of one with the sign of the other."""
    dtype = sum_type(a, b)
    dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
    a, b = (x.to(dtype) if isinstance(x, Tensor) else torch.full((), x, dtype=dtype) for x in (a, b))
    return torch.where(sign_bit(b), -a.abs(), a.abs())


def atan2(y: Tensor, x: Tensor) -> Tensor:
    """The angle of a point."""
    angle = torch.where((y == 0) & ~torch.isnan(x), y, torch.atan(y / x))
    both = torch.isinf(x) & torch.isinf(y)
    angle = torch.where(both, copysign(torch.full_like(x, math.pi / 4), y) * torch.sign(x), angle)
    behind = sign_bit(x) & ~torch.isnan(x)
    return torch.where(behind, angle + copysign(torch.full_like(y, math.pi), y), angle)


def hypot(x: Tensor, y: Tensor) -> Tensor:
    """The length of a vector, which does not overflow on the way; infinite beside NaN, too."""
    x, y = x.abs(), y.abs()
    most, least = torch.maximum(x, y), torch.minimum(x, y)
    part = torch.where(most == 0, 0, least / most)
    length = torch.where(torch.isinf(most), most, most * torch.sqrt(1 + part * part))
    return torch.where(torch.isinf(x) | torch.isinf(y), math.inf, length)


def expm1(x: Tensor) -> Tensor:
    """exp(x) - 1 of any x, by what the rounding of exp(x) does to x (W. Kahan)."""
    power = torch.exp(x)
    less = power - 1
    near = less * (x / torch.log(power))
    # Of a power of 1 it is x; of one below the last place of 1 it is -1; of an infinite one that.
    return torch.where(power == 1, x, torch.where((less == -1) | torch.isinf(power), less, near))


def elu(x: Tensor, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Tensor:
    """x, and a power less 1 below 0."""
    inner = x.to(torch.float32) if x.dtype.itemsize == 2 else x
    # Above 0 the power may be infinite, and is not used.
    below = expm1(inner.clamp(max=0) * input_scale) * (alpha * scale)
    return torch.where(inner > 0, inner * scale, below).to(x.dtype)


def choose(worse: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """The greater or smaller of two; the other where one is NaN."""

    def parts(a: Tensor, b: Tensor) -> Tensor:
        dtype = sum_type(a, b)
        a, b = a.to(dtype), b.to(dtype)
        if not dtype.is_floating_point:
            return worse(a, b)
        return torch.where(torch.isnan(a), b, torch.where(torch.isnan(b), a, worse(a, b)))

    return parts


def angle(x: Tensor) -> Tensor:
    """pi of negative numbers, 0 of others."""
    if x.dtype.is_complex:
        return NotImplemented
    dtype = x.dtype if x.dtype.is_floating_point else torch.get_default_dtype()
    turned = torch.where(x < 0, torch.full((), math.pi, dtype=dtype), torch.zeros((), dtype=dtype))
    return torch.where(torch.isnan(x), x, turned) if x.dtype.is_floating_point else turned


def rounded(x: Tensor, *, decimals: int) -> Tensor:
    """Rounded to so many places, by a power of 10."""
    if not x.dtype.is_floating_point:
        return NotImplemented
    ten = 10.0 ** abs(decimals)
    return torch.round(x * ten) / ten if decimals >= 0 else torch.round(x / ten) * ten


def frexp(x: Tensor) -> tuple[Tensor, Tensor]:
    """A fraction of at least a half, and a power of 2."""
    if x.dtype not in BITS:
        return NotImplemented
    bits, places, bias = BITS[x.dtype]
    is_tiny = x.abs() < torch.finfo(x.dtype).tiny
    normal = torch.where(is_tiny, x * 2.0**places, x)
    pattern = normal.view(bits)
    power = (pattern >> places) & (2 * bias + 1)
    fraction = ((pattern & ~((2 * bias + 1) << places)) | ((bias - 1) << places)).view(x.dtype)
    number = (power - (bias - 1)).to(torch.int32) - torch.where(is_tiny, places, 0)
    is_plain = (x == 0) | torch.isinf(x) | torch.isnan(x)
    return torch.where(is_plain, x, fraction), torch.where(is_plain, 0, number).to(torch.int32)


def nextafter(a: Tensor, b: Tensor) -> Tensor:
    """The next number toward another."""
    dtype = sum_type(a, b)
    if dtype not in BITS:
        return NotImplemented
    a, b = torch.broadcast_tensors(a.to(dtype), b.to(dtype))
    bits = BITS[dtype][0]
    whole = a.view(bits)
    step = torch.where((a < b) == (a > 0), 1, -1).to(bits)
    least = torch.where(b > 0, torch.ones_like(whole), torch.full_like(whole, torch.iinfo(bits).min + 1))
    moved = torch.where(a == 0, least, whole + step).view(dtype)
    return torch.where(torch.isnan(a) | torch.isnan(b), a + b, torch.where(a == b, b, moved))


def addbmm(x: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """The sum of a stack of products, which is one product."""
    stack, rows, inner = a.shape
    return torch.addmm(x, a.transpose(0, 1).reshape(rows, stack * inner), b.reshape(stack * inner, b.shape[2]), beta=beta, alpha=alpha)


PARTS = {
    aten.addbmm.default: addbmm, aten.elu.default: elu,
    aten.atan2.default: in_floats(atan2), aten.copysign.Tensor: copysign, aten.copysign.Scalar: copysign, aten.signbit.default: sign_bit,
    aten.hypot.default: in_floats(hypot), aten.expm1.default: in_floats(expm1), aten.fmax.default: choose(torch.maximum),
    aten.fmin.default: choose(torch.minimum), aten.angle.default: angle, aten.round.decimals: rounded, aten.frexp.Tensor: frexp,
    aten.nextafter.default: nextafter,
}
