"""Compiling and running models."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _fusion
from .reports import Report
from .tensors import array, copied, given, joined, maker, numpy_dtype, parted, writable


class Port(NamedTuple):
    """An input or output: its name, NumPy's type of its elements, and its shape, as far as these are known: an extent may be a name or None."""

    name: str
    dtype: np.dtype | None
    shape: tuple[int | str | None, ...] | None


def ports(declared: Sequence[tuple]) -> list[Port]:
    """Inputs or outputs as the compiler tells of them."""

    def port(name: str, dtype: str | None, shape: list | None) -> Port:
        return Port(name, numpy_dtype(dtype) if dtype else None, None if shape is None else tuple(shape))

    return [port(*one) for one in declared]


def jax_program(model: Any) -> bytes | str | None:
    """The StableHLO program of a `jax.export.Exported`, or of what `jax.jit(f).lower(...)` gives."""
    if isinstance(artifact := getattr(model, "mlir_module_serialized", None), bytes):
        return artifact
    if hasattr(model, "compiler_ir") and hasattr(model, "as_text"):
        return model.as_text()
    return None


def is_of_torch(model: Any) -> bool:
    """Whether a model is a torch.nn.Module, a torch.export.ExportedProgram, or a file of one."""
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model).endswith(".pt2")
    return any(base.__module__.split(".")[0] == "torch" for base in type(model).__mro__) and hasattr(model, "state_dict")


def source(model: Any, example: Sequence[Any] | None = None, dynamic_shapes: Any = None) -> tuple[Any, str]:
    """A model as the compiler takes it, with its form."""
    if is_of_torch(model):
        from .torch.export import Unsupported, exported, module_text  # torch is no dependency

        try:
            return module_text(exported(model, example, dynamic_shapes)), "mlir"
        except Unsupported as why:
            raise _fusion.FusionError(f"the program of torch is not compiled: {why}") from why
    if hasattr(model, "SerializeToString"):
        return model.SerializeToString(), "onnx"
    if (program := jax_program(model)) is not None:
        return program, "stablehlo"
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model), "bytes"
    if isinstance(model, str) and "\n" in model:
        return model, "relay" if model.lstrip().startswith("#[version") else "mlir"
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model), "file"
    raise TypeError(f"a model is a path, bytes of ONNX or StableHLO, an onnx.ModelProto, a lowered or exported function of JAX, a program or module of torch, or the text of a module, and a {type(model).__name__} is none")


def files(named: str | os.PathLike | Sequence[str | os.PathLike] | None) -> list[str]:
    """One file or several."""
    return [os.fspath(file) for file in ([named] if isinstance(named, (str, os.PathLike)) else named or [])]


def compile(  # noqa: A001, the word of the field
    model: Any,
    *,
    example: Sequence[Any] | None = None,
    dynamic_shapes: Any = None,
    target: str | None = None,
    fp_math: str | None = None,
    max_error: float | None = None,
    mixed_precision: str | None = None,
    passes: str | Sequence[str] = (),
    opt_level: int = 3,
    shapes: Mapping[str, str | Sequence[int | str]] | None = None,
    likely: Sequence[Mapping[str, Sequence[int]]] = (),
    schedules: str | os.PathLike | Sequence[str | os.PathLike] | None = None,
    tuning_log: str | os.PathLike | Sequence[str | os.PathLike] | None = None,
    threads: int = 1,
    jobs: int | None = None,
) -> Module:
    """Compiles a model and loads it.

    example: tensors like the inputs of a torch.nn.Module, which torch.export traces it with.
    dynamic_shapes: which extents of these are dynamic, in torch.export's form.
    target: what to compile for, such as "cpu" or "cpu:x86-64-v3"; this machine's processor where none is given.
    fp_math: "strict", "standard" or "fast".
    max_error: the largest error, as a part of the largest result, that algorithms such as Winograd's may add up to.
    mixed_precision: "f16" or "bf16": compute in it where operators bear it. Inputs and outputs stay as they are.
    passes: pipelines of passes that run on the model before all others, as fusion-opt writes them.
    opt_level: 0 (fast to compile) to 3 (fast to run).
    shapes: extents of inputs that the model leaves dynamic; without them one library serves all. In place of a number, "1..64" are the sizes
        that an extent may have, "8..4096:8" multiples of 8 alone, "batch:1..64" gives it a name as well, and "?" leaves it as it is.
    likely: shapes that inputs are likely to have together, for which code is made fast.
    schedules: files of schedules for kernels, which te-schedule writes none for then.
    tuning_log: logs of `fusion tune`.
    threads: threads of a run; 0 for one a processor.
    jobs: kernels that are compiled at a time.
    """
    content, form = source(model, example, dynamic_shapes)
    extents = {name: shape if isinstance(shape, str) else ",".join(map(str, shape)) for name, shape in (shapes or {}).items()}
    sizes = [{name: list(shape) for name, shape in one.items()} for one in likely]
    pipelines = [passes] if isinstance(passes, str) else list(passes)
    if mixed_precision is not None:
        pipelines.insert(0, _fusion.mixed_precision(mixed_precision))
    compiler = _fusion.Compiler(
        content, form, target=target, fp_math=fp_math, max_error=max_error, opt_level=opt_level, shapes=extents, likely=sizes,
        schedules=files(schedules), tuning_logs=files(tuning_log), jobs=jobs, passes=pipelines,
    )
    compiled = compiler.compile()
    compiled.set_threads(threads)
    return Module(compiled, _fusion.onnx_facts(content, form), compiler)


