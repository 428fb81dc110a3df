"""Sums of polynomials."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor


def chebyshev(t: Tensor, coefficients: Sequence[float]) -> Tensor:
    """A sum of Chebyshev polynomials of a variable from -1 to 1 (Clenshaw, 1955)."""
    first, *rest = coefficients
    last, before = t * 0, t * 0
    for c in reversed(rest):
        last, before = 2 * t * last - before + c, last
    return t * last - before + first


def polynomial(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """A polynomial, by its coefficients from that of the highest power on (Horner)."""
    first, *rest = coefficients
    total = x * 0 + first
    for c in rest:
        total = total * x + c
    return total
