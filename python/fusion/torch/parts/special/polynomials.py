"""Orthogonal polynomials, whose degree is an element of a tensor: their recurrence, until every element has its degree.

They are computed in their own type, as torch does: what is beyond it becomes infinite, or no number, at the same step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..arithmetic import in_floats
from ..loops import repeated

aten = torch.ops.aten

Step = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def recurrence(x: Tensor, n: Tensor, first: Tensor, step: Step) -> Tensor:
    """The polynomial of degree n, from those of 0 and 1; what is no number stays so."""

    def goes(k: Tensor, q: Tensor, n: Tensor) -> Tensor:
        return (k < n) & ~torch.isnan(q)

    def turn(p: Tensor, q: Tensor, k: Tensor, x: Tensor, n: Tensor) -> tuple[Tensor, ...]:
        on = goes(k, q, n)
        fresh = step(x, k.to(x.dtype), p, q)
        return torch.where(on, q, p), torch.where(on, fresh, q), k + 1

    begin = torch.ones_like(x)
    state = begin, first, torch.ones((), dtype=torch.int64)
    _, last, _ = repeated(lambda p, q, k, x, n: goes(k, q, n).any(), turn, state, (x, n))
    return torch.where(n < 0, 0, torch.where(n == 0, begin, last))


def doubled(x: Tensor, k: Tensor, p: Tensor, q: Tensor) -> Tensor:
    return (x + x) * q - p


def hermite_h_step(x: Tensor, k: Tensor, p: Tensor, q: Tensor) -> Tensor:
    return (x + x) * q - (k + k) * p


def hermite_he_step(x: Tensor, k: Tensor, p: Tensor, q: Tensor) -> Tensor:
    return x * q - k * p


def laguerre_step(x: Tensor, k: Tensor, p: Tensor, q: Tensor) -> Tensor:
    return ((k + k + (1 - x)) * q - k * p) / (k + 1)


def legendre_step(x: Tensor, k: Tensor, p: Tensor, q: Tensor) -> Tensor:
    return ((k + k + 1) * x * q - k * p) / (k + 1)


def degrees(n: Tensor) -> Tensor:
    """Degrees as integers; those that are none are below 0."""
    return torch.where(torch.isfinite(n), n, -1).to(torch.int64)


def ratio(n: Tensor, angle: Tensor, more: float, wave: Callable[[Tensor], Tensor], part: float) -> Tensor:
    """A wave of n and some angles over that of a part of one."""
    return wave((n + more) * angle) / wave(angle * part)


def signed(x: Tensor, n: Tensor, at_one: Any, at_minus_one: Any) -> Tensor:
    """The values at 1 and -1, which at -1 turn with the degree."""
    return torch.where(x > 0, at_one, torch.where(n % 2 == 0, at_minus_one, -at_minus_one))


# By kind: the polynomial of degree 1 less 2 x, from which degree on a wave is taken, that wave, and the values at 1 and -1.
KINDS: dict[str, tuple] = {
    "t": (lambda x: x, 6, lambda n, angle: torch.cos(n * angle), lambda n: (torch.ones_like(n), torch.ones_like(n))),
    "u": (lambda x: x + x, 8, lambda n, angle: ratio(n, angle, 1, torch.sin, 1), lambda n: (n + 1, n + 1)),
    "v": (lambda x: x + x - 1, 8, lambda n, angle: ratio(n, angle, 0.5, torch.cos, 0.5), lambda n: (torch.ones_like(n), n + n + 1)),
    "w": (lambda x: x + x + 1, 8, lambda n, angle: ratio(n, angle, 0.5, torch.sin, 0.5), lambda n: (n + n + 1, torch.ones_like(n))),
}


def chebyshev(kind: str, shifted: bool) -> Callable[[Tensor, Tensor], Tensor]:
    """One of Chebyshev's four kinds, of x or of 2 x - 1."""
    first, limit, wave, ends = KINDS[kind]

    def parts(x: Tensor, n: Tensor) -> Tensor:
        x, degree = torch.broadcast_tensors(x + x - 1 if shifted else x, degrees(n))
        far = (degree > limit) & (x.abs() < 1)
        edge = x.abs() == 1
        number = degree.to(x.dtype)
        value = recurrence(x, torch.where(far | edge, 1, degree), first(x), doubled)
        value = torch.where(far, wave(number, torch.acos(torch.where(far, x, 0))), value)
        value = torch.where(edge, signed(x, degree, *ends(number)), value)
        return torch.where(degree < 0, 0, torch.where((degree == 0) & ~edge, 1, value))

    return parts


def plain(first: Callable[[Tensor], Tensor], step: Step, limited: bool = False) -> Callable[[Tensor, Tensor], Tensor]:
    """Polynomials by their recurrence alone; Hermite's are none beyond a degree that the type does not reach."""

    def parts(x: Tensor, n: Tensor) -> Tensor:
        x, degree = torch.broadcast_tensors(x, degrees(n))
        limit = (512 if x.dtype == torch.float64 else 128) if limited else None
        value = recurrence(x, degree if limit is None else degree.clamp(max=limit), first(x), step)
        return value if limit is None else torch.where(degree > limit, math.nan, value)

    return parts


FAMILIES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    **{f"{'shifted_' if shifted else ''}chebyshev_polynomial_{kind}": chebyshev(kind, shifted) for kind in KINDS for shifted in (False, True)},
    "hermite_polynomial_h": plain(lambda x: x + x, hermite_h_step, True), "hermite_polynomial_he": plain(lambda x: x, hermite_he_step, True),
    "laguerre_polynomial_l": plain(lambda x: 1 - x, laguerre_step), "legendre_polynomial_p": plain(lambda x: x, legendre_step),
}

PARTS: dict[Any, Any] = {
    getattr(getattr(aten, f"special_{name}"), form): in_floats(parts) for name, parts in FAMILIES.items() for form in ("default", "x_scalar", "n_scalar")
}
