#!/usr/bin/env python3
"""Times the compiler: compile.py FUSION [FOLDER [MODEL...]]

A line a model and way to compile it: seconds of all cores together (what other load on the machine disturbs least), seconds on
the clock, and the largest amount of memory. `warm` is a second compilation, with the cache of kernels that the first filled.
Models that are missing are made into FOLDER by models.py; a MODEL may also be a file.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
NAMES = ["gpt2", "bilstm", "concatenations:20", "sums", "products", "chain"]


def compile_(fusion, model, options, cache, output):
    """Seconds of all cores, seconds on the clock, and megabytes."""
    start = time.monotonic()
    command = [fusion, "compile", model, "-o", output, *options]
    process = subprocess.Popen(command, env={**os.environ, "FUSION_CACHE": cache}, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(map(str, command))} failed: see above")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss / 1024


def main():
    fusion, folder = sys.argv[1], Path(sys.argv[2] if len(sys.argv) > 2 else "data/compile")
    print(f"{'model':24} {'how':6} {'CPU s':>8} {'clock s':>8} {'MB':>6}")
    for name in sys.argv[3:] or NAMES:
        model = Path(name) if name.endswith(".onnx") else folder / f"{name.replace(':', '_')}.onnx"
        if not model.exists():
            subprocess.run([sys.executable, HERE / "models.py", folder, name], check=True)
        with tempfile.TemporaryDirectory() as here:
            output, cache = f"{here}/m.so", f"{here}/cache"
            ways = [("cold", [], cache), ("warm", [], cache), ("-O0", ["-O0"], "0")]
            for how, options, kept in ways:
                figures = compile_(fusion, model, options, kept, output)
                shown = name if not name.endswith(".onnx") else model.parent.name
                print(f"{shown:24} {how:6} {figures[0]:8.2f} {figures[1]:8.2f} {figures[2]:6.0f}", flush=True)


main()
