"""The notebooks of docs/notebooks run from the first cell to the last."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("onnx")
NOTEBOOKS = sorted((pathlib.Path(__file__).parents[2] / "docs/notebooks").glob("*.ipynb"))

# What runs a notebook: `!command` is a line of the shell, as in IPython. A process of its own, since rules stay for all of one.
RUNNER = """
import json, subprocess, sys
def shell(command):
    done = subprocess.run(command, shell=True, text=True, capture_output=True)
    print(done.stdout, done.stderr)
    if done.returncode:
        sys.exit(f"{command}: exit status {done.returncode}")
names = {"shell": shell, "__name__": "__main__"}
for number, source in enumerate(json.load(sys.stdin)):
    exec(compile(source, f"cell {number}", "exec"), names)
"""


def cells(notebook):
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            yield re.sub(r"^!python (.*)$", lambda line: f"shell({sys.executable + ' ' + line[1]!r})", source, flags=re.MULTILINE)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook, tmp_path):
    paths = os.pathsep.join(os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path)
    done = subprocess.run(
        [sys.executable, "-c", RUNNER], input=json.dumps(list(cells(notebook))), text=True, capture_output=True, timeout=600, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 6
