"""Loops that end when the data says so: torch.while_loop inside of programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._higher_order_ops.while_loop import while_loop_op

aten = torch.ops.aten


def repeated(
    condition: Callable[..., Tensor], body: Callable[..., Sequence[Tensor]], state: Sequence[Tensor], around: Sequence[Tensor] = (),
) -> tuple[Tensor, ...]:
    """While a condition of the state holds, the next state; both are given the tensors around the loop behind the state, and use no others."""
    # A part of the state may be no view of another, nor of what is outside.
    return while_loop_op(condition, lambda *values: tuple(value.clone() for value in body(*values)), tuple(value.clone() for value in state), tuple(around))


def gcd(a: Tensor, b: Tensor) -> Tensor:
    """The greatest common divisor, by Euclid's algorithm for all elements at once."""
    dtype = torch.result_type(a, b)
    a, b = torch.broadcast_tensors(a.to(dtype).abs(), b.to(dtype).abs())

    def step(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        divisor = torch.where(y == 0, 1, y)
        return torch.where(y == 0, x, y), torch.where(y == 0, 0, torch.remainder(x, divisor))

    return repeated(lambda x, y: (y != 0).any(), step, (a, b))[0]


def lcm(a: Tensor, b: Tensor) -> Tensor:
    """The least common multiple."""
    divisor = gcd(a, b)
    return torch.where(divisor == 0, 0, (torch.div(a, torch.where(divisor == 0, 1, divisor), rounding_mode="trunc") * b).abs())


PARTS: dict[Any, Any] = {aten.gcd.default: gcd, aten.lcm.default: lcm}
