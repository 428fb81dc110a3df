"""Operators that are taken apart before they are compiled, as programs of simpler ones:

    aten.cummax(x, 1)  ->  log2(n) steps of where, cat and slice  ->  rows of the tables beside this folder

A program is a function of torch that takes what the operator takes. What it cannot express it leaves whole: it gives NotImplemented, and the graph is left
to torch where no row knows the operator. Torch's own programs are taken where they are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from . import arithmetic, gradients, indexing, loops, order, pooling, sampling, scatters, special
from .own import chosen


def of_known_shapes(parts: Callable) -> Callable:
    """A program that counts extents: what has others is left whole."""

    @wraps(parts)
    def guarded(*operands: Any, **options: Any) -> Any:
        leaves = tree_leaves((operands, options))
        extents = [n for leaf in leaves for n in (leaf.shape if isinstance(leaf, torch.Tensor) else [leaf])]
        return NotImplemented if any(isinstance(n, (torch.SymInt, torch.SymFloat)) for n in extents) else parts(*operands, **options)

    return guarded


PARTS = {
    **chosen(), **arithmetic.PARTS, **gradients.PARTS, **indexing.DYNAMIC, **pooling.DYNAMIC, **loops.PARTS, **special.PARTS,
    **{operator: of_known_shapes(parts) for family in (indexing, order, pooling, sampling, scatters) for operator, parts in family.PARTS.items()},
}
