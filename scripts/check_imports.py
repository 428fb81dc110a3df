#!/usr/bin/env python3
"""Checks that no two files of a crate import each other: check_imports.py [ROOT]

A file imports another one when a path of it that begins with crate, super or self leads there, in a `use` or in the code.
Comments, texts and what is only for tests (`#[cfg(test)]`) do not count. A path that a `pub use` passes on leads to the file
that has the thing. A module and the modules within it may use each other: that is one thing in several files. Two other files
that import each other can be neither read nor changed one at a time. What both need then belongs into a file of its own, or
a function to the other side. ALLOWED lists the pairs that are still to be parted; it only shrinks, and a pair of it that is
gone is an error as well. The status is 1 when there is an error.
"""

import re
import sys
from pathlib import Path

# Folders of what was built and fetched, and projects of their own.
OTHERS = {".git", "target", "data", "out-of-tree", "library", "fuzz"}
# Pairs that are still to be parted.
ALLOWED = set()
# Comments (block comments nest in Rust, but not in this code), texts and characters; a lifetime is none of these.
SKIPPED = re.compile(
    r"//[^\n]*|/\*.*?\*/|b?r(#*)\".*?\"\1|b?\"(?:\\.|[^\"\\])*\"|b?'(?:\\(?:u\{\w+\}|.)[^']*|[^'\\\n])'", re.S
)
TEST = re.compile(r"#\[cfg\((?:all\()?test\b[^\]]*\]")
USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]*);")
ITEM = re.compile(r"^pub(?:\([^)]*\))? (?:(?:const|unsafe|async) )*(?:fn|struct|enum|const|static|type|trait) (\w+)", re.M)
PATH = re.compile(r"\b(?:crate|super|self)(?:\s*::\s*\w+)+")


def plain(text):
    """A source without comments, texts and what is only for tests."""
    text = SKIPPED.sub(" ", text)
    while match := TEST.search(text):
        end, depth = match.end(), 0
        while end < len(text):
            depth += (text[end] in "{([") - (text[end] in "})]")
            end += 1
            # An item ends with its block or its semicolon, a field or an arm with its comma.
            if depth < 0 or depth == 0 and text[end - 1] in "};,":
                break
        text = text[: match.start()] + text[end - (depth < 0) :]
    return text


def spread(tree):
    """The paths of a `use` tree: each with the name it gets."""
    start = tree.find("{")
    if start < 0:
        path, _, name = tree.partition(" as ")
        parts = [part.strip() for part in path.split("::") if part.strip()]
        yield parts, name.strip() or (parts[-1] if parts else "")
        return
    depth, last = 0, start + 1
    for at in range(start + 1, len(tree)):
        depth += (tree[at] == "{") - (tree[at] == "}")
        if depth == 0 and tree[at] == "," or depth < 0:
            if part := tree[last:at].strip():
                yield from spread(tree[:start] + part)
            last = at + 1
        if depth < 0:
            return


def imports(source):
    """The modules of a crate, each with its file and the modules that it imports: each with what it names of it."""
    files, passed, paths, defined = {}, {}, {}, {}
    for file in sorted(source.rglob("*.rs")):
        module = file.relative_to(source).with_suffix("").parts
        if module[0] == "bin":
            continue
        files[module[:-1] if module[-1] in ("mod", "lib", "main") else module] = file
    for module, file in files.items():
        text = plain(file.read_text(encoding="utf-8"))
        passed[module], paths[module], defined[module] = {}, [], set(ITEM.findall(text))
        for public, tree in USE.findall(text):
            for path, name in spread(" ".join(tree.split())):
                paths[module].append(path)
                if public and name != "*":
                    passed[module][name] = path
                elif public:
                    passed[module].setdefault("pub *", []).append(path[:-1])
        paths[module] += [re.split(r"\s*::\s*", path) for path in PATH.findall(USE.sub(" ", text))]

    def goal(module, path, steps=16):
        """The module that a path in a module leads to."""
        path = list(path)
        if path and path[0] == "crate":
            module, path = (), path[1:]
        while path and path[0] in ("self", "super"):
            module, path = module[:-1] if path[0] == "super" else module, path[1:]
        while path:
            if (*module, path[0]) in files:
                module, path = (*module, path[0]), path[1:]
            elif path[0] in passed.get(module, {}) and steps:
                onward = passed[module][path[0]]
                if onward[0] not in ("crate", "self", "super") and (*module, onward[0]) not in files:
                    return module
                return goal(module, onward + path[1:], steps - 1)
            else:
                within = [goal(module, onward, steps - 1) for onward in passed.get(module, {}).get("pub *", []) if steps]
                return next((other for other in within if path[0] in defined.get(other, ())), module)
        return module

    for module in files:
        known = [p for p in paths[module] if p and (p[0] in ("crate", "super", "self") or (*module, p[0]) in files)]
        used = {}
        for path in known:
            used.setdefault(goal(module, path), set()).add(path[-1])
        yield module, files[module], used


def related(one, other):
    """Whether a module is within another one."""
    return one == other[: len(one)] or other == one[: len(other)]


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    wrong, pairs, count = [], {}, 0
    for manifest in sorted(root.rglob("Cargo.toml")):
        if OTHERS & set(manifest.relative_to(root).parts) or not (manifest.parent / "src").is_dir():
            continue
        found = {module: (file, used) for module, file, used in imports(manifest.parent / "src")}
        count += len(found)
        for module, (file, used) in sorted(found.items()):
            for other in sorted(used):
                if module < other and module in found[other][1] and not related(module, other):
                    pair = tuple(str(f.relative_to(root)) for f in (file, found[other][0]))
                    pairs[pair] = (", ".join(sorted(n)) for n in (used[other], found[other][1][module]))
    for one, other in sorted(pairs.keys() - ALLOWED):
        there, here = pairs[one, other]
        wrong.append(
            f"{one} uses {there} of {other}, which uses {here} of it: "
            "put what both need into a file of its own, or move a function to the side where it belongs."
        )
    for one, other in sorted(ALLOWED - pairs.keys()):
        wrong.append(
            f"{one} and {other} no longer import each other: remove the pair from ALLOWED in scripts/check_imports.py."
        )
    for message in wrong:
        print(message, file=sys.stderr)
    if wrong:
        sys.exit(1)
    print(f"none of {count} files imports one that imports it, but for {len(ALLOWED)} known pairs")


if __name__ == "__main__":
    main()
