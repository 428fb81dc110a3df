#!/usr/bin/env python3
"""Times products with weights of few bits (`MatMulNBits`) beside ONNX Runtime and OpenVINO, each on one thread.

    bench/few_bits.py --bits 4 --rows 1,8,64,512 --depth 4096 --columns 4096

Printed are milliseconds of processor time that a fifth of the runs are below, of runs in turns: others' work on the machine disturbs them least.
With --copies several copies of the weight take turns, so that none stays in a cache. --data-bits 8 lets OpenVINO quantize data when it runs.
"""

import argparse
import ctypes
import os
import subprocess
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
import openvino
from onnx import TensorProto, helper, numpy_helper

BLOCK = 32


def model(path, rows, depth, columns, bits):
    random = np.random.default_rng(0)
    shape = (columns, depth // BLOCK)
    weight = random.integers(0, 256, (*shape, BLOCK * bits // 8), dtype=np.uint8)
    scale = (random.random(shape) * 0.02 + 0.001).astype(np.float32)
    attributes = {"N": columns, "K": depth, "bits": bits, "block_size": BLOCK}
    node = helper.make_node("MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft", **attributes)
    value = lambda name, width: helper.make_tensor_value_info(name, TensorProto.FLOAT, [rows, width])
    constants = [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(scale, "s")]
    graph = helper.make_graph([node], "g", [value("x", depth)], [value("y", columns)], constants)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)


def aligned(shape):
    size = int(np.prod(shape)) * 4
    room = np.zeros(size + 64, np.uint8)
    begin = -room.ctypes.data % 64
    return room[begin : begin + size].view(np.float32).reshape(shape)


def fusion(path, x, columns):
    library = ctypes.CDLL(path)
    library.fusion_set_threads(1)
    data, result = aligned(x.shape), aligned((x.shape[0], columns))
    data[:] = x
    workspace = aligned((ctypes.c_uint64.in_dll(library, "fusion_workspace_bytes").value // 4 + 16,))
    inputs, outputs = (ctypes.c_void_p * 1)(data.ctypes.data), (ctypes.c_void_p * 1)(result.ctypes.data)
    keep = (library, data, result, workspace, inputs, outputs)
    return lambda: (keep, library.fusion_run(inputs, outputs, ctypes.c_void_p(workspace.ctypes.data)))


def onnx_runtime(path, x):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"x": x})


def open_vino(path, x, data_bits):
    core = openvino.Core()
    group = BLOCK if data_bits == 8 else 0
    # By itself it multiplies bf16 where the processor does.
    options = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "DYNAMIC_QUANTIZATION_GROUP_SIZE": group, "INFERENCE_PRECISION_HINT": "f32"}
    request = core.compile_model(core.read_model(path), "CPU", options).create_infer_request()
    request.set_input_tensor(openvino.Tensor(x, shared_memory=True))
    return request.infer


def timed(run):
    begin = time.process_time()
    run()
    return time.process_time() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fusion", default="target/debug/fusion")
    parser.add_argument("--bits", type=int, default=4, choices=[2, 4, 8])
    parser.add_argument("--rows", default="1,8,64,512")
    parser.add_argument("--depth", type=int, default=4096)
    parser.add_argument("--columns", type=int, default=4096)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--data-bits", type=int, default=32, choices=[8, 32])
    parser.add_argument("--seconds", type=float, default=5)
    chosen = parser.parse_args()
    for rows in map(int, chosen.rows.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.onnx")
            model(path, rows, chosen.depth, chosen.columns, chosen.bits)
            x = np.random.default_rng(1).standard_normal((rows, chosen.depth)).astype(np.float32)
            runs = {"fusion": [], "ONNX Runtime": [], "OpenVINO": []}
            for copy in range(chosen.copies):
                library = os.path.join(folder, f"m{copy}.so")
                subprocess.run([chosen.fusion, "compile", path, "-o", library], check=True, stdout=subprocess.DEVNULL)
                runs["fusion"].append(fusion(library, x, chosen.columns))
                runs["ONNX Runtime"].append(onnx_runtime(path, x))
                runs["OpenVINO"].append(open_vino(path, x, chosen.data_bits))
            times = {name: [] for name in runs}
            end = time.time() + chosen.seconds
            while time.time() < end:
                for name, all_of in runs.items():
                    times[name] += [timed(run) for run in all_of for _ in range(2)]
            fifth = {name: np.percentile(all_of, 20) for name, all_of in times.items()}
            rate = chosen.depth * chosen.columns * chosen.bits / 8 / fifth["fusion"] / 1e9
            text = ", ".join(f"{name} {1e3 * seconds:.3f} ms" for name, seconds in fifth.items())
            print(f"{rows} rows: {text}; {rate:.1f} GB/s of packed weights", flush=True)


if __name__ == "__main__":
    main()
