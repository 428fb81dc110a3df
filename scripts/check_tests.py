#!/usr/bin/env python3
"""Checks that no test is left out: check_tests.py [ROOT]

Cargo builds no tests of a target that says `test = false`, so a test in its sources would never run. Such targets are the
programs, whose tests stand in tests/, and libraries without tests of their own, which would be built once more for none.
"""

import sys
import tomllib
from pathlib import Path

TESTS = ("#[test]", "#[cfg(test)]")


def untested(manifest):
    """The source folders or files of the targets of a crate that are not tested."""
    crate = tomllib.loads(manifest.read_text(encoding="utf-8"))
    library = crate.get("lib", {})
    if library.get("test") is False:
        yield manifest.parent / library.get("path", "src/lib.rs"), "[lib]"
    for program in crate.get("bin", []):
        if program.get("test") is False:
            yield manifest.parent / program["path"], f"[[bin]] {program['name']}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    members = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["members"]
    wrong = 0
    for manifest in sorted(root / member / "Cargo.toml" for member in members):
        for source, target in untested(manifest):
            # A library is its folder, without the programs beside it; in a folder of tests it is a file.
            whole = target == "[lib]" and source.parent.name == "src"
            files = sorted(source.parent.rglob("*.rs")) if whole else [source]
            for file in files:
                if whole and "bin" in file.relative_to(source.parent).parts:
                    continue
                if any(word in file.read_text(encoding="utf-8") for word in TESTS):
                    print(
                        f"{file.relative_to(root)}: has tests that never run, as {target} of"
                        f" {manifest.relative_to(root)} says test = false: remove that line there"
                    )
                    wrong += 1
    sys.exit(wrong > 0)


main()
