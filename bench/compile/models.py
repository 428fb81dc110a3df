#!/usr/bin/env python3
"""Makes the models whose compilation is timed: models.py FOLDER [NAME...]

Each is made of plain operators, as exporters write them, with weights of random numbers; without names all are made. A name
may end in a size, as `gpt2:24` for one of 24 layers: twice the size is to take about twice as long.
"""

import sys
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """A graph in the making: each call adds a node or an initializer and gives the name of its result."""

    def __init__(self):
        self.nodes, self.weights, self.inputs, self.random = [], [], [], numpy.random.default_rng(7)

    def input(self, shape):
        name = f"input_{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def weight(self, *shape):
        values = self.random.standard_normal(shape, dtype=numpy.float32) / max(1.0, float(shape[0])) ** 0.5
        return self.constant(values)

    def constant(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.asarray(values), name))
        return name

    def __getattr__(self, operator):
        def node(*operands, outputs=1, **attributes):
            names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
            self.nodes.append(helper.make_node(operator, list(operands), names, **attributes))
            return names[0] if outputs == 1 else names

        return node

    def model(self, outputs):
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "g", self.inputs, infos, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def gpt2(layers=12, width=768, heads=12, rows=64):
    """A decoder of the size of GPT-2, without its embeddings: norms, attention under a mask, and layers of GELU."""
    g = Graph()
    x = g.input([1, rows, width])
    mask = g.constant(numpy.triu(numpy.full((rows, rows), -1e9, numpy.float32), 1))
    shape = g.constant(numpy.array([1, rows, heads, width // heads]))
    back = g.constant(numpy.array([1, rows, width]))
    one, half, root, scale = (g.constant(numpy.float32(v)) for v in (1, 0.5, 2**0.5, (width // heads) ** -0.5))

    def norm(x):
        return g.LayerNormalization(x, g.weight(width), g.weight(width), axis=-1)

    def linear(x, wide, narrow):
        return g.Add(g.MatMul(x, g.weight(wide, narrow)), g.weight(narrow))

    for _ in range(layers):
        parts = g.Split(linear(norm(x), width, 3 * width), outputs=3, axis=2)
        q, k, v = (g.Transpose(g.Reshape(part, shape), perm=[0, 2, 1, 3]) for part in parts)
        scores = g.Mul(g.MatMul(q, g.Transpose(k, perm=[0, 1, 3, 2])), scale)
        heads_of = g.MatMul(g.Softmax(g.Add(scores, mask), axis=-1), v)
        x = g.Add(x, linear(g.Reshape(g.Transpose(heads_of, perm=[0, 2, 1, 3]), back), width, width))
        h = linear(norm(x), width, 4 * width)
        h = g.Mul(g.Mul(h, half), g.Add(g.Erf(g.Div(h, root)), one))
        x = g.Add(x, linear(h, 4 * width, width))
    return g.model([norm(x)])


def bilstm(steps=300, width=32, hidden=32):
    """A bidirectional LSTM, unrolled into operators of each step."""
    g = Graph()
    x = g.input([1, steps, width])
    axes = g.constant(numpy.array([1]))
    at = [g.Squeeze(piece, axes) for piece in g.Split(x, outputs=steps, axis=1)]
    given = []
    for inputs in (at, at[::-1]):
        w, r, b = g.weight(width, 4 * hidden), g.weight(hidden, 4 * hidden), g.weight(4 * hidden)
        h = c = g.constant(numpy.zeros((1, hidden), numpy.float32))
        states = []
        for step in inputs:
            gates = g.Add(g.Add(g.MatMul(step, w), g.MatMul(h, r)), b)
            i, o, f, n = g.Split(gates, outputs=4, axis=1)
            c = g.Add(g.Mul(g.Sigmoid(f), c), g.Mul(g.Sigmoid(i), g.Tanh(n)))
            h = g.Mul(g.Sigmoid(o), g.Tanh(c))
            states.append(g.Unsqueeze(h, axes))
        given.append(states)
    forth, back = given[0], given[1][::-1]
    return g.model([g.Concat(g.Concat(*forth, axis=1), g.Concat(*back, axis=1), axis=2)])


def concatenations(layers=60, growth=8):
    """A net whose layers each read all before them, as DenseNet."""
    g = Graph()
    x = g.input([1, 16, 14, 14])
    channels = 16
    for _ in range(layers):
        new = g.Relu(g.Conv(x, g.weight(growth, channels, 3, 3), g.weight(growth), pads=[1, 1, 1, 1]))
        x = g.Concat(x, new, axis=1)
        channels += growth
    return g.model([x])


def sums(count=400):
    """Prefix sums, one after another, with a function between them."""
    g = Graph()
    x = g.input([8, 64])
    axis = g.constant(numpy.array(1))
    for _ in range(count):
        x = g.Tanh(g.CumSum(x, axis))
    return g.model([x])


def products(count=200):
    """Products of one input with different weights, and a function of each."""
    g = Graph()
    x = g.input([4, 64])
    parts = [g.Tanh(g.MatMul(x, g.weight(64, 64))) for _ in range(count)]
    while len(parts) > 1:
        pairs = [g.Mul(*parts[i : i + 2]) for i in range(0, len(parts) - 1, 2)]
        parts = pairs + parts[2 * len(pairs) :]
    return g.model(parts)


def chain(count=400):
    """Layers of one size, one after another: as many kernels, of which few differ."""
    g = Graph()
    x = g.input([4, 64])
    for _ in range(count):
        x = g.Relu(g.Add(g.MatMul(x, g.weight(64, 64)), g.weight(64)))
    return g.model([x])


MODELS = {made.__name__: made for made in (gpt2, bilstm, concatenations, sums, products, chain)}


def main():
    folder, names = Path(sys.argv[1]), sys.argv[2:] or list(MODELS)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        kind, _, size = name.partition(":")
        if kind not in MODELS:
            sys.exit(f"there is no model {kind}: write one of {', '.join(MODELS)}")
        model = MODELS[kind](*([int(size)] if size else []))
        onnx.save(model, folder / f"{name.replace(':', '_')}.onnx")


main()
