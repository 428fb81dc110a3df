#!/usr/bin/env python3
"""Runs torch's own database of operators through the backend: torch_operators.py [--dtype float32] [--samples 2] [NAME...]

    PYTHONPATH=data/fusion-python python bench/torch_operators.py        # after make check-python, with torch installed

Each sample is compiled as a graph of its own and compared with what torch gives. A line an operator that is wrong, fails, or is left to torch; last how
many are right. Operators whose results are random, or whose shapes follow from data, are left out.
"""

import argparse
import collections
import warnings

import fusion.torch  # noqa: F401, it registers the backend
import torch
from torch.testing import assert_close
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten

RANDOM = {"bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "normal", "rand_like", "randint", "randint_like", "randn", "randn_like",
          "uniform", "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}


def tensors(value):
    return [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, torch.Tensor)]


def judged(op, sample):
    """right, left to torch, wrong or failed, with a reason."""
    def function(*args, **kwargs):
        return op.op(*args, **kwargs)

    try:
        wanted = function(sample.input, *sample.args, **sample.kwargs)
    except Exception:
        return None, ""
    torch._dynamo.reset()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = torch.compile(function, backend="fusion", dynamic=False)(sample.input, *sample.args, **sample.kwargs)
        except Exception as error:
            return "failed", str(error).strip().splitlines()[1 if len(str(error).strip().splitlines()) > 1 else 0][:160]
    left = [str(w.message) for w in said if "fusion does not compile" in str(w.message)]
    try:
        assert len(tensors(found)) == len(tensors(wanted))
        for a, b in zip(tensors(found), tensors(wanted)):
            tolerance = {torch.float32: (1e-4, 1e-5), torch.float16: (4e-3, 4e-3), torch.bfloat16: (3e-2, 3e-2)}.get(b.dtype, (1e-7, 1e-7))
            assert_close(a, b, rtol=tolerance[0], atol=tolerance[1], equal_nan=True)
    except AssertionError as error:
        return "wrong", str(error).replace("\n", " ")[:160]
    return ("left to torch", left[0].split("runs it: ")[-1][:160]) if left else ("right", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    dtype, counts, missing = getattr(torch, given.dtype), collections.Counter(), collections.Counter()
    for op in op_db:
        if given.names and op.name not in given.names or op.name.split(".")[-1] in RANDOM or "dropout" in op.name or not op.supports_dtype(dtype, "cpu"):
            continue
        try:
            samples = [s for _, s in zip(range(given.samples), op.sample_inputs("cpu", dtype, requires_grad=False))]
        except Exception:
            continue
        worst, why = None, ""
        for sample in samples:
            verdict, reason = judged(op, sample)
            order = [None, "right", "left to torch", "failed", "wrong"]
            if order.index(verdict) > order.index(worst):
                worst, why = verdict, reason
        if worst is None:
            continue
        counts[worst] += 1
        if worst != "right":
            missing[why if worst == "left to torch" else worst] += 1
            print(f"{worst:14} {op.name} {op.variant_test_name}: {why}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()), f"of {sum(counts.values())} operators of {given.dtype}")
    for why, count in missing.most_common(25):
        print(f"{count:4} {why}")


if __name__ == "__main__":
    main()
