"""Does one thing at a time with one case, on lines of JSON: {"do": "check" | "time" | "node" | "facts", "case": NAME} -> {"ok": ..., ...}.

A process of its own, so that a kernel that hangs or breaks the device costs its case alone: drive.py ends it and starts another. Where
PyTorch is missing, cases run on tensors of the host and are not timed.
"""

import json
import os
import pathlib
import sys
import time

import nodes

CASES = pathlib.Path(os.environ["FUSION_KIT_CASES"])
try:
    import torch
    import case as way
except ImportError:
    import host as way


def answer(request):
    match request["do"]:
        case "facts":
            return way.facts()
        case "device":
            return way.device()
        case "node":
            return nodes.check(CASES, request["case"])
        case "check":
            return way.check(way.Case(CASES, request["case"]))
        case "time" if hasattr(way, "timed"):
            return way.timed(way.Case(CASES, request["case"]), request["peers"])
    raise RuntimeError("PyTorch is not installed, which cases are timed with")


def main():
    protocol = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        request, start = json.loads(line), time.time()
        try:
            said = {"ok": True, **answer(request)}
        except Exception as error:
            said = {"ok": False, "said": " ".join(str(error).split())[:600], "kind": type(error).__name__}
        print(json.dumps({**said, "took": round(time.time() - start, 2)}), file=protocol, flush=True)
        if way.__name__ == "case" and torch.cuda.is_available():
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
