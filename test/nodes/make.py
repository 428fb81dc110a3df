#!/usr/bin/env python3
"""Writes the backend tests of ONNX's operators, which the onnx package has as code: make.py DIR

A folder for each: model.onnx, and what goes in and must come out as test_data_set_N/{input,output}_K.pb.
"""

import sys
from pathlib import Path

from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases

# What writes a value, by the kind of its type.
WRITERS = {
    "tensor_type": numpy_helper.from_array,
    "sequence_type": numpy_helper.from_list,
    "optional_type": numpy_helper.from_optional,
    "map_type": numpy_helper.from_dict,
}


def write(folder, what, infos, values):
    """The values of a model's inputs or outputs."""
    for k, (info, value) in enumerate(zip(infos, values)):
        if not isinstance(value, TensorProto):
            value = WRITERS[info.type.WhichOneof("value")](value, info.name)
        (folder / f"{what}_{k}.pb").write_bytes(value.SerializeToString())


def main():
    root = Path(sys.argv[1])
    for case in collect_testcases():
        graph = case.model.graph
        for n, (inputs, outputs) in enumerate(case.data_sets):
            folder = root / case.name / f"test_data_set_{n}"
            folder.mkdir(parents=True, exist_ok=True)
            write(folder, "input", graph.input, inputs)
            write(folder, "output", graph.output, outputs)
        (root / case.name / "model.onnx").write_bytes(case.model.SerializeToString())


main()
