#!/usr/bin/env python3
"""Makes fusion a peer of a benchmark that times several compilers in turns, over lines of standard input and output.

    (at start)       -> {"version": "..."}
    prepare NAME DIR -> {"ok": true, "out": "file.npz"} or {"ok": false, "error": "..."}
    time SECONDS     -> {"wall": [ns, ...], "cpu": [ns, ...]}, one entry a call

DIR has model.onnx, inputs.npz (x0, x1, ...) and meta.json. The model is compiled anew, loaded through its C interface
(docs/reference/abi.md) and called from here; all that a call passes is built before the clock runs. A model that is a loop (meta.json
says how many "trips") is compiled whole, or where that fails its body.onnx is called that often.

In the environment: THREADS, and FUSION, the compiler (that of this repository by default).
"""

import ctypes
import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
FUSION = os.environ.get("FUSION", str(REPOSITORY / "target/debug/fusion"))
DTYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "bf16": "u2", "i1": "?"} | {
    f"{sign}{bits}": f"{kind}{bits // 8}" for sign, kind in (("i", "i"), ("ui", "u")) for bits in (8, 16, 32, 64)
}


def empty(nbytes, offset=0):
    """Bytes aligned to a page, plus an offset; their pages are in memory."""
    memory = np.zeros(nbytes + 8192, np.uint8)
    memory.fill(0)
    start = -memory.ctypes.data % 4096 + offset
    return memory[start : start + nbytes]


def pointers(arrays):
    return (ctypes.c_void_p * max(1, len(arrays)))(*[a.ctypes.data for a in arrays])


class Tensor(ctypes.Structure):
    """`struct fusion_tensor`."""

    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_uint32), ("ndim", ctypes.c_uint32),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64))]  # fmt: skip


NUMBERS = ["f8", "f4", "f2", None, "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"]
ALLOCATE = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(Tensor))


class DynamicCall:
    """A model of dynamic shapes bound to inputs; `self.once()` runs it once."""

    def __init__(self, model, inputs, trips, shift):
        if trips != 1:
            raise RuntimeError("loops of dynamic shapes are not run")
        self.model, self.kept = model, []
        tensors = []
        for i, value in enumerate(inputs.values()):
            memory = empty(value.nbytes, (shift * 3 + i * 5) % 8 * 512).view(value.dtype).reshape(value.shape)
            memory[...] = value
            shape = (ctypes.c_int64 * max(1, value.ndim))(*value.shape)
            self.kept += [memory, shape]
            number = NUMBERS.index(value.dtype.str[1:].replace("b1", "?"))
            tensors.append(Tensor(memory.ctypes.data, number, value.ndim, shape, None))
        self.inputs = (Tensor * max(1, len(tensors)))(*tensors)
        self.outputs, self.memory = [], {}

        # Allocates in the first run alone: later ones are of the same sizes.
        def allocate(_, number, tensor):
            if number not in self.memory:
                given = tensor.contents
                shape = [given.shape[i] for i in range(given.ndim)]
                dtype = np.dtype(NUMBERS[given.dtype])
                place = empty(dtype.itemsize * int(np.prod(shape)), (shift * 3 + number * 5) % 8 * 512)
                self.outputs.append(place.view(dtype).reshape(shape))
                self.memory[number] = place.ctypes.data
            return self.memory[number]

        self.allocate = ALLOCATE(allocate)
        run, count = model.library.fusion_run_tensors, len(tensors)
        self.once = lambda: run(self.inputs, count, self.allocate, None)


class Model:
    """A compiled model, loaded."""

    def __init__(self, path):
        # The lock of the interpreter is kept: no other thread of this process needs it.
        self.library = ctypes.PyDLL(path)
        if (version := ctypes.c_uint32.in_dll(self.library, "fusion_abi_version").value) != 1:
            raise RuntimeError(f"the compiled model has interface version {version}, expected 1")
        json_at = ctypes.addressof(ctypes.c_char.in_dll(self.library, "fusion_model_json"))
        self.description = json.loads(ctypes.string_at(json_at))
        self.workspace = empty(ctypes.c_uint64.in_dll(self.library, "fusion_workspace_bytes").value)
        self.run = self.library.fusion_run
        self.is_dynamic = not self.description["inputs"] and hasattr(self.library, "fusion_run_tensors")

    def arguments(self, inputs, outputs):
        """What a call takes, ready to pass."""
        return pointers(inputs), pointers(outputs), ctypes.c_void_p(self.workspace.ctypes.data)

    def place(self, which, values=None, shift=0):
        """Buffers for the inputs or outputs at page offsets that vary, so that no figure is the luck of one placement."""
        placed = []
        for i, argument in enumerate(self.description[which]):
            dtype, shape = np.dtype(DTYPES[argument["dtype"]]), argument["shape"]
            memory = empty(dtype.itemsize * int(np.prod(shape)), (shift * 3 + i * 5) % 8 * 512)
            placed.append(memory.view(dtype).reshape(shape))
            if values is not None:
                value = values[argument["name"]] if argument["name"] in values else list(values.values())[i]
                if value.dtype != dtype or list(value.shape) != shape:
                    raise RuntimeError(f"input {argument['name']} is {value.dtype}{value.shape}, expected {dtype}{shape}")
                placed[-1][...] = value
        return placed


