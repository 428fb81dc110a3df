"""One small program for each kind of schedule (docs/explanation/gpu.md), which come first: who fails here fails everywhere."""

from . import attention, contractions, convolutions, memory
from .program import Program


FUNCTIONS = ["exp", "tanh", "erf", "sigmoid", "sin", "cos"]


def _named(name, p):
    p.name, p.facts = f"kinds/{name}", {**p.facts, "family": "kinds", "peers": []}
    return p


def _one(name, build, options=()):
    p = Program(name, options=list(options))
    build(p)
    return _named(name, p)


def _scatter(p):
    x, i, u = p.input([300]), p.input([500], "i64", below=300), p.input([500])
    p.output(p.op("scatter_elements", x, i, u, shape=[300], axis=0, reduction="add"))


def _softmax_of_columns(p):
    x = p.input([3, 500, 40])
    p.output(p.op("softmax", x, shape=x.shape, axis=1))


def _pool(p):
    p.output(p.max_pool2d(p.input([2, 13, 35, 35]), 3, 2, 1))


def _sum_of_columns(p):
    p.output(p.reduce("reduce_sum", p.input([3000, 72]), [0]))


def _with_itself(p):
    x = p.input([64, 48], "f16")
    p.output(p.op("dense", x, x, shape=[64, 64]))


def cases(small):
    product = contractions.product
    yield _named("elements", memory.chain("f32", 5003))
    yield _named("elements_f16", memory.chain("f16", 4096))
    yield _named("transpose", memory.transpose("f32", [97, 131], [1, 0]))
    yield _named("rows", memory.softmax("f32", 65, 1000))
    yield _named("one_row", memory.softmax("f32", 1, 5000))
    yield _named("rows_norm_f16", memory.layer_norm("f16", 33, 768))
    yield _named("row_reduction", memory.reduction("reduce_sum", "f32", [100, 3001], [1]))
    yield _one("column_reduction", _sum_of_columns)
    yield _one("column_softmax", _softmax_of_columns)
    yield _named("contraction", product("f32", 150, 130, 70))
    yield _named("contraction_split", product("f32", 64, 64, 4096))
    yield _named("matrix_small", product("f16", 40, 24, 32))
    yield _named("matrix_odd", product("f16", 130, 129, 67))
    yield _named("matrix_bf16_t", product("bf16", 128, 128, 128, transpose_b=True))
    yield _named("warp_groups", product("f16", 256, 512, 256))
    yield _named("warp_groups_odd", product("f16", 300, 264, 200))
    yield _named("warp_groups_split", product("bf16", 256, 256, 8192))
    yield _named("warp_groups_wave", product("f16", 1920, 1280, 512) if not small else product("f16", 192, 128, 512))
    yield _named("tf32", product("f32", 256, 256, 256, options=["--fp-math=fast"]))
    yield _named("tf32_t", product("f32", 200, 256, 96, options=["--fp-math=fast"], transpose_b=True))
    yield _named("vector", product("f16", 1, 1000, 512))
    yield _named("batched", product("f16", 96, 96, 96, batch=[5]))
    yield _named("epilogue", contractions.with_epilogue("f16", 128, 256, 64, False))
    yield _named("convolution", convolutions.convolution("f16", 2, 64, 14, 96, 3, 1))
    yield _named("convolution_nhwc", convolutions.convolution("f16", 2, 64, 14, 96, 3, 1, channels_last=True))
    yield _named("convolution_f32", convolutions.convolution("f32", 1, 32, 28, 64, 3, 1))
    yield _named("convolution_strided", convolutions.convolution("f16", 1, 3, 64, 32, 7, 2))
    yield _named("depthwise", convolutions.convolution("f32", 1, 32, 28, 32, 3, 1, groups=32))
    yield _one("windows", _pool)
    yield _named("attention_f32", attention.attention("f32", 2, 100, 32))
    yield _named("attention_f16", attention.attention("f16", 2, 200, 64))
    yield _named("attention_bias", attention.attention("f16", 2, 128, 64, "pair"))
    yield _named("gather", memory.gather("f32", 100, 33, 70))
    yield _one("scatter", _scatter)
    yield _named("scan", memory.cumsum("f32", 3, 4096))
    yield _one("product_with_itself", _with_itself)
    for name in FUNCTIONS:
        yield _one(f"function_{name}", lambda p, name=name: p.output(p.like(name, p.input([40000], scale=4.0))))
