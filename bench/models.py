#!/usr/bin/env python3
"""Times models beside ONNX Runtime, each on one thread: models.py FUSION NAME...

The models are in data/models (make models). The two are timed in turns, so that what else the machine does falls on both;
the medians over all rounds are printed with their ratio, above 1 where fusion is faster.
"""

import json
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

ROUNDS = 5
SECONDS = 1.0  # of timing a round


def peer(directory):
    """A function that runs the model once in ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(directory / "model.onnx", options, providers=["CPUExecutionProvider"])
    given = {session.get_inputs()[0].name: np.load(directory / "input.npy")}
    return lambda: session.run(None, given)


def timed(run):
    """Seconds of each run in a round, after three to warm up."""
    for _ in range(3):
        run()
    times, end = [], time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return times


def fusion_round(fusion, library, given):
    """The median of a round, in seconds."""
    command = [fusion, "bench", library, "--inputs", given, "--json", "--budget", str(SECONDS)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["median_s"]


def bench(fusion, name, scratch):
    """The medians of fusion and of its peer, the latter None where it is not installed."""
    directory = pathlib.Path("data/models") / name
    library = f"{scratch}/{name}.so"
    subprocess.run([fusion, "compile", directory / "model.onnx", "-o", library], check=True, stdout=subprocess.DEVNULL)
    run = onnxruntime and peer(directory)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(fusion_round(fusion, library, directory / "input.npy"))
        if run:
            theirs += timed(run)
    return statistics.median(ours), statistics.median(theirs) if run else None


def processor():
    """The name of this machine's processor."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    fusion, names = sys.argv[1], sys.argv[2:]
    version = f"onnxruntime {onnxruntime.__version__}" if onnxruntime else "no onnxruntime"
    print(f"# {time.strftime('%Y-%m-%d')}, {processor()}, 1 thread, medians of {ROUNDS} rounds, {version}")
    print(f"{'model':<16}{'fusion ms':>12}{'ORT ms':>12}{'ORT / fusion':>14}")
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            ours, theirs = bench(fusion, name, scratch)
            cells = (f"{theirs * 1e3:>12.2f}", f"{theirs / ours:>14.2f}") if theirs else (f"{'-':>12}", f"{'-':>14}")
            print(f"{name:<16}{ours * 1e3:>12.2f}{cells[0]}{cells[1]}", flush=True)


if __name__ == "__main__":
    main()
