"""A case on tensors of the host, with numpy alone, beside what the reference interpreter gave for it where it was compiled."""

import json

import numpy as np
from library import NUMPY, Library
from tolerance import tolerance


def inputs_of(record):
    """Random tensors; those of bf16 as their bits."""
    numbers, made = np.random.default_rng(3), []
    for _, shape, dtype, fill in record["inputs"]:
        drawn = numbers.standard_normal(shape, np.float32) * np.float32(fill.get("scale", 1.0))
        if "below" in fill:
            made.append(numbers.integers(0, fill["below"], shape).astype(NUMPY[dtype]))
        elif fill.get("causal"):
            made.append(np.triu(np.full(shape, -np.inf, np.float32), 1).astype(NUMPY[dtype]))
        elif dtype == "bf16":
            made.append((drawn.view(np.uint32) >> 16).astype(np.uint16))
        else:
            made.append(drawn.astype(NUMPY[dtype]))
    return made


class Case:
    def __init__(self, cases, name):
        self.record = json.loads((cases / f"{name}.json").read_text())
        self.library, self.expected = Library(cases / f"{name}.so"), cases / f"{name}.npz"


def check(case):
    outputs = case.library.run_host(inputs_of(case.record))
    if not case.expected.exists():
        return {"right": True, "said": "ran; there is nothing to compare it with"}
    worst, expected = 0.0, np.load(case.expected)
    for i, y in enumerate(outputs):
        y, e = y.astype(np.float64), expected[f"y{i}"].astype(np.float64)
        if not np.isfinite(y).all():
            raise RuntimeError(f"{int((~np.isfinite(y)).sum())} of {y.size} elements are no numbers")
        worst = max(worst, float(np.linalg.norm(y - e) / max(np.linalg.norm(e), 1e-30)))
    return {"error": worst, "right": worst <= tolerance(case.record)}


def facts():
    return {"name": "the host, without PyTorch"}


def device():
    return {"name": "unknown without PyTorch"}
