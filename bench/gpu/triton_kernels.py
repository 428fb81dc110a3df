"""Kernels in Triton as its users write them, for a matrix product, softmax, layer normalization and attention."""

import torch
import triton
import triton.language as tl


@triton.jit
def _product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (GROUP * columns) * GROUP
    size = min(rows - first, GROUP)
    i = first + pid % (GROUP * columns) % size
    j = pid % (GROUP * columns) // size
    m, n, k = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for at in range(0, tl.cdiv(K, BK)):
        kk = at * BK + k
        x = tl.load(a + m[:, None] * K + kk[None, :], mask=(m[:, None] < M) & (kk[None, :] < K), other=0.0)
        y = tl.load(b + kk[:, None] * N + n[None, :], mask=(kk[:, None] < K) & (n[None, :] < N), other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


_tuned_product = triton.autotune(
    [triton.Config({"BM": m, "BN": n, "BK": k, "GROUP": 8}, num_warps=w, num_stages=s)
     for m, n, k, w, s in [(128, 256, 64, 8, 3), (128, 128, 64, 4, 4), (64, 64, 64, 4, 4)]],
    key=["M", "N", "K"],
)(_product)


@triton.jit
def _softmax(x, y, N, B: tl.constexpr):
    row, n = tl.program_id(0).to(tl.int64), tl.arange(0, B)
    v = tl.load(x + row * N + n, mask=n < N, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * N + n, (e / tl.sum(e, 0)).to(y.dtype.element_ty), mask=n < N)


@triton.jit
def _layer_norm(x, g, b, y, N, B: tl.constexpr):
    row, n = tl.program_id(0).to(tl.int64), tl.arange(0, B)
    v = tl.load(x + row * N + n, mask=n < N, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / N
    d = tl.where(n < N, v - mean, 0.0)
    r = tl.rsqrt(tl.sum(d * d, 0) / N + 1e-5)
    scale, shift = tl.load(g + n, mask=n < N, other=0.0).to(tl.float32), tl.load(b + n, mask=n < N, other=0.0).to(tl.float32)
    tl.store(y + row * N + n, (d * r * scale + shift).to(y.dtype.element_ty), mask=n < N)


@triton.jit
def _attention(q, k, v, o, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head, m, d, n = tl.program_id(1).to(tl.int64) * N * D, tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D), tl.arange(0, BN)
    queries = tl.load(q + head + m[:, None] * D + d[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    sums, total = tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    for at in range(0, N, BN):
        keys = tl.load(k + head + (at + n)[None, :] * D + d[:, None])
        scores = tl.dot(queries, keys) * (scale * 1.44269504)
        now = tl.maximum(most, tl.max(scores, 1))
        p, old = tl.exp2(scores - now[:, None]), tl.exp2(most - now)
        sums = sums * old + tl.sum(p, 1)
        values = tl.load(v + head + (at + n)[:, None] * D + d[None, :])
        total = tl.dot(p.to(values.dtype), values, total * old[:, None])
        most = now
    tl.store(o + head + m[:, None] * D + d[None, :], (total / sums[:, None]).to(o.dtype.element_ty))


def contender(record, inputs):
    """A function that computes the case's one operator."""
    kind, _, attributes, (_, shape, _) = next(n for n in record["nodes"] if n[0] != "constant")
    out = torch.empty(shape, dtype=inputs[0].dtype, device="cuda")
    if kind == "matmul":
        (m, k), n = inputs[0].shape, inputs[1].shape[1]
        grid = lambda c: (triton.cdiv(m, c["BM"]) * triton.cdiv(n, c["BN"]),)
        return lambda: _tuned_product[grid](*inputs, out, m, n, k)
    if kind == "attention":
        q, k, v = inputs
        batch, heads, n, d = q.shape
        return lambda: _attention[(n // 128, batch * heads)](q, k, v, out, attributes["scale"], n, d, 128, 64, num_warps=4, num_stages=3)
    rows, n = shape
    block = triton.next_power_of_2(n)
    warps = max(4, min(16, block // 512))
    if kind == "softmax":
        return lambda: _softmax[(rows,)](*inputs, out, n, block, num_warps=warps)
    return lambda: _layer_norm[(rows,)](*inputs, out, n, block, num_warps=warps)
