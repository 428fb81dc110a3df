"""Functions of JAX, run by JAX and by fusion on random data: right, wrong, or refused.

    pip install "jax[cpu]"; PYTHONPATH=data/fusion-python python bench/jax_functions.py [--filter NAME] [--artifact]

Each function is lowered to StableHLO text (--artifact: to a portable artifact by jax.export), compiled, and run. A worker process takes the
cases in turn; where one ends the process, the next worker goes on behind it.
"""

import argparse
import os
import subprocess
import sys
import warnings

from jax_cases import table

os.environ.setdefault("JAX_PLATFORMS", "cpu")
warnings.filterwarnings("ignore")


def lowered(function, arguments, artifact):
    """What fusion is given."""
    import jax

    if artifact:
        return jax.export.export(jax.jit(function, keep_unused=True))(*arguments)
    return jax.jit(function, keep_unused=True).lower(*arguments)


def close(found, wanted):
    """Whether results agree: exactly for integers, to a part of the largest for floats."""
    import numpy as np

    wanted = np.asarray(wanted)
    if wanted.dtype.kind == "c":
        wanted = np.stack([wanted.real, wanted.imag], -1)
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return f"{found.dtype}{list(found.shape)} instead of {wanted.dtype}{list(wanted.shape)}"
    if wanted.dtype.kind in "biu":
        same = np.array_equal(found, wanted)
        return "" if same else f"{np.sum(found != wanted)} of {wanted.size} differ"
    narrow = wanted.dtype.itemsize == 2
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    finite = np.isfinite(wanted)
    if not np.array_equal(np.where(finite, 0, wanted), np.where(np.isfinite(found), 0, found), equal_nan=True):
        return f"infinities or NaN differ: {found[~finite | ~np.isfinite(found)][:4]} instead of {wanted[~finite | ~np.isfinite(found)][:4]}"
    scale = np.abs(wanted[finite]).max(initial=0)
    # Of values from 1e-30 to 1e38 the largest says nothing: each is compared with itself as well.
    found, wanted = found[finite], wanted[finite]
    tolerance = (2e-2 if narrow else 2e-4) * (np.minimum(scale, np.maximum(np.abs(wanted), 1)) + 1e-6)
    error = np.abs(found - wanted)
    return "" if (error <= tolerance).all() else f"off by {error.max(initial=0):.3g} at a size of {scale:.3g}"


def worker(first, chosen, artifact, executor):
    import fusion
    import jax
    import numpy as np

    cases = table()
    for index in range(first, len(cases)):
        name, function, arguments = cases[index]
        if chosen and chosen not in name:
            continue
        print(f"BEGIN\t{index}\t{name}", flush=True)
        try:
            wanted = jax.tree.leaves(jax.jit(function)(*arguments))
            model = lowered(function, arguments, artifact)
        except Exception as error:  # noqa: BLE001
            print(f"END\tskipped\t{str(error).splitlines()[0][:200]}", flush=True)
            continue
        try:
            module = fusion.compile(model)
            given = [np.asarray(jax.numpy.asarray(x)) for x in jax.tree.leaves(arguments)]
            given = [np.stack([x.real, x.imag], -1) if x.dtype.kind == "c" else x for x in given]
            found = module(*given)
            found = list(found) if isinstance(found, tuple) else [found]
        except Exception as error:  # noqa: BLE001
            print(f"END\trefused\t{' '.join(str(error).split())[:300]}", flush=True)
            continue
        problem = f"{len(found)} results instead of {len(wanted)}" if len(found) != len(wanted) else ""
        for a, b in zip(found, wanted):
            problem = problem or close(np.asarray(a), b)
        print(f"END\t{'wrong' if problem else 'right'}\t{problem}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="cases whose name has this in it")
    parser.add_argument("--artifact", action="store_true", help="portable artifacts by jax.export instead of text")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        return worker(options.worker, options.filter, options.artifact, None)
    counts, first, done = {}, 0, False
    while not done:
        command = [sys.executable, os.path.abspath(__file__), "--worker", str(first), "--filter", options.filter]
        process = subprocess.Popen(command + ["--artifact"] * options.artifact, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        name = None
        for line in process.stdout:
            kind, *rest = line.rstrip("\n").split("\t")
            if kind == "BEGIN":
                first, name = int(rest[0]) + 1, rest[1]
            elif kind == "END" and name is not None:
                counts[rest[0]] = counts.get(rest[0], 0) + 1
                if rest[0] != "right":
                    print(f"{rest[0]:8} {name}: {rest[1]}", flush=True)
                name = None
        process.wait()
        if name is not None:
            counts["died"] = counts.get("died", 0) + 1
            print(f"died     {name}: status {process.returncode}", flush=True)
        else:
            done = True
    total = sum(counts.values()) - counts.get("skipped", 0)
    right = counts.get("right", 0)
    print(f"{total} cases: " + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) + f" ({100 * right / max(total, 1):.1f} % right)")


if __name__ == "__main__":
    main()
