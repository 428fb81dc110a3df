"""The gamma function's logarithm and its derivatives, Hurwitz's zeta function, and the parts of gamma's integral."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from ..arithmetic import in_floats
from ..loops import repeated
from .sums import polynomial

aten = torch.ops.aten

# B_2k / (2k (2k - 1)), of Stirling's series, and B_2k / 2k, of its derivative; from the highest on.
STIRLING = (-3617 / 122400, 1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
DIGAMMA = (-3617 / 8160, 1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)
# (2k)! / B_2k, of the series of Euler and Maclaurin.
MACLAURIN = (12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1307674368000 / 691, 74724249600.0, -10670622842880000 / 3617,
             5109094217170944000 / 43867, -802857662698291200000 / 174611, 14101100039391805440000 / 77683, -1693824136731743669452800000 / 236364091)
SHIFT = 10
# A loop ends here, whatever its elements are.
MOST_STEPS = 100000


def positive_lgamma(x: Tensor) -> Tensor:
    """ln |gamma(x)| of positive numbers: Stirling's series beyond 10, and what lies between there and x."""
    far = torch.where(x < SHIFT, x + SHIFT, x)
    inverse = 1 / far
    series = polynomial(inverse * inverse, STIRLING) * inverse
    value = (far - 0.5) * torch.log(far) - far + math.log(2 * math.pi) / 2 + series
    between = torch.ones_like(x)
    near = torch.where(x < SHIFT, x, 1)
    for step in range(SHIFT):
        between = between * (near + step)
    return torch.where(torch.isinf(x), math.inf, torch.where(x < SHIFT, value - torch.log(between), value))


def sine(x: Tensor) -> Tensor:
    """sin(pi x), by what is left of x."""
    return torch.sin(math.pi * (x - 2 * torch.round(x / 2)))


def lgamma(x: Tensor) -> Tensor:
    """ln |gamma(x)|; infinite at 0 and negative integers."""
    right = positive_lgamma(torch.where(x < 0.5, 1 - x, x))
    left = math.log(math.pi) - torch.log(sine(x).abs()) - right
    pole = (x <= 0) & (x == torch.floor(x))
    return torch.where(pole, math.inf, torch.where(x < 0.5, left, right))


def digamma(x: Tensor) -> Tensor:
    """The derivative of ln gamma."""
    turned = torch.where(x < 0, 1 - x, x)
    far = torch.where(turned < SHIFT, turned + SHIFT, turned)
    near, between = torch.where(turned < SHIFT, turned, 1), torch.zeros_like(x)
    for step in range(SHIFT):
        between = between + 1 / (near + step)
    square = 1 / (far * far)
    value = torch.log(far) - 0.5 / far - square * polynomial(square, DIGAMMA) - torch.where(turned < SHIFT, between, 0)
    value = torch.where(torch.isinf(x) & (x > 0), x, value)
    rest = x - torch.trunc(x)
    left = value - math.pi / torch.tan(math.pi * rest)
    at_zero = torch.where(1 / x < 0, math.inf, -math.inf)
    return torch.where(x == 0, at_zero, torch.where(x < 0, torch.where(rest == 0, math.nan, left), value))


def zeta(x: Tensor, q: Tensor) -> Tensor:
    """Hurwitz's zeta function: terms until beyond 9, and the series of Euler and Maclaurin from there."""
    x, q = torch.broadcast_tensors(x, q)

    def more(a: Tensor, total: Tensor, term: Tensor, step: Tensor, x: Tensor) -> Tensor:
        return ((step < 9) | (a <= 9).any()) & (step < MOST_STEPS)

    def next_term(a: Tensor, total: Tensor, term: Tensor, step: Tensor, x: Tensor) -> tuple[Tensor, ...]:
        goes = (step < 9) | (a <= 9)
        moved = torch.where(goes, a + 1, a)
        fresh = torch.where(goes, torch.pow(moved, -x), term)
        return moved, torch.where(goes, total + fresh, total), fresh, step + 1

    first = torch.pow(q, -x)
    begin = torch.where(torch.isfinite(q), q, 10), first, torch.zeros_like(first), torch.zeros((), dtype=torch.int64)
    a, total, term, _ = repeated(more, next_term, begin, (x,))
    total = total + term * a / (x - 1) - term / 2
    factor, k = torch.ones_like(x), 0.0
    for c in MACLAURIN:
        factor = factor * (x + k)
        term = term / a
        total = total + factor * term / c
        factor = factor * (x + k + 1)
        term = term / a
        k += 2
    total = torch.where(torch.isinf(x), torch.where(q > 1, math.nan, first), torch.where(torch.isinf(q), math.nan, total))
    bad = (q <= 0) & (x != torch.floor(x))
    pole = (q <= 0) & (q == torch.floor(q))
    return torch.where(x == 1, math.inf, torch.where(x < 1, math.nan, torch.where(pole, math.inf, torch.where(bad, math.nan, total))))


