"""Runs a case once on tensors of the host, with numpy alone: once.py DIR/CASE. For tools that watch a process."""

import json
import sys

import numpy as np
from library import NUMPY, Library

record = json.load(open(f"{sys.argv[1]}.json"))
numbers = np.random.default_rng(3)
inputs = []
for _, shape, dtype, fill in record["inputs"]:
    if "below" in fill:
        inputs.append(numbers.integers(0, fill["below"], shape).astype(NUMPY[dtype]))
    elif dtype == "bf16":  # the upper half of f32
        inputs.append((numbers.standard_normal(shape, np.float32).view(np.uint32) >> 16).astype(np.uint16))
    else:
        inputs.append(numbers.standard_normal(shape, np.float32).astype(NUMPY[dtype]))
Library(f"{sys.argv[1]}.so").run_host(inputs)
