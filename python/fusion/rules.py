"""Rewrite rules of the e-graph, written in Python.

    @fusion.rewrite("(mul ?a ?x ?y)", "(broadcast_like ?b ?y ?x)", equation="1 y = y")
    def times_one(x, y):
        return x.number == 1 and x.shape == y.shape

A side is a term: an operator of relay, its attributes, and its operands; what begins with ? is a variable. docs/reference/rules.md has those that there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from . import _fusion


class Value(NamedTuple):
    """What a variable of a rule stands for: its element type, its shape (None for extents that are not known), and the number that all elements are, if any."""

    dtype: str
    shape: tuple[int | None, ...]
    number: float | None


def rewrite(left: str, right: str, *, equation: str = "", family: str = "algebra", exact: bool = False) -> Callable[[Callable], Callable]:
    """Adds a rule, for all models that this process compiles from then on, under a condition: the function below it.

    The function is called with the values that variables of the left side stand for, by name, those that it takes; it says whether the rule holds.
    Its name is the rule's. A side that is no term, a variable that nothing binds, and sides of different types are a FusionError.

    equation: what the rule says, for reports; family: the rules that it is switched off with; exact: both sides have the same bits.
    """

    def added(condition: Callable) -> Callable:
        taken = condition.__code__.co_varnames[: condition.__code__.co_argcount + condition.__code__.co_kwonlyargcount]

        def holds(**values: Any) -> bool:
            return bool(condition(**{name: Value(dtype, tuple(shape), number) for name, (dtype, shape, number) in values.items() if name in taken}))

        name = condition.__name__.replace("_", "-")
        _fusion.add_rule(name, left, right, equation=equation or f"{left} = {right}", family=family, exact=exact, condition=holds)
        return condition

    return added
