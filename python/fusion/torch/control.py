"""Branches and loops of graphs: torch.cond and torch.while_loop, whose parts are graphs of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .extents import Unsupported
from .graph import Graph, Value

higher_order = torch.ops.higher_order


def opened(g: Graph, values: Sequence[Value]) -> list[Value]:
    """Values of the types of others."""
    return [g.fresh(value.dtype, value.shape) for value in values]


def types(values: Sequence[Value]) -> str:
    """Types of operands or results."""
    return f"({', '.join(value.type for value in values)})"


def checked(found: Sequence[Value], wanted: Sequence[Value]) -> None:
    """Says when a part yields other types than its results have."""
    if types(found) != types(wanted):
        raise Unsupported(f"a part of its control flow gives {types(found)} where {types(wanted)} is needed")


def while_loop(g: Graph, condition: Any, body: Any, carried: Sequence[Any], around: Sequence[Any] = ()) -> list[Value]:
    """While a condition of the state holds, the next state."""
    state = [g.value(value) for value in carried]
    results = opened(g, state)
    names = ", ".join(value.name for value in results)
    g.lines.append(f"  {names} = relay.while ({', '.join(value.name for value in state)}) {{")
    g.region(condition, opened(g, state), around)
    g.lines.append("  } do {")
    checked(g.region(body, opened(g, state), around), state)
    g.lines.append(f"  }} : {types(state)} -> {types(results)}")
    return results


def cond(g: Graph, condition: Any, yes: Any, no: Any, around: Sequence[Any] = ()) -> list[Value]:
    """What one of two graphs gives."""
    answer = g.reshape(g.cast(g.value(condition), torch.bool), [])
    results = [g.fresh(*g.type_of(value)) for value in g.node.meta["val"]]
    g.lines.append(f"  {', '.join(value.name for value in results)} = relay.if {answer.name} {{")
    checked(g.region(yes, [], around), results)
    g.lines.append("  } else {")
    checked(g.region(no, [], around), results)
    g.lines.append(f"  }} : {types([answer])} -> {types(results)}")
    return results


def is_as_traced(g: Graph, *_: Any, **__: Any) -> None:
    """Checks an element type or a layout, which the graph has as it was traced."""


TABLE = {higher_order.while_loop: while_loop, higher_order.cond: cond, torch.ops.aten._assert_tensor_metadata.default: is_as_traced}
