#!/usr/bin/env python3
"""Checks the links of all pages: check_links.py [ROOT]

Every relative link of a *.md file must lead to a file or folder of the tree, and every anchor to a heading of the page it
names. Every page of docs/ must be in docs/SUMMARY.md, so that the book has it, and every page of docs/ that a source names
must be there. Links to other sites are not followed. The status is 1 when a link is broken.
"""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
INLINE = re.compile(r"\]\(\s*<?([^)\s>]*)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)")
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$")
ANCHOR = re.compile(r"<a\s+(?:name|id)=\"([^\"]+)\"")
PAGE = re.compile(r"(?<![\w./-])(?:\.\./)*(docs/[\w./-]+\.md)\b")
# Folders of what was built and fetched, for a tree without git.
UNTRACKED = {".git", "target", "data", "book"}
# What was true when it was written.
RECORDS = ("CHANGELOG.md", "bench/results/")


def prose(text):
    """The lines that are no code, each with its number."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" `~"):
                fence = None
        elif mark:
            fence = mark[1]
        else:
            yield number, line


def anchors(text):
    """The anchors of a page, named as GitHub and mdBook name them."""
    found, counts = set(), {}
    for _, line in prose(text):
        found.update(ANCHOR.findall(line))
        heading = HEADING.match(line)
        if heading:
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            count = counts.get(name, 0)
            counts[name] = count + 1
            found.add(f"{name}-{count}" if count else name)
    return found


def links(text):
    """The targets of a page's links, each with its line."""
    for number, line in prose(text):
        line = CODE.sub("", line)
        for match in INLINE.finditer(line):
            yield number, match[1]
        match = REFERENCE.match(line)
        if match:
            yield number, match[1]


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    listed = ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        names = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        names = [str(path.relative_to(root)) for path in root.rglob("*")]
        names = [name for name in names if not UNTRACKED & set(Path(name).parts)]
    files = sorted({name for name in names if name and (root / name).is_file()})
    pages = {(root / f).resolve(): (root / f).read_text(encoding="utf-8") for f in files if f.endswith(".md")}
    known = {page: anchors(text) for page, text in pages.items()}
    wrong, count = [], 0

    for page, text in pages.items():
        name = page.relative_to(root)
        for line, target in links(text):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            count += 1
            path, _, anchor = target.partition("#")
            goal = (page.parent / unquote(path)).resolve() if path else page
            if not goal.exists():
                wrong.append(f"{name}:{line}: there is no {target}")
            elif anchor and goal in known and unquote(anchor) not in known[goal]:
                wrong.append(f"{name}:{line}: {goal.relative_to(root)} has no heading #{anchor}")

    summary = root / "docs/SUMMARY.md"
    if summary in pages:
        book = {(summary.parent / unquote(t.partition("#")[0])).resolve() for _, t in links(pages[summary])}
        for page in pages:
            if summary.parent in page.parents and page != summary and page not in book:
                wrong.append(f"{page.relative_to(root)}: is not in docs/SUMMARY.md")

    for file in files:
        if file.endswith(".md") and file.startswith("docs/") or file.startswith(RECORDS):
            continue
        try:
            text = (root / file).read_text(encoding="utf-8")
        except (UnicodeDecodeError, OSError):
            continue
        for line, content in enumerate(text.splitlines(), 1):
            for path in PAGE.findall(content):
                count += 1
                if not (root / path).is_file():
                    wrong.append(f"{file}:{line}: there is no {path}")

    for message in wrong:
        print(message, file=sys.stderr)
    if wrong:
        sys.exit(1)
    print(f"{count} links of {len(pages)} pages are right")


if __name__ == "__main__":
    main()
