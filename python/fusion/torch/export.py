"""Exported programs of torch as modules of relay:

    program = torch.export.export(model, (x,))        # or a .pt2 file
    fusion.compile(program)

Parameters, buffers and constants become constants of the module; its inputs and outputs have the names that torch gave them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind

from .backend import DECOMPOSITIONS, TABLE
from .extents import Unsupported
from .graph import Graph


def exported(model: Any, example: Sequence[Any] | None, dynamic_shapes: Any) -> ExportedProgram:
    """The program of a model of torch, of one that is exported already, or of a .pt2 file."""
    if isinstance(model, ExportedProgram):
        return model
    if isinstance(model, (str, os.PathLike)):
        return torch.export.load(os.fspath(model))
    if example is None:
        raise TypeError("a torch.nn.Module is exported with tensors like its inputs: pass them as example=(x, ...)")
    return torch.export.export(model, tuple(example), dynamic_shapes=dynamic_shapes)


def module_text(program: ExportedProgram) -> str:
    """The text of a module that computes what a program does."""
    program = program.run_decompositions(DECOMPOSITIONS)
    signature = program.graph_signature
    changed = [spec.target or spec.arg.name for spec in signature.output_specs if spec.kind not in (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)]
    if changed:
        raise Unsupported(f"the program changes {', '.join(changed)}, and compiled models change nothing that they are given; export model.eval()")
    graph = Graph(program.graph_module, TABLE, DECOMPOSITIONS, held(program), keeps_all=True)
    if graph.numbers:
        raise Unsupported(f"the program computes with {', '.join(map(str, graph.numbers))}, which its inputs tell by their shapes alone")
    if others := [said for is_result, said in graph.outputs if not is_result]:
        raise Unsupported(f"the program gives {others[0]}, which is no tensor")
    specs = signature.input_specs
    outputs: dict[int, str] = {}
    for spec, (_, result) in zip(signature.output_specs, graph.outputs):
        outputs.setdefault(result, spec.arg.name)
    return graph.text([specs[place].arg.name for place in graph.places], [outputs[result] for result in range(len(graph.returned))])


def held(program: ExportedProgram) -> Mapping[int, torch.Tensor]:
    """The tensors that a program has itself, by the number of the input that stands for each."""
    tensors = {}
    for place, spec in enumerate(program.graph_signature.input_specs):
        if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER):
            source = program.constants if spec.kind == InputKind.BUFFER and not spec.persistent else program.state_dict
            tensors[place] = source[spec.target]
        elif spec.kind == InputKind.CONSTANT_TENSOR:
            tensors[place] = program.constants[spec.target]
    return tensors
