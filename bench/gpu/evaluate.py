"""What a recorded program computes (cases/program.py), by PyTorch: as the judge in double precision, and as a peer in its own types.

`Evaluator(record, "f64")` is a function of tensors that torch.compile can take; weights are made from their seeds.
"""

import torch
import torch.nn.functional as F
from weights import weight

TORCH = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64,
         "i32": torch.int32, "i1": torch.bool}


def set_tf32(record):
    """Has PyTorch round factors of f32 where the case's own compiler does."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = "--fp-math=fast" in record["options"]


def tensor_input(shape, dtype, fill, device, seed):
    generator = torch.Generator(device).manual_seed(seed)
    if fill.get("causal"):
        return torch.full(shape, float("-inf"), device=device).triu(1).to(TORCH[dtype])
    if "below" in fill:
        return torch.randint(0, fill["below"], shape, generator=generator, device=device).to(TORCH[dtype])
    drawn = torch.randn(shape, generator=generator, device=device, dtype=torch.float32)
    return (drawn * fill.get("scale", 1.0)).to(TORCH[dtype])


def _reduce(function):
    return lambda a, x: function(x, dim=a["axes"], keepdim=a["keepdims"])


def _attention(a, q, k, v, bias=None):
    shapes = [t.shape for t in (q, k, v)]
    q, k, v = (t if t.dim() >= 4 else t.reshape(1, *t.shape) for t in (q, k, v))
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=a.get("scale", 1.0))
    return out.reshape(*shapes[0][:-1], shapes[2][-1])


def _judged_attention(a, q, k, v, bias=None):
    scores = q @ k.transpose(-1, -2) * a.get("scale", 1.0)
    return (scores if bias is None else scores + bias).softmax(-1) @ v


OPERATORS = {
    "matmul": lambda a, x, y: x @ (y.transpose(-1, -2) if a.get("transpose_b") else y),
    "dense": lambda a, x, w: F.linear(x, w),
    "conv2d": lambda a, x, w: F.conv2d(x, w, None, a["stride"], a["padding"], 1, a["groups"]),
    "attention": _attention,
    "softmax": lambda a, x: x.softmax(a["axis"]),
    "layer_norm": lambda a, x, g, b: F.layer_norm(x, x.shape[-1:], g, b),
    "max_pool2d": lambda a, x: F.max_pool2d(x, a["kernel"], a["stride"], a["padding"]),
    "global_avg_pool": lambda a, x: x.mean((2, 3), keepdim=True),
    "reduce_sum": _reduce(torch.sum),
    "reduce_mean": _reduce(torch.mean),
    "reduce_max": _reduce(torch.amax),
    "cumsum": lambda a, x: torch.cumsum(x, a["axis"]),
    "transpose": lambda a, x: x.permute(a["axes"]).contiguous(),
    "slice": lambda a, x: x.narrow(a["axis"], a["begin"], a["end"] - a["begin"]),
    "concat": lambda a, *xs: torch.cat(xs, a["axis"]),
    "gather": lambda a, x, i: torch.index_select(x, a["axis"], i),
    "scatter_elements": lambda a, x, i, u: x.scatter_add(a["axis"], i.long(), u),
    "where": lambda a, c, x, y: torch.where(c, x, y),
    "less": lambda a, x, y: x < y,
    "greater": lambda a, x, y: x > y,
    "logical_or": lambda a, x, y: x | y,
    "add": lambda a, x, y: x + y,
    "sub": lambda a, x, y: x - y,
    "mul": lambda a, x, y: x * y,
    "div": lambda a, x, y: x / y,
    "maximum": lambda a, x, y: torch.maximum(x, y),
    "relu": lambda a, x: torch.relu(x),
    "clip": lambda a, x: x.clamp(a.get("min"), a.get("max")),
    "sigmoid": lambda a, x: torch.sigmoid(x),
    "tanh": lambda a, x: torch.tanh(x),
    "erf": lambda a, x: torch.erf(x),
    "exp": lambda a, x: torch.exp(x),
    "sin": lambda a, x: torch.sin(x),
    "cos": lambda a, x: torch.cos(x),
    "abs": lambda a, x: x.abs(),
}


class Evaluator:
    """A record as a function. `as_dtype` has floats in another type than written; `layout` may be torch.channels_last for 4-D weights."""

    def __init__(self, record, as_dtype=None, device="cpu", layout=torch.contiguous_format):
        self.record, self.judge = record, as_dtype == "f64"
        of = lambda dtype: TORCH[as_dtype if as_dtype and dtype in ("f16", "bf16", "f32") else dtype]
        self.of, self.device = of, device
        self.weights = []
        for _, shape, dtype, fill in record["weights"]:
            made = torch.from_numpy(weight(shape, fill)).to(TORCH[dtype]).to(of(dtype)).to(device)
            self.weights.append(made.contiguous(memory_format=layout) if made.dim() == 4 else made)
        made = lambda a, dtype: torch.tensor(a["value"], dtype=of(dtype), device=device)
        self.constants = {r[0]: made(a, r[2]) for kind, _, a, r in record["nodes"] if kind == "constant"}

    def given(self, inputs):
        """The inputs of a run in this evaluator's types."""
        return [x.to(self.of(dtype)) for x, (_, _, dtype, _) in zip(inputs, self.record["inputs"])]

    def __call__(self, *inputs):
        record = self.record
        values = dict(self.constants)
        for (name, *_), x in zip(record["inputs"] + record["weights"], [*inputs, *self.weights]):
            values[name] = x
        for kind, operands, attributes, (name, shape, dtype) in record["nodes"]:
            if kind == "constant":
                continue
            given = [values[o] for o in operands]
            if kind in ("reshape", "broadcast_to"):
                values[name] = given[0].reshape(shape) if kind == "reshape" else given[0].expand(shape)
            elif kind == "cast":
                values[name] = given[0].to(self.of(dtype))
            elif kind == "attention" and self.judge:
                values[name] = _judged_attention(attributes, *given)
            else:
                values[name] = OPERATORS[kind](attributes, *given)
        return [values[name] for name, *_ in record["outputs"]]
