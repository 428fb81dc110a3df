"""Runs models by ONNX Runtime for `fusion fuzz`: a line `model TAB inputs.npz TAB outputs.npz` in, a line of JSON out.

Nodes are run one by one as they are: what its optimizer makes of them is not what is asked.
"""

import json
import sys


def answer(status, why=""):
    print(json.dumps({"status": status, "why": str(why).replace("\n", " ")}), flush=True)


try:
    import numpy
    import onnxruntime
except ImportError as error:
    answer("missing", error)
    sys.exit(0)

options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
options.intra_op_num_threads = 1
options.log_severity_level = 4
answer("ready", onnxruntime.__version__)
for line in sys.stdin:
    model, inputs, outputs = line.rstrip("\n").split("\t")
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        with numpy.load(inputs) as given:
            found = session.run(None, dict(given))
        numpy.savez(outputs, **{f"y{number}": value for number, value in enumerate(found)})
        answer("ok")
    except Exception as error:  # Each model may fail in its own way, and the next one is run all the same.
        # A file that is no model is wrong. What it does not run of a model is by its own limits, or by ONNX's tables of element types.
        wrong = "INVALID_GRAPH" in str(error) or "ShapeInferenceError" in str(error)
        answer("failed" if wrong and "Type Error: Type '" not in str(error) else "unsupported", error)
