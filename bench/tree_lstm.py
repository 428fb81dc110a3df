#!/usr/bin/env python3
"""A binary TreeLSTM of 32 leaves (Tai et al., 2015; inputs of 256, states of 128), the tree as a value of a data type, beside TorchScript.

    python3 bench/tree_lstm.py target/debug/fusion

wants PyTorch and NumPy. Both run on one thread; the least CPU time of many runs counts. The value is compared with PyTorch in f64.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

INPUTS, STATES, LEAVES = 256, 128, 32


class TreeLstm(torch.nn.Module):
    """Children come before parents in `tree`; a leaf has -1 and takes the next row of `x`."""

    def __init__(self):
        super().__init__()
        self.leaf = torch.nn.Linear(INPUTS, 3 * STATES)
        self.gates = torch.nn.Linear(2 * STATES, 3 * STATES)
        self.forget = torch.nn.Linear(2 * STATES, 2 * STATES)

    def forward(self, x, tree):
        states: list[torch.Tensor] = []
        cells: list[torch.Tensor] = []
        taken = 0
        for node in range(tree.shape[0]):
            left, right = int(tree[node, 0]), int(tree[node, 1])
            if left < 0:
                i, o, u = self.leaf(x[taken]).chunk(3, -1)
                cell = torch.sigmoid(i) * torch.tanh(u)
                taken += 1
            else:
                both = torch.cat([states[left], states[right]], -1)
                i, o, u = self.gates(both).chunk(3, -1)
                l, r = torch.sigmoid(self.forget(both)).chunk(2, -1)
                cell = torch.sigmoid(i) * torch.tanh(u) + l * cells[left] + r * cells[right]
            states.append(torch.sigmoid(o) * torch.tanh(cell))
            cells.append(cell)
        return states[-1]


def program(model, x, tree):
    """The same as a program: one recursive function over the tree."""
    def constant(array):
        array = np.ascontiguousarray(array, np.float32)
        shape = "x".join(map(str, array.shape))
        return f'relay.constant dense<"0x{array.tobytes().hex().upper()}"> : tensor<{shape}xf32>'

    def dense(name, data, linear):
        weight, bias = linear.weight.detach().numpy(), linear.bias.detach().numpy()
        return f"""
    %{name}_w = {constant(weight)}
    %{name}_b = {constant(bias)}
    %{name}_p = relay.dense {data}, %{name}_w : (tensor<1x{weight.shape[1]}xf32>, tensor<{weight.shape[0]}x{weight.shape[1]}xf32>) -> tensor<1x{weight.shape[0]}xf32>
    %{name} = relay.add %{name}_p, %{name}_b : (tensor<1x{weight.shape[0]}xf32>, tensor<{weight.shape[0]}xf32>) -> tensor<1x{weight.shape[0]}xf32>"""

    state, row, tree_type = f"tensor<1x{STATES}xf32>", f"tensor<1x{INPUTS}xf32>", "!relay.adt<@Tree>"
    pair, gates = f"tuple<{state}, {state}>", f"tensor<1x{3 * STATES}xf32>"
    split = f"relay.split %g {{axis = 1 : i64, sections = array<i64: {STATES}, {STATES}, {STATES}>}} : ({gates}) -> ({state}, {state}, {state})"
    unary = lambda to, op, of: f"    %{to} = relay.{op} {of} : ({state}) -> {state}\n"
    binary = lambda to, op, a, b: f"    %{to} = relay.{op} {a}, {b} : ({state}, {state}) -> {state}\n"
    start = unary("i", "sigmoid", "%iou#0") + unary("o", "sigmoid", "%iou#1") + unary("u", "tanh", "%iou#2") + binary("new", "mul", "%i", "%u")
    end = unary("t", "tanh", "%c") + binary("h", "mul", "%o", "%t")
    end += f"    %r = relay.tuple %h, %c : ({state}, {state}) -> {pair}\n    relay.yield %r : {pair}\n"
    lines = []
    values = iter(range(len(x)))
    for node, (left, right) in enumerate(tree):
        if left < 0:
            lines += [f"%x{node} = {constant(x[next(values)])}",
                      f"%n{node} = relay.construct @Tree::@Leaf(%x{node}) : ({row}) -> {tree_type}"]
        else:
            lines.append(f"%n{node} = relay.construct @Tree::@Node(%n{left}, %n{right}) : ({tree_type}, {tree_type}) -> {tree_type}")
    return f"""relay.data @Tree [] [#relay.constructor<"Leaf", [{row}]>, #relay.constructor<"Node", [{tree_type}, {tree_type}]>]
func.func @encode(%tree: {tree_type}) -> {pair} {{
  %s = relay.match %tree : ({tree_type}) -> {pair}
  case [@Tree::@Leaf, "x"] {{
  ^bb0(%x: {row}):{dense("g", "%x", model.leaf)}
    %iou:3 = {split}
{start}    %c = relay.mul %i, %u : ({state}, {state}) -> {state}
{end}  }}
  case [@Tree::@Node, "left", "right"] {{
  ^bb0(%left: {tree_type}, %right: {tree_type}):
    %l = relay.call @encode(%left) : ({tree_type}) -> {pair}
    %k = relay.call @encode(%right) : ({tree_type}) -> {pair}
    %lh = relay.get %l[0] : {pair} -> {state}
    %lc = relay.get %l[1] : {pair} -> {state}
    %rh = relay.get %k[0] : {pair} -> {state}
    %rc = relay.get %k[1] : {pair} -> {state}
    %both = relay.concat %lh, %rh {{axis = 1 : i64}} : ({state}, {state}) -> tensor<1x{2 * STATES}xf32>{dense("g", "%both", model.gates)}{dense("f", "%both", model.forget)}
    %iou:3 = {split}
    %fs = relay.sigmoid %f : (tensor<1x{2 * STATES}xf32>) -> tensor<1x{2 * STATES}xf32>
    %ff:2 = relay.split %fs {{axis = 1 : i64, sections = array<i64: {STATES}, {STATES}>}} : (tensor<1x{2 * STATES}xf32>) -> ({state}, {state})
{start}{binary("fl", "mul", "%ff#0", "%lc")}{binary("fr", "mul", "%ff#1", "%rc")}{binary("kept", "add", "%fl", "%fr")}{binary("c", "add", "%new", "%kept")}{end}  }}
  return %s : {pair}
}}
func.func @main() -> {state} {{
  {chr(10).join(lines)}
  %s = relay.call @encode(%n{len(tree) - 1}) : ({tree_type}) -> {pair}
  %h = relay.get %s[0] : {pair} -> {state}
  return %h : {state}
}}
"""


def least(run, seconds=3.0):
    """The least CPU time of a run, in milliseconds."""
    for _ in range(20):
        run()
    best, end = float("inf"), time.process_time() + seconds
    while time.process_time() < end:
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best * 1e3


def main():
    fusion = sys.argv[1]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random = np.random.RandomState(0)
    model = TreeLstm().eval()
    x = random.randn(LEAVES, 1, INPUTS).astype(np.float32)
    tree, open_nodes = [[-1, -1] for _ in range(LEAVES)], list(range(LEAVES))
    while len(open_nodes) > 1:
        at = random.randint(len(open_nodes) - 1)
        tree.append([open_nodes[at], open_nodes[at + 1]])
        open_nodes[at:at + 2] = [len(tree) - 1]
    table = torch.tensor(tree)
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        scripted = torch.jit.script(model)
        script = least(lambda: scripted(torch.from_numpy(x), table))
        source, library, outputs = (os.path.join(folder, name) for name in ("tree.mlir", "tree.so", "out.npz"))
        with open(source, "w") as file:
            file.write(program(model, x, tree))
        subprocess.run([fusion, "compile", source, "-o", library], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([fusion, "run", library, "--outputs", outputs], check=True)
        expected = model.double()(torch.from_numpy(x).double(), table).numpy()
        found = next(iter(np.load(outputs).values()))
        error = np.abs(found - expected).max() / np.abs(expected).max()
        bytecode = os.path.join(folder, "tree.fbc")
        subprocess.run([fusion, "compile", source, "--emit", "bytecode", "-o", bytecode], check=True, stdout=subprocess.DEVNULL)
        least_of = {library: float("inf"), bytecode: float("inf")}
        for _ in range(4):
            for form in least_of:
                timed = subprocess.run([fusion, "bench", form, "--runs", "1000", "--json"], check=True, capture_output=True)
                least_of[form] = min(least_of[form], json.loads(timed.stdout)["min_s"] * 1e3)
        ours, machine = least_of.values()
    print(f"TorchScript {script:.3f} ms, fusion {ours:.3f} ms, ratio {script / ours:.2f}, error {error:.1e} of the largest output")
    print(f"in the virtual machine {machine:.3f} ms, {100 * (machine / ours - 1):.0f} % more than native code")


if __name__ == "__main__":
    main()
