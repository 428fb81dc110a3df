"""The shapes of shapes.txt as workloads of a benchmark that times several compilers in turns: a module with WORKLOADS and
build, as that of the models. A workload is called by its program and arguments, `conv_1_64_56_56_128_3_2_1_1`; weights
are constants."""

import pathlib
import zlib

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

WORKLOADS = {}


class Product(nn.Module):
    """A product with a weight that is known when compiling."""

    def __init__(self, rows, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(rows, columns) / rows**0.5, requires_grad=False)

    def forward(self, x):
        return torch.matmul(x, self.weight)


class Function(nn.Module):
    """A function of its inputs."""

    def __init__(self, function):
        super().__init__()
        self.forward = function


def matmul(m, k, n, *batch):
    return Function(lambda a, b: torch.matmul(a, b)), [(*batch, m, k), (*batch, k, n)]


def dense(m, k, n):
    return Product(k, n), [(m, k)]


def conv(batch, channels, height, width, filters, kernel, stride, groups, dilation):
    padding = dilation * (kernel - 1) // 2
    module = nn.Conv2d(channels, filters, kernel, stride, padding, dilation, groups, bias=False)
    return module, [(batch, channels, height, width)]


def pool(channels, extent, kernel, stride):
    return nn.MaxPool2d(kernel, stride, kernel // 2), [(1, channels, extent, extent)]


def plain(function):
    return lambda rows, columns: (Function(function), [(rows, columns)])


PROGRAMS = {
    "matmul": matmul,
    "dense": dense,
    "conv": conv,
    "pool": pool,
    "softmax": plain(lambda x: F.softmax(x, -1)),
    "tanh": plain(lambda x: torch.tanh(x)),
    "transpose": plain(lambda x: x.transpose(0, 1).contiguous()),
    "rows": plain(lambda x: x.sum(1)),
    "columns": plain(lambda x: x.sum(0)),
}


def build(name):
    """The module in evaluation mode and its inputs, random by the name."""
    seed = zlib.crc32(name.encode()) & 0x7FFFFFFF
    torch.manual_seed(seed)
    random = np.random.RandomState(seed)
    module, shapes = WORKLOADS[name]["make"]()
    inputs = [torch.from_numpy(random.standard_normal(shape).astype(np.float32)) for shape in shapes]
    return module.eval(), inputs


for line in (pathlib.Path(__file__).parent / "shapes.txt").read_text().splitlines():
    if not line.startswith("#"):
        kind, _, program, *arguments = line.split()
        numbers = [int(a) for a in arguments]
        WORKLOADS["_".join([program, *arguments])] = dict(
            make=lambda p=program, n=numbers: PROGRAMS[p](*n), group=kind, trips=1, onnx=True
        )
