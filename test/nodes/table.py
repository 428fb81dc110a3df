#!/usr/bin/env python3
"""Writes what of ONNX's operators works as a page of the reference, from runs of their tests: table.py NODES NAME=LOG...

NODES is the folder that make.py writes. Each log has a line a test: PASS name, FAIL name: why, or UNSUPPORTED name: why, as
`fusion onnx-test` and the example onnx_backend print them.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

import onnx
from onnx import TensorProto, defs

HEAD = """# ONNX's operators

A row for each operator of ONNX {version}: the versions in which it is defined, all of which are read; the element types of
its tests; and how many of its tests pass, with each executor. `make onnx-table` writes this page from a run of all tests.

| Executor | What runs | Pass | Not supported | Wrong |
|---|---|---|---|---|
{summary}

Where a row has no numbers, ONNX has no tests; such operators are compared with numbers worked out by hand. How operators are
read, and what they do not do, is in [ONNX support](onnx.md).
"""


def verdicts(log):
    """The verdict of each test, and why."""
    found = {}
    for line in Path(log).read_text().splitlines():
        if match := re.match(r"(PASS|FAIL|UNSUPPORTED) ([^\s:]+)(?:: (.*))?", line):
            found[match[2]] = (match[1], match[3] or "")
    return found


def element_types(info):
    """The names of the element types of a value."""
    kind = info.type.WhichOneof("value")
    inner = getattr(info.type, kind)
    while kind != "tensor_type" and hasattr(inner, "elem_type"):
        kind = inner.elem_type.WhichOneof("value")
        if kind is None:
            return set()
        inner = getattr(inner.elem_type, kind)
    return {TensorProto.DataType.Name(inner.elem_type).lower()} if kind == "tensor_type" else set()


def operator(name, graph):
    """The operator that a test is of: the one that its name has, or the last."""
    plain = name.replace("_", "")
    named = [node for node in graph.node if node.op_type.lower() in plain]
    node = max(named, key=lambda node: len(node.op_type), default=graph.node[-1])
    return node.domain.replace("ai.onnx", "", 1).lstrip(".") if node.domain == "ai.onnx" else node.domain, node.op_type


def cases(root):
    """(test, operator, element types) of each test; one whose function is expanded is of the operator that it expands."""
    tests = {}
    for path in sorted(root.glob("test_*/model.onnx")):
        graph = onnx.load(path).graph
        types = set().union(*(element_types(info) for info in graph.input))
        tests[path.parent.name] = (operator(path.parent.name, graph), types)
    for name, (_, types) in tests.items():
        whole = tests.get(re.sub(r"_expanded.*", "", name))
        yield name, (whole or tests[name])[0], types


def main():
    root, logs = Path(sys.argv[1]), dict(argument.split("=", 1) for argument in sys.argv[2:])
    runs = {name: verdicts(log) for name, log in logs.items()}
    rows, types = defaultdict(list), defaultdict(set)
    for name, key, elements in cases(root):
        rows[key].append(name)
        types[key] |= elements
    versions = defaultdict(list)
    for schema in defs.get_all_schemas_with_history():
        versions[schema.domain, schema.name].append(schema.since_version)

    def count(run, kind):
        return sum(verdict == kind for verdict, _ in run.values())

    what = {"reference": "the reference semantics", "cpu": "machine code of this processor"}
    summary = [
        f"| {name} | {what.get(name, 'kernels of that GPU, emulated')} | {count(run, 'PASS')} | {count(run, 'UNSUPPORTED')} | {count(run, 'FAIL')} |"
        for name, run in runs.items()
    ]
    print(HEAD.format(version=onnx.__version__, summary="\n".join(summary)))
    for domain in sorted({domain for domain, _ in {**rows, **versions}}):
        print(f"## {domain or 'ai.onnx'}\n\n| Operator | Versions | Types | {' | '.join(runs)} |\n|---|---|---|{'---|' * len(runs)}")
        for key in sorted(key for key in {**versions, **rows} if key[0] == domain):
            tests, cells = rows.get(key, []), []
            for run in runs.values():
                known = [test for test in tests if test in run]
                passed = sum(run[test][0] == "PASS" for test in known)
                cells.append("" if not known else str(passed) if passed == len(known) else f"{passed} of {len(known)}")
            print(f"| {key[1]} | {' '.join(map(str, sorted(versions[key])))} | {' '.join(sorted(types[key]))} | {' | '.join(cells)} |")
        print()
    print("## What is refused\n")
    for name, run in runs.items():
        reasons = defaultdict(list)
        for test, (verdict, why) in run.items():
            if verdict != "PASS":
                reasons[why].append(f"`{test}`")
        for why, tests in sorted(reasons.items()):
            print(f"- {name}: {', '.join(tests)}: {why}")


main()
