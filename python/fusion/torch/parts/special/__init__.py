"""Special functions, all computed in float64 and rounded to the element type at the end."""

from . import bessel, gamma, normal, polynomials

PARTS = normal.PARTS | gamma.PARTS | bessel.PARTS | polynomials.PARTS
