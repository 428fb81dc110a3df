#!/usr/bin/env python3
"""Checks that heuristics name their numbers: check_numbers.py [ROOT]

In what decides schedules and chooses plans, a number comes from the machine's description, or is a constant whose comment says what it follows from. Literals
other than 0, 1, 2 and a half are errors there. What picks a bit, a place in a list or one of a few powers of two is no such number: such lines
are listed below. The status is 1 when there is an error.
"""

import re
import sys
from pathlib import Path

FOLDERS = ["transforms/schedule/src/auto_schedule", "transforms/egraph/src/extract"]
# Bits of words, whose number is a type's; variables out of the way of others; powers of two that are tried from the largest on.
ALLOWED = [r"\b(?:class|at|count|classes)(?:\.div_ceil\(| [/%] )64\b", r"\[(?:16, )?(?:8, )?4, 2(?:, 1)?\]", r"0 \| 1 \| 3 =>"]
PLAIN = {0.0, 1.0, 2.0, 0.5}
SKIPPED = re.compile(r"//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\\n])'")
CONSTANT = re.compile(r"\b(?:const|static)\s+\w+\s*:(?:[^;=\[\]]|\[[^\[\]]*\])*=.*?;", re.S)
NUMBER = re.compile(r"(?<![\w.\[#])(\d[\d_]*(?:\.\d+)?(?:e-?\d+)?)(?:_?[fui]\d+)?(?![\w\]]|\.\d)")


def errors(path):
    text = path.read_text().split("#[cfg(test)]")[0]
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    text = CONSTANT.sub(blank, SKIPPED.sub(blank, text))
    for number, line in enumerate(text.splitlines(), 1):
        if any(re.search(allowed, line) for allowed in ALLOWED):
            continue
        for match in NUMBER.finditer(line):
            if float(match.group(1).replace("_", "")) not in PLAIN:
                yield f"{path}:{number}: {match.group(1)} has no name: {line.strip()}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    found = [e for folder in FOLDERS for path in sorted((root / folder).rglob("*.rs")) for e in errors(path)]
    print("\n".join(found) if found else "the numbers of heuristics have names")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
