#!/usr/bin/env python3
"""Times ONNX's operators, one at a time at a medium size, beside ONNX Runtime: one thread, both in this process.

    onnx_ops.py [--only GLOB] [--rounds 5] [--worst 10]

Needs the module fusion, onnx and onnxruntime. A row an operator: milliseconds of both, and how many times fusion is as fast. Runs take
turns; a figure is the least of the rounds' medians. Results are compared, so that a wrong one is no fast one.
"""

import argparse
import fnmatch
import math
import statistics
import time

import numpy as np
import onnx
import onnxruntime
from onnx import helper

import fusion

OPSET = [helper.make_opsetid("", 22), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("ai.onnx.ml", 3)]
draw = np.random.default_rng(1)


def floats(*shape, low=-2.0, high=2.0):
    return draw.uniform(low, high, shape).astype(np.float32)


def integers(*shape, low=0, high=100, dtype=np.int64):
    return draw.integers(low, high, shape, dtype)


def of(op, *inputs, outputs=1, fixed=(), domain="", **attributes):
    """A row: an operator, its operands (those whose places are in `fixed` are constants of the model; None is left out) and attributes."""
    return op, inputs, outputs, frozenset(fixed), domain, attributes


MATRIX = (512, 1024)
IMAGE = (1, 64, 56, 56)


def elementwise():
    x = floats(*MATRIX)
    for op in "Abs Ceil Cos Elu Erf Exp Floor Gelu HardSigmoid HardSwish LeakyRelu Mish Neg Relu Round Selu Sigmoid Sign Sin Softplus Softsign Tanh".split():
        yield of(op, x)
    for op in "Atan Asinh Sinh Cosh Tan".split():
        yield of(op, x)
    for op in "Acos Asin Atanh".split():
        yield of(op, floats(*MATRIX, low=-0.9, high=0.9))
    for op in "Log Sqrt Reciprocal".split():
        yield of(op, floats(*MATRIX, low=0.1, high=4.0))
    yield of("Acosh", floats(*MATRIX, low=1.1, high=4.0))
    for op in "Add Sub Mul Div Max Min Less Equal Greater PRelu".split():
        yield of(op, x, floats(*MATRIX, low=0.5, high=2.0))
    yield of("Pow", floats(*MATRIX, low=0.1, high=2.0), floats(*MATRIX))
    yield of("Mod", integers(*MATRIX, low=1), integers(*MATRIX, low=1))
    yield of("BitShift", integers(*MATRIX, dtype=np.uint32), integers(*MATRIX, high=8, dtype=np.uint32), direction="LEFT")
    yield of("And", x > 0, x > 1)
    yield of("Not", x > 0)
    yield of("IsNaN", x)
    yield of("IsInf", x)
    yield of("Where", x > 0, x, floats(*MATRIX))
    yield of("Clip", x, np.float32(-1), np.float32(1), fixed=(1, 2))
    yield of("Cast", x, to=onnx.TensorProto.INT32)
    yield of("Sum", x, x, x)
    yield of("Mean", x, x, x)


def reductions():
    x = floats(*MATRIX)
    for op in "ReduceSum ReduceMean ReduceMax ReduceMin ReduceL1 ReduceL2 ReduceLogSumExp ReduceSumSquare".split():
        yield of(op, x, np.array([1]), fixed=(1,), keepdims=0)
    yield of("ReduceProd", floats(*MATRIX, low=0.9, high=1.1), np.array([1]), fixed=(1,), keepdims=0)
    for op in "ArgMax ArgMin".split():
        yield of(op, x, axis=1)
    yield of("CumSum", x, np.int64(1), fixed=(1,))
    yield of("TopK", x, np.array([10]), fixed=(1,), outputs=2)
    for op in "Softmax LogSoftmax Hardmax".split():
        yield of(op, x, axis=1)
    yield of("LpNormalization", x, axis=1)
    yield of("Unique", integers(100_000, high=5000), outputs=4)
    yield of("NonZero", (draw.random(MATRIX) > 0.5).astype(np.float32))
    yield of("Compress", x, draw.random(512) > 0.5, axis=0)


