#!/usr/bin/env python3
"""Tunes odd kernels and models, and compares them with their defaults: tuning.py FUSION DIR [--seed N] [--trials N] [--model M.onnx ...]

The kernels are drawn by a seed: products, convolutions, pools, reductions and rearrangements whose extents are no round numbers. Each is tuned on
one thread; then the default and the tuned library are timed in turns, as programs, and the least time of each counts. With --wrong FILE.toml each is tuned
for that processor's description as well, and its best compared with the best of this machine's. With --curves the cost models and searches are
compared on each kernel: the trials until 95 % of the best of so many random ones (--random) is found. Logs stay in DIR.
"""

import argparse
import json
import math
import pathlib
import random
import subprocess


def product(r):
    m, k, n = (r.randint(17, 500) for _ in range(3))
    return f"matmul_{m}x{k}x{n}", [f"{m}x{k}", f"{k}x{n}"], f"{m}x{n}", [
        f"%0 = relay.matmul %a, %b : (tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32>"]


def stacked(r):
    b, m, k, n = r.randint(3, 12), *(r.randint(9, 150) for _ in range(3))
    return f"batch_matmul_{b}x{m}x{k}x{n}", [f"{b}x{m}x{k}", f"{b}x{k}x{n}"], f"{b}x{m}x{n}", [
        f"%0 = relay.batch_matmul %a, %b : (tensor<{b}x{m}x{k}xf32>, tensor<{b}x{k}x{n}xf32>) -> tensor<{b}x{m}x{n}xf32>"]


def convolution(r):
    c, f, size, k, s = r.randint(5, 70), r.randint(5, 90), r.randint(11, 60), r.choice([1, 3, 5]), r.choice([1, 2])
    p = k // 2
    o = (size + 2 * p - k) // s + 1
    x, w, y = f"1x{c}x{size}x{size}", f"{f}x{c}x{k}x{k}", f"1x{f}x{o}x{o}"
    return f"conv_{c}x{size}_{f}_{k}x{k}_s{s}", [x, w], y, [
        f"%0 = relay.conv2d %a, %b {{strides = array<i64: {s}, {s}>, padding = array<i64: {p}, {p}, {p}, {p}>}} "
        f": (tensor<{x}xf32>, tensor<{w}xf32>) -> tensor<{y}xf32>"]


def depthwise(r):
    c, size, k = r.randint(11, 150), r.randint(13, 70), r.choice([3, 5])
    p = k // 2
    x, w = f"1x{c}x{size}x{size}", f"{c}x1x{k}x{k}"
    return f"depthwise_{c}x{size}_{k}x{k}", [x, w], x, [
        f"%0 = relay.conv2d %a, %b {{strides = array<i64: 1, 1>, padding = array<i64: {p}, {p}, {p}, {p}>, groups = {c} : i64}} "
        f": (tensor<{x}xf32>, tensor<{w}xf32>) -> tensor<{x}xf32>"]


def pool(r):
    c, size = r.randint(11, 90), r.randint(23, 100)
    x, y = f"1x{c}x{size}x{size}", f"1x{c}x{(size - 3) // 2 + 1}x{(size - 3) // 2 + 1}"
    return f"pool_{c}x{size}", [x], y, [
        f"%0 = relay.max_pool2d %a {{kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>}} "
        f": (tensor<{x}xf32>) -> tensor<{y}xf32>"]


def softmax(r):
    m, n = r.randint(50, 900), r.randint(50, 900)
    x = f"{m}x{n}"
    return f"softmax_{x}", [x], x, [f"%0 = relay.softmax %a {{axis = 1 : i64}} : (tensor<{x}xf32>) -> tensor<{x}xf32>"]


def reduction(r):
    m, n, axis = r.randint(50, 900), r.randint(50, 900), r.choice([0, 1])
    x, y = f"{m}x{n}", str([n, m][axis])
    return f"reduce_max_{x}_{axis}", [x], y, [f"%0 = relay.reduce_max %a {{axes = array<i64: {axis}>}} : (tensor<{x}xf32>) -> tensor<{y}xf32>"]


def rearranged(r):
    m, n = r.randint(50, 900), r.randint(50, 900)
    x, y = f"{m}x{n}", f"{n}x{m}"
    return f"transpose_add_{x}", [x, y], y, [
        f"%1 = relay.transpose %a {{axes = array<i64: 1, 0>}} : (tensor<{x}xf32>) -> tensor<{y}xf32>",
        f"%0 = relay.add %1, %b : (tensor<{y}xf32>, tensor<{y}xf32>) -> tensor<{y}xf32>"]


FAMILIES = [product, product, stacked, convolution, convolution, convolution, depthwise, pool, softmax, reduction, rearranged, stacked]


