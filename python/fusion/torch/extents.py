"""Extents that are not known until a graph runs, from torch's expressions to relay's:

    torch.SymInt 2*s0 + 1  ->  tensor<?x4xf32, #relay.dims<["2*s0+1", ""]>>, and where it is a number, an operand of the function
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch
from torch.utils._sympy import functions

Extent = int | torch.SymInt
# How many numbers of runs are remembered.
MOST_NUMBERS = 10000
SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)


class Unsupported(Exception):
    """Why a graph is not compiled."""


def expression(number: Any) -> Any:
    """A number of torch as an expression of sympy."""
    return number.node.expr if isinstance(number, SYMBOLIC) else sympy.sympify(number)


def is_known(number: Any) -> bool:
    """Whether a number is known when the graph is compiled."""
    return not isinstance(number, SYMBOLIC) or bool(expression(number).is_number)


def product(parts: Sequence[str]) -> str:
    """Factors as relay writes them."""
    return "*".join(part if part.isalnum() else f"({part})" for part in parts)


def power(base: Any, exponent: Any) -> str:
    """A power as a product."""
    if not (exponent.is_Integer and exponent > 0):
        raise Unsupported(f"it has the extent {base}**{exponent}")
    return product([text(base)] * int(exponent))


def remainder(a: Any, b: Any) -> str:
    """What is left of a quotient."""
    return f"({text(a)})-({text(b)})*(({text(a)}) floordiv ({text(b)}))"


FORMS: dict[Any, Callable[..., str]] = {
    sympy.Add: lambda *parts: "+".join(f"({text(part)})" for part in parts), sympy.Mul: lambda *parts: product([text(part) for part in parts]), sympy.Pow: power,
    functions.FloorDiv: lambda a, b: f"({text(a)}) floordiv ({text(b)})", functions.CleanDiv: lambda a, b: f"({text(a)}) floordiv ({text(b)})",
    functions.Mod: remainder, functions.PythonMod: remainder, functions.PowByNatural: power,
    functions.Max: lambda *parts: nested("max", parts), functions.Min: lambda *parts: nested("min", parts),
}


def nested(name: str, parts: Sequence[Any]) -> str:
    """The greatest or least of several."""
    first, *rest = parts
    return f"{name}({text(first)}, {nested(name, rest)})" if rest else text(first)


def text(of: Any) -> str:
    """An expression as relay writes it."""
    if of.is_Integer:
        return str(int(of)) if of >= 0 else f"(0-{-int(of)})"
    if of.is_Symbol:
        return str(of)
    form = FORMS.get(type(of))
    if form is None:
        raise Unsupported(f"it has the extent {of}, which is no expression of extents")
    return form(*of.args)


def written(extent: Extent) -> str:
    """An extent as relay writes it."""
    return str(extent) if isinstance(extent, int) else text(expression(extent))


def is_same(a: Sequence[Extent], b: Sequence[Extent]) -> bool:
    """Whether two shapes are known to be one, without asking for what the graph would have to be guarded by."""
    return len(a) == len(b) and all(x is y or bool((expression(x) - expression(y)).is_zero) for x, y in zip(a, b))


class Sources:
    """Where the names of extents come from: the numbers and the extents of tensors that a graph is given."""

    def __init__(self) -> None:
        self._places: dict[Any, tuple[int, int | None]] = {}
        self._numbers: dict[tuple, Any] = {}

    def number(self, place: int, value: Any) -> None:
        """A number that is given."""
        if isinstance(value, SYMBOLIC) and expression(value).is_Symbol:
            self._places.setdefault(expression(value), (place, None))

    def tensor(self, place: int, shape: Sequence[Extent]) -> None:
        """A tensor that is given."""
        for axis, extent in enumerate(shape):
            if isinstance(extent, torch.SymInt) and expression(extent).is_Symbol:
                self._places.setdefault(expression(extent), (place, axis))

    def check(self, number: Any) -> None:
        """Says when a number follows from data."""
        unknown = [symbol for symbol in expression(number).free_symbols if symbol not in self._places]
        if unknown:
            raise Unsupported(f"it has {unknown[0]}, a number that follows from data")

    def value(self, of: Any, inputs: Sequence[Any]) -> Any:
        """The number of an expression in a run."""
        symbols = sorted(of.free_symbols, key=str)
        given = [self._places[symbol] for symbol in symbols]
        found = tuple(inputs[place] if axis is None else inputs[place].shape[axis] for place, axis in given)
        key = (of, found)
        if key not in self._numbers:
            if len(self._numbers) > MOST_NUMBERS:
                self._numbers.clear()
            self._numbers[key] = of.xreplace({symbol: sympy.sympify(n) for symbol, n in zip(symbols, found)})
        result = self._numbers[key]
        return int(result) if result.is_Integer else bool(result) if result in (sympy.true, sympy.false) else float(result)


def named(texts: Sequence[str]) -> str:
    """Names and expressions of extents as an attribute."""
    quoted = ", ".join(f'"{text}"' for text in texts)
    return f"#relay.dims<[{quoted}]>"


def dims(shape: Sequence[Extent]) -> tuple[str, str]:
    """The parts of a type: its extents, and the names of those that are not known."""
    known = [is_known(n) for n in shape]
    sizes = "".join(f"{int(n)}x" if is_given else "?x" for n, is_given in zip(shape, known))
    return sizes, "" if all(known) else f", {named(['' if is_given else written(n) for n, is_given in zip(shape, known)])}"
