#!/usr/bin/env python3
"""Recurrent nets as recursive programs beside the same nets unrolled into graphs: recurrent.py FUSION [NAME...]

Names are lstm, gru and char_rnn: 32 steps of batch 1 with states of 256 (char_rnn: embeddings of 128, two layers, 96 letters). A
recursive program computes the products of all inputs first, then calls itself for each step; the graph has a copy of a step for
each. Both run ahead of time on one thread, in turns; the least time of all rounds counts. The program is compiled as `fusion compile` does it
by default, which unfolds it, as a program (`--partial-eval=never`), and for the virtual machine.
"""
import json
import subprocess
import sys
import tempfile

import numpy as np

STEPS, ROUNDS = 32, 4


class Text:
    """Operations with names of their own."""

    def __init__(self, prefix):
        self.lines, self.next, self.prefix = [], 0, prefix

    def op(self, text, shape, dtype="f32"):
        self.next += 1
        name = f"%{self.prefix}{self.next}"
        self.lines.append(f"{name} = relay.{text} -> {tensor(shape, dtype)}")
        return name, shape

    def constant(self, array):
        array = np.asarray(array, order="C")
        self.next += 1
        name, dtype = f"%{self.prefix}{self.next}", "i32" if array.dtype == np.int32 else "f32"
        value = str(array) if array.ndim == 0 else f'"0x{array.tobytes().hex().upper()}"'
        self.lines.append(f"{name} = relay.constant dense<{value}> : {tensor(array.shape, dtype)}")
        return name, array.shape

    def unary(self, name, x):
        return self.op(f"{name} {x[0]} : ({tensor(x[1])})", x[1])

    def binary(self, name, x, y):
        return self.op(f"{name} {x[0]}, {y[0]} : ({tensor(x[1])}, {tensor(y[1])})", x[1] if len(x[1]) >= len(y[1]) else y[1])

    def dense(self, x, weight):
        w = self.constant(weight)
        return self.op(f"dense {x[0]}, {w[0]} : ({tensor(x[1])}, {tensor(w[1])})", (x[1][0], w[1][0]))

    def linear(self, x, weight, bias):
        return self.binary("add", self.dense(x, weight), self.constant(bias))

    def split(self, x, parts):
        size = x[1][1] // parts
        self.next += 1
        name, sections = f"%{self.prefix}{self.next}", ", ".join([str(size)] * parts)
        results = ", ".join([tensor((1, size))] * parts)
        self.lines.append(f"{name}:{parts} = relay.split {x[0]} {{axis = 1 : i64, sections = array<i64: {sections}>}} : ({tensor(x[1])}) -> ({results})")
        return [(f"{name}#{i}", (1, size)) for i in range(parts)]


def tensor(shape, dtype="f32"):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{dtype}>"


def lstm(t, a, h, c, w):
    i, f, g, o = t.split(t.binary("add", a, t.dense(h, w["h"])), 4)
    c = t.binary("add", t.binary("mul", t.unary("sigmoid", f), c), t.binary("mul", t.unary("sigmoid", i), t.unary("tanh", g)))
    return t.binary("mul", t.unary("sigmoid", o), t.unary("tanh", c)), c


def gru(t, a, h, w):
    ar, az, an = t.split(a, 3)
    br, bz, bn = t.split(t.linear(h, w["h"], w["b"]), 3)
    z = t.unary("sigmoid", t.binary("add", az, bz))
    n = t.unary("tanh", t.binary("add", an, t.binary("mul", t.unary("sigmoid", t.binary("add", ar, br)), bn)))
    return t.binary("add", n, t.binary("mul", z, t.binary("sub", h, n)))


