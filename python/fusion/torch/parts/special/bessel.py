"""Bessel functions and Airy's: near 0 a polynomial, far away a wave or a power with a polynomial of 1 / x beside it."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from ..arithmetic import in_floats
from . import coefficients as fits
from .sums import chebyshev

aten = torch.ops.aten


def modified(x: Tensor, near: Any, far: Any, odd: bool) -> Tensor:
    """exp(-|x|) I(x)."""
    size = x.abs()
    inner, outer = size.clamp(max=8), size.clamp(min=8)
    left = chebyshev(inner / 4 - 1, near) * (inner if odd else 1)
    value = torch.where(size <= 8, left, chebyshev(16 / outer - 1, far) / torch.sqrt(outer))
    return torch.where(x < 0, -value, value) if odd else value


def i0e(x: Tensor) -> Tensor:
    return modified(x, fits.I0_NEAR, fits.I0_FAR, False)


def i1e(x: Tensor) -> Tensor:
    return modified(x, fits.I1_NEAR, fits.I1_FAR, True)


def i0(x: Tensor) -> Tensor:
    return torch.exp(x.abs()) * i0e(x)


def i1(x: Tensor) -> Tensor:
    return torch.exp(x.abs()) * i1e(x)


def k_scaled(x: Tensor, order: int) -> Tensor:
    """exp(x) K(x)."""
    inner, outer = x.clamp(1e-300, 2), x.clamp(min=2)
    log, fit = torch.log(inner / 2), chebyshev(inner * inner / 2 - 1, fits.K1_NEAR if order else fits.K0_NEAR)
    near = log * i1(inner) + fit / inner if order else fit - log * i0(inner)
    far = chebyshev(4 / outer - 1, fits.K1_FAR if order else fits.K0_FAR) / torch.sqrt(outer)
    value = torch.where(x <= 2, near * torch.exp(inner), far)
    return torch.where(x == 0, math.inf, torch.where(x < 0, math.nan, torch.where(torch.isnan(x), x, value)))


def k0e(x: Tensor) -> Tensor:
    return k_scaled(x, 0)


def k1e(x: Tensor) -> Tensor:
    return k_scaled(x, 1)


def k0(x: Tensor) -> Tensor:
    return torch.exp(-x) * k0e(x)


def k1(x: Tensor) -> Tensor:
    return torch.exp(-x) * k1e(x)


def near(x: Tensor, fit: Any) -> Tensor:
    """A function of the square within 8."""
    inner = x.clamp(max=8)
    return chebyshev(inner * inner / 32 - 1, fit)


def waves(x: Tensor, order: int) -> tuple[Tensor, Tensor]:
    """J and Y beyond 8."""
    outer = x.clamp(min=8)
    t = 128 / (outer * outer) - 1
    p, q = (chebyshev(t, fit) for fit in ((fits.P1, fits.Q1) if order else (fits.P0, fits.Q0)))
    angle, q = outer - (order / 2 + 0.25) * math.pi, q / outer
    cos, sin, size = torch.cos(angle), torch.sin(angle), torch.sqrt(2 / (math.pi * outer))
    return size * (p * cos - q * sin), size * (p * sin + q * cos)


def j0(x: Tensor) -> Tensor:
    size = x.abs()
    return torch.where(size <= 8, near(size, fits.J0_NEAR), waves(size, 0)[0])


def j1(x: Tensor) -> Tensor:
    size = x.abs()
    value = torch.where(size <= 8, size * near(size, fits.J1_NEAR), waves(size, 1)[0])
    return torch.where(x < 0, -value, value)


def second(x: Tensor, order: int) -> Tensor:
    """Y(x), which is none of negative numbers."""
    inner = x.clamp(1e-300, 8)
    log = torch.log(inner)
    if order:
        left = inner * near(inner, fits.Y1_NEAR) + 2 / math.pi * (log * j1(inner) - 1 / inner)
    else:
        left = near(inner, fits.Y0_NEAR) + 2 / math.pi * log * j0(inner)
    value = torch.where(x <= 8, left, waves(x, order)[1])
    return torch.where(x == 0, -math.inf, torch.where(x < 0, math.nan, torch.where(torch.isnan(x), x, value)))


def y0(x: Tensor) -> Tensor:
    return second(x, 0)


def y1(x: Tensor) -> Tensor:
    return second(x, 1)


def spherical_j0(x: Tensor) -> Tensor:
    """sin(x) / x; near 0 its series."""
    square = x * x
    series = 1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72 * (1 - square / 110))))
    return torch.where(torch.isinf(x), 0, torch.where(x.abs() < 0.5, series, torch.sin(x) / x))


def airy_ai(x: Tensor) -> Tensor:
    """Airy's function: a wave on the left, a fall on the right."""
    left, right = (-x).clamp(min=6), x.clamp(min=2)
    down, fall = left * torch.sqrt(left) * (2 / 3), right * torch.sqrt(right) * (2 / 3)
    start, first = 2 * 6**1.5 / 3, 2 * 2**1.5 / 3
    t, angle = 2 * (start / down) ** 2 - 1, down - math.pi / 4
    wave = torch.cos(angle) * chebyshev(t, fits.AIRY_P) + torch.sin(angle) * chebyshev(t, fits.AIRY_Q) / down
    wave = wave / (math.sqrt(math.pi) * torch.sqrt(torch.sqrt(left)))
    rest = chebyshev(2 * first / fall - 1, fits.AIRY_RIGHT) * torch.exp(-fall) / torch.sqrt(torch.sqrt(right))
    middle = chebyshev((x.clamp(-6, 2) + 6) / 4 - 1, fits.AIRY)
    value = torch.where(x < -6, wave, torch.where(x > 2, rest, middle))
    return torch.where(torch.isinf(x) | torch.isnan(x), math.nan, value)


PARTS: dict[Any, Any] = {
    operator: in_floats(function, wide=True) for operator, function in {
        aten.i0.default: i0, aten.special_i0e.default: i0e, aten.special_i1.default: i1, aten.special_i1e.default: i1e,
        aten.special_modified_bessel_i0.default: i0, aten.special_modified_bessel_i1.default: i1, aten.special_modified_bessel_k0.default: k0,
        aten.special_modified_bessel_k1.default: k1, aten.special_scaled_modified_bessel_k0.default: k0e,
        aten.special_scaled_modified_bessel_k1.default: k1e, aten.special_bessel_j0.default: j0, aten.special_bessel_j1.default: j1,
        aten.special_bessel_y0.default: y0, aten.special_bessel_y1.default: y1, aten.special_spherical_bessel_j0.default: spherical_j0,
        aten.special_airy_ai.default: airy_ai}.items()
}
