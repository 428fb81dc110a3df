"""Attention forward: keys from 1k to 16k, a causal mask, a bias by pairs as Evoformer has it."""

from .program import Program


def attention(dtype, heads, n, d, bias=None, batch=1):
    shape = [batch, heads, n, d]
    kind = {None: "", "mask": "_causal", "pair": "_pair_bias"}[bias]
    p = Program(f"attention/{dtype}_b{batch}_h{heads}_n{n}_d{d}{kind}", family="attention", flops=4 * batch * heads * n * n * d,
                peers=["eager", *(["causal"] if bias == "mask" else []), *(["triton"] if not bias and d == 64 and n >= 1024 else [])],
                causal=bias == "mask")
    q, k, v = (p.input(shape, dtype) for _ in range(3))
    more = [p.input({"mask": [n, n], "pair": [heads, n, n]}[bias], dtype, **({"causal": True} if bias == "mask" else {}))] if bias else []
    p.output(p.op("attention", q, k, v, *more, shape=shape, scale=float(d**-0.5)))
    return p


def cases(small):
    if small:
        yield attention("f16", 2, 128, 64)
        yield attention("f32", 2, 96, 64)
        yield attention("bf16", 2, 128, 64, "mask")
        yield attention("f16", 2, 64, 32, "pair", batch=2)
        return
    for n in (1024, 4096, 16384):
        yield attention("f16", 16, n, 64)
    yield attention("bf16", 16, 4096, 128)
    yield attention("f16", 16, 4096, 64, "mask")
    yield attention("f16", 4, 256, 32, "pair", batch=128)
    yield attention("f32", 16, 1024, 64)
