#!/usr/bin/env python3
"""Compiles all cases for a GPU and lays a kit that runs there: build.py [--target nvidia:sm_90a] [--emulate --small] [--only GLOB] KIT"""

import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
FUSION = os.environ.get("FUSION", str(REPOSITORY / "target/debug/fusion"))
DRIVER = ["drive", "steps", "table", "worker", "case", "host", "once", "nodes", "library", "evaluate", "weights", "tolerance", "timing", "peers", "triton_kernels"]
FEW_BYTES = 55 << 20

import drive
import host
import nodes
from cases import all_cases
from cases.program import relay
from weights import weight


def ptxas():
    """The assembler: FUSION_PTXAS, that in PATH, or NVIDIA's package from PyPI, which is unpacked into data/."""
    if given := os.environ.get("FUSION_PTXAS") or shutil.which("ptxas"):
        return given
    where = REPOSITORY / "data/ptxas"
    found = lambda: next(iter(where.rglob("bin/ptxas")), None)
    if not found():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(where), "nvidia-cuda-nvcc==13.0.88", "nvidia-nvvm==13.0.88"]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if found():
        found().chmod(0o755)
    return str(found()) if found() else None


def run_fusion(options, assembler, arguments):
    """What the compiler says where it fails; else nothing."""
    command = [*arguments, "--target", options.target, *(["--emulate"] if options.emulate else ["--cubin"] if assembler else [])]
    environment = os.environ | ({"FUSION_PTXAS": assembler} if assembler else {})
    done = subprocess.run([FUSION, *map(str, command)], capture_output=True, text=True, env=environment)
    return " ".join(done.stderr.split()) or f"exit {done.returncode}" if done.returncode else None


def bound(program, scratch):
    """Options that make weights constants; their values go into files."""
    options = []
    for value, fill in program.weights:
        path = scratch / f"{value.name[1:]}.npy"
        np.save(path, weight(value.shape, fill).astype("f2" if value.dtype == "f16" else "f4"))
        options += ["--bind", f"{value.name[1:]}={path}"]
    return options


def expect(program, record, stem, scratch, options):
    """What the reference interpreter gives for the inputs that host.py makes."""
    if any(v.dtype == "bf16" for v in program.outputs) or any(v.dtype == "bf16" for v, _ in program.inputs):
        return  # numpy has no such type
    given = {v.name[1:]: x for (v, _), x in zip(program.inputs, host.inputs_of(record))}
    np.savez(scratch / "x.npz", **given)
    command = ["run", scratch / "case.mlir", "--executor", "interp", "--inputs", scratch / "x.npz", "--outputs", scratch / "y.npz", *options]
    done = subprocess.run([FUSION, *map(str, command)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"The interpreter does not run {program.name}: {done.stderr.strip()[:300]}")
    np.savez(f"{stem}.npz", **{f"y{i}": y for i, y in enumerate(np.load(scratch / "y.npz").values())})


def compile_case(program, options, assembler, where):
    """Writes NAME.so and NAME.json; gives what the manifest says of the case."""
    record, start = program.record(), time.time()
    stem = where / program.name
    stem.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "case.mlir").write_text(relay(program))
        given = bound(program, scratch)
        said = run_fusion(options, assembler, ["compile", scratch / "case.mlir", "-o", f"{stem}.so", *record["options"], *given])
        if options.small and not said:
            expect(program, record, stem, scratch, given)
    if not said:
        pathlib.Path(f"{stem}.json").write_text(json.dumps(record))
        pathlib.Path(f"{stem}.h").unlink(missing_ok=True)
    bytes_ = sum(v.bytes for v, _ in program.inputs + program.weights) + sum(v.bytes for v in program.outputs)
    took = round(time.time() - start, 1)
    print(f"{program.name:58} {'FAILED ' + said[:300] if said else ''}{took} s", flush=True)
    return {"name": program.name, "family": record["family"], "flops": record.get("flops"), "bytes": bytes_, "compiled": not said, "said": said}


def compile_nodes(options, assembler, where, pool):
    """Names of ONNX's node tests in the kit, one of each operator first."""
    try:
        tests = nodes.collected()
    except ImportError:
        print("the onnx package is not installed: the kit has no node tests")
        return []
    (where / "nodes").mkdir(parents=True, exist_ok=True)
    wanted = nodes.in_turns([n for n in tests if fnmatch.fnmatch(f"nodes/{n}", options.only)])[: options.nodes]
    make = lambda model, library: not run_fusion(options, assembler, ["compile", model, "-o", library])
    made = list(pool.map(lambda name: nodes.pack(tests[name], where / "nodes" / name, make), wanted))
    for file in [*(where / "nodes").glob("*.onnx"), *(where / "nodes").glob("*.h")]:
        file.unlink()
    print(f"{sum(made)} of {len(wanted)} node tests compile")
    return [name for name, compiled in zip(wanted, made) if compiled]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kit", type=pathlib.Path)
    parser.add_argument("--target", default="nvidia:sm_90a")
    parser.add_argument("--emulate", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", default="*")
    parser.add_argument("--nodes", type=int, default=300, help="how many node tests of ONNX to compile [300]")
    options = parser.parse_args()
    kit = options.kit
    shutil.rmtree(kit, ignore_errors=True)
    kit.mkdir(parents=True)
    nvidia = options.target.startswith("nvidia") and not options.emulate
    assembler = ptxas() if nvidia else None
    if nvidia and not assembler:
        print("ptxas cannot be had: the driver assembles PTX when a kernel is first launched")
    chosen = [p for p in all_cases(options.small) if fnmatch.fnmatch(p.name, options.only)]
    if not chosen:
        sys.exit(f"No case is named {options.only}; names are like gemm/f16_4096x4096x4096.")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        cases = list(pool.map(lambda p: compile_case(p, options, assembler, kit / "cases"), chosen))
        tests = compile_nodes(options, assembler, kit / "cases", pool)
    for name in DRIVER:
        shutil.copy(HERE / f"{name}.py", kit)
    version = subprocess.run([FUSION, "--version"], capture_output=True, text=True).stdout.strip().removeprefix("fusion ")
    manifest = {"kit": drive.KIT_VERSION, "target": options.target, "version": version, "emulated": options.emulate, "small": options.small, "cases": cases, "nodes": tests}
    (kit / "manifest.json").write_text(json.dumps(manifest, indent=1))
    failed = [c["name"] for c in cases if not c["compiled"]]
    if not options.emulate:
        with tarfile.open(kit / "cases.tar.xz", "w:xz", preset=3) as packed:
            packed.add(kit / "cases", "cases")
        shutil.rmtree(kit / "cases")
        size = sum(f.stat().st_size for f in kit.rglob("*") if f.is_file())
        print(f"{kit}: {len(cases) - len(failed)} cases, {size / (1 << 20):.1f} MiB")
        if size > FEW_BYTES:
            sys.exit(f"The kit has {size >> 20} MiB, more than the {FEW_BYTES >> 20} it may have; leave out cases with --only.")
    if failed:
        print(f"{len(failed)} cases do not compile: {', '.join(failed)}")


if __name__ == "__main__":
    main()
