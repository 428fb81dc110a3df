"""Products of matrices: all types, square, odd and skinny, batched, and with what is fused behind them."""

from .program import Program

PEERS = ["eager"]


def product(dtype, m, n, k, batch=(), transpose_b=False, options=(), peers=PEERS, tag=""):
    name = "x".join(map(str, [*batch, m, n, k]))
    flops = 2 * m * n * k
    for b in batch:
        flops *= b
    p = Program(f"gemm/{tag or dtype}_{name}{'_t' if transpose_b else ''}", family="gemm", flops=flops, options=list(options), peers=list(peers))
    a = p.input([*batch, m, k], dtype)
    b = p.input([*batch, n, k] if transpose_b else [*batch, k, n], dtype)
    p.output(p.matmul(a, b, transpose_b))
    return p


def with_epilogue(dtype, m, n, k, residual):
    p = Program(f"gemm/{dtype}_{m}x{n}x{k}_{'bias_residual' if residual else 'bias_gelu'}", family="gemm", flops=2 * m * n * k,
                peers=["eager", "inductor"])
    a, b, bias = p.input([m, k], dtype), p.input([k, n], dtype, scale=k**-0.5), p.input([n], dtype)
    sums = p.like("add", p.matmul(a, b), bias)
    p.output(p.like("add", sums, p.input([m, n], dtype)) if residual else p.gelu(sums))
    return p


def cases(small):
    cut = 16 if small else 1
    size = lambda n: max(64, n // cut)
    for n in (512, 1024, 2048, 4096, 8192):
        peers = ["eager", "triton"] + (["inductor-max"] if n in (2048, 4096) else []) + (["jax"] if n == 4096 else [])
        yield product("f16", *[size(n)] * 3, peers=peers)
        if small and n > 1024:
            break
    for n in (2048, 8192):
        yield product("bf16", *[size(n)] * 3)
    for n in (1024, 4096):
        yield product("f32", *[size(n)] * 3, options=["--fp-math=fast"], tag="tf32")
    for n in (1024, 4096):
        yield product("f32", *[size(n)] * 3)
    yield product("f16", size(4096), size(4096), size(4096), transpose_b=True)
    for m, n, k in [(1000, 1000, 1000), (2049, 1023, 4100), (8192, 320, 1280), (16, 4096, 4096), (4096, 64, 16384)]:
        yield product("f16", *(v if v < 100 else v // cut for v in (m, n, k)))
    yield product("f16", 1, size(8192), size(8192))
    yield product("f16", size(512), size(512), size(512), batch=[2 if small else 64])
    yield product("bf16", 77, 77, 64, batch=[2 if small else 192], transpose_b=True)
    yield with_epilogue("f16", size(4096), size(4096), size(1024), False)
    yield with_epilogue("bf16", size(8192), size(1024), size(4096), True)
