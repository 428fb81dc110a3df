"""A program as a list of operators: written once, printed as relay text for the compiler, evaluated by evaluate.py as its judge and peers.

    p = Program("softmax/f32_4096x1024")
    x = p.input([4096, 1024], "f32")
    p.output(p.op("softmax", x, shape=x.shape, axis=-1))

Inputs are given at each run. Weights are known when compiling, and both sides make the same ones from their seed: of few values, so that
what is packed stays small.
"""

import json
import math

DTYPES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i1": 1}


class Value:
    def __init__(self, name, shape, dtype):
        self.name, self.shape, self.dtype = name, [int(n) for n in shape], dtype

    @property
    def type(self):
        return f"tensor<{''.join(f'{n}x' for n in self.shape)}{self.dtype}>"

    @property
    def bytes(self):
        return math.prod(self.shape) * DTYPES[self.dtype]


class Program:
    def __init__(self, name, **facts):
        self.name, self.facts = name, {"options": [], "peers": [], **facts}
        self.inputs, self.weights, self.nodes, self.outputs = [], [], [], []

    def input(self, shape, dtype="f32", **fill):
        """A tensor of a run. fill: scale of a normal distribution (1), or below=N for whole numbers under N."""
        value = Value(f"%x{len(self.inputs)}", shape, dtype)
        self.inputs.append((value, fill))
        return value

    def weight(self, shape, dtype="f32", scale=None, seed=None):
        """A tensor that is known when compiling: four values around 0, of the given deviation [default: 1 / sqrt(inputs)]."""
        scale = scale or 1 / math.sqrt(max(1, math.prod(shape[1:]) if len(shape) == 4 else shape[0]))
        value = Value(f"%w{len(self.weights)}", shape, dtype)
        self.weights.append((value, {"scale": scale, "seed": len(self.weights) + 1 if seed is None else seed}))
        return value

    def number(self, value, dtype="f32"):
        return self.op("constant", shape=[], dtype=dtype, value=value)

    def op(self, kind, *operands, shape, dtype=None, **attributes):
        result = Value(f"%{len(self.nodes)}", shape, dtype or operands[0].dtype)
        self.nodes.append((kind, list(operands), attributes, result))
        return result

    def like(self, kind, *operands, **attributes):
        """An operator whose operands broadcast."""
        return self.op(kind, *operands, shape=broadcast([o.shape for o in operands]), **attributes)

    def output(self, *values):
        self.outputs += values

    # What is used often.

    def matmul(self, a, b, transpose_b=False):
        lead = broadcast([a.shape[:-2], b.shape[:-2]])
        columns = b.shape[-2 if transpose_b else -1]
        flags = {"transpose_b": True} if transpose_b else {}
        return self.op("matmul", a, b, shape=[*lead, a.shape[-2], columns], **flags)

    def reshape(self, x, shape):
        return self.op("reshape", x, shape=shape)

    def transpose(self, x, axes):
        return self.op("transpose", x, shape=[x.shape[a] for a in axes], axes=axes)

    def reduce(self, kind, x, axes, keepdims=False):
        axes = [a % len(x.shape) for a in axes]
        kept = [1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes]
        return self.op(kind, x, shape=kept, axes=axes, keepdims=keepdims)

    def slice(self, x, axis, begin, end):
        shape = [end - begin if i == axis else n for i, n in enumerate(x.shape)]
        return self.op("slice", x, shape=shape, axis=axis, begin=begin, end=end)

    def conv2d(self, x, w, stride=1, padding=0, groups=1):
        spatial = [(n + 2 * padding - k) // stride + 1 for n, k in zip(x.shape[2:], w.shape[2:])]
        return self.op("conv2d", x, w, shape=[x.shape[0], w.shape[0], *spatial], stride=stride, padding=padding, groups=groups)

    def max_pool2d(self, x, kernel, stride, padding=0):
        spatial = [(n + 2 * padding - kernel) // stride + 1 for n in x.shape[2:]]
        return self.op("max_pool2d", x, shape=[*x.shape[:2], *spatial], kernel=kernel, stride=stride, padding=padding)

    def gelu(self, x):
        """x / 2 (1 + erf(x / sqrt 2))"""
        inner = self.like("erf", self.like("mul", x, self.number(math.sqrt(0.5), x.dtype)))
        half = self.like("mul", x, self.number(0.5, x.dtype))
        return self.like("mul", half, self.like("add", inner, self.number(1.0, x.dtype)))

    # As data, for the driver that runs it.

    def record(self):
        value = lambda v: [v.name, v.shape, v.dtype]
        return {
            "name": self.name,
            **self.facts,
            "inputs": [[*value(v), fill] for v, fill in self.inputs],
            "weights": [[*value(v), fill] for v, fill in self.weights],
            "nodes": [[kind, [o.name for o in operands], attributes, value(r)] for kind, operands, attributes, r in self.nodes],
            "outputs": [value(v) for v in self.outputs],
        }


def broadcast(shapes):
    rank = max(map(len, shapes))
    padded = [[1] * (rank - len(s)) + list(s) for s in shapes]
    return [max(column) if 0 not in column else 0 for column in zip(*padded)]


# Printed as relay.


def _axes(name, values):
    return f"{name} = array<i64: {', '.join(map(str, values))}>"


def _attributes(kind, attributes, result):
    a = attributes
    match kind:
        case "reshape" | "broadcast_to":
            return [_axes("shape", result.shape)]
        case "conv2d":
            p = a["padding"]
            return [_axes("strides", [a["stride"]] * 2), _axes("padding", [p] * 4), f"groups = {a['groups']} : i64"]
        case "max_pool2d":
            k, s, p = a["kernel"], a["stride"], a["padding"]
            return [_axes("kernel", [k, k]), _axes("strides", [s, s]), _axes("padding", [p] * 4)]
        case "slice":
            return [_axes("begin", [a["begin"]]), _axes("end", [a["end"]]), _axes("axes", [a["axis"]])]
    texts = []
    for name, value in a.items():
        if isinstance(value, bool):
            texts += [f"{name} = true"] if value else []
        elif isinstance(value, int):
            texts.append(f"{name} = {value} : i64")
        elif isinstance(value, float):
            texts.append(f"{name} = {value!r} : f64")
        elif isinstance(value, str):
            texts.append(f"{name} = {json.dumps(value)}")
        else:
            texts.append(_axes(name, value))
    return texts


def _constant(value, dtype):
    text = str(value).lower() if dtype == "i1" else str(int(value)) if dtype[0] == "i" else f"{value:.17e}"
    return f"relay.constant dense<{text}> : tensor<{dtype}>"


def _given(value):
    """A weight as it is bound: numpy has no bf16."""
    is_weight = value.name.startswith("%w")
    return Value(value.name + "_f32", value.shape, "f32") if is_weight and value.dtype == "bf16" else value


def relay(program):
    """The function @main; weights are arguments after the inputs."""
    named = [v for v, _ in program.inputs + program.weights]
    arguments = ", ".join(f'{_given(v).name}: {_given(v).type} {{relay.name = "{v.name[1:]}"}}' for v in named)
    results = ", ".join(v.type for v in program.outputs)
    lines = [f"func.func @main({arguments}) -> ({results}) {{"]
    for v, _ in program.weights:
        if v.dtype == "bf16":
            lines.append(f"  {v.name} = relay.cast {_given(v).name} {{dtype = bf16}} : ({_given(v).type}) -> {v.type}")
    for kind, operands, attributes, result in program.nodes:
        if kind == "constant":
            lines.append(f"  {result.name} = {_constant(attributes['value'], result.dtype)}")
            continue
        given = ", ".join(_attributes(kind, attributes, result))
        types = f"({', '.join(o.type for o in operands)}) -> {result.type}"
        names = ", ".join(o.name for o in operands)
        lines.append(f"  {result.name} = relay.{kind} {names}{' {' + given + '}' if given else ''} : {types}")
    returned = ", ".join(v.name for v in program.outputs)
    return "\n".join([*lines, f"  return {returned} : {results}", "}", ""])
