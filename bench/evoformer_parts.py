"""Exports the four parts of an Evoformer block that TinyOpenFold's README compares, each as an ONNX model.

usage: evoformer_parts.py DIR        (needs PyTorch and onnx; then: fusion explain|compile|bench DIR/PART.onnx)
Shapes: 16 sequences of 64 residues, 64 numbers a residue of a sequence, 128 a pair, 4 heads."""
import pathlib, sys
import torch
from torch import nn

SEQUENCES, RESIDUES, MSA, PAIR, HEADS = 16, 64, 64, 128, 4


def linear(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)


class QKV(nn.Module):
    """Normalized, then three products, each split into heads."""
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.q, self.k, self.v = (linear(width, width) for _ in range(3))

    def forward(self, x):
        x = self.norm(x)
        split = lambda y: y.view(*x.shape[:3], HEADS, -1).transpose(2, 3)
        return split(self.q(x)), split(self.k(x)), split(self.v(x))


class PairBiasAttention(nn.Module):
    """Attention along the residues, its scores biased by what a product makes of the pairs."""
    def __init__(self):
        super().__init__()
        self.bias = linear(PAIR, HEADS)

    def forward(self, q, k, v, pair):
        scores = torch.matmul(q, k.transpose(-2, -1)) * q.shape[-1] ** -0.5
        scores = scores + self.bias(pair).permute(0, 3, 1, 2).unsqueeze(1)
        return torch.matmul(torch.softmax(scores, -1), v)


class GatedProjection(nn.Module):
    """The two gated products of a triangle update."""
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(PAIR)
        self.a, self.b, self.gate_a, self.gate_b = (linear(PAIR, PAIR) for _ in range(4))

    def forward(self, z):
        z = self.norm(z)
        return torch.sigmoid(self.gate_a(z)) * self.a(z), torch.sigmoid(self.gate_b(z)) * self.b(z)


def main():
    torch.manual_seed(0)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    msa, pair = torch.randn(1, SEQUENCES, RESIDUES, MSA), torch.randn(1, RESIDUES, RESIDUES, PAIR)
    heads = lambda: torch.randn(1, SEQUENCES, HEADS, RESIDUES, MSA // HEADS)
    parts = {
        "msa_qkv": (QKV(MSA), (msa,)),
        "triangle_qkv": (QKV(PAIR), (pair,)),
        "attention_pair_bias": (PairBiasAttention(), (heads(), heads(), heads(), pair)),
        "triangle_gate_projection": (GatedProjection(), (pair,)),
    }
    for name, (module, inputs) in parts.items():
        torch.onnx.export(module.eval(), inputs, str(folder / f"{name}.onnx"), opset_version=17, dynamo=False)


main()
