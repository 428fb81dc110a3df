"""The programs that pip installs as scripts."""

import json
import subprocess
import sys

import fusion
import pytest

MODEL = """func.func @main(%x: tensor<2xf32> {relay.name = "x"}) -> tensor<2xf32> {
  %0 = relay.neg %x : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


@pytest.fixture
def script(tmp_path):
    """Runs a function of `fusion.command_line` by a script as pip writes one."""

    def run(function, *arguments, **options):
        path = tmp_path / function
        path.write_text(f"#!{sys.executable}\nfrom fusion.command_line import {function}\n{function}()\n")
        path.chmod(0o755)
        return subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)

    return run


def test_a_model_is_compiled_by_the_program(script, tmp_path):
    (tmp_path / "m.mlir").write_text(MODEL)
    done = script("fusion", "compile", tmp_path / "m.mlir", "-o", tmp_path / "m.so")
    assert done.returncode == 0, done.stderr
    assert fusion.load(tmp_path / "m.so")([1, 2]).tolist() == [-1, -2]


def test_a_program_that_calls_itself_calls_what_called_it(script, tmp_path):
    (tmp_path / "m.mlir").write_text(MODEL.replace("2xf32", "700x300xf32"))
    tune = ["tune", tmp_path / "m.mlir", "--trials", "2"]
    by_script = script("fusion", *tune, "-o", tmp_path / "a.jsonl")
    by_module = subprocess.run(
        [sys.executable, "-m", "fusion", *map(str, tune), "-o", tmp_path / "b.jsonl"], capture_output=True, text=True, timeout=300
    )
    for done, log in ((by_script, "a.jsonl"), (by_module, "b.jsonl")):
        assert done.returncode == 0, done.stderr
        lines = [json.loads(line) for line in (tmp_path / log).read_text().splitlines()]
        assert lines and not any(line.get("error") for line in lines)


def test_failures_and_wrong_usage_have_their_exit_status(script):
    assert script("fusion", "compile", "none.onnx").returncode == 1
    wrong = script("fusion", "compile")
    assert wrong.returncode == 2 and "Usage" in wrong.stderr
    assert script("fusion", "--version").stdout.startswith("fusion ")


def test_passes_run_by_the_program(script):
    done = script("fusion_opt", "--pass-pipeline=builtin.module(cse)", input=MODEL)
    assert done.returncode == 0 and "relay.neg" in done.stdout
    assert script("fusion_opt", "-", input="nonsense").returncode != 0