class Call:
    """A model bound to inputs; `self()` runs it once."""

    def __init__(self, model, inputs, trips, shift):
        self.model, run = model, model.run
        self.inputs = model.place("inputs", inputs, shift)
        self.outputs = model.place("outputs", shift=shift)
        if trips == 1:
            self.steps = [model.arguments(self.inputs, self.outputs)]
        else:  # the state goes back and forth; the given one stays as it is
            other = model.place("outputs", shift=shift)
            states = [self.inputs] + [[other, self.outputs][(i + trips) % 2] for i in range(1, trips + 1)]
            self.steps = [model.arguments(a, b) for a, b in zip(states, states[1:])]
            self.kept = other

        if len(self.steps) == 1:
            inputs, outputs, workspace = self.steps[0]
            self.once = lambda: run(inputs, outputs, workspace)
        else:
            self.once = self.loop

    def loop(self):
        run, status = self.model.run, 0
        for inputs, outputs, workspace in self.steps:
            status |= run(inputs, outputs, workspace)
        return status


def compiled(model, scratch, stem):
    path = f"{scratch}/{stem}.so"
    # Unless told otherwise every kernel is compiled, so that the time to compile is that of a new model.
    environment = {"FUSION_CACHE": "0"} | os.environ
    done = subprocess.run([FUSION, "compile", model, "-o", path], capture_output=True, text=True, env=environment)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"fusion ended with {done.returncode}"]
        raise RuntimeError(next((line for line in said if "error" in line), said[-1]))
    return Model(path)


def prepare(name, directory, count):
    """The model, its inputs and how often to call it."""
    if not (directory / "model.onnx").exists():
        raise RuntimeError("dynamic graph")
    trips = json.loads((directory / "meta.json").read_text())["trips"]
    inputs = dict(np.load(directory / "inputs.npz"))
    stem = "".join(c if c.isalnum() else "_" for c in f"{name}_{count}")
    with tempfile.TemporaryDirectory() as scratch:  # what is loaded stays in memory
        try:
            return compiled(directory / "model.onnx", scratch, stem), inputs, 1
        except RuntimeError:
            if trips == 1 or not (directory / "body.onnx").exists():
                raise
            return compiled(directory / "body.onnx", scratch, stem), inputs, trips


def timed(once, seconds):
    wall, cpu, end = [], [], time.perf_counter() + seconds
    wall_ns, cpu_ns = time.perf_counter_ns, time.process_time_ns
    gc.disable()
    while len(wall) < 3 or time.perf_counter() < end:
        w, c = wall_ns(), cpu_ns()
        once()
        cpu.append(cpu_ns() - c)
        wall.append(wall_ns() - w)
        if cpu[0] > 1e9:
            break
    gc.enable()
    skip = 1 if len(wall) > 1 else 0  # the first call of a burst finds cold caches
    return {"wall": wall[skip:5000], "cpu": cpu[skip:5000]}


def main():
    protocol = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    os.environ["FUSION_THREADS"] = os.environ.get("THREADS", "1")

    def reply(answer):
        print(json.dumps(answer), file=protocol, flush=True)

    version = subprocess.run([FUSION, "--version"], capture_output=True, text=True).stdout.strip()
    reply({"ok": True, "version": version})
    model, count = None, 0
    for line in sys.stdin:
        match line.split():
            case ["prepare", name, where]:
                model, count, call = None, count + 1, None
                cpus, start = os.sched_getaffinity(0), time.time()
                try:
                    os.sched_setaffinity(0, range(os.cpu_count()))  # compile anywhere, run where told
                    try:
                        model, inputs, trips = prepare(name, pathlib.Path(where), count)
                    finally:
                        os.sched_setaffinity(0, cpus)
                    seconds = time.time() - start
                    call = (DynamicCall if model.is_dynamic else Call)(model, inputs, trips, 0)
                    if status := call.once():
                        raise RuntimeError(f"fusion_run returned {status}")
                    out = pathlib.Path(where) / "out-fusion.npz"
                    np.savez(out, **{f"y{i}": y for i, y in enumerate(call.outputs)})
                    reply({"ok": True, "out": str(out), "compile_s": round(seconds, 2)})
                except Exception as error:
                    model = None
                    reply({"ok": False, "error": " ".join(str(error).split())[:400]})
            case ["time", seconds] if model:
                call, count = None, count + 1
                call = (DynamicCall if model.is_dynamic else Call)(model, inputs, trips, count)
                if model.is_dynamic:
                    call.once()  # finds out how large the outputs are
                reply(timed(call.once, float(seconds)))
            case _:
                reply({"ok": False, "error": f"no model is prepared, or the command is unknown: {line.strip()}"})


if __name__ == "__main__":
    main()
