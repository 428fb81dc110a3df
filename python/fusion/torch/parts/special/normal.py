"""The error function's relatives and the normal distribution's."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from ..arithmetic import in_floats
from .coefficients import ERFCX
from .sums import chebyshev

aten = torch.ops.aten


def square_power(x: Tensor) -> Tensor:
    """exp(-x^2), with the square in two parts, so that none of it is rounded away."""
    front = x.to(torch.float32).to(torch.float64)
    return torch.exp(-front * front) * torch.exp((front - x) * (front + x))


def scaled(x: Tensor) -> Tensor:
    """exp(x^2) erfc(x) of numbers that are not negative."""
    finite = torch.where(torch.isinf(x), 0, x)
    fit = chebyshev((finite - 3.75) / (finite + 3.75), ERFCX) / (1 + 2 * finite)
    return torch.where(torch.isinf(x), 0, fit)


def erfc(x: Tensor) -> Tensor:
    """What the error function leaves of 1."""
    size = x.abs()
    right = torch.where(size > 28, 0, square_power(size.clamp(max=28)) * scaled(size))
    return torch.where(torch.isnan(x), x, torch.where(x < 0, 2 - right, right))


def erfcx(x: Tensor) -> Tensor:
    """exp(x^2) erfc(x)."""
    right = scaled(x.abs())
    left = 2 / square_power(x.clamp(-27, 0)) - right
    return torch.where(torch.isnan(x), x, torch.where(x < -26.7, math.inf, torch.where(x < 0, left, right)))


def erfinv(y: Tensor) -> Tensor:
    """The inverse error function: Winitzki's formula, and three of Halley's steps from there."""
    size = y.abs()
    inside = torch.where(size < 1, y, 0)
    log = torch.log1p(-inside * inside)
    half = 2 / (math.pi * 0.147) + log / 2
    x = torch.sqrt((torch.sqrt(half * half - log / 0.147) - half).clamp(min=0))
    wanted = inside.abs()
    for _ in range(3):
        off = torch.where(wanted < 0.5, torch.erf(x) - wanted, (1 - wanted) - erfc(x))
        step = off * (math.sqrt(math.pi) / 2) / square_power(x)
        x = x - step / (1 + x * step)
    x = torch.where(y < 0, -x, x)
    outside = torch.where(size == 1, torch.where(y < 0, -math.inf, math.inf), math.nan)
    return torch.where(size < 1, torch.where(y == 0, y, x), outside)


def ndtri(y: Tensor) -> Tensor:
    """Where the normal distribution reaches a part: of its logarithm by Newton's steps, on the left side."""
    valid = (y > 0) & (y < 1)
    part = torch.where(valid, torch.minimum(y, 1 - y), 0.25)
    log = torch.log(part)
    t = torch.sqrt(-2 * log)
    x = t - (2.30753 + 0.27061 * t) / (1 + 0.99229 * t + 0.04481 * t * t)
    for _ in range(4):
        tail = scaled(x.clamp(min=0) / math.sqrt(2))
        off = torch.log(tail / 2) - x * x / 2 - log
        x = (x + off * tail / math.sqrt(2 / math.pi)).clamp(min=0)
    x = torch.where(y < 0.5, -x, x)
    ends = torch.where(y == 0, -math.inf, torch.where(y == 1, math.inf, math.nan))
    return torch.where(valid, x, ends)


PARTS: dict[Any, Any] = {
    operator: in_floats(function, wide=True) for operator, function in {
        aten.erfc.default: erfc, aten.special_erfcx.default: erfcx, aten.erfinv.default: erfinv, aten.special_ndtri.default: ndtri}.items()
}