def products():
    yield of("MatMul", floats(256, 512), floats(512, 768), fixed=(1,))
    yield of("Gemm", floats(256, 512), floats(768, 512), floats(768), fixed=(1, 2), transB=1)
    yield of("Einsum", floats(8, 128, 64), floats(8, 128, 64), equation="bij,bkj->bik")
    yield of("MatMulInteger", integers(256, 512, dtype=np.uint8), integers(512, 768, low=-50, high=50, dtype=np.int8), fixed=(1,))
    yield of("Conv", floats(*IMAGE), floats(64, 64, 3, 3), floats(64), fixed=(1, 2), pads=[1] * 4)
    yield of("ConvTranspose", floats(1, 32, 28, 28), floats(32, 32, 2, 2), fixed=(1,), strides=[2, 2])
    yield of("ConvInteger", integers(*IMAGE, dtype=np.uint8), integers(64, 64, 3, 3, low=-50, high=50, dtype=np.int8), fixed=(1,), pads=[1] * 4)
    yield of("DeformConv", floats(1, 16, 28, 28), floats(16, 16, 3, 3), floats(1, 18, 28, 28, low=-1, high=1), fixed=(1,), pads=[1] * 4)
    yield of("Det", floats(64, 4, 4))
    yield of("MatMulNBits", floats(1, 1024), integers(1024, 32, 16, high=255, dtype=np.uint8), floats(1024 * 32, low=0.01, high=0.02), fixed=(1, 2),
             domain="com.microsoft", K=1024, N=1024, bits=4, block_size=32)
    yield of("FusedMatMul", floats(8, 128, 64), floats(8, 128, 64), domain="com.microsoft", transB=1, alpha=0.5)


def networks():
    x = floats(64, 768)
    yield of("LayerNormalization", x, floats(768), floats(768), fixed=(1, 2))
    yield of("SkipLayerNormalization", floats(1, 64, 768), floats(1, 64, 768), floats(768), floats(768), fixed=(2, 3), domain="com.microsoft")
    yield of("FastGelu", x, domain="com.microsoft")
    yield of("BiasGelu", x, floats(768), fixed=(1,), domain="com.microsoft")
    yield of("BatchNormalization", floats(*IMAGE), *(floats(64, low=0.5, high=1.5) for _ in range(4)), fixed=(1, 2, 3, 4))
    yield of("InstanceNormalization", floats(*IMAGE), floats(64), floats(64), fixed=(1, 2))
    yield of("GroupNormalization", floats(*IMAGE), floats(64), floats(64), fixed=(1, 2), num_groups=8)
    yield of("LRN", floats(*IMAGE), size=5)
    yield of("MeanVarianceNormalization", floats(*IMAGE))
    for op in "MaxPool AveragePool".split():
        yield of(op, floats(*IMAGE), kernel_shape=[3, 3], strides=[2, 2])
    yield of("LpPool", floats(*IMAGE), kernel_shape=[3, 3], strides=[2, 2])
    for op in "GlobalAveragePool GlobalMaxPool".split():
        yield of(op, floats(*IMAGE))
    hidden = 128
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        yield of(op, floats(32, 1, hidden), floats(1, gates * hidden, hidden, low=-0.1, high=0.1), floats(1, gates * hidden, hidden, low=-0.1, high=0.1),
                 fixed=(1, 2), hidden_size=hidden)
    yield of("MultiHeadAttention", floats(1, 128, 512), floats(1, 128, 512), floats(1, 128, 512), domain="com.microsoft", num_heads=8)
    yield of("RotaryEmbedding", floats(1, 8, 128, 64), np.arange(128)[None], floats(128, 32), floats(128, 32), fixed=(1, 2, 3), domain="com.microsoft")
    yield of("DynamicQuantizeLSTM", floats(32, 1, hidden), integers(1, hidden, 4 * hidden, low=-50, high=50, dtype=np.int8),
             integers(1, hidden, 4 * hidden, low=-50, high=50, dtype=np.int8), None, None, None, None, None, floats(1, low=0.002, high=0.003),
             np.zeros(1, np.int8), floats(1, low=0.002, high=0.003), np.zeros(1, np.int8), fixed=(1, 2, 8, 9, 10, 11), domain="com.microsoft", hidden_size=hidden)
    yield of("SoftmaxCrossEntropyLoss", floats(512, 100), integers(512))
    boxes = np.concatenate([draw.uniform(0, 600, (1, 8400, 2)), draw.uniform(0, 600, (1, 8400, 2))], 2).astype(np.float32)
    scores = (draw.random((1, 80, 8400)) ** 8).astype(np.float32)
    yield of("NonMaxSuppression", boxes, scores, np.array([100]), np.array([0.5], np.float32), np.array([0.5], np.float32), fixed=(2, 3, 4))
    yield of("RoiAlign", floats(1, 64, 56, 56), np.concatenate([draw.uniform(0, 28, (50, 2)), draw.uniform(28, 56, (50, 2))], 1).astype(np.float32),
             np.zeros(50, np.int64), output_height=7, output_width=7, sampling_ratio=2)


