"""What cases are timed beside. `contenders(record, inputs)` gives functions by name; one that cannot be made is a text that says why."""

import torch
import torch.nn.functional as F
from evaluate import Evaluator, set_tf32


def graph_of(once):
    """Launches a captured graph of what `once` puts onto the stream it is given."""
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        for _ in range(3):
            once()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        once()
    return graph.replay


def _eager(record, inputs, device):
    layout = torch.channels_last if record.get("channels_last") else torch.contiguous_format
    evaluator = Evaluator(record, device=device, layout=layout)
    return lambda: evaluator(*inputs)


def _nhwc(record, inputs, device):
    """A convolution of images whose channels lie together, without the transposes: what a channels_last model does."""
    evaluator = Evaluator(record, device=device, layout=torch.channels_last)
    w, bias = evaluator.weights
    conv = next(a for kind, _, a, _ in record["nodes"] if kind == "conv2d")
    x = inputs[0].permute(0, 3, 1, 2)
    return lambda: F.relu(F.conv2d(x, w, bias.flatten(), conv["stride"], conv["padding"], 1, conv["groups"]))


def _inductor(record, inputs, device, **options):
    evaluator = Evaluator(record, device=device)
    torch._dynamo.reset()  # else it gives up compiling the one function after some cases
    compiled = torch.compile(evaluator.__call__, dynamic=False, **options)
    compiled(*inputs)
    return lambda: compiled(*inputs)


def _causal(record, inputs, device):
    q, k, v, _ = inputs
    scale = next(a for kind, _, a, _ in record["nodes"] if kind == "attention")["scale"]
    return lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale)


def _triton(record, inputs, device):
    import triton_kernels

    return triton_kernels.contender(record, inputs)


def _jax(record, inputs, device):
    import jax

    x = [jax.dlpack.from_dlpack(t) for t in inputs]
    stream = torch.cuda.current_stream()
    product = jax.jit(lambda a, b: a @ b)

    def once():  # JAX has streams of its own: what is timed includes waiting for it
        product(*x).block_until_ready()
        stream.synchronize()

    once()
    return once


PEERS = {
    "eager": lambda record, *on: (_nhwc if record.get("channels_last") else _eager)(record, *on),
    "graph": lambda record, *on: graph_of(_eager(record, *on)),
    "inductor": _inductor,
    "inductor-max": lambda *on: _inductor(*on, mode="max-autotune-no-cudagraphs"),
    "causal": _causal,
    "triton": _triton,
    "jax": _jax,
}


def contenders(record, inputs, wanted, device):
    made, failed = {}, {}
    set_tf32(record)
    for name in wanted:
        try:
            once = PEERS[name](record, inputs, device)
            once()
            if device == "cuda":
                torch.cuda.synchronize()
            made[name] = once
        except Exception as error:  # a peer that fails costs its own figure
            failed[name] = " ".join(str(error).split())[:200]
    return made, failed
