"""The steps of a run, in order (drive.py)."""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

KIT = pathlib.Path(__file__).resolve().parent
CHECK_S, TIME_S = 15, 90
HANGS = 3  # in a row, after which a step is given up


class Refused(Exception):
    """A sentence that ends the run; what is known by then stays in its folder."""


def _each(run, step, names, request, seconds):
    hangs = 0
    for name in names:
        if run.late() or hangs == HANGS:
            print(f"no time is left in step {step}", flush=True)
            return
        if run.wanted(name) and (step, name) not in run.results:
            answer = run.worker.ask(request(name), seconds)
            hangs = run.lost = hangs + 1 if answer.get("kind") == "Hang" else 0
            run.note(step, name, answer)


def _of(run, family):
    return [c["name"] for c in run.manifest["cases"] if (c["family"] == "kinds") == (family == "kinds") and c["compiled"]]


def fit(run):
    """Whether there is a device, and the one that the kit is for."""
    if run.manifest["emulated"]:
        return
    found = run.worker.ask({"do": "device"}, 60)
    if not found["ok"]:
        raise Refused(found["said"])
    target, capability = run.manifest["target"], found.get("capability")
    if capability and target.startswith("nvidia:sm_") and not target.removeprefix("nvidia:sm_").startswith(capability):
        raise Refused(f"The kit is for {target}, and the device is {found['name']} of sm_{capability}; build one with --target nvidia:sm_{capability}.")


def facts(run):
    if ("1", "facts") not in run.results:
        run.note("1", "facts", run.worker.ask({"do": "facts"}, 60))


def kinds(run):
    _each(run, "2", _of(run, "kinds"), lambda name: {"do": "check", "case": name}, CHECK_S)


def check(run):
    _each(run, "3", _of(run, "all"), lambda name: {"do": "check", "case": name}, CHECK_S)


def time(run):
    """Only what is right is timed. Cases in turns by family, so that each family has figures when time is over."""
    right = [name for name in _of(run, "all") if run.results.get(("3", name), {}).get("right", ("3", name) not in run.results)]
    families = {}
    for name in right:
        families.setdefault(name.split("/")[0], []).append(name)
    turns = [name for turn in range(len(right)) for names in families.values() for name in names[turn : turn + 1]]
    _each(run, "4", turns, lambda name: {"do": "time", "case": name, "peers": run.peers}, TIME_S)


def _tool(command, seconds):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return None, f"no end within {seconds} s"


def sanitize(run):
    """memcheck and racecheck on the cases of kinds, which are small; without PyTorch, whose kernels would be checked too."""
    if not shutil.which("compute-sanitizer"):
        return print("5 compute-sanitizer is not installed", flush=True)
    models = [name for name in _of(run, "all") if name.startswith("models/")]
    keys = [(tool, name) for tool in ("memcheck", "racecheck") for name in _of(run, "kinds") + (models if tool == "memcheck" else [])
            if run.wanted(name)]
    keys = [(tool, name) for tool, name in keys if ("5", f"{tool} {name}") not in run.results]

    def one(tool, name):
        command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "3", sys.executable, str(KIT / "once.py"), str(run.cases / name)]
        return (None, "no time was left") if run.late() else _tool(command, 90)

    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 2) // 2)) as pool:
        for (tool, name), (code, said) in zip(keys, pool.map(lambda key: one(*key), keys)):
            key = f"{tool} {name}"
            with open(run.out / "sanitizer.log", "a") as log:
                log.write(f"== {key}\n{said}\n")
            first = next((l.strip(" =") for l in said.splitlines() if any(w in l for w in ("Error", "Invalid", "azard", "no end"))), "")
            run.note("5", key, {"ok": code == 0, "said": first[:300] or f"exit {code}"})


METRICS = "gpu__time_duration.sum,sm__throughput.avg.pct_of_peak_sustained_elapsed,dram__throughput.avg.pct_of_peak_sustained_elapsed," \
    "sm__warps_active.avg.pct_of_peak_sustained_active,launch__registers_per_thread,sm__inst_executed_pipe_tensor.sum," \
    "l1tex__data_bank_conflicts_pipe_lsu.sum,smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"


def profile(run, count=5):
    if not shutil.which("ncu"):
        return print("6 ncu is not installed", flush=True)
    ratios = []
    for (step, name), result in run.results.items():
        if step == "4" and result["ok"]:
            peers = [ms for peer, ms in result["ms"].items() if not peer.startswith("fusion")]
            if peers:
                ratios.append((min(peers) / result["ms"]["fusion"], name))
    for _, name in sorted(ratios)[:count]:
        if run.late() or ("6", name) in run.results:
            continue
        command = ["ncu", "--csv", "--page", "raw", "--clock-control", "none", "--launch-count", "12", "--metrics", METRICS, sys.executable,
                   str(KIT / "once.py"), str(run.cases / name)]
        code, said = _tool(command, 60)
        (run.out / "ncu.log").open("a").write(f"== {name}\n{said}\n")
        run.note("6", name, {"ok": code == 0, "said": f"exit {code}; ncu.log has the counters"})


def nodes(run):
    _each(run, "7", run.manifest["nodes"], lambda name: {"do": "node", "case": name}, CHECK_S)


STEPS = {"1": facts, "2": kinds, "3": check, "4": time, "5": sanitize, "6": profile, "7": nodes}
