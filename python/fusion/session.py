"""A session as ONNX Runtime has it, so that programs for it run with one changed line:

    import fusion as onnxruntime
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .model import Port
from .model import compile as compile_model

# ONNX Runtime's names of element types.
TYPES = {
    "float64": "double", "float32": "float", "float16": "float16", "bfloat16": "bfloat16", "bool": "bool", "int8": "int8", "int16": "int16",
    "int32": "int32", "int64": "int64", "uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64", "object": "string",
}


# The first of two parts by the second, and the types of numbers of which these are the parts.
OTHER_PART = {"imag": "real", "values": "keys"}
COMPLEX = {"float": "complex64", "double": "complex128"}


class SessionOptions:
    """Options of a session. Threads within an operator are the threads of a run; others have no meaning here, and a session says so once."""

    def __init__(self) -> None:
        self.intra_op_num_threads = 0
        self._others: dict[str, Any] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in ("intra_op_num_threads", "_others"):
            self._others[name] = value
        object.__setattr__(self, name, value)

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Keeps an entry, which has no meaning here."""
        self._others[key] = value


class NodeArg:
    """An input or output of a session."""

    def __init__(self, name: str, dtype: np.dtype | None, shape: Sequence[int | str | None] | None):
        self.name = name
        self.type = f"tensor({TYPES.get(dtype.name, dtype.name)})" if dtype else ""
        self.shape = list(shape or [])

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape!r})"


def arguments(ports: Sequence[Port]) -> list[NodeArg]:
    """Inputs or outputs under the model's own names: two that are the parts of one are one."""
    found: dict[str, NodeArg] = {}
    for port in ports:
        whole, _, part = port.name.rpartition(".")
        first = found.pop(f"{whole}.{OTHER_PART[part]}", None) if part in OTHER_PART else None
        if first is None:
            found[port.name] = NodeArg(port.name, port.dtype, port.shape)
            continue
        found[whole] = NodeArg(whole, None, first.shape if part == "imag" else [])
        element = first.type.removeprefix("tensor(").removesuffix(")")
        found[whole].type = f"map({element},{NodeArg(whole, port.dtype, []).type})" if part == "values" else f"tensor({COMPLEX[element]})"
    return list(found.values())


def dicts(labels: Sequence[str | int], scores: np.ndarray) -> list[dict[str | int, float]]:
    """Rows of scores as ONNX Runtime gives them where a model names the labels: a dict a row."""
    return [dict(zip(labels, row)) for row in scores.reshape(-1, len(labels)).tolist()]


class ModelMetadata:
    """What a model says of itself."""

    def __init__(self, facts: Mapping[str, Any]):
        self.producer_name: str = facts.get("producer_name", "")
        self.graph_name: str = facts.get("graph_name", "")
        self.domain: str = facts.get("domain", "")
        self.description: str = facts.get("description", "")
        self.graph_description: str = ""
        self.version: int = facts.get("version", 0)
        self.custom_metadata_map: dict[str, str] = dict(facts.get("custom_metadata_map", {}))


class RunOptions:
    """Options of a run, none of which has a meaning here."""


class GraphOptimizationLevel:
    """Levels of optimisation, which have no meaning here: all models are compiled."""

    ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ORT_ENABLE_EXTENDED, ORT_ENABLE_LAYOUT, ORT_ENABLE_ALL = 0, 1, 2, 3, 99


class ExecutionMode:
    """Ways to run operators, which have no meaning here."""

    ORT_SEQUENTIAL, ORT_PARALLEL = 0, 1


def get_available_providers() -> list[str]:
    """Where models run."""
    return ["CPUExecutionProvider"]


def get_all_providers() -> list[str]:
    """The same: there are no others."""
    return get_available_providers()


def disable_telemetry_events() -> None:
    """Does nothing: nothing is sent anywhere."""


def get_device() -> str:
    """What models run on."""
    return "CPU"


def set_default_logger_severity(severity: int) -> None:
    """Does nothing: the compiler has no log."""


