"""Operators that are taken apart before they are compiled, as programs of simpler ones:

    aten.cummax(x, 1)  ->  log2(n) steps of where, cat and slice  ->  rows of the tables beside this folder

A program is a function of torch that takes what the operator takes. What it cannot express it leaves whole: it gives NotImplemented, and the graph is left
to torch where no row knows the operator. Torch's own programs are taken where they are exact.
"""

from . import arithmetic, gradients, indexing, order, pooling, sampling, scatters
from .own import chosen

PARTS = (
    chosen() | arithmetic.PARTS | gradients.PARTS | indexing.PARTS | order.PARTS | pooling.PARTS | sampling.PARTS | scatters.PARTS
)
