"""A compiled model for a GPU through its C interface (docs/reference/abi.md), by ctypes alone."""

import ctypes
import json

import numpy as np

NUMPY = {"f64": "f8", "f32": "f4", "f16": "f2", "bf16": "u2", "i1": "?"} | {
    f"{sign}{8 * n}": f"{kind}{n}" for sign, kind in (("i", "i"), ("ui", "u")) for n in (1, 2, 4, 8)
}


class Event(ctypes.Structure):
    _fields_ = [("what", ctypes.c_uint32), ("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3), ("shared", ctypes.c_uint32),
                ("kernel", ctypes.c_char_p), ("bytes", ctypes.c_uint64), ("begin_s", ctypes.c_double), ("seconds", ctypes.c_double)]


def pointers(addresses):
    return (ctypes.c_void_p * max(1, len(addresses)))(*addresses)


def aligned(shape, dtype):
    """An array at a multiple of 64 bytes."""
    dtype = np.dtype(NUMPY[dtype])
    count = int(np.prod(shape)) * dtype.itemsize
    memory = np.empty(count + 64, np.uint8)
    begin = -memory.ctypes.data % 64
    return memory[begin : begin + count].view(dtype).reshape(shape)


class Library:
    def __init__(self, path):
        self.path, self.library = path, ctypes.CDLL(str(path))
        if (version := ctypes.c_uint32.in_dll(self.library, "fusion_abi_version").value) != 1:
            raise RuntimeError(f"{path} has interface version {version}, expected 1; build the kit again.")
        at = ctypes.addressof(ctypes.c_char.in_dll(self.library, "fusion_model_json"))
        self.description = json.loads(ctypes.string_at(at))
        self.library.fusion_last_error.restype = ctypes.c_char_p
        self.library.fusion_profile.restype = ctypes.c_int64

    def _done(self, status):
        if status:
            raise RuntimeError(self.library.fusion_last_error().decode(errors="replace"))

    def run_host(self, inputs):
        """Runs on arrays of the host and gives the outputs; those of bf16 as their bits."""
        placed = []
        for argument, x in zip(self.description["inputs"], inputs):
            placed.append(aligned(argument["shape"], argument["dtype"]))
            placed[-1][...] = x
        outputs = [aligned(o["shape"], o["dtype"]) for o in self.description["outputs"]]
        of = lambda arrays: pointers([a.ctypes.data for a in arrays])
        self._done(self.library.fusion_run(of(placed), of(outputs), None))
        return outputs

    def call(self, inputs, outputs):
        """A function that runs on tensors of the device, given by their addresses, on a stream [default: its own, and waits for it]."""
        inputs, outputs, run, on = pointers(inputs), pointers(outputs), self.library.fusion_run_device, self.library.fusion_run_stream

        def once(stream=None):
            self._done(run(inputs, outputs) if stream is None else on(inputs, outputs, ctypes.c_void_p(stream)))

        return once

    def profiled(self, once):
        """What a run launched: [(kernel, grid, block, shared bytes, seconds)]."""
        self.library.fusion_set_profiling(1)
        once()
        once()
        events, empty = ctypes.POINTER(Event)(), ctypes.c_double()
        count = self.library.fusion_profile(ctypes.byref(events), ctypes.byref(empty))
        launches = [(e.kernel.decode(), list(e.grid), list(e.block), e.shared, e.seconds) for e in events[:count] if e.what == 0]
        self.library.fusion_set_profiling(0)
        return launches
