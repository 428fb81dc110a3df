#!/usr/bin/env python3
"""Runs every test with random cases on fresh seeds, side by side, until the minutes are over: fuzz.py MINUTES [PART OF A NAME...].

    build the tests once  ->  each core: the generator that ran least, a fresh seed  ->  what fails, its seed, the command that repeats it

Each generator takes its seed from FUSION_SEED and the number of its cases from FUSION_FUZZ_CASES (operators/src/random.rs). What each
makes and what it cannot make is in docs/reference/fuzzing.md. The output of a failure is kept in target/fuzz. The status is 1 when something failed.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import secrets
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Longer than any run takes on a busy machine: what runs longer hangs.
HANGS = 1800
LINES = 25

Generator = collections.namedtuple("Generator", "name package target tests cases drawn", defaults=[None, False])

# What is run: a package's test executable, the tests in it, how many cases a run has (none: the usual number), and whether
# kinds of schedules are drawn by chance.
GENERATORS = [
    Generator("rounding", "fusion-operators", "rounding", ["each_operator_is_within"], 100),
    Generator("attributes", "fusion-operators", "extremes", ["no_attributes_make"], 20000),
    Generator("rule samples", "fusion-transforms", "transforms",
              ["rules::every_rule_holds", "rules::all_rules_together_hold"]),
    Generator("rules of few constants", "fusion-transforms", "transforms",
              ["random_graphs::each_rule_by_itself"], 10),
    Generator("forms of few constants", "fusion-transforms", "transforms",
              ["random_graphs::all_forms_of_graphs"], 100),
    Generator("graphs of few constants", "fusion-interpreter", "interpreter",
              ["random_graphs::relay_optimize_keeps", "random_graphs::sources_lie", "random_graphs::text_is"], 400),
    Generator("native few constants", "fusion-tools", "tools", ["random_graphs::native_code"], 20),
    Generator("graphs written as ONNX", "fusion-tools", "tools", ["random_graphs::graphs_written"], 4000),
    Generator("strict arithmetic", "fusion-tools", "tools", ["numerics::strict::random_graphs"], 30),
    Generator("quantized networks", "fusion-tools", "tools", ["quantized_networks::"], 20),
    Generator("elementwise graphs", "fusion-interpreter", "interpreter", ["random::passes_and_kernels"], 200),
    Generator("passes of the language", "fusion-interpreter", "interpreter", ["random_language::"], 60),
    Generator("executors", "fusion-tools", "tools", ["executors::"], 12),
    Generator("damaged programs", "fusion-tools", "tools", ["damaged::"], 2000),
    Generator("dynamic extents", "fusion-tools", "tools", ["dynamic_extents::random::"], 6),
    Generator("dynamic graphs", "fusion-tools", "tools", ["dynamic_extents::graphs::"], 12),
    Generator("tiles", "fusion-tools", "tools", ["dynamic_extents::tiles::"], 6),
    Generator("schedules", "fusion-conversion", "conversion",
              ["schedules::schedules_keep", "schedules::intrinsics_compute"], 10),
    Generator("pipelined schedules", "fusion-conversion", "conversion",
              ["schedules::pipelines::", "schedules::padding::"]),
    Generator("kernels of families", "fusion-conversion", "conversion", ["compiled::families::"]),
    Generator("kernels of chains", "fusion-conversion", "conversion", ["compiled::kernels::"]),
    Generator("kernels of other calls", "fusion-conversion", "conversion", ["compiled::more::", "compiled::special::"]),
    Generator("kernels of parts", "fusion-conversion", "conversion",
              ["compiled::cells::", "compiled::strassen::", "compiled::loops::", "compiled::moments::", "compiled::inner_product_trick::",
               "compiled::integers::", "compiled::pieces::", "compiled::rearranged::", "compiled::results::", "compiled::streams::"]),
    Generator("definitions", "fusion-conversion", "conversion", ["definitions::"]),
    Generator("memory plans", "fusion-conversion", "conversion", ["arena::live", "host_program::planned"]),
    Generator("bytecode ahead of time", "fusion-conversion", "conversion", ["ahead_of_time::random::"], 20),
    Generator("bytecode text", "fusion-bytecode", "text", ["random_programs_come_back", "damaged_texts"], 2000),
    Generator("bytecode files", "fusion-bytecode", "file", ["content_that_lies"]),
    Generator("damaged models", "fusion-importers", "importers", ["robust::damaged_models"], 1000),
    Generator("relay text", "fusion-importers", "importers",
              ["relay_text::random_programs", "relay_text::damaged_texts"], 200),
    Generator("kernels of GPUs", "fusion-tools", "tools", ["gpu_kernels::random_kernels"], 20),
    Generator("schedules by chance", "fusion-tools", "tools", ["gpu_kernels::drawn"], 12),
    Generator("kernels by chance", "fusion-conversion", "conversion",
              ["compiled::families::", "compiled::kernels::", "compiled::more::", "compiled::special::", "compiled::cells::", "compiled::strassen::",
               "compiled::moments::", "compiled::inner_product_trick::", "compiled::pieces::"], None, True),
    Generator("models on GPUs", "fusion-tools", "tools", ["gpu::every_kind", "gpu::steps_run_ahead"]),
    Generator("TMA on GPUs", "fusion-tools", "tools", ["gpu_tma::random_products"]),
]


def build():
    """The test executables by package and target, with the folders they run in."""
    # As `make test` builds them, so that nothing is built twice.
    command = [os.environ.get("CARGO", "cargo"), "test", "--workspace", "--features", "fusion/ndarray", "--no-run", "--message-format=json"]
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if built.returncode != 0:
        sys.exit("the tests are not built: see above")
    found = {}
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["profile"]["test"] and message["target"]["kind"] == ["test"]:
            manifest = pathlib.Path(message["manifest_path"])
            package = re.search(r'^name = "(.*)"', manifest.read_text(), re.M).group(1)
            found[package, message["target"]["name"]] = (kept(pathlib.Path(message["executable"])), manifest.parent)
    return found


def kept(executable):
    """A link to an executable, which stays when the tests are built again in the meantime."""
    link = ROOT / "target" / "fuzz" / "bin" / executable.name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    os.link(executable, link)
    return str(link)


def check(generator, built):
    """Each filter of a generator names a test; otherwise it would run nothing and never fail."""
    place = built.get((generator.package, generator.target))
    if not place:
        sys.exit(f"{generator.name}: there is no test {generator.target} in {generator.package}")
    listed = subprocess.run([place[0], "--list"], cwd=place[1], stdout=subprocess.PIPE, text=True).stdout
    for test in generator.tests:
        if not any(line.startswith(test) for line in listed.splitlines()):
            sys.exit(f"{generator.name}: no test of {generator.package} begins with {test}")


def variables(generator, seed):
    cases = {"FUSION_FUZZ_CASES": str(generator.cases)} if generator.cases else {}
    drawn = {"FUSION_SCHEDULE_SEED": str(seed)} if generator.drawn else {}
    return {"FUSION_SEED": str(seed), **cases, **drawn}


def repeats(generator, seed):
    """The command that runs the same cases again."""
    said = " ".join(f"{name}={value}" for name, value in variables(generator, seed).items())
    tests = " ".join(generator.tests)
    return f"{said} cargo test -p {generator.package} --test {generator.target} -- {tests}"


def message(output):
    """What a failed test said, without the lines of those that passed."""
    lines = output.splitlines()
    first = next((i for i, line in enumerate(lines) if "panicked at" in line), max(0, len(lines) - LINES))
    kept = lines[first:first + LINES]
    return "\n".join("    " + line[:300] for line in kept if line.strip())


class Fuzzing:
    def __init__(self, generators, built, end):
        self.generators, self.built, self.end = generators, built, end
        self.lock, self.running = threading.Lock(), set()
        self.runs, self.seconds, self.failed = (collections.Counter() for _ in range(3))

    def next(self):
        """The generator that ran for the shortest time, so that all get their share."""
        with self.lock:
            chosen = min(self.generators, key=lambda g: (self.seconds[g.name], self.runs[g.name]))
            # It counts as running until it says how long it took.
            self.seconds[chosen.name] += 1
            return chosen

    def work(self, _):
        while time.time() < self.end:
            generator = self.next()
            start, seed = time.time(), secrets.randbelow(10**9)
            status, output = self.run(generator, seed)
            with self.lock:
                self.seconds[generator.name] += time.time() - start - 1
                if status == 0:
                    self.runs[generator.name] += 1
                elif status is not None:
                    self.runs[generator.name] += 1
                    self.failed[generator.name] += 1
                    self.tell(generator, seed, output)

    def run(self, generator, seed):
        """Status and output; the status is none where the time was over before it ended."""
        executable, folder = self.built[generator.package, generator.target]
        command = [executable, "--test-threads=1", *generator.tests]
        environment = {**os.environ, **variables(generator, seed)}
        # A file, not a pipe: what is ended leaves its output.
        log = ROOT / "target" / "fuzz" / f"{generator.name.replace(' ', '-')}-{seed}.txt"
        with open(log, "w+", encoding="utf-8", errors="replace") as output:
            process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=subprocess.STDOUT)
            status, hangs = None, time.time() + HANGS
            while status is None and time.time() < min(self.end, hangs):
                try:
                    status = process.wait(timeout=0.5)
                except subprocess.TimeoutExpired:
                    pass
            if status is None:
                process.kill()
                process.wait()
                if time.time() >= hangs:
                    status = 124
                    output.write(f"\nit was ended after {HANGS} seconds\n")
            output.seek(0)
            text = output.read()
        if not status:
            log.unlink()
        return status, text

    def tell(self, generator, seed, output):
        print(f"FAILED {generator.name}, seed {seed}\n  {repeats(generator, seed)}\n{message(output)}\n", flush=True)

    def summary(self):
        print(f"{'generator':26}{'runs':>6}{'failed':>8}{'seconds':>9}")
        for generator in self.generators:
            name = generator.name
            print(f"{name:26}{self.runs[name]:6}{self.failed[name]:8}{self.seconds[name]:9.0f}")


def main(arguments):
    try:
        minutes = float(arguments[0])
    except (IndexError, ValueError):
        sys.exit("fuzz.py takes the minutes to run, and parts of names of generators: fuzz.py 10 executors")
    wanted = [g for g in GENERATORS if not arguments[1:] or any(part in g.name for part in arguments[1:])]
    if not wanted:
        sys.exit(f"no generator is named so; there are {', '.join(g.name for g in GENERATORS)}")
    built = build()
    for generator in wanted:
        check(generator, built)
    (ROOT / "target" / "fuzz").mkdir(parents=True, exist_ok=True)
    cores = len(os.sched_getaffinity(0))
    print(f"{len(wanted)} generators on {cores} cores for {minutes:g} minutes", flush=True)
    fuzzing = Fuzzing(wanted, built, time.time() + 60 * minutes)
    with concurrent.futures.ThreadPoolExecutor(cores) as workers:
        # Reading the results raises what a worker raised.
        list(workers.map(fuzzing.work, range(cores)))
    fuzzing.summary()
    return 1 if fuzzing.failed.total() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