def moving():
    x = floats(*MATRIX)
    yield of("Transpose", x, perm=[1, 0])
    yield of("Transpose", floats(*IMAGE), perm=[0, 2, 3, 1])
    yield of("Concat", x, x, axis=1)
    yield of("Split", x, outputs=2, axis=1, num_outputs=2)
    yield of("Slice", x, np.array([10]), np.array([1000]), np.array([1]), np.array([2]), fixed=(1, 2, 3, 4))
    yield of("Pad", floats(*IMAGE), np.array([0, 0, 1, 1, 0, 0, 1, 1]), fixed=(1,))
    yield of("Pad", floats(*IMAGE), np.array([0, 0, 1, 1, 0, 0, 1, 1]), fixed=(1,), mode="reflect")
    yield of("Tile", x, np.array([2, 2]), fixed=(1,))
    yield of("Expand", floats(1, 1024), np.array([512, 1024]), fixed=(1,))
    yield of("Gather", floats(30000, 128), integers(512, high=30000))
    yield of("GatherElements", x, integers(*MATRIX, high=512))
    yield of("GatherND", x, integers(5000, 2, high=512))
    yield of("ScatterElements", x, integers(256, 1024, high=512), floats(256, 1024), axis=0)
    yield of("ScatterND", x, draw.permutation(512)[:256, None], floats(256, 1024))
    yield of("OneHot", integers(512), np.array([100]), np.array([0, 1], np.float32), fixed=(1, 2))
    yield of("Trilu", x)
    yield of("ReverseSequence", floats(64, 32, 128), integers(32, low=1, high=64))
    for op in "DepthToSpace SpaceToDepth".split():
        yield of(op, floats(*IMAGE), blocksize=2)
    yield of("Resize", floats(*IMAGE), None, np.array([1, 1, 2, 2], np.float32), fixed=(2,), mode="linear")
    yield of("Resize", floats(*IMAGE), None, np.array([1, 1, 2, 2], np.float32), fixed=(2,), mode="nearest")
    yield of("Resize", floats(*IMAGE), None, np.array([1, 1, 2, 2], np.float32), fixed=(2,), mode="cubic")
    yield of("GridSample", floats(1, 32, 56, 56), floats(1, 56, 56, 2, low=-1, high=1), mode="linear")
    yield of("MaxUnpool", floats(1, 16, 28, 28), np.tile(np.arange(28 * 28) * 4, (1, 16, 1)).reshape(1, 16, 28, 28), kernel_shape=[2, 2], strides=[2, 2])
    yield of("Col2Im", floats(1, 16 * 9, 54 * 54), np.array([56, 56]), np.array([3, 3]), fixed=(1, 2))
    yield of("DFT", floats(8, 256, 1), None, np.int64(1), fixed=(2,))
    yield of("STFT", floats(1, 16000, 1), np.int64(160), floats(400), np.int64(400), fixed=(1, 2, 3), onesided=1)
    yield of("EyeLike", x)
    yield of("RandomNormalLike", x, seed=1.0)


def quantized():
    x, u8 = floats(*MATRIX), integers(*MATRIX, high=255, dtype=np.uint8)
    scale, zero = np.float32(0.02), np.uint8(128)
    yield of("QuantizeLinear", x, scale, zero, fixed=(1, 2))
    yield of("DequantizeLinear", u8, scale, zero, fixed=(1, 2))
    yield of("DynamicQuantizeLinear", x, outputs=3)
    yield of("QLinearMatMul", integers(256, 512, high=255, dtype=np.uint8), scale, zero, integers(512, 768, high=255, dtype=np.uint8), scale, zero, np.float32(0.5), zero,
             fixed=(1, 2, 3, 4, 5, 6, 7))
    yield of("QLinearConv", integers(*IMAGE, high=255, dtype=np.uint8), scale, zero, integers(64, 64, 3, 3, low=-50, high=50, dtype=np.int8), scale, np.int8(0), np.float32(0.5), zero,
             fixed=(1, 2, 3, 4, 5, 6, 7), pads=[1] * 4)
    yield of("QLinearAdd", u8, scale, zero, u8, scale, zero, np.float32(0.04), zero, fixed=(1, 2, 4, 5, 6, 7), domain="com.microsoft")
    yield of("QLinearSigmoid", u8, scale, zero, np.float32(0.004), np.uint8(0), fixed=(1, 2, 3, 4), domain="com.microsoft")
    yield of("QLinearSoftmax", u8, scale, zero, np.float32(0.004), np.uint8(0), fixed=(1, 2, 3, 4), domain="com.microsoft", opset=13)
    yield of("QLinearGlobalAveragePool", integers(*IMAGE, high=255, dtype=np.uint8), scale, zero, scale, zero, fixed=(1, 2, 3, 4), domain="com.microsoft")