def trigamma(x: Tensor) -> Tensor:
    """The second derivative of ln gamma."""
    turned = torch.where(x < 0.5, 1 - x, x)
    far, between = turned + SHIFT, torch.zeros_like(x)
    for step in range(SHIFT):
        between = between + 1 / ((turned + step) * (turned + step))
    square = 1 / (far * far)
    series = 1 / far + square / 2 + square / far * polynomial(square, [c * (2 * k) for c, k in zip(DIGAMMA, range(8, 0, -1))])
    value = series + between
    sin = sine(x)
    return torch.where(x < 0.5, math.pi * math.pi / (sin * sin) - value, value)


def polygamma(n: int, x: Tensor) -> Tensor:
    """The derivatives of digamma."""
    if n < 2:
        return (trigamma if n else digamma)(x)
    return (1 if n % 2 else -1) * math.factorial(n) * zeta(torch.full_like(x, n + 1), x)


def incomplete(a: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """The parts of gamma's integral below and above x: a series where x is small beside a, and a continued fraction elsewhere, until no element changes."""
    a, x = torch.broadcast_tensors(a, x)
    fine = (a > 0) & (x > 0) & torch.isfinite(a) & torch.isfinite(x)
    a1, x1 = torch.where(fine, a, 1), torch.where(fine, x, 1)
    size = torch.exp(a1 * torch.log(x1) - x1 - positive_lgamma(a1))
    below = (x1 <= 1) | (x1 <= a1)
    epsilon = 1.2e-16

    def add(term: Tensor, total: Tensor, step: Tensor, a1: Tensor, x1: Tensor, below: Tensor) -> tuple[Tensor, ...]:
        fresh = term * torch.where(below, x1 / (a1 + step), 0)
        return fresh, total + fresh, step + 1

    one, around = torch.ones_like(a1), (a1, x1, below)
    begin = one, one, torch.ones((), dtype=torch.float64)
    _, series, _ = repeated(lambda t, s, n, *_: (t > epsilon * s).any() & (n < MOST_STEPS), add, begin, around)
    lower = series * size / a1

    # Lentz's way through the fraction of the upper part.
    tiny = 1e-300
    start = torch.where(below, 2, x1 + 1 - a1)

    def turn(c: Tensor, d: Tensor, h: Tensor, change: Tensor, step: Tensor, a1: Tensor, x1: Tensor, below: Tensor) -> tuple[Tensor, ...]:
        an, b = torch.where(below, 0, -step * (step - a1)), torch.where(below, 2, x1 + 1 - a1 + 2 * step)
        d2, c2 = an * d + b, b + an / c
        d2 = 1 / torch.where(d2.abs() < tiny, tiny, d2)
        c2 = torch.where(c2.abs() < tiny, tiny, c2)
        return c2, d2, h * d2 * c2, d2 * c2, step + 1

    inverse = 1 / torch.where(start.abs() < tiny, tiny, start)
    begin = torch.full_like(a1, 1 / tiny), inverse, inverse, torch.zeros_like(a1), torch.ones((), dtype=torch.float64)
    state = repeated(lambda c, d, h, change, n, *_: ((change - 1).abs() > 4 * epsilon).any() & (n < MOST_STEPS), turn, begin, around)
    upper = state[2] * size
    low, high = torch.where(below, lower, 1 - upper), torch.where(below, 1 - lower, upper)
    # What lies on the edges.
    none = (a < 0) | (x < 0) | ((a == 0) & ~(x > 0)) | (torch.isinf(a) & torch.isinf(x))
    nothing = (a != 0) & ((x == 0) | torch.isinf(a))
    whole = (a == 0) | torch.isinf(x)

    def beside(value: Tensor, part: float) -> Tensor:
        return torch.where(fine, value, torch.where(none, math.nan, torch.where(nothing, part, torch.where(whole, 1 - part, math.nan))))

    low, high = beside(low, 0.0), beside(high, 1.0)
    return low, high


def of_order(n: int, x: Tensor) -> Tensor:
    """Polygamma, in floats."""
    return in_floats(lambda y: polygamma(n, y), wide=True)(x)


PARTS: dict[Any, Any] = {
    aten.lgamma.default: in_floats(lgamma, wide=True), aten.digamma.default: in_floats(digamma, wide=True), aten.polygamma.default: of_order,
    aten.special_zeta.default: in_floats(zeta, wide=True), aten.special_zeta.other_scalar: in_floats(zeta, wide=True),
    aten.special_zeta.self_scalar: in_floats(zeta, wide=True),
    aten.igamma.default: in_floats(lambda a, x: incomplete(a, x)[0], wide=True), aten.igammac.default: in_floats(lambda a, x: incomplete(a, x)[1], wide=True),
}