def load(path: str | os.PathLike, *, threads: int = 1) -> Module:
    """Loads a compiled model (.so). Loading runs the code of the file, so load only what you trust."""
    compiled = _fusion.Module.load(os.fspath(path))
    compiled.set_threads(threads)
    return Module(compiled)


def import_text(model: Any) -> str:
    """A model as a module of the relay dialect, in text."""
    return _fusion.import_text(*source(model))


def opt(text: str, pipeline: str) -> str:
    """Runs passes on a module in text, as `fusion-opt --pass-pipeline` does."""
    return _fusion.opt(text, pipeline)


class Module:
    """A compiled model. Threads may share it."""

    def __init__(self, compiled: _fusion.Module, facts: dict[str, Any] | None = None, compiler: _fusion.Compiler | None = None):
        self._compiled = compiled
        self._compiler = compiler
        self.facts = facts
        own = compiled.outputs()
        # Where shapes are dynamic, the model's own words say more.
        said = facts if own is None and facts else None
        self.inputs = ports(said["inputs"] if said else compiled.inputs())
        self.outputs = ports(said["outputs"] if said else own or [])
        self._dtypes = [port.dtype for port in self.inputs]
        # Types of results that are known, so that a run writes them where they stay.
        self._results = None if own is None else [(maker(port.shape, port.dtype), port.shape, port.dtype) for port in ports(own)]

    @property
    def target(self) -> str:
        """The target that it was compiled for."""
        return self._compiled.target()

    def __call__(self, *inputs: Any, out: Any = None) -> Any:
        """Runs the model on tensors in the order of its inputs; the result, or a tuple of several.

        out: what the result is written into: an array or a tensor of torch of its type, or a tuple of them.
        """
        _, results = self._run(inputs, out if out is None or type(out) in (tuple, list) else (out,))
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, inputs: Mapping[str, Any], outputs: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Runs the model on named tensors, and gives its results by name. What `outputs` names is written there: all of them, or none.

        A map is a dict, where the model takes one. Arrays of complex numbers are given, and come back, whole.
        """
        names = [port.name for port in self.inputs]
        wanted = self._by_name(parted(inputs, names), names, "input")
        out = None if outputs is None else self._by_name(outputs, [port.name for port in self.outputs], "output")
        names, results = self._run(wanted, out)
        results = dict(zip([port.name for port in self.outputs] or names, results))
        return joined(results) if out is None else results

    @staticmethod
    def _by_name(values: Mapping[str, Any], names: list[str], what: str) -> list[Any]:
        unknown = [name for name in values if name not in names]
        if unknown:
            raise ValueError(f"the model has no {what} {unknown[0]!r}; its {what}s are {', '.join(names) or 'none'}")
        missing = [name for name in names if name not in values]
        if missing:
            raise ValueError(f"the model needs {what} {missing[0]!r}; its {what}s are {', '.join(names)}")
        return [values[name] for name in names]

    def _run(self, inputs: Sequence[Any], out: Sequence[Any] | None) -> tuple[list[str], Sequence[Any]]:
        """The results, and the names that a program without declared outputs gives them."""
        # Of a wrong number of inputs the compiled model tells.
        is_right = len(inputs) == len(self._dtypes)
        values = list(map(given, inputs, self._dtypes) if is_right else map(given, inputs))
        if self._results is None:
            results = self._compiled.run(values)
            arrays = [array(dtype, shape, data) for _, dtype, shape, data in results]
            return [name for name, *_ in results], arrays if out is None else copied(arrays, out)
        results = [make(shape, dtype) for make, shape, dtype in self._results] if out is None else out
        self._compiled.run_into(values, list(map(writable, results)))
        return [], results

    def explain(self, *, measure: bool = False, budget: float = 20.0) -> Report:
        """What was fused into each kernel, what it costs, and why: what `fusion explain` tells. The model is compiled once more for it.

        measure: whether each kernel is measured by itself on random inputs, for at most `budget` seconds, and the whole model.
        """
        return Report(*self._source("explain").explain(measure, budget))

    def profile(self, *, budget: float = 20.0) -> Report:
        """Where the time goes, kernel by kernel, each measured by itself; for at most `budget` seconds. For models of operators alone."""
        text, data = self._source("profile").profile(budget)
        return Report(text, None, data)

    def mlir(self, stage: str = "relay") -> str:
        """The module behind a stage of the compiler, without large constants.

        stage: "import", "relay" (kernels are decided), "te" (each says what it computes), "schedule" (and how), "loop", "llvm", or the name
            of a stage of fusion-opt's pipelines, such as "loop-vectorize".
        """
        return self._source("mlir").module_text(stage)

    def _source(self, wanted: str) -> _fusion.Compiler:
        if self._compiler is None:
            raise _fusion.FusionError(f"{wanted} needs the model itself, and this library was loaded; compile the model with fusion.compile")
        return self._compiler

    def save(self, path: str | os.PathLike) -> None:
        """Writes the library, and its C header beside it."""
        self._compiled.save(os.fspath(path))

    def __repr__(self) -> str:
        def of(ports: list[Port]) -> str:
            return ", ".join(f"{port.name}: {port.dtype and port.dtype.name}{'' if port.shape is None else list(port.shape)}" for port in ports)

        return f"<fusion.Module for {self.target}: ({of(self.inputs)}) -> ({of(self.outputs)})>"