FAMILIES = [elementwise, reductions, products, networks, moving, quantized]


def model(op, inputs, outputs, fixed, domain, attributes):
    """The model of a row, and what it is given."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    made = [f"y{i}" for i in range(outputs)]
    arrays = {name: np.asarray(x) for name, x in zip(names, inputs) if x is not None}
    given = {name: x for i, (name, x) in enumerate(zip(names, inputs)) if x is not None and i not in fixed}
    graph = helper.make_graph(
        [helper.make_node(op, names, made, domain=domain, **attributes)], op,
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for name, x in given.items()],
        [onnx.ValueInfoProto(name=name) for name in made],
        [onnx.numpy_helper.from_array(x, name) for name, x in arrays.items() if name not in given],
    )
    return helper.make_model(graph, opset_imports=OPSET, ir_version=9), given


def seconds(run, limit=0.15):
    """The median time of a run."""
    times = []
    end = time.perf_counter() + limit
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def agree(ours, theirs):
    """Whether two results are the same number by number, but for rounding."""
    if ours.shape != theirs.shape:
        return False
    if ours.dtype.kind not in "fiub":
        return bool((ours == theirs).all())
    is_float, size = ours.dtype.kind == "f", np.abs(theirs.astype(np.float64))
    # A number that is small because large ones cancel has the error of these.
    bound = (2e-3 if is_float else 1) * np.maximum(1, size) + (1e-4 * size.max(initial=0.0) if is_float else 0)
    return bool((np.abs(ours.astype(np.float64) - theirs) <= bound).all()) if theirs.size else True


def measured(row, rounds):
    """Milliseconds of fusion and of ONNX Runtime, or why there are none."""
    proto, given = model(*row)
    content = proto.SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        theirs = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        expected = theirs.run(None, given)
    except Exception as why:  # noqa: BLE001, whatever it is
        return f"not in ONNX Runtime: {str(why).splitlines()[0][:80]}"
    try:
        ours = fusion.compile(content)
        found = list(ours.run(given).values())
    except fusion.FusionError as why:
        return f"not in fusion: {str(why)[:120]}"
    if row[0].startswith("Random") or all(map(agree, found, expected)):
        best = [math.inf, math.inf]
        for _ in range(rounds):
            for i, run in enumerate((lambda: ours.run(given), lambda: theirs.run(None, given))):
                best[i] = min(best[i], seconds(run))
        return tuple(1e3 * t for t in best)
    return "the results differ"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="operators to measure, as a glob")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worst", type=int, default=10, help="how many of the worst to repeat at the end")
    options = parser.parse_args()
    ratios = {}
    for family in FAMILIES:
        for row in family():
            if not fnmatch.fnmatch(row[0], options.only):
                continue
            name = " ".join([row[0], *(str(value) for key, value in row[5].items() if key == "mode")])
            result = measured(row, options.rounds)
            if isinstance(result, str):
                print(f"{name:28} {result}", flush=True)
                continue
            ratios[name if name not in ratios else name + " (2)"] = result[1] / result[0]
            print(f"{name:28} {result[0]:9.4f} ms   ONNX Runtime {result[1]:9.4f} ms   {result[1] / result[0]:6.2f}", flush=True)
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios.values())))
        below = sum(ratio < 0.9 for ratio in ratios.values())
        print(f"\n{len(ratios)} operators, geomean {mean:.2f}, {below} below 0.9; the worst:")
        for name, ratio in sorted(ratios.items(), key=lambda item: item[1])[: options.worst]:
            print(f"  {ratio:5.2f}  {name}")


if __name__ == "__main__":
    main()
