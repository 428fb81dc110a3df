"""One library of dynamic shapes beside those of fixed shapes: CPU time of compiling, bytes, and CPU time of runs, in turns.

    python bench/dynamic.py DIR --fusion target/debug/fusion [--before OLD_FUSION] [--models resnet18 encoder] [--seconds 10]

DIR has NAME@SIZE/{model.onnx,inputs.npz,expected.npz}: the same model.onnx for all sizes of a NAME, what it takes (x0, ...) and what it gives (y0, ...).
With --before, runs of the library that another compiler makes are timed in turns with those of this one. One thread; minima."""
import argparse
import ctypes
import os
import resource
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

DTYPES = {"float64": 0, "float32": 1, "int64": 4, "int32": 5, "bool": 12}  # docs/reference/abi.md


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_uint32), ("ndim", ctypes.c_uint32),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p)]


Allocate = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(Tensor))


def compiled(fusion, model, library, *options):
    """Compiles without the cache, one kernel at a time: seconds of CPU time, and bytes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [fusion, "compile", model, "-j", "1", "-o", library, *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"FUSION_CACHE": "0"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, Path(library).stat().st_size


class Library:
    """A library of dynamic shapes."""

    def __init__(self, path):
        self.code = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL)
        self.code.fusion_last_error.restype = ctypes.c_char_p
        self.outputs = {}
        self.allocate = Allocate(self.memory)

    def memory(self, _, output, tensor):
        shape = tuple(tensor.contents.shape[:tensor.contents.ndim])
        if output not in self.outputs or self.outputs[output].shape != shape:
            self.outputs[output] = np.empty(shape, np.float32)
        return self.outputs[output].ctypes.data

    def run(self, inputs):
        """Milliseconds of CPU time."""
        shapes = [(ctypes.c_int64 * max(x.ndim, 1))(*x.shape) for x in inputs]
        tensors = [Tensor(x.ctypes.data, DTYPES[str(x.dtype)], x.ndim, shape, None) for x, shape in zip(inputs, shapes)]
        tensors = (Tensor * len(inputs))(*tensors)
        start = time.process_time_ns()
        if self.code.fusion_run_tensors(tensors, len(inputs), self.allocate, None):
            raise RuntimeError(self.code.fusion_last_error().decode())
        return (time.process_time_ns() - start) / 1e6


def error(library, expected):
    """The largest error, as a part of the largest element."""
    given = [(library.outputs[i], expected[name]) for i, name in enumerate(expected.files)]
    return max(float(np.abs(found - wanted).max() / np.abs(wanted).max()) for found, wanted in given)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--fusion", required=True)
    parser.add_argument("--before")
    parser.add_argument("--models", nargs="*")
    parser.add_argument("--seconds", type=float, default=10)
    args = parser.parse_args()
    cases = defaultdict(list)
    for case in sorted(args.directory.glob("*@*")):
        cases[case.name.partition("@")[0]].append(case)
    with tempfile.TemporaryDirectory() as scratch:
        for model, sizes in cases.items():
            if args.models and model not in args.models:
                continue
            library = Path(scratch, f"{model}.so")
            seconds, size = compiled(args.fusion, sizes[0] / "model.onnx", library)
            libraries = [Library(library)]
            if args.before:
                before = Path(scratch, f"{model}_before.so")
                old_seconds, old_size = compiled(args.before, sizes[0] / "model.onnx", before)
                libraries.append(Library(before))
                print(f"{model}: before {old_seconds:.2f} s, {old_size / 1e6:.1f} MB")
            print(f"{model}: {seconds:.2f} s, {size / 1e6:.1f} MB")
            for case in sizes:
                data, expected = np.load(case / "inputs.npz"), np.load(case / "expected.npz")
                inputs = [np.ascontiguousarray(data[name]) for name in data.files]
                shapes = [f"--shape={name}={','.join(map(str, data[name].shape))}" for name in data.files]
                fixed_seconds, fixed_size = compiled(args.fusion, case / "model.onnx", Path(scratch, "fixed.so"), *shapes)
                least, rounds, start = [float("inf")] * len(libraries), 0, time.time()
                while rounds < 5 or time.time() - start < args.seconds:
                    # Who comes second finds more of the machine warm, so they take turns at it.
                    for at in sorted(range(len(libraries)), reverse=rounds % 2 == 1):
                        least[at] = min(least[at], libraries[at].run(inputs))
                    rounds += 1
                times = ", before ".join(f"{ms:.3f} ms" for ms in least)
                ratio = f", {least[1] / least[0]:.3f} times as fast" if args.before else ""
                print(f"  {case.name}: {times}{ratio}, error {error(libraries[0], expected):.1e}; fixed shape "
                      f"{fixed_seconds:.2f} s, {fixed_size / 1e6:.1f} MB: {seconds / fixed_seconds:.2f} and {size / fixed_size:.2f} times", flush=True)


if __name__ == "__main__":
    main()
