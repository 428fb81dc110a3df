"""Node tests of ONNX in a kit: each is a library with the inputs and outputs of its test, and one at least of each operator comes first.

    pack    here, where `onnx` is installed: reads the tests, compiles them
    check   there, with numpy alone
"""

import re

import numpy as np
from library import Library

RTOL, ATOL = 1e-3, 1e-5
# Operators of which the standard leaves the numbers open, as of a Dropout that trains.
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
HALF = {"<f2": 4e-3}


def check(cases, name):
    stem = cases / "nodes" / name
    library, tensors = Library(f"{stem}.so"), np.load(f"{stem}.npz")
    given = [tensors[a["name"]] for a in library.description["inputs"]]
    expected = [tensors[f"output {i}"] for i in range(len(library.description["outputs"]))]
    for y, e in zip(library.run_host(given), expected):
        rtol = HALF.get(e.dtype.str, RTOL)
        if not np.allclose(y.reshape(e.shape).astype(np.float64), e.astype(np.float64), rtol, max(ATOL, rtol / 10), equal_nan=True):
            return {"right": False, "error": float(np.nanmax(np.abs(y.astype(np.float64) - e.astype(np.float64))))}
    return {"right": True}


def family(name):
    """The operator's name in a test's."""
    return re.sub(r"^test_", "", name).split("_")[0]


def in_turns(names):
    """One of each operator, then the second ones, and so on."""
    families = {}
    for name in sorted(names):
        families.setdefault(family(name), []).append(name)
    return [name for turn in range(len(names)) for same in families.values() for name in same[turn : turn + 1]]


def is_open(model):
    """Whether the standard leaves the numbers of a model's outputs open."""
    given = {i.name for i in model.graph.input}
    nodes = [*model.graph.node, *(node for function in model.functions for node in function.node)]
    trains = lambda node: node.op_type == "Dropout" and len(node.input) > 2 and node.input[2] in given
    return any(node.op_type in RANDOM or trains(node) for node in nodes)


def collected():
    """{name: (model, inputs, outputs)} of the installed onnx package; those whose tensors are dense and of types that numpy has, and whose results
    the standard says."""
    from onnx.backend.test.case.node import collect_testcases

    found = {}
    for case in collect_testcases(None):
        given, expected = case.data_sets[0]
        names = [i.name for i in case.model.graph.input]
        plain = lambda values: all(isinstance(v, (np.ndarray, np.generic)) and np.asarray(v).dtype.kind in "fiub" for v in values)
        if len(given) == len(names) and plain([*given, *expected]) and not is_open(case.model):
            found[case.name] = (case.model, dict(zip(names, given)), expected)
    return found


def pack(test, stem, compile_model):
    """Writes a test's library and its tensors beside each other; whether it compiles. `compile_model(model, library) -> bool`."""
    import onnx

    model, given, expected = test
    onnx.save(model, f"{stem}.onnx")
    compiled = compile_model(f"{stem}.onnx", f"{stem}.so")
    if compiled:
        np.savez(f"{stem}.npz", **given, **{f"output {i}": y for i, y in enumerate(expected)})
    return compiled