def kernels(seed, folder):
    """The files of the kernels of a seed, by name."""
    r, made = random.Random(seed), {}
    for family in FAMILIES:
        name, inputs, output, body = family(r)
        arguments = ", ".join(f"%{v}: tensor<{shape}xf32>" for v, shape in zip("ab", inputs))
        lines = [f"func.func @main({arguments}) -> tensor<{output}xf32> {{", *(f"  {line}" for line in body),
                 f"  return %0 : tensor<{output}xf32>", "}", ""]
        made[name] = folder / f"{name}.mlir"
        made[name].write_text("\n".join(lines))
    return made


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def seconds(fusion, libraries, rounds=5):
    """The least time of each library, timed in turns."""
    least = [math.inf] * len(libraries)
    for _ in range(rounds):
        for i, library in enumerate(libraries):
            report = json.loads(run(fusion, "bench", library, "--threads", 1, "--budget", 0.4, "--runs", 100000, "--json"))
            least[i] = min(least[i], report["median_s"])
    return least


def tuned(fusion, model, log, trials, *options):
    log.unlink(missing_ok=True)
    run(fusion, "tune", model, "-o", log, "--trials", trials, *options)
    return log


def geomean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


SEARCHES = {"trees": [], "rank": ["--cost-model", "rank"], "knobs": ["--cost-model", "knobs"], "estimate": ["--cost-model", "estimate"],
            "evolution": ["--search", "evolution"], "random": ["--search", "random"]}


def measured(log):
    """The trials of a log with what each took, in order, those of the end left out."""
    records = [json.loads(line) for line in log.read_text().splitlines()]
    times = ((r["trial"] + 1, sorted(r.get("times_ps", []))) for r in records if not r.get("again"))
    return [(trial, t[len(t) // 2]) for trial, t in times if t]


def curves(fusion, name, model, folder, trials, random_trials, searches):
    """The trials of each search until 95 % of the best random one."""
    logs = {how: tuned(fusion, model, folder / f"{name}.{how}.jsonl", random_trials if how == "random" else trials, "--patience", 0, *SEARCHES[how])
            for how in searches}
    best = min(time for _, time in measured(logs["random"]))
    return {how: next((trial for trial, time in measured(log) if best / time >= 0.95), math.inf) for how, log in logs.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fusion", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--model", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--wrong", type=pathlib.Path)
    parser.add_argument("--curves", action="store_true")
    parser.add_argument("--random", type=int, default=300, help="random trials that the others are compared with")
    parser.add_argument("--searches", default=",".join(SEARCHES), help="what --curves compares, random among them")
    parser.add_argument("--only", default="", help="a part of the names of the kernels, several behind commas")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    fusion, folder = given.fusion.resolve(), given.folder.resolve()
    all_models = kernels(given.seed, folder) | {f"{m.parent.name}_{m.stem}": m.resolve() for m in given.model}
    all_models = {name: model for name, model in all_models.items() if any(part in name for part in given.only.split(","))}
    if given.curves:
        searches = given.searches.split(",")
        print(f"{'kernel':32}" + "".join(f" {how:>9}" for how in searches) + "   trials until 95 % of the best random one")
        for name, model in all_models.items():
            found = curves(fusion, name, model, folder, given.trials, given.random, searches)
            print(f"{name:32}" + "".join(f" {found[how]:9}" for how in searches), flush=True)
        return
    print(f"{'kernel':32} {'default us':>11} {'tuned us':>11} {'ratio':>6}" + (f"  of {given.wrong.stem}: default us, tuned us, ratio of the tuned ones" if given.wrong else ""))
    ratios, against = [], []
    for name, model in all_models.items():
        log = tuned(fusion, model, folder / f"{name}.jsonl", given.trials)
        libraries = [folder / f"{name}.{how}.so" for how in ("default", "tuned")]
        run(fusion, "compile", model, "-o", libraries[0])
        run(fusion, "compile", model, "-o", libraries[1], "--tuning-log", log)
        if given.wrong:
            wrong = tuned(fusion, model, folder / f"{name}.wrong.jsonl", given.trials, "--target-file", given.wrong)
            libraries.append(folder / f"{name}.wrong.so")
            run(fusion, "compile", model, "-o", libraries[2], "--target-file", given.wrong, "--tuning-log", wrong)
            libraries.append(folder / f"{name}.untuned.so")
            run(fusion, "compile", model, "-o", libraries[3], "--target-file", given.wrong)
        default, best, *rest = seconds(fusion, libraries)
        ratios.append(default / best)
        line = f"{name:32} {default * 1e6:11.2f} {best * 1e6:11.2f} {ratios[-1]:6.2f}"
        if rest:
            against.append(best / rest[0])
            line += f"  {rest[1] * 1e6:11.2f} {rest[0] * 1e6:11.2f} {against[-1]:6.2f}"
        print(line, flush=True)
    print(f"geomean {geomean(ratios):.3f}" + (f", of {given.wrong.stem}'s best against this machine's {geomean(against):.3f}" if against else ""))


if __name__ == "__main__":
    main()