class Net:
    def __init__(self, kind):
        random = np.random.RandomState(0)
        weight = lambda *shape: ((random.rand(*shape) * 2 - 1) / 16).astype(np.float32)
        gates = 3 if kind == "gru" else 4
        layers = 2 if kind == "char_rnn" else 1
        inputs = 128 if kind == "char_rnn" else 256
        self.kind, self.inputs, self.gates = kind, inputs, gates
        self.layers = [
            {"x": weight(gates * 256, inputs if i == 0 else 256), "h": weight(gates * 256, 256), "b": weight(gates * 256)}
            for i in range(layers)
        ]
        self.embedding, self.decoding, self.bias = weight(96, 128), weight(96, 256), weight(96)
        self.takes = tensor((STEPS,), "i32") if kind == "char_rnn" else tensor((STEPS, inputs))
        sizes = {"lstm": [256, 256], "gru": [256], "char_rnn": [256, 256, 256, 256, 96]}[kind]
        self.state = [(1, size) for size in sizes]

    def products(self, t, x):
        """The products of all inputs with the first layer's weights."""
        if self.kind == "char_rnn":
            table = t.constant(self.embedding)
            x = t.op(f"gather {table[0]}, {x} {{axis = 0 : i64}} : ({tensor(table[1])}, {self.takes})", (STEPS, 128))
        else:
            x = (x, (STEPS, self.inputs))
        first = self.layers[0]
        return t.linear(x, first["x"], first["b"]) if self.kind != "gru" else t.dense(x, first["x"])

    def step(self, t, a, state):
        if self.kind == "gru":
            return [gru(t, a, state[0], self.layers[0])]
        h, c = lstm(t, a, state[0], state[1], self.layers[0])
        if self.kind == "lstm":
            return [h, c]
        second = self.layers[1]
        k, d = lstm(t, t.linear(h, second["x"], second["b"]), state[2], state[3], second)
        return [h, c, k, d, t.binary("add", state[4], t.linear(k, self.decoding, self.bias))]

    def unrolled(self):
        t = Text("v")
        a = self.products(t, "%x")
        state = [t.constant(np.zeros(shape, np.float32)) for shape in self.state]
        for step in range(STEPS):
            bounds = f"axes = array<i64: 0>, begin = array<i64: {step}>, end = array<i64: {step + 1}>, strides = array<i64: 1>"
            row = t.op(f"slice {a[0]} {{{bounds}}} : ({tensor(a[1])})", (1, a[1][1]))
            state = self.step(t, row, state)
        last, body = state[-1], "\n  ".join(t.lines)
        return f"func.func @main(%x: {self.takes}) -> {tensor(last[1])} {{\n  {body}\n  return {last[0]} : {tensor(last[1])}\n}}\n"

    def recursive(self):
        t, m = Text("v"), Text("m")
        types = ", ".join(tensor(shape) for shape in self.state)
        names = [f"%s{i}" for i in range(len(self.state))]
        width, result = self.gates * 256, tensor(self.state[-1])
        row, _ = t.op(f"gather %a, %i {{axis = 0 : i64}} : ({tensor((STEPS, width))}, tensor<i32>)", (width,))
        row = t.op(f"expand_dims {row} {{axes = array<i64: 0>}} : ({tensor((width,))})", (1, width))
        state = self.step(t, row, list(zip(names, self.state)))
        one, _ = t.constant(np.array(1, np.int32))
        next_, _ = t.op(f"add %i, {one} : (tensor<i32>, tensor<i32>)", (), "i32")
        a = self.products(m, "%x")
        zero, _ = m.constant(np.array(0, np.int32))
        start = [m.constant(np.zeros(shape, np.float32))[0] for shape in self.state]
        signature = f"(tensor<i32>, {tensor((STEPS, width))}, {types}) -> {result}"
        parameters = ", ".join(f"{name}: {tensor(shape)}" for name, shape in zip(names, self.state))
        inner, outer = "\n    ".join(t.lines), "\n  ".join(m.lines)
        return f"""func.func private @run(%i: tensor<i32>, %a: {tensor((STEPS, width))}, {parameters}) -> {result} {{
  %end = relay.constant dense<{STEPS}> : tensor<i32>
  %done = relay.equal %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = relay.if %done {{
    relay.yield {names[-1]} : {result}
  }} else {{
    {inner}
    %again = relay.call @run({next_}, %a, {", ".join(value for value, _ in state)}) : {signature}
    relay.yield %again : {result}
  }} : (tensor<i1>) -> {result}
  return %r : {result}
}}
func.func @main(%x: {self.takes}) -> {result} {{
  {outer}
  %r = relay.call @run({zero}, {a[0]}, {", ".join(start)}) : {signature}
  return %r : {result}
}}
"""


def bench(fusion, model, inputs):
    command = [fusion, "bench", model, "--inputs", inputs, "--runs", "400", "--json"]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(run.stdout)["min_s"] * 1e6


def main():
    fusion, names = sys.argv[1], sys.argv[2:] or ["lstm", "gru", "char_rnn"]
    random = np.random.RandomState(1)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            net = Net(name)
            x = random.randint(0, 96, STEPS).astype(np.int32) if name == "char_rnn" else random.randn(STEPS, net.inputs).astype(np.float32)
            np.savez(f"{folder}/x.npz", x)
            values, models = {}, {}
            for form in ["unrolled", "recursive", "program", "bytecode"]:
                source, model = f"{folder}/{form}.mlir", f"{folder}/{form}." + ("fbc" if form == "bytecode" else "so")
                with open(source, "w") as file:
                    file.write(net.unrolled() if form == "unrolled" else net.recursive())
                emit = {"bytecode": ["--emit", "bytecode"], "program": ["--partial-eval=never"]}.get(form, [])
                subprocess.run([fusion, "compile", source, "-o", model, *emit], check=True, stdout=subprocess.DEVNULL)
                subprocess.run([fusion, "run", model, "--inputs", f"{folder}/x.npz", "--outputs", f"{folder}/y.npz"], check=True)
                values[form], models[form] = next(iter(np.load(f"{folder}/y.npz").values())), model
            least = {form: float("inf") for form in models}
            for _ in range(ROUNDS):
                for form, model in models.items():
                    least[form] = min(least[form], bench(fusion, model, f"{folder}/x.npz"))
            error = max(np.abs(values[form] - values["unrolled"]).max() for form in models)
            graph = least["unrolled"]
            print(f"{name:10} graph {graph:8.1f} us   recursive {least['recursive']:8.1f} us ({least['recursive'] / graph:.2f})   kept a program {least['program']:8.1f} us ({least['program'] / graph:.2f})   "
                  f"in the virtual machine {least['bytecode']:8.1f} us ({least['bytecode'] / graph:.2f})   largest difference {error:.1e}", flush=True)


if __name__ == "__main__":
    main()
