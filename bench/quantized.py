#!/usr/bin/env python3
"""Compares quantized networks with their graphs in double precision: quantized.py [--draws N] FUSION DIR [NETWORK...]

    make data/python/.installed data/onnxruntime/.installed
    PYTHONPATH=data/python:data/onnxruntime bench/quantized.py target/debug/fusion DIR

DIR/NETWORK has model.onnx and inputs.npz, as sets of quantized networks for benchmarks do. Each graph is evaluated once with every
float a double, and integers as they are; fusion and ONNX Runtime, unoptimised, are both compared with that. An element differs where
it is off by more than half a quantum: the scale of the DequantizeLinear that gives an output, 1 of integers, and of other floats a
255th of the range of the output. A line a network: elements, the part that differs, and the greatest difference in quanta, of each.
Of a network with few outputs that part is a matter of chance: --draws adds inputs whose elements are those of the file, shuffled.
(On x86 without VNNI, ONNX Runtime adds pairs of products of u8 and i8 in 16 bits, which saturate where weights use all of 8 bits.)
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16)


def double(tensor):
    """A tensor of a model, with doubles in place of other floats."""
    if tensor.data_type not in FLOATS:
        return tensor
    return numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name)


def doubled(model):
    """The model with every float a double."""
    graph = model.graph
    for tensor in graph.initializer:
        tensor.CopyFrom(double(tensor))
    for port in (*graph.input, *graph.output):
        if port.type.tensor_type.elem_type in FLOATS:
            port.type.tensor_type.elem_type = TensorProto.DOUBLE
    del graph.value_info[:]
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS):
                sys.exit(f"{node.op_type} '{node.name}' has a graph inside, which is not evaluated; leave that network out")
            if attribute.type == onnx.AttributeProto.TENSOR:
                attribute.t.CopyFrom(double(attribute.t))
            if attribute.name in ("to", "output_dtype") and attribute.i in FLOATS:
                attribute.i = TensorProto.DOUBLE
            if node.op_type == "Constant" and attribute.name in ("value_float", "value_floats"):
                numbers = attribute.f if attribute.name == "value_float" else list(attribute.floats)
                value = numpy_helper.from_array(np.asarray(numbers, np.float64))
                attribute.CopyFrom(onnx.helper.make_attribute("value", value))
    return model


def windows(x, kernel, auto_pad, dilations, pads, strides, filler, ceil=False):
    """The windows of an image: batch, channels, places, then elements of a window; of each axis in order."""
    axes = len(kernel)
    dilations, strides = dilations or [1] * axes, strides or [1] * axes
    pads = list(pads or [0] * 2 * axes)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    for i in range(axes):
        if (auto_pad or "NOTSET").startswith("SAME"):
            n = x.shape[i + 2]
            total = max((-(-n // strides[i]) - 1) * strides[i] + reach[i] - n, 0)
            less, more = total // 2, total - total // 2
            pads[i], pads[axes + i] = (less, more) if auto_pad == "SAME_UPPER" else (more, less)
        if ceil:
            rest = (x.shape[i + 2] + pads[i] + pads[axes + i] - reach[i]) % strides[i]
            pads[axes + i] += (strides[i] - rest) % strides[i]
    around = [(0, 0), (0, 0)] + [(pads[i], pads[axes + i]) for i in range(axes)]
    view = sliding_window_view(np.pad(x, around, constant_values=filler), reach, tuple(range(2, 2 + axes)))
    places = tuple(slice(None, None, s) for s in strides)
    return view[(slice(None), slice(None), *places, *(slice(None, None, d) for d in dilations))]


def convolution(x, w, group, auto_pad, dilations, pads, strides):
    axes = w.ndim - 2
    view = windows(x, w.shape[2:], auto_pad, dilations, pads, strides, 0)
    inputs, outputs = w.shape[1], w.shape[0] // group
    over = ([1, *range(2 + axes, 2 + 2 * axes)], [1, *range(2, 2 + axes)])
    parts = [np.tensordot(view[:, g * inputs:(g + 1) * inputs], w[g * outputs:(g + 1) * outputs], over) for g in range(group)]
    return np.moveaxis(np.concatenate(parts, -1), -1, 1)


def along(v, rank, axis):
    """A vector along an axis; one number as it is."""
    return v.reshape([-1 if i == axis % rank else 1 for i in range(rank)]) if np.size(v) > 1 else np.reshape(v, ())


def rounded(x, zero):
    kind = np.iinfo(zero.dtype)
    return np.clip(np.rint(x) + zero, kind.min, kind.max).astype(zero.dtype)


class Conv(OpRun):
    def _run(self, x, w, b=None, auto_pad=None, dilations=None, group=None, kernel_shape=None, pads=None, strides=None):
        y = convolution(x, w, group or 1, auto_pad, dilations, pads, strides)
        return (y if b is None else y + along(b, y.ndim, 1),)


class MaxPool(OpRun):
    def _run(self, x, auto_pad=None, ceil_mode=None, dilations=None, kernel_shape=None, pads=None, storage_order=None, strides=None):
        least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        view = windows(x, kernel_shape, auto_pad, dilations, pads, strides, least, ceil_mode)
        return (view.max(tuple(range(x.ndim, view.ndim))),)


class DequantizeLinear(OpRun):
    def _run(self, x, scale, zero=None, axis=1, block_size=0, output_dtype=None):
        if block_size:
            sys.exit("DequantizeLinear with blocks of scales is not evaluated; leave that network out")
        zero = 0 if zero is None else along(zero, x.ndim, axis).astype(np.int64)
        return ((x.astype(np.int64) - zero) * along(scale, x.ndim, axis),)


class DynamicQuantizeLinear(OpRun):
    def _run(self, x):
        most, least = max(x.max(), 0.0), min(x.min(), 0.0)
        scale = (most - least) / 255 if most > least else 1.0
        zero = rounded(-least / scale, np.uint8(0))
        return (rounded(x / scale, zero), np.float64(scale), zero)


class QLinearConv(OpRun):
    def _run(self, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, b=None, auto_pad=None, dilations=None, group=None,
             kernel_shape=None, pads=None, strides=None):
        w = w.astype(np.float64) - along(w_zero, w.ndim, 0)
        # Sums of integers below 2^53 are exact in doubles.
        y = convolution(x.astype(np.float64) - x_zero, w, group or 1, auto_pad, dilations, pads, strides)
        y = y if b is None else y + along(b, y.ndim, 1)
        return (rounded(y * along(x_scale * w_scale / y_scale, y.ndim, 1), y_zero),)


class QLinearMatMul(OpRun):
    def _run(self, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
        a = a.astype(np.float64) - along(a_zero, a.ndim, -2)
        y = a @ (b.astype(np.float64) - along(b_zero, b.ndim, -1))
        return (rounded(y * (along(a_scale, a.ndim, -2) * along(b_scale, b.ndim, -1) / y_scale), y_zero),)


OPERATORS = [Conv, MaxPool, DequantizeLinear, DynamicQuantizeLinear, QLinearConv, QLinearMatMul]


def exact(path, inputs):
    """What the graph gives in double precision, by output."""
    model = doubled(onnx.load(path))
    given = {name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}
    outputs = ReferenceEvaluator(model, new_ops=OPERATORS).run(None, given)
    return dict(zip((output.name for output in model.graph.output), outputs))


def unoptimised(path, inputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level, options.log_severity_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return dict(zip((output.name for output in session.get_outputs()), session.run(None, inputs)))


def compiled(fusion, path, inputs):
    with tempfile.TemporaryDirectory() as scratch:
        np.savez(f"{scratch}/x.npz", **inputs)
        command = [fusion, "run", path, "--inputs", f"{scratch}/x.npz", "--outputs", f"{scratch}/y.npz"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return dict(np.load(f"{scratch}/y.npz"))


def quanta(path, wanted):
    """What one step of each output is."""
    graph = onnx.load(path).graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    made = {output: node for node in graph.node for output in node.output}
    steps = {}
    for name, y in wanted.items():
        node = made.get(name)
        if y.dtype.kind != "f":
            steps[name] = 1.0
        elif node is not None and node.op_type == "DequantizeLinear" and node.input[1] in constants:
            axis = next((a.i for a in node.attribute if a.name == "axis"), 1)
            steps[name] = along(constants[node.input[1]].astype(np.float64), y.ndim, axis)
        else:
            steps[name] = max((y.max() - y.min()) / 255, np.finfo(np.float32).tiny)
    return steps


def difference(found, wanted, steps):
    """Elements, those that differ, and the greatest difference in quanta."""
    count, differ, greatest = 0, 0, 0.0
    for name, y in wanted.items():
        apart = np.abs(found[name].astype(np.float64) - y) / steps[name]
        count, differ = count + apart.size, differ + int((~(apart <= 0.5)).sum())
        greatest = max(greatest, float(apart.max(initial=0.0)))
    return count, differ, greatest


def drawn(inputs, draws):
    """The inputs of the file, then as many as are left of the same elements in other orders."""
    random = np.random.default_rng(0)
    yield inputs
    for _ in range(draws - 1):
        yield {name: random.permuted(x.reshape(-1)).reshape(x.shape) for name, x in inputs.items()}


def compared(fusion, path, inputs):
    """Elements, then those that differ and the greatest difference in quanta, of fusion and of ONNX Runtime."""
    wanted = exact(path, inputs)
    steps = quanta(path, wanted)
    count, *ours = difference(compiled(fusion, path, inputs), wanted, steps)
    _, *theirs = difference(unoptimised(path, inputs), wanted, steps)
    return count, *ours, *theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fusion")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--draws", type=int, default=1)
    given = parser.parse_args()
    names = given.networks or sorted(path.parent.name for path in given.folder.glob("*/model.onnx"))
    if not names:
        sys.exit(f"{given.folder} has no NETWORK/model.onnx; name a folder of networks")
    print(f"{'network':28} {'elements':>9}   {'fusion differs':>14} {'by quanta':>9}   {'ORT differs':>11} {'by quanta':>9}")
    worse = 0
    for name in names:
        path = given.folder / name / "model.onnx"
        draws = drawn(dict(np.load(path.parent / "inputs.npz")), given.draws)
        counts, ours, far, theirs, their_far = zip(*(compared(given.fusion, path, inputs) for inputs in draws))
        count = sum(counts)
        worse += sum(ours) > sum(theirs)
        line = [f"{sum(ours) / count:13.3%}  {max(far):9.3f}", f"{sum(theirs) / count:10.3%}  {max(their_far):9.3f}"]
        print(f"{name:28} {count:9}   {'   '.join(line)}", flush=True)
    print(f"{worse} of {len(names)} networks have more elements that differ in fusion than in ONNX Runtime")


if __name__ == "__main__":
    main()
