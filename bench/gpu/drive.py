#!/usr/bin/env python3
"""Runs a kit on the GPU of this machine: drive.py --out DIR [--resume] [--only GLOB] [--steps 1,2,...] [--budget SECONDS]

1 facts and ceilings   2 a case of each kind of schedule   3 all cases, right or wrong   4 times beside peers
5 compute-sanitizer    6 ncu on the slowest ratios         7 node tests of ONNX

A line a case as it goes; DIR/results.jsonl has all of them, DIR/table.md and table.json what they come to. With --resume what stands in
results.jsonl is not done again.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import select
import subprocess
import sys
import tarfile
import tempfile
import time

import steps
import table
from steps import Refused

KIT = pathlib.Path(__file__).resolve().parent
KIT_VERSION = 1


class Worker:
    """A process of worker.py, which is started when it is needed and ended when it is late."""

    def __init__(self, cases, log):
        self.environment = os.environ | {"FUSION_KIT_CASES": str(cases), "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
        self.log, self.process = log, None

    def ask(self, request, seconds):
        if self.process is None:
            command = [sys.executable, str(KIT / "worker.py")]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=self.environment)
            seconds += 30  # to import what it needs
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            return self._ended("the worker had ended")
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        line = self.process.stdout.readline() if ready else b""
        if not ready:
            return self._ended(f"no answer within {seconds} s")
        if not line:
            return self._ended("the process ended")
        answer = json.loads(line)
        if not answer["ok"] and lost(answer["said"]):
            self.end()
        return answer

    def _ended(self, why):
        self.end()
        return {"ok": False, "said": why, "kind": "Hang"}

    def end(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


def lost(said):
    """Whether the device does nothing more for this process after such an error."""
    return any(word in said for word in ("CUDA error", "illegal", "is lost", "launch failure", "misaligned", "out of memory"))


def manifest():
    try:
        found = json.loads((KIT / "manifest.json").read_text())
    except (OSError, ValueError) as error:
        raise Refused(f"The kit in {KIT} has no manifest that can be read ({error}); build it again with bench/gpu/run.sh --build.")
    if found.get("kit") != KIT_VERSION:
        raise Refused(f"The kit is of version {found.get('kit')}, and this driver runs version {KIT_VERSION}; build it again.")
    return found


class Run:
    def __init__(self, options):
        self.out, self.only, self.end = pathlib.Path(options.out), options.only, time.time() + options.budget
        self.out.mkdir(parents=True, exist_ok=True)
        self.manifest = manifest()
        self.cases = self._unpacked()
        self.log = open(self.out / "worker.log", "ab")
        self.worker, self.lost = Worker(self.cases, self.log), 0
        self.path, self.results = self.out / "results.jsonl", {}
        if options.resume and self.path.exists():
            for line in self.path.read_text().splitlines():
                result = json.loads(line)
                self.results[result["step"], result["case"]] = result
        elif self.path.exists():
            self.path.unlink()

    def _unpacked(self):
        if (KIT / "cases").is_dir():
            return KIT / "cases"
        where = pathlib.Path(tempfile.mkdtemp(prefix="fusion-kit-"))
        with tarfile.open(KIT / "cases.tar.xz") as packed:
            packed.extractall(where, filter="data")
        return where / "cases"

    def wanted(self, name):
        return fnmatch.fnmatch(name, self.only)

    def late(self):
        return time.time() > self.end

    def note(self, step, case, answer):
        result = {"step": step, "case": case, **answer}
        self.results[step, case] = result
        with open(self.path, "a") as file:  # what is known stays, whatever comes
            file.write(json.dumps(result) + "\n")
        print(f"{step} {case:58} {table.line(result)}", flush=True)

    def tables(self):
        (self.out / "table.md").write_text(table.markdown(self.manifest, self.results))
        (self.out / "table.json").write_text(json.dumps(list(self.results.values()), indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--only", default="*")
    parser.add_argument("--steps", default="1,2,3,4,5,6,7")
    parser.add_argument("--budget", type=float, default=840)
    parser.add_argument("--peers", default="eager,graph,causal,triton,inductor,inductor-max,jax")
    options = parser.parse_args()
    try:
        wrong = go(options)
    except Refused as refusal:
        sys.exit(str(refusal))
    except OSError as error:
        sys.exit(f"{options.out} cannot be written: {error}; what was found before is in {options.out}/results.jsonl.")
    if wrong:
        sys.exit(f"{len(wrong)} cases are wrong: {', '.join(wrong[:8])}{', ...' if len(wrong) > 8 else ''}.")


def go(options):
    run = Run(options)
    run.peers = options.peers.split(",")
    try:
        steps.fit(run)
        for step in options.steps.split(","):
            if run.late():
                print(f"no time is left for step {step}", flush=True)
                continue
            steps.STEPS[step](run)
            run.tables()
            if run.lost == steps.HANGS:
                raise Refused(f"The device answers no more; start again with --resume when it does. What was found is in {run.out}.")
    finally:
        run.worker.end()
        run.tables()
    return [case for (step, case), result in run.results.items() if step in "23" and not result.get("right")]


if __name__ == "__main__":
    main()
