#!/usr/bin/env python3
"""Runs torch's own database of operators through the backend: torch_operators.py [--dtype float32] [--samples 2] [NAME...]

    PYTHONPATH=data/fusion-python python bench/torch_operators.py        # after make check-python, with torch installed

Each sample is compiled as a graph of its own and compared with what torch gives. A line an operator that is wrong, fails, or is left to torch; last how
many are right, of all and of core ATen: those whose graphs, as they come to the backend, have operators of core ATen only. Operators whose results are
random are left out. Where shapes follow from data, torch.compile makes no graph: such operators are counted apart.
"""

import argparse
import collections
import warnings

import fusion.torch.backend as backend  # it registers the backend
import torch
from torch.testing import assert_close
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_map

RANDOM = {"bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "normal", "rand_like", "randint", "randint_like", "randn", "randn_like",
          "uniform", "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
# Which of equal elements is found is not said: the places are right where they pick the right elements.
PLACES = {"sort", "argsort", "topk", "msort", "kthvalue", "median", "nanmedian", "mode", "masked.median"}
TOLERANCES = {torch.float32: (1e-4, 1e-5), torch.float16: (4e-3, 4e-3), torch.bfloat16: (3e-2, 3e-2)}
ORDER = [None, "right", "no graph", "left to torch", "failed", "wrong"]
SEEN: list[set] = []


def tensors(value):
    return [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, torch.Tensor)]


def recorded(module, inputs, **options):
    """The compiler, which keeps what operators a graph has."""
    SEEN.append({node.target for node in module.graph.nodes if isinstance(node.target, torch._ops.OpOverload)})
    return COMPILE(module, inputs, **options)


COMPILE, backend.compile_graph = backend.compile_graph, recorded


def picked(op, sample, places):
    """The elements at places of an axis; the places where they are no places of the operand."""
    dims = [a for a in sample.args if isinstance(a, int) and not isinstance(a, bool)]
    dim = sample.kwargs.get("dim", dims[-1] if dims and (op.name not in ("topk", "kthvalue") or len(dims) > 1) else -1)
    x = sample.input
    if places.dtype != torch.int64 or not x.dim() or places.dim() not in (x.dim(), x.dim() - 1):
        return places
    whole = places if places.dim() == x.dim() else places.unsqueeze(dim)
    return torch.gather(x, dim, whole) if whole.numel() and 0 <= whole.min() and whole.max() < x.shape[dim] else places


def is_nearer(op, sample, found, wanted):
    """Whether results of halves are about as near to those of float32 as torch's own, which round more often in between."""
    def wide(value):
        return tree_map(lambda leaf: leaf.float() if isinstance(leaf, torch.Tensor) and leaf.dtype.is_floating_point else leaf, value)

    try:
        exact = op.op(wide(sample.input), *wide(sample.args), **wide(sample.kwargs))
    except Exception:
        return False
    return all((a.float() - c.float()).abs().max() <= 1.5 * (b.float() - c.float()).abs().max() for a, b, c in zip(tensors(found), tensors(wanted), tensors(exact)))


def judged(op, sample, dtype):
    """How a sample goes, with a reason, and whether its graphs are of core ATen."""
    def function(*args, **kwargs):
        return op.op(*args, **kwargs)

    try:
        wanted = function(sample.input, *sample.args, **sample.kwargs)
    except Exception:
        return None, "", True
    torch._dynamo.reset()
    SEEN.clear()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = torch.compile(function, backend="fusion", dynamic=False)(sample.input, *sample.args, **sample.kwargs)
        except Exception as error:
            return "failed", str(error).strip().splitlines()[1 if len(str(error).strip().splitlines()) > 1 else 0][:160], True
    is_core = all(torch.Tag.core in operator.tags for graph in SEEN for operator in graph)
    left = [str(w.message) for w in said if "fusion does not compile" in str(w.message)]
    try:
        assert len(tensors(found)) == len(tensors(wanted))
        pairs = list(zip(tensors(found), tensors(wanted)))
        if op.name in PLACES:
            pairs[-1] = tuple(picked(op, sample, one) for one in pairs[-1])
        for a, b in pairs:
            rtol, atol = TOLERANCES.get(b.dtype, (1e-7, 1e-7))
            assert_close(a, b, rtol=rtol, atol=atol, equal_nan=True)
    except AssertionError as error:
        if dtype.itemsize == 2 and dtype.is_floating_point and is_nearer(op, sample, found, wanted):
            return "right", "", is_core
        return "wrong", str(error).replace("\n", " ")[:160], is_core
    if left:
        return "left to torch", left[0].split("runs it: ")[-1][:160], is_core
    return ("right" if any(SEEN) or not tensors(wanted) else "no graph"), "", is_core


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    dtype, counts, core, missing = getattr(torch, given.dtype), collections.Counter(), collections.Counter(), collections.Counter()
    for op in op_db:
        if given.names and op.name not in given.names or op.name.split(".")[-1] in RANDOM or "dropout" in op.name or not op.supports_dtype(dtype, "cpu"):
            continue
        try:
            samples = [s for _, s in zip(range(given.samples), op.sample_inputs("cpu", dtype, requires_grad=False))]
        except Exception:
            continue
        worst, why, of_core = None, "", True
        for sample in samples:
            verdict, reason, is_core = judged(op, sample, dtype)
            of_core = of_core and is_core
            if ORDER.index(verdict) > ORDER.index(worst):
                worst, why = verdict, reason
        if worst is None:
            continue
        counts[worst] += 1
        if of_core and worst != "no graph":
            core[worst] += 1
        if worst != "right":
            missing[why if worst == "left to torch" else worst] += 1
            print(f"{worst:14} {op.name} {op.variant_test_name}: {why}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()), f"of {sum(counts.values())} operators of {given.dtype}")
    print(", ".join(f"{count} {verdict}" for verdict, count in core.most_common()), f"of {sum(core.values())} of core ATen")
    for why, count in missing.most_common(25):
        print(f"{count:4} {why}")


if __name__ == "__main__":
    main()
