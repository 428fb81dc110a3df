"""Kernels that memory bounds: rows, reductions, elementwise chains, transposes, gathers, scans."""

from .program import Program

PEERS = ["eager", "inductor"]


def _program(name, **facts):
    return Program(name, **{"family": name.split("/")[0], "peers": PEERS, **facts})


def softmax(dtype, rows, columns):
    p = _program(f"rows/softmax_{dtype}_{rows}x{columns}", peers=[*PEERS, "triton"])
    x = p.input([rows, columns], dtype)
    p.output(p.op("softmax", x, shape=x.shape, axis=-1))
    return p


def layer_norm(dtype, rows, columns):
    p = _program(f"rows/layer_norm_{dtype}_{rows}x{columns}", peers=[*PEERS, "triton"])
    x, g, b = p.input([rows, columns], dtype), p.input([columns], dtype), p.input([columns], dtype)
    p.output(p.op("layer_norm", x, g, b, shape=x.shape, axis=-1))
    return p


def reduction(kind, dtype, shape, axes):
    p = _program(f"reduce/{kind.split('_')[1]}_{dtype}_{'x'.join(map(str, shape))}_over_{''.join(map(str, axes))}")
    p.output(p.reduce(kind, p.input(shape, dtype), axes))
    return p


def chain(dtype, count):
    """Seven operators on three tensors."""
    p = _program(f"elements/chain_{dtype}_{count}")
    x, y, z = (p.input([count], dtype) for _ in range(3))
    inner = p.like("tanh", p.like("add", p.like("mul", x, y), z))
    p.output(p.like("mul", p.like("sigmoid", inner), p.like("relu", p.like("add", x, z))))
    return p


def gelu(dtype, count):
    p = _program(f"elements/gelu_{dtype}_{count}")
    p.output(p.gelu(p.input([count], dtype)))
    return p


def residual(dtype, rows, columns):
    p = _program(f"elements/bias_residual_relu_{dtype}_{rows}x{columns}")
    x, b, r = p.input([rows, columns], dtype), p.input([columns], dtype), p.input([rows, columns], dtype)
    p.output(p.like("relu", p.like("add", p.like("add", x, b), r)))
    return p


def transpose(dtype, shape, axes):
    p = _program(f"transpose/{dtype}_{'x'.join(map(str, shape))}_{''.join(map(str, axes))}")
    p.output(p.transpose(p.input(shape, dtype), axes))
    return p


def gather(dtype, words, width, count):
    p = _program(f"gather/{dtype}_{words}x{width}_{count}")
    x, i = p.input([words, width], dtype), p.input([count], "i64", below=words)
    p.output(p.op("gather", x, i, shape=[count, width], axis=0))
    return p


def cumsum(dtype, rows, columns):
    p = _program(f"scan/cumsum_{dtype}_{rows}x{columns}", peers=["eager"])
    x = p.input([rows, columns], dtype)
    p.output(p.op("cumsum", x, shape=x.shape, axis=1))
    return p


def cases(small):
    n = lambda big: max(64, big // 32) if small else big
    yield softmax("f32", n(4096), n(1024))
    yield softmax("f16", n(8192), n(4096))
    yield softmax("f32", n(128), n(32768))
    yield layer_norm("f16", n(8192), n(1024))
    yield layer_norm("f32", n(16384), n(768))
    yield reduction("reduce_sum", "f32", [n(8192), n(8192)], [1])
    yield reduction("reduce_sum", "f32", [n(8192), n(8192)], [0])
    yield reduction("reduce_mean", "f16", [32, n(2048), n(1024)], [1])
    yield reduction("reduce_max", "f32", [n(1 << 16), n(1024)], [0, 1])
    yield chain("f32", n(1 << 25) if not small else 1000)
    yield chain("f16", n(1 << 25) if not small else 1024)
    yield gelu("f16", n(1 << 26) if not small else 777)
    yield residual("bf16", n(16384), n(4096))
    yield transpose("f32", [n(8192), n(8192)], [1, 0])
    yield transpose("f16", [n(8192), n(8192)], [1, 0])
    yield transpose("f16", [2 if small else 32, n(256), 14 if small else 56, 14 if small else 56], [0, 2, 3, 1])
    yield gather("f16", n(50000), n(1024), n(16384))
    yield cumsum("f32", n(4096), n(4096))
