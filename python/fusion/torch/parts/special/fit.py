"""Writes coefficients.py: python -m fusion.torch.parts.special.fit, which needs mpmath.

Each function is fitted by Chebyshev polynomials of a variable that goes from -1 to 1, with the parts taken out that no polynomial follows.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import mpmath as mp

mp.mp.dps = 40
POINTS = 80


def fitted(function: Callable[[Any], Any]) -> list[float]:
    """The coefficients of Chebyshev polynomials, as many as float64 needs."""
    angles = [mp.pi * (2 * number + 1) / (2 * POINTS) for number in range(POINTS)]
    values = [function(mp.cos(angle)) for angle in angles]
    all_of_them = [2 * mp.fsum(v * mp.cos(degree * angle) for v, angle in zip(values, angles)) / POINTS for degree in range(POINTS)]
    all_of_them[0] /= 2
    largest = max(abs(c) for c in all_of_them)
    needed = [number for number, c in enumerate(all_of_them) if abs(c) > largest * mp.mpf(2) ** -56]
    return [float(c) for c in all_of_them[:needed[-1] + 1]]


def between(low: float, high: float) -> Callable[[Any], Any]:
    """The variable of a range."""
    return lambda t: low + (high - low) * (t + 1) / 2


def phases(order: int, start: float, of: Callable[[int, Any], Any]) -> Callable[[Any], Any]:
    """What stands beside the wave of a Bessel function, beyond a start, by (start / x)^2."""
    def function(t: Any) -> Any:
        square = (t + 1) / 2
        x = start / mp.sqrt(max(square, mp.mpf(10) ** -12))
        return of(order, x)
    return function


def hankel(order: int, x: Any) -> Any:
    """H1(x) without its wave."""
    return mp.sqrt(mp.pi * x / 2) * mp.exp(-1j * (x - order * mp.pi / 2 - mp.pi / 4)) * mp.hankel1(order, x)


def near(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of x^2 within 8."""
    return lambda t: function(8 * mp.sqrt((t + 1) / 2 + mp.mpf(10) ** -30))


def airy_wave(x: Any) -> Any:
    """Ai(-x) + i Bi(-x) without their wave and their size."""
    zeta = 2 * x**1.5 / 3
    return (mp.airyai(-x) - 1j * mp.airybi(-x)) * mp.sqrt(mp.pi) * mp.root(x, 4) * mp.exp(-1j * (zeta - mp.pi / 4))


def airy_far(t: Any) -> Any:
    """The wave of Ai beyond -6, by its phase."""
    zeta = (2 * mp.mpf(6) ** 1.5 / 3) / mp.sqrt(max((t + 1) / 2, mp.mpf(10) ** -12))
    return airy_wave(mp.root((1.5 * zeta) ** 2, 3))


def of_zeta(t: Any) -> Any:
    """Ai beyond 2, without its fall."""
    zeta = (2 * mp.mpf(2) ** 1.5 / 3) / max((t + 1) / 2, mp.mpf(10) ** -8)
    x = mp.root((1.5 * zeta) ** 2, 3)
    return mp.airyai(x) * mp.exp(zeta) * mp.root(x, 4)


def tail(function: Callable[[Any], Any], start: float) -> Callable[[Any], Any]:
    """A function of start / x beyond a start."""
    return lambda t: function(start / max((t + 1) / 2, mp.mpf(10) ** -8))


FITS: dict[str, Callable[[Any], Any]] = {
    # (1 + 2 x) exp(x^2) erfc(x) of (x - 3.75) / (x + 3.75).
    "ERFCX": lambda t: (lambda x: (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x))(mp.mpf(3.75) * (1 + t) / (1 - t)) if t < 0.9999 else
    (lambda x: (1 + 2 * x) / (x * mp.sqrt(mp.pi)) * (1 - 1 / (2 * x * x) + 3 / (4 * x**4) - 15 / (8 * x**6)))(mp.mpf(3.75) * (1 + t) / (1 - t)),
    "I0_NEAR": lambda t: (lambda x: mp.exp(-x) * mp.besseli(0, x))(between(0, 8)(t)),
    "I0_FAR": tail(lambda x: mp.exp(-x) * mp.sqrt(x) * mp.besseli(0, x), 8),
    "I1_NEAR": lambda t: (lambda x: mp.exp(-x) * mp.besseli(1, x) / x)(between(0, 8)(t)),
    "I1_FAR": tail(lambda x: mp.exp(-x) * mp.sqrt(x) * mp.besseli(1, x), 8),
    "K0_NEAR": lambda t: (lambda x: mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x))(2 * mp.sqrt((t + 1) / 2)),
    "K0_FAR": tail(lambda x: mp.exp(x) * mp.sqrt(x) * mp.besselk(0, x), 2),
    "K1_NEAR": lambda t: (lambda x: x * (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x)))(2 * mp.sqrt((t + 1) / 2)),
    "K1_FAR": tail(lambda x: mp.exp(x) * mp.sqrt(x) * mp.besselk(1, x), 2),
    "J0_NEAR": near(lambda x: mp.besselj(0, x)), "J1_NEAR": near(lambda x: mp.besselj(1, x) / x),
    "Y0_NEAR": near(lambda x: mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x)),
    "Y1_NEAR": near(lambda x: (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x),
    "P0": phases(0, 8, lambda n, x: hankel(n, x).real), "Q0": phases(0, 8, lambda n, x: hankel(n, x).imag * x),
    "P1": phases(1, 8, lambda n, x: hankel(n, x).real), "Q1": phases(1, 8, lambda n, x: hankel(n, x).imag * x),
    "AIRY": lambda t: mp.airyai(between(-6, 2)(t)), "AIRY_RIGHT": of_zeta,
    "AIRY_P": lambda t: airy_far(t).real,
    "AIRY_Q": lambda t: -airy_far(t).imag * (2 * mp.mpf(6) ** 1.5 / 3) / mp.sqrt(max((t + 1) / 2, mp.mpf(10) ** -12)),
}


def main() -> None:
    lines = ['"""Coefficients of Chebyshev polynomials, written by fit.py, which says of what."""', ""]
    for name, function in FITS.items():
        numbers = fitted(function)
        print(name, len(numbers))
        lines.append(f"{name} = (")
        lines += ["    " + " ".join(f"{c!r}," for c in numbers[at:at + 6]) for at in range(0, len(numbers), 6)]
        lines.append(")")
    with open(os.path.join(os.path.dirname(__file__), "coefficients.py"), "w") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
