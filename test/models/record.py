#!/usr/bin/env python3
"""Records what ONNX Runtime gives for the models of make.py, into expected/.

    record.py [NAME...]      without names, all of them

Needs onnxruntime beside what requirements.txt lists. Checks first that the outputs are worth comparing with: they are
finite, they depend on the input, the softmax decides for nothing yet, and another way of computing them agrees.
"""

import importlib.metadata
import platform
import sys

import make
import numpy as np
import onnxruntime

RECORD = make.EXPECTED / "recorded.txt"


def run(model, data, level):
    """The outputs, computed on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = level
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {model.graph.input[0].name: data})


def check(name, condition, what):
    if not condition:
        sys.exit(f"{name}: {what}")


def record(name):
    """Writes the outputs of a model and gives its digest."""
    model, data = make.model(name)
    again, same = make.model(name)
    digest = make.digest(model, data)
    check(name, digest == make.digest(again, same), "the model is not the same when made again")

    levels = onnxruntime.GraphOptimizationLevel
    outputs = run(model, data, levels.ORT_ENABLE_ALL)
    plain = run(model, data, levels.ORT_DISABLE_ALL)
    other = run(model, make.image(f"{name}/other", data.shape), levels.ORT_ENABLE_ALL)
    check(name, all(np.isfinite(o).all() for o in outputs), "an output is not finite")
    logits, of_other = outputs[-1].ravel(), other[-1].ravel()
    error = abs(outputs[-1] - plain[-1]).max() / logits.std()
    check(name, error < 1e-4, f"optimized and not, the logits differ by {error} of their standard deviation")
    check(name, 1 < logits.std() < 4, f"the standard deviation of the logits is {logits.std()}")
    moved = (logits - of_other).std() / logits.std()
    check(name, moved > 0.1, f"another input moves the logits by {moved} of their standard deviation only")
    largest = outputs[0].max() if len(outputs) == 2 else 0
    check(name, largest < 0.5, f"the softmax gives {largest} to one class")

    np.savez(make.EXPECTED / f"{name}.npz", **{f"output_{i}": o for i, o in enumerate(outputs)})
    print(f"{name}: logits {logits.std():.2f} wide, the likeliest class {largest:.3f}, "
          f"{moved:.2f} moved by another input, error {error:.1e}")
    return digest


def main():
    make.EXPECTED.mkdir(exist_ok=True)
    lines = RECORD.read_text().splitlines() if RECORD.exists() else []
    digests = {line.split()[1]: line.split()[2] for line in lines if line.startswith("model ")}
    for name in sys.argv[1:] or make.MODELS:
        digests[name] = record(name)
    tools = [f"{p} {importlib.metadata.version(p)}" for p in ("onnxruntime", "onnx", "numpy", "protobuf")]
    lines = [f"python {platform.python_version()} on {platform.machine()}", *tools]
    lines += [f"model {name} {digest}" for name, digest in sorted(digests.items())]
    RECORD.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