class OrtValue:
    """A tensor that is kept for several runs."""

    def __init__(self, value: np.ndarray):
        self._value = value

    @staticmethod
    def ortvalue_from_numpy(value: np.ndarray, device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """A value of a NumPy array."""
        if device_type != "cpu":
            raise ValueError(f"values lie in host memory, and device_type is {device_type!r}")
        return OrtValue(value)

    def numpy(self) -> np.ndarray:
        """Its array."""
        return self._value

    def device_name(self) -> str:
        """Where it lies."""
        return "cpu"

    def data_type(self) -> str:
        """Its type as ONNX Runtime writes it."""
        return f"tensor({TYPES.get(self._value.dtype.name, self._value.dtype.name)})"

    def shape(self) -> list[int]:
        """Its extents."""
        return list(self._value.shape)


class IOBinding:
    """Inputs and outputs of runs, by name."""

    def __init__(self, session: InferenceSession):
        self._session = session
        self._inputs: dict[str, Any] = {}
        self._names: list[str] = []
        self._outputs: list[np.ndarray] = []

    def bind_cpu_input(self, name: str, value: np.ndarray) -> None:
        """Takes an array as an input."""
        self._inputs[name] = value

    def bind_ortvalue_input(self, name: str, value: OrtValue) -> None:
        """Takes a value as an input."""
        self._inputs[name] = value.numpy()

    def bind_output(self, name: str, device_type: str = "cpu", *_: Any, **__: Any) -> None:
        """Asks for an output, which lies in host memory."""
        if device_type != "cpu":
            raise ValueError(f"outputs lie in host memory, and device_type is {device_type!r}")
        self._names.append(name)

    def copy_outputs_to_cpu(self) -> list[np.ndarray]:
        """The outputs of the last run."""
        return list(self._outputs)

    def get_outputs(self) -> list[OrtValue]:
        """The same as values."""
        return [OrtValue(value) for value in self._outputs]

    def clear_binding_inputs(self) -> None:
        """Forgets the inputs."""
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        """Forgets the outputs."""
        self._names.clear()


class InferenceSession:
    """Compiles a model, and runs it by names of inputs and outputs."""

    def __init__(
        self, path_or_bytes: Any, sess_options: SessionOptions | None = None, providers: Sequence[Any] | None = None, provider_options: Any = None, **kwargs: Any
    ):
        options = sess_options or SessionOptions()
        ignored = sorted(options._others)
        if ignored:
            warnings.warn(f"fusion has no session option {', '.join(ignored)}; it is ignored", stacklevel=2)
        named = [provider if isinstance(provider, str) else provider[0] for provider in providers or []]
        other = [provider for provider in named if provider != "CPUExecutionProvider"]
        if other:
            warnings.warn(f"fusion has no provider {', '.join(other)}; the model runs on the processor", stacklevel=2)
        self._module = compile_model(path_or_bytes, threads=options.intra_op_num_threads, **kwargs)

    def get_inputs(self) -> list[NodeArg]:
        """What it takes."""
        return arguments(self._module.inputs)

    def get_outputs(self) -> list[NodeArg]:
        """What it gives."""
        return arguments(self._module.outputs)

    def get_providers(self) -> list[str]:
        """Where it runs."""
        return ["CPUExecutionProvider"]

    def get_modelmeta(self) -> ModelMetadata:
        """What the model says of itself."""
        return ModelMetadata(self._module.facts or {})

    def io_binding(self) -> IOBinding:
        """Inputs and outputs of runs, by name."""
        return IOBinding(self)

    def run_with_iobinding(self, binding: IOBinding, run_options: Any = None) -> None:
        """Runs the model on what is bound."""
        binding._outputs = self.run(binding._names or None, binding._inputs)

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: Any = None) -> list[np.ndarray]:
        """Runs the model; the outputs of these names, or all of them."""
        fed = {name: value.numpy() if isinstance(value, OrtValue) else value for name, value in input_feed.items()}
        results = self._module.run(fed)
        wanted = list(output_names) if output_names else list(results)
        unknown = [name for name in wanted if name not in results]
        if unknown:
            raise ValueError(f"the model has no output {unknown[0]!r}; its outputs are {', '.join(results)}")
        labels = (self._module.facts or {}).get("labels", {})
        return [dicts(labels[name], results[name]) if name in labels else results[name] for name in wanted]
