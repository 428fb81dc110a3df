"""What is compiled: see python/src."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

__version__: str

class FusionError(Exception):
    """Why a model cannot be compiled, loaded or run, in a sentence."""

Port = tuple[str, str | None, list[int | str | None] | None]

class Module:
    """A compiled model. Threads may share it."""

    @staticmethod
    def load(path: str | PathLike[str]) -> Module: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def inputs(self) -> list[Port]: ...
    def outputs(self) -> list[Port] | None: ...
    def target(self) -> str: ...
    def set_threads(self, threads: int) -> None: ...
    def run(self, inputs: Sequence[Any]) -> list[tuple[str, str, list[int], bytearray | list[str]]]: ...
    def run_into(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None: ...

class Compiler:
    """A model, and how it is compiled."""

    def __init__(
        self,
        model: Any,
        format: str,
        *,
        target: str | None = None,
        fp_math: str | None = None,
        max_error: float | None = None,
        opt_level: int = 3,
        shapes: dict[str, str] | None = None,
        likely: list[dict[str, list[int]]] | None = None,
        schedules: list[str] | None = None,
        tuning_logs: list[str] | None = None,
        jobs: int | None = None,
        passes: list[str] | None = None,
    ) -> None: ...
    def compile(self) -> Module: ...
    def explain(self, measure: bool, budget: float) -> tuple[str, str, str]: ...
    def profile(self, budget: float) -> tuple[str, str]: ...
    def module_text(self, stage: str) -> str: ...

def command_line(program: str, command: Sequence[str], arguments: Sequence[str]) -> int: ...
def quantize(
    model: str | PathLike[str],
    samples: str | PathLike[str],
    output: str | PathLike[str],
    *,
    dtype: str,
    per_channel: bool,
    method: str,
    percentile: float | None,
    max_loss: float | None,
    metric: str,
    labels: list[int] | None,
    target: str | None,
    threads: int,
) -> tuple[str, str, str]: ...
def mixed_precision(narrow: str) -> str: ...
def opt(text: str, pipeline: str) -> str: ...
def import_text(model: Any, format: str) -> str: ...
def onnx_facts(model: Any, format: str) -> dict[str, Any] | None: ...
def add_rule(
    name: str,
    left: str,
    right: str,
    *,
    equation: str,
    family: str,
    exact: bool,
    condition: Callable[..., object] | None,
) -> None: ...
