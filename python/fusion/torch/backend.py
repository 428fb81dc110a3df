"""From graphs of torch to compiled functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy
import torch
from functorch.compile import make_boxed_func
from torch._decomp import core_aten_decompositions
from torch._dynamo import register_backend
from torch._dynamo.backends.common import aot_autograd

from .. import _fusion
from . import control, elementwise, networks, reductions, shapes
from .extents import Unsupported
from .graph import DTYPES, Graph
from .parts import PARTS

TABLE = control.TABLE | elementwise.TABLE | reductions.TABLE | shapes.TABLE | networks.TABLE
# What is computed better as a whole is not taken apart.
DECOMPOSITIONS = {operator: parts for operator, parts in {**dict(core_aten_decompositions().items()), **PARTS}.items() if operator not in networks.WHOLE}
TORCH_DTYPES = {name: dtype for dtype, name in DTYPES.items()}


def supported_operators() -> list[str]:
    """The operators of core ATen that are compiled."""
    return sorted(str(operator) for operator in TABLE)


def compile_graph(
    module: torch.fx.GraphModule, example_inputs: Sequence[Any], *, threads: int | None = None, constants: Mapping[int, torch.Tensor] | None = None,
) -> Callable:
    """Compiles a graph of core ATen; the function takes a list of its inputs and gives a list of its outputs.

    threads: threads of a run; as many as torch has where none are given.
    constants: inputs, by their number, whose numbers the compiled model keeps.
    """
    try:
        graph = Graph(module, TABLE, DECOMPOSITIONS, constants)
        compiled = _fusion.Compiler(graph.text(), "mlir").compile() if graph.returned else None
    except (Unsupported, _fusion.FusionError) as why:
        warnings.warn(f"fusion does not compile a graph, which runs as torch runs it: {why}", stacklevel=2)
        compiled = None
    if compiled is None:
        return make_boxed_func(module.forward)
    compiled.set_threads(torch.get_num_threads() if threads is None else threads)

    def run(*inputs: Any) -> list[Any]:
        numbers = [torch.tensor(graph.sources.value(of, inputs), dtype=value.dtype) for of, value in graph.numbers.items()]
        given = [value.detach().contiguous() for value in [*(inputs[place] for place in graph.places), *graph.constants, *numbers]]
        results = [tensor(dtype, shape, data) for _, dtype, shape, data in compiled.run(given)]
        return [results[said] if is_result else graph.sources.value(said, inputs) if isinstance(said, sympy.Basic) else said for is_result, said in graph.outputs]

    return make_boxed_func(run)


def tensor(dtype: str, shape: list[int], data: bytearray) -> torch.Tensor:
    """The tensor of a result."""
    if not data:
        return torch.empty(shape, dtype=TORCH_DTYPES[dtype])
    return torch.frombuffer(data, dtype=TORCH_DTYPES[dtype]).reshape(shape)


def static_inputs(module: torch.fx.GraphModule, inputs: Sequence[Any]) -> dict[int, torch.Tensor]:
    """The parameters and buffers among the inputs of a graph, where it takes the inputs of its model one by one."""
    nodes = [node for node in module.graph.nodes if node.op == "placeholder"]
    held = {number: value for number, value in enumerate(inputs) if getattr(value, "_dynamo_static_input_type", None) is not None}
    values = [node.meta.get("val") for node in nodes]
    if len(nodes) != len(inputs) or any(not is_like(values[number], value) for number, value in held.items()):
        return {}
    return {number: value for number, value in held.items() if value.numel() and value.dtype in DTYPES and value.dtype != torch.bool}


def is_like(value: Any, tensor: torch.Tensor) -> bool:
    """Whether a tensor of a graph stands for one that is given."""
    return isinstance(value, torch.Tensor) and value.dtype == tensor.dtype and tuple(value.shape) == tuple(tensor.shape)


@register_backend
def fusion(module: torch.fx.GraphModule, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None, mode: str | None = None) -> Callable:
    """The backend.

    options: `threads` of a run; `freeze`, that graphs without gradients keep parameters and buffers as they are now.
    mode: one of torch.compile's, which make no difference.
    """
    given = dict(options or {})
    threads, freeze = given.pop("threads", None), given.pop("freeze", False)
    if given:
        raise ValueError(f"the backend has no option {sorted(given)[0]!r}; its options are threads and freeze")

    def compiler(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable:
        return compile_graph(graph, inputs, threads=threads)

    def frozen(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable:
        return compile_graph(graph, inputs, threads=threads, constants=static_inputs(graph, example_inputs))

    inference = frozen if freeze else compiler
    compiled = aot_autograd(fw_compiler=compiler, bw_compiler=compiler, inference_compiler=inference, decompositions=DECOMPOSITIONS)
    return compiled(module, example_inputs)
