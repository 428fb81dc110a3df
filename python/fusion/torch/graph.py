"""A graph of core ATen as a module of relay, in text."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx.experimental.proxy_tensor import make_fx

from .extents import SYMBOLIC, Extent, Sources, Unsupported, dims, expression, is_known, is_same, named, written

# Element types of torch by their names in MLIR.
DTYPES = {
    torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.bool: "i1", torch.int8: "i8", torch.int16: "i16",
    torch.int32: "i32", torch.int64: "i64", torch.uint8: "ui8",
}


class Value(NamedTuple):
    """A tensor of the graph."""

    name: str
    dtype: torch.dtype
    shape: tuple[Extent, ...]

    @property
    def type(self) -> str:
        """Its type in MLIR."""
        return tensor_type(self.dtype, self.shape)

    @property
    def rank(self) -> int:
        """How many axes it has."""
        return len(self.shape)


def tensor_type(dtype: torch.dtype, shape: Sequence[Extent]) -> str:
    """A type of tensors in MLIR."""
    sizes, names = dims(shape)
    return f"tensor<{sizes}{DTYPES[dtype]}{names}>"


def whole(number: Extent) -> str:
    """An integer as an attribute."""
    if not is_known(number):
        raise Unsupported(f"it needs the number {number} when it is compiled")
    return f"{int(number)} : i64"


def ints(numbers: Sequence[Extent]) -> str:
    """A list of integers as an attribute."""
    unknown = [n for n in numbers if not is_known(n)]
    if unknown:
        raise Unsupported(f"it needs the number {unknown[0]} when it is compiled")
    return f"array<i64: {', '.join(str(int(n)) for n in numbers)}>" if numbers else "array<i64>"


def extents(shape: Sequence[Extent]) -> str:
    """A shape as an attribute."""
    return ints(shape) if all(map(is_known, shape)) else named([written(n) for n in shape])


def extent(n: Extent) -> str:
    """An extent as an attribute."""
    return whole(n) if is_known(n) else f'#relay.dim<"{written(n)}">'


def real(number: float) -> str:
    """A finite number of floats as an attribute, or an element of a constant."""
    text = repr(float(number))
    mantissa, sign, exponent = text.partition("e")
    return text if "." in mantissa else f"{mantissa}.0{sign}{exponent}"


def literal(number: bool | int | float, dtype: torch.dtype) -> str:
    """A number as an element of a constant."""
    if dtype == torch.bool:
        return "true" if number else "false"
    if not dtype.is_floating_point:
        return str(int(number))
    number = float(number)
    # What has no decimal form is written by its bits.
    if number != number or number in (float("inf"), float("-inf")):
        bits = torch.tensor([number], dtype=dtype).view({8: torch.int64, 4: torch.int32, 2: torch.int16}[dtype.itemsize]).item()
        return f"0x{bits & (1 << 8 * dtype.itemsize) - 1:0{2 * dtype.itemsize}X}"
    return real(number)


Row = Callable[..., Any]
# What nodes of numbers give.
NUMBERS = (int, float, bool, *SYMBOLIC)


class Graph:
    """The text of a graph, with what its function is to be given.

    places: the inputs of the graph that are tensors; constants: tensors that the graph holds, given behind them unless it keeps all of them; numbers: expressions
    of extents that are operands, given behind these.
    outputs: of each output whether it is a result, and its number, or a constant of Python or an expression of extents.
    """

    def __init__(
        self, module: torch.fx.GraphModule, table: Mapping[Any, Row], decompositions: Mapping[Any, Callable], kept: Mapping[int, torch.Tensor] | None = None,
        *, keeps_all: bool = False,
    ):
        self._table, self._decompositions, self._kept, self._keeps_all = table, decompositions, kept or {}, keeps_all
        self.node: Any = None
        self.lines: list[str] = []
        self.arguments: list[Value] = []
        self.places: list[int] = []
        self.constants: list[torch.Tensor] = []
        self.held: list[Value] = []
        self.returned: list[Value] = []
        self.outputs: list[tuple[bool, Any]] = []
        self.numbers: dict[Any, Value] = {}
        self.sources = Sources()
        self._values: dict[torch.fx.Node, Any] = {}
        self._number = 0
        self._check(module)
        for place, node in enumerate(module.graph.nodes):
            self._node(module, node, place)

    def _check(self, module: torch.fx.GraphModule) -> None:
        calls = [node.target for node in module.graph.nodes if node.op == "call_function" and not isinstance(node.meta.get("val"), NUMBERS)]
        missing = sorted({str(target) for target in calls if target is not operator.getitem and target not in self._table})
        if missing:
            raise Unsupported(f"it has no {', '.join(missing)}")

    def inline(self, program: Callable) -> Any:
        """What a program of torch makes of the operands of the node: its own operators, by their rows."""
        outer, nodes = self.node, self.node.all_input_nodes

        def function(*values: Any) -> Any:
            by_node = dict(zip(nodes, values))
            return program(*torch.fx.map_arg(outer.args, by_node.__getitem__), **torch.fx.map_arg(outer.kwargs, by_node.__getitem__))

        given = [node.meta["val"] for node in nodes]
        with given[0].fake_mode:
            traced = make_fx(function, decomposition_table=dict(self._decompositions))(*given)
        return self.run(traced, [self._values[node] for node in nodes])

    def run(self, module: torch.fx.GraphModule, values: Sequence[Any]) -> Any:
        """What a graph inside of this one gives of values."""
        self._check(module)
        outer, given, results = self.node, iter(values), None
        for node in module.graph.nodes:
            if node.op == "placeholder":
                self._values[node] = next(given)
            elif node.op == "output":
                results = torch.fx.map_arg(node.args[0], self._values.__getitem__)
            else:
                self._node(module, node, -1)
        self.node = outer
        return results

    def region(self, module: torch.fx.GraphModule, arguments: Sequence[Value], around: Sequence[Any]) -> list[Value]:
        """The lines of a graph as a region that takes arguments and may use values around it, up to what it yields."""
        if arguments:
            self.lines.append(f"  ^bb0({', '.join(f'{value.name}: {value.type}' for value in arguments)}):")
        results = self.run(module, [*arguments, *around])
        results = [self.value(result) for result in ([results] if isinstance(results, Value) or not isinstance(results, (tuple, list)) else results)]
        self.lines.append(f"  relay.yield {', '.join(value.name for value in results)} : {', '.join(value.type for value in results)}")
        return results

    def value(self, of: Any) -> Value:
        """A value, or one of a number."""
        return of if isinstance(of, Value) else self.constant(of, torch.bool if isinstance(of, bool) else torch.int64 if isinstance(of, int) else torch.float64)

    def _node(self, module: torch.fx.GraphModule, node: torch.fx.Node, place: int) -> None:
        if node.op == "placeholder":
            self._values[node] = self.tensor(self._kept[place]) if place in self._kept else self._argument(node.meta.get("val"), place)
        elif node.op == "get_attr":
            of = getattr(module, node.target)
            self._values[node] = self.tensor(of) if self._keeps_all and isinstance(of, torch.Tensor) else self._argument(of, None)
        elif node.op == "output":
            for output in node.args[0]:
                self._output(self._values[output] if isinstance(output, torch.fx.Node) else output)
        elif node.target is operator.getitem:
            self._values[node] = self._values[node.args[0]][node.args[1]]
        elif isinstance(node.meta.get("val"), NUMBERS):
            self._values[node] = node.meta["val"]
        else:
            args = torch.fx.map_arg(node.args, self._values.__getitem__)
            kwargs = torch.fx.map_arg(node.kwargs, self._values.__getitem__)
            self.node = node
            self._values[node] = self._row(node.target, args, kwargs)

    def _row(self, target: Any, args: Any, kwargs: Any) -> Any:
        try:
            return self._table[target](self, *args, **kwargs)
        except Unsupported:
            raise
        except Exception as error:  # what a row does not foresee, torch can do
            raise Unsupported(f"{target} has operands that are not foreseen ({type(error).__name__}: {error})") from error

    def _argument(self, value: Any, place: int | None) -> Any:
        if not isinstance(value, torch.Tensor):
            if place is not None:
                self.sources.number(place, value)
            return value
        if place is not None:
            self.sources.tensor(place, value.shape)
        kind, others = ("c", self.held) if place is None else ("a", self.arguments)
        argument = Value(f"%{kind}{len(others)}", *self.type_of(value))
        others.append(argument)
        if place is None:
            self.constants.append(value)
        else:
            self.places.append(place)
        return argument

    def _output(self, output: Any) -> None:
        if isinstance(output, Value):
            self.outputs.append((True, len(self.returned)))
            self.returned.append(output)
        elif isinstance(output, SYMBOLIC):
            self.sources.check(output)
            self.outputs.append((False, expression(output)))
        else:
            self.outputs.append((False, output))

    def number(self, value: Any) -> Value:
        """A number that is not known until the graph runs, as an operand."""
        self.sources.check(value)
        known = self.numbers.setdefault(expression(value), None)
        if known is None:
            known = Value(f"%n{len(self.numbers)}", torch.float64 if isinstance(value, torch.SymFloat) else torch.int64, ())
            self.numbers[expression(value)] = known
        return known

    @staticmethod
    def type_of(value: torch.Tensor) -> tuple[torch.dtype, tuple[Extent, ...]]:
        """The element type and shape of a tensor."""
        if value.device.type != "cpu":
            raise Unsupported(f"a tensor lies on {value.device}, and models run on the processor")
        if value.dtype not in DTYPES:
            raise Unsupported(f"it has tensors of {value.dtype}")
        return value.dtype, tuple(value.shape)

    @property
    def result(self) -> tuple[torch.dtype, tuple[Extent, ...]]:
        """The element type and shape of what the node gives; of the first of several."""
        value = self.node.meta["val"]
        return self.type_of(value[0] if isinstance(value, (tuple, list)) else value)

    def is_used(self, number: int) -> bool:
        """Whether one of several results of the node is used."""
        return any(user.target is operator.getitem and user.args[1] == number for user in self.node.users)

    def fresh(self, dtype: torch.dtype, shape: Sequence[int]) -> Value:
        """A value that nothing defines yet."""
        self._number += 1
        return Value(f"%{self._number - 1}", dtype, tuple(shape))

    def op(self, name: str, operands: Sequence[Value], dtype: torch.dtype, shape: Sequence[int], /, **attributes: str) -> Value:
        """An operation of one result."""
        return self.op_of_several(name, operands, [(dtype, shape)], **attributes)[0]

    def op_of_several(self, name: str, operands: Sequence[Value], results: Sequence[tuple], /, **attributes: str) -> list[Value]:
        """An operation of results of these element types and shapes."""
        for n in (n for _, shape in results for n in shape if not is_known(n)):
            self.sources.check(n)
        values = [self.fresh(dtype, shape) for dtype, shape in results]
        said = f" {{{', '.join(f'{key} = {value}' for key, value in attributes.items())}}}" if attributes else ""
        names, types = (", ".join(parts) for parts in ([v.name for v in operands], [v.type for v in operands]))
        given, to = (", ".join(parts) for parts in ([v.name for v in values], [v.type for v in values]))
        self.lines.append(f"  {given} = relay.{name} {names}{said} : ({types}) -> {to if len(values) == 1 else f'({to})'}")
        return values

    def constant(self, number: bool | int | float, dtype: torch.dtype, shape: Sequence[int] = ()) -> Value:
        """A tensor of one number."""
        if not is_known(number) or not all(map(is_known, shape)):
            scalar = self.constant(number, dtype) if is_known(number) else self.cast(self.number(number), dtype)
            return self.broadcast(scalar, shape)
        value = self.fresh(dtype, shape)
        self.lines.append(f"  {value.name} = relay.constant dense<{literal(number, dtype)}> : {value.type}")
        return value

    def tensor(self, of: torch.Tensor) -> Value:
        """A constant of the numbers of a tensor."""
        value = self.fresh(*self.type_of(of))
        with unset_fake_temporarily():
            data = of.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes().hex()
        self.lines.append(f'  {value.name} = relay.constant dense<"0x{data}"> : {value.type}')
        return value

    def cast(self, value: Value | bool | int | float, dtype: torch.dtype) -> Value:
        """A value, or a number, of an element type."""
        if not isinstance(value, Value):
            return self.constant(value, dtype)
        return value if value.dtype == dtype else self.op("cast", [value], dtype, value.shape, dtype=DTYPES[dtype])

    def reshape(self, value: Value, shape: Sequence[int]) -> Value:
        """The elements in another shape."""
        return value if is_same(value.shape, shape) else self.op("reshape", [value], value.dtype, shape, shape=extents(shape))

    def broadcast(self, value: Value, shape: Sequence[int]) -> Value:
        """A value in a shape that it broadcasts to."""
        return value if is_same(value.shape, shape) else self.op("broadcast_to", [value], value.dtype, shape, shape=extents(shape))

    def transpose(self, value: Value, axes: Sequence[int]) -> Value:
        """A value with its axes in another order."""
        return self.op("transpose", [value], value.dtype, [value.shape[axis] for axis in axes], axes=ints(axes))

    def text(self, inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> str:
        """The module, with names for its inputs and outputs."""
        given = [*self.arguments, *self.held, *self.numbers.values()]
        arguments = ", ".join(f"{value.name}: {value.type}{called(name)}" for value, name in zip_longest(given, inputs))
        results = ", ".join(f"{value.type}{called(name)}" for value, name in zip_longest(self.returned, outputs))
        types, names = ", ".join(value.type for value in self.returned), ", ".join(value.name for value in self.returned)
        lines = [f"func.func @main({arguments}) -> ({results}) {{", *self.lines, f"  return {names} : {types}", "}", ""]
        return "\n".join(lines)


def called(name: str | None) -> str:
    """The attribute with the name of an input or output."""
    return "" if name is None else f' {{relay.name = "{name}"}}'
