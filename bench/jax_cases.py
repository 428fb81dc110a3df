"""The functions of JAX that jax_functions.py runs, each with its arguments."""

CASES = []


def case(name, function, *arguments):
    CASES.append((name, function, arguments))


def table():
    """All cases."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax, nn
    from jax.scipy import linalg, special

    rng = np.random.default_rng(7)

    def f32(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    def positive(*shape):
        return (rng.random(shape) + 0.1).astype(np.float32)

    def unit(*shape):
        return (rng.random(shape) * 1.8 - 0.9).astype(np.float32)

    def ints(low, high, *shape, dtype=np.int32):
        return rng.integers(low, high, shape).astype(dtype)

    def bools(*shape):
        return rng.random(shape) < 0.5

    def c64(*shape):
        return (f32(*shape) + 1j * f32(*shape)).astype(np.complex64)

    def repeated(*shape):
        return rng.integers(-3, 4, shape).astype(np.float32)

    special_values = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-30, 3.4e38, -2.5, 0.5, 1.5], np.float32)
    bf16 = lambda *shape: f32(*shape).astype(jnp.bfloat16)  # noqa: E731
    f16 = lambda *shape: f32(*shape).astype(np.float16)  # noqa: E731

    # --- Elementwise
    for name in "abs sign neg exp expm1 sin cos tan tanh floor ceil round square is_finite logistic cbrt sinh cosh asinh atan erf erfc".split():
        function = getattr(lax, name)
        case(f"lax.{name}", function, f32(4, 7))
        case(f"lax.{name} special", function, special_values)
    for name in "log log1p sqrt rsqrt lgamma digamma acosh".split():
        argument = positive(5, 6) + (1 if name == "acosh" else 0)
        case(f"lax.{name}", getattr(lax, name), argument)
        case(f"lax.{name} special", getattr(lax, name), special_values)
    for name in "asin acos atanh erf_inv".split():
        case(f"lax.{name}", getattr(lax, name), unit(5, 6))
    for name in "add sub mul div max min pow rem atan2 nextafter".split():
        a, b = (positive(4, 5), f32(4, 5)) if name == "pow" else (f32(4, 5), f32(4, 5))
        case(f"lax.{name}", getattr(lax, name), a, b)
        pairs = np.meshgrid(special_values, special_values)
        if name != "pow":
            case(f"lax.{name} special", getattr(lax, name), pairs[0], pairs[1])
    for name in "add sub mul max min div rem bitwise_and bitwise_or bitwise_xor shift_left shift_right_logical shift_right_arithmetic".split():
        b = ints(0, 9, 6, 5) if "shift" in name else ints(-4, 5, 6, 5)
        case(f"lax.{name} i32", getattr(lax, name), ints(-100, 100, 6, 5), b)
        case(f"lax.{name} u8", getattr(lax, name), ints(0, 200, 6, 5, dtype=np.uint8), ints(0, 7, 6, 5, dtype=np.uint8))
    for name in "add mul max min".split():
        case(f"lax.{name} bf16", getattr(lax, name), bf16(4, 5), bf16(4, 5))
        case(f"lax.{name} f16", getattr(lax, name), f16(4, 5), f16(4, 5))
    for name in "bitwise_and bitwise_or bitwise_xor".split():
        case(f"lax.{name} bool", getattr(lax, name), bools(9), bools(9))
    for name in "eq ne lt le gt ge".split():
        case(f"lax.{name}", getattr(lax, name), repeated(5, 5), repeated(5, 5))
        case(f"lax.{name} bool", getattr(lax, name), bools(5, 5), bools(5, 5))
        case(f"lax.{name} special", getattr(lax, name), *np.meshgrid(special_values, special_values))
    case("lax.population_count", lax.population_count, ints(-(2**31), 2**31 - 1, 20))
    case("lax.clz", lax.clz, np.array([0, 1, -1, 5, 2**30, 77], np.int32))
    case("lax.bitwise_not", lax.bitwise_not, ints(-9, 9, 7))
    case("lax.bitwise_not bool", lax.bitwise_not, bools(7))
    case("lax.clamp", lambda x: lax.clamp(-0.5, x, 0.5), f32(4, 4))
    case("lax.select", lambda p, a, b: lax.select(p, a, b), bools(4, 4), f32(4, 4), f32(4, 4))
    case("lax.select_n of four", lambda p, a, b, c, d: lax.select_n(p, a, b, c, d), ints(0, 4, 6), f32(6), f32(6), f32(6), f32(6))
    case("lax.integer_pow", lambda x: lax.integer_pow(x, 5), f32(4, 4))
    case("integer power", lambda a, b: jnp.power(a, b), ints(-4, 5, 20), ints(0, 6, 20))
    for dtype in (np.int32, np.int8, np.uint8, np.float16, jnp.bfloat16, np.bool_):
        case(f"convert to {np.dtype(dtype).name}", lambda x, d=dtype: x.astype(d), f32(5, 5) * 50)
    case("convert from i32", lambda x: x.astype(np.float32), ints(-1000, 1000, 9))
    case("convert from bool", lambda x: x.astype(np.float32), bools(9))
    case("bitcast f32 to i32", lambda x: lax.bitcast_convert_type(x, np.int32), f32(9))
    case("bitcast f32 to u8", lambda x: lax.bitcast_convert_type(x, np.uint8), f32(9))
    case("bitcast u8 to f32", lambda x: lax.bitcast_convert_type(x, np.float32), ints(0, 100, 3, 4, dtype=np.uint8))
    for bits in ((5, 10), (8, 7), (4, 3), (5, 2), (8, 10)):
        case(f"reduce_precision {bits}", lambda x, b=bits: lax.reduce_precision(x, *b), np.concatenate([f32(50), f32(20) * 1e5, f32(20) * 1e-6, special_values]))

    # --- Shape
    case("reshape", lambda x: x.reshape(6, 4), f32(2, 3, 4))
    case("transpose", lambda x: jnp.transpose(x, (2, 0, 1)), f32(2, 3, 4))
    case("broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (3, 4, 5), (0, 2)), f32(3, 5))
    case("broadcast_to", lambda x: jnp.broadcast_to(x, (4, 3, 5)), f32(3, 1))
    case("concatenate", lambda a, b, c: jnp.concatenate([a, b, c], 1), f32(2, 3), f32(2, 1), f32(2, 4))
    case("stack", lambda a, b: jnp.stack([a, b], 1), f32(3, 4), f32(3, 4))
    case("split", lambda x: jnp.split(x, 3, axis=1), f32(2, 9))
    case("pad", lambda x: jnp.pad(x, ((1, 2), (0, 3)), constant_values=2.5), f32(3, 4))
    case("lax.pad interior", lambda x: lax.pad(x, 1.5, ((1, 0, 2), (-1, 2, 1))), f32(3, 4))
    case("lax.pad negative", lambda x: lax.pad(x, 0.0, ((-1, -1, 0), (2, -2, 0))), f32(4, 5))
    case("pad reflect", lambda x: jnp.pad(x, ((2, 1), (1, 2)), mode="reflect"), f32(4, 5))
    case("pad wrap", lambda x: jnp.pad(x, ((2, 1), (1, 2)), mode="wrap"), f32(4, 5))
    case("tile", lambda x: jnp.tile(x, (2, 3)), f32(2, 3))
    case("repeat", lambda x: jnp.repeat(x, 3, axis=1), f32(2, 3))
    case("roll", lambda x: jnp.roll(x, 2, axis=1), f32(3, 5))
    case("flip", lambda x: jnp.flip(x, (0, 1)), f32(3, 5))
    case("slice strided", lambda x: x[1:7:2, ::-1], f32(8, 5))
    case("iota", lambda: (lax.iota(np.int32, 7), lax.broadcasted_iota(np.float32, (3, 4), 1)))
    case("arange linspace eye", lambda: (jnp.arange(2, 9, 2), jnp.linspace(0, 1, 7), jnp.eye(4), jnp.tri(4)))
    case("tril triu", lambda x: (jnp.tril(x), jnp.triu(x, 1)), f32(5, 5))
    case("meshgrid", lambda a, b: jnp.meshgrid(a, b), f32(3), f32(4))
    case("squeeze expand", lambda x: jnp.expand_dims(jnp.squeeze(x, 1), (0, 2)), f32(3, 1, 4))
    case("moveaxis swapaxes", lambda x: jnp.swapaxes(jnp.moveaxis(x, 0, 2), 0, 1), f32(2, 3, 4))
    case("rot90", lambda x: jnp.rot90(x), f32(3, 4))
    case("diag", lambda x: (jnp.diag(x), jnp.diagonal(x), jnp.trace(x)), f32(4, 4))
    case("kron outer", lambda a, b: (jnp.kron(a, b), jnp.outer(a, b)), f32(3), f32(4))

    # --- Indexing
    case("dynamic_slice", lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 3)), f32(5, 6), np.int32(2), np.int32(1))
    case("dynamic_slice clamps", lambda x, i: lax.dynamic_slice(x, (i, i), (2, 3)), f32(5, 6), np.int32(77))
    case("dynamic_update_slice", lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 1)), f32(5, 6), f32(2, 3), np.int32(2))
    case("dynamic_update_slice rows", lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 0)), f32(5, 6), f32(2, 6), np.int32(9))
    case("dynamic_index_in_dim", lambda x, i: lax.dynamic_index_in_dim(x, i, 1), f32(4, 5), np.int32(-1))
    case("take", lambda x, i: jnp.take(x, i, axis=1), f32(4, 9), ints(-9, 9, 3, 2))
    case("take clip", lambda x, i: jnp.take(x, i, axis=0, mode="clip"), f32(4, 9), ints(-9, 9, 5))
    case("take fill", lambda x, i: jnp.take(x, i, axis=0, mode="fill"), f32(4, 9), ints(-9, 9, 5))
    case("take_along_axis", lambda x, i: jnp.take_along_axis(x, i, 1), f32(4, 9), ints(0, 9, 4, 3))
    case("advanced indexing", lambda x, i, j: x[i, :, j], f32(4, 5, 6), ints(0, 4, 3), ints(0, 6, 3))
    case("embedding", lambda w, i: w[i], f32(20, 8), ints(0, 20, 2, 5))
    case("boolean where", lambda x, m: jnp.where(m, x, 0), f32(4, 5), bools(4, 5))
    case("at set", lambda x, i, v: x.at[i].set(v), f32(6, 4), np.array([1, 4, 2]), f32(3, 4))
    case("at add repeated", lambda x, i, v: x.at[i].add(v), f32(6, 4), ints(0, 6, 9), f32(9, 4))
    case("at multiply", lambda x, i, v: x.at[i].multiply(v), f32(6), ints(0, 6, 4), f32(4))
    case("at max", lambda x, i, v: x.at[:, i].max(v), f32(3, 6), ints(0, 6, 8), f32(3, 8))
    case("at min", lambda x, i, v: x.at[i].min(v), f32(6), ints(0, 6, 8), f32(8))
    case("at out of bounds", lambda x, i, v: x.at[i].set(v, mode="drop"), f32(6), np.array([0, 9, 3]), f32(3))
    case("at add out of bounds", lambda x, i, v: x.at[i].add(v, mode="drop"), f32(6), np.array([0, 9, 3, 6]), f32(4))
    case("at two indices", lambda x, i, j, v: x.at[i, j].add(v), f32(5, 6), ints(0, 5, 7), ints(0, 6, 7), f32(7))
    case("at slice", lambda x, v: x.at[1:3, 2:5].set(v), f32(5, 6), f32(2, 3))
    case("at apply", lambda x, i: x.at[i].apply(jnp.sin), f32(6), np.array([1, 4]))
    case("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 5), f32(9, 3), ints(0, 5, 9))
    case("segment_max", lambda x, i: jax.ops.segment_max(x, i, 5), f32(9), ints(0, 5, 9))
    case("one_hot", lambda i: nn.one_hot(i, 6), ints(-1, 7, 8))
    case("vmap gather", jax.vmap(lambda x, i: x[i]), f32(4, 6), ints(0, 6, 4))
    case("vmap dynamic_slice", jax.vmap(lambda x, i: lax.dynamic_slice(x, (i,), (3,))), f32(4, 9), ints(0, 9, 4))
    case("vmap scatter", jax.vmap(lambda x, i, v: x.at[i].set(v)), f32(4, 6), ints(0, 6, 4), f32(4))
    case("vmap dynamic_update_slice", jax.vmap(lambda x, u, i: lax.dynamic_update_slice(x, u, (i,))), f32(4, 9), f32(4, 2), ints(0, 9, 4))
    case("searchsorted", lambda a, v: jnp.searchsorted(a, v), np.sort(f32(16)), f32(7))
    case("histogram", lambda x: jnp.histogram(x, 5, (-2.0, 2.0))[0], f32(50))
    case("bincount", lambda x: jnp.bincount(x, length=7), ints(0, 7, 30))

    # --- Reductions
    for name in "sum prod max min mean var std".split():
        function = getattr(jnp, name)
        case(f"jnp.{name}", lambda x, f=function: f(x, axis=1), f32(4, 6, 3))
        case(f"jnp.{name} all", lambda x, f=function: f(x), f32(4, 6))
    for name in "sum prod max min".split():
        case(f"jnp.{name} i32", lambda x, f=getattr(jnp, name): f(x, axis=(0, 2), keepdims=True), ints(-4, 5, 3, 4, 2))
    for name in "any all".split():
        case(f"jnp.{name}", lambda x, f=getattr(jnp, name): f(x, axis=0), bools(3, 9))
    for name in "argmax argmin".split():
        case(f"jnp.{name}", lambda x, f=getattr(jnp, name): f(x, axis=1), repeated(6, 9))
        case(f"jnp.{name} nan", lambda x, f=getattr(jnp, name): f(x), special_values)
        case(f"jnp.{name} i32", lambda x, f=getattr(jnp, name): f(x, axis=0), ints(-3, 3, 7, 5))
    for name in "sum max mean".split():
        case(f"jnp.{name} bf16", lambda x, f=getattr(jnp, name): f(x, axis=1), bf16(4, 30))
    for name in "cumsum cumprod".split():
        case(f"jnp.{name}", lambda x, f=getattr(jnp, name): f(x, axis=1), f32(3, 9))
    for name in "cummax cummin cumsum cumprod cumlogsumexp".split():
        case(f"lax.{name}", lambda x, f=getattr(lax, name): f(x, axis=1), f32(3, 11))
        case(f"lax.{name} reverse", lambda x, f=getattr(lax, name): f(x, axis=0, reverse=True), f32(13))
    case("logsumexp", lambda x: special.logsumexp(x, axis=1), f32(4, 9))
    case("bitwise reductions", lambda x: (jnp.bitwise_or.reduce(x), jnp.bitwise_and.reduce(x), jnp.bitwise_xor.reduce(x)), ints(0, 99, 13))
    case("lax.reduce of two", lambda x, y: lax.reduce((x, y), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]), (1,)), f32(3, 7), f32(3, 7))
    case("lax.reduce of a formula", lambda x: lax.reduce(x, 0.0, lambda a, b: jnp.sqrt(a * a + b * b), (0, 1)), f32(5, 7))
    case("nansum median", lambda x: (jnp.nansum(x), jnp.nanmax(x), jnp.median(jnp.nan_to_num(x, posinf=9, neginf=-9))), special_values)
    case("associative_scan", lambda x: lax.associative_scan(jnp.add, x), f32(13))
    case("ptp percentile", lambda x: (jnp.ptp(x), jnp.percentile(x, 30.0)), f32(21))
    case("linalg.norm", lambda x: (jnp.linalg.norm(x), jnp.linalg.norm(x, axis=1)), f32(4, 5))
    for name in "max min add".split():
        monoid = {"max": (-np.inf, lax.max), "min": (np.inf, lax.min), "add": (0.0, lax.add)}[name]
        window = lambda x, m=monoid: lax.reduce_window(x, m[0], m[1], (1, 3, 2, 1), (1, 2, 1, 1), "SAME")  # noqa: E731
        case(f"reduce_window {name}", window, f32(2, 7, 8, 3))
        dilated = lambda x, m=monoid: lax.reduce_window(x, m[0], m[1], (3,), (2,), ((2, 1),), (2,), (2,))  # noqa: E731
        case(f"reduce_window {name} dilated", dilated, f32(12))
    case("reduce_window mul", lambda x: lax.reduce_window(x, 1.0, lax.mul, (2, 3), (1, 1), "VALID"), f32(5, 6))
    case("reduce_window i32", lambda x: lax.reduce_window(x, 0, lax.add, (3,), (1,), "SAME"), ints(-9, 9, 10))
    case("grad max_pool", jax.grad(lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") ** 2).sum()), f32(2, 7, 7, 2))
    case("grad avg_pool", jax.grad(lambda x: (lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2).sum()), f32(2, 6, 6, 2))

    # --- Sorting
    case("sort", lambda x: jnp.sort(x, axis=1), repeated(4, 9))
    case("sort special", jnp.sort, special_values)
    case("sort descending", lambda x: jnp.sort(x, descending=True), repeated(20))
    case("sort i32", lambda x: jnp.sort(x, axis=0), ints(-5, 5, 9, 3))
    case("argsort", lambda x: jnp.argsort(x, axis=1), repeated(4, 9))
    case("argsort special", jnp.argsort, special_values)
    case("lexsort", lambda a, b: jnp.lexsort((a, b)), repeated(15), repeated(15))
    case("lax.sort of keys and values", lambda k, v: lax.sort((k, v), num_keys=1), repeated(12), f32(12))
    case("lax.sort of two keys", lambda a, b, v: lax.sort((a, b, v), num_keys=2), repeated(20), ints(0, 3, 20), f32(20))
    case("lax.top_k", lambda x: lax.top_k(x, 4), repeated(3, 12))
    case("approx_max_k", lambda x: lax.approx_max_k(x, 3), f32(2, 20))
    case("unique", lambda x: jnp.unique(x, size=7), repeated(12))

    # --- Products
    case("matmul", jnp.matmul, f32(5, 7), f32(7, 3))
    case("matmul batched", jnp.matmul, f32(2, 3, 5, 7), f32(3, 7, 4))
    case("matmul vectors", lambda a, b, m: (a @ b, m @ a, a @ m), f32(6), f32(6), f32(6, 6))
    case("matmul bf16", jnp.matmul, bf16(5, 7), bf16(7, 3))
    case("matmul bf16 to f32", lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=np.float32), bf16(5, 7), bf16(7, 3))
    case("matmul i32", jnp.matmul, ints(-5, 5, 4, 6), ints(-5, 5, 6, 3))
    case("matmul i8 to i32", lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=np.int32), ints(-99, 99, 4, 6, dtype=np.int8), ints(-99, 99, 6, 3, dtype=np.int8))
    case("dot_general", lambda a, b: lax.dot_general(a, b, (((1, 3), (2, 0)), ((2,), (1,)))), f32(2, 3, 4, 5), f32(5, 4, 3, 6))
    case("einsum attention", lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k), f32(2, 5, 3, 4), f32(2, 6, 3, 4))
    case("einsum", lambda a, b, c: jnp.einsum("ij,jk,lk->il", a, b, c), f32(3, 4), f32(4, 5), f32(6, 5))
    case("tensordot", lambda a, b: jnp.tensordot(a, b, 2), f32(3, 4, 5), f32(4, 5, 2))
    case("cross vdot inner", lambda a, b: (jnp.cross(a, b), jnp.vdot(a, b), jnp.inner(a, b)), f32(4, 3), f32(4, 3))

    # --- Convolutions
    nhwc, nchw = ("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW")

    def conv(x, w, strides=(1, 1), padding="SAME", numbers=nhwc, **options):
        return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=numbers, **options)

    case("conv NHWC", conv, f32(2, 9, 9, 3), f32(3, 3, 3, 4))
    case("conv NCHW strided", lambda x, w: conv(x, w, (2, 2), numbers=nchw), f32(2, 3, 9, 9), f32(4, 3, 3, 3))
    case("conv valid dilated", lambda x, w: conv(x, w, padding="VALID", rhs_dilation=(2, 2)), f32(1, 9, 9, 2), f32(3, 3, 2, 4))
    case("conv lhs dilated", lambda x, w: conv(x, w, padding=((1, 2), (2, 1)), lhs_dilation=(2, 3)), f32(1, 4, 5, 2), f32(3, 3, 2, 4))
    case("conv grouped", lambda x, w: conv(x, w, feature_group_count=2), f32(1, 6, 6, 4), f32(3, 3, 2, 6))
    case("conv depthwise", lambda x, w: conv(x, w, feature_group_count=4), f32(1, 6, 6, 4), f32(3, 3, 1, 8))
    case("conv batch groups", lambda x, w: conv(x, w, batch_group_count=2), f32(4, 6, 6, 3), f32(3, 3, 3, 4))
    # Negative padding is left out: XLA 0.10 reads beyond the data on CPUs.
    case("conv 1d", lambda x, w: lax.conv_general_dilated(x, w, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")), f32(2, 9, 3), f32(3, 3, 4))
    case("conv 3d", lambda x, w: lax.conv_general_dilated(x, w, (1, 1, 1), "SAME"), f32(1, 2, 4, 5, 4), f32(3, 2, 3, 3, 3))
    case("conv transpose", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), f32(1, 4, 4, 3), f32(3, 3, 3, 2))
    case("grad conv", jax.grad(lambda x, w: (conv(x, w, (2, 2)) ** 2).sum(), (0, 1)), f32(2, 7, 7, 3), f32(3, 3, 3, 4))
    case("jnp.convolve", lambda a, b: jnp.convolve(a, b), f32(9), f32(4))

    # --- Control flow
    case("cond", lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), np.bool_(True), f32(5))
    case("cond false", lambda p, x: lax.cond(p > 0, lambda y: y + 1, lambda y: y * 2, x), np.float32(-1), f32(5))
    case("switch", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda y: y * y, lambda y: -y], x), np.int32(2), f32(5))
    case("switch clamps", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), np.int32(-5), f32(5))
    case("while", lambda x: lax.while_loop(lambda s: s[1].sum() < 100, lambda s: (s[0] + 1, s[1] * 1.5), (0, jnp.abs(x) + 0.1)), f32(5))
    case("fori", lambda x: lax.fori_loop(0, 7, lambda i, y: y * 0.5 + i, x), f32(5))
    case("fori dynamic", lambda n, x: lax.fori_loop(0, n, lambda i, y: y + jnp.sin(y) * i, x), np.int32(5), f32(5))
    case("scan", lambda c, xs: lax.scan(lambda c, x: (c * 0.5 + x, c.sum()), c, xs), f32(4), f32(6, 4))
    case("scan reverse", lambda c, xs: lax.scan(lambda c, x: (c + x, c * x), c, xs, reverse=True), f32(4), f32(6, 4))
    case("nested scan", lambda x: lax.scan(lambda c, r: (lax.scan(lambda d, y: (d * 0.9 + y, d), c, r)[0], c), jnp.float32(0), x), f32(4, 5))
    case("map", lambda x: lax.map(lambda r: jnp.outer(r, r).sum(0), x), f32(4, 5))
    case("collatz", lambda n: lax.while_loop(lambda s: s[0] != 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0)), np.int32(27))
    case("newton", lambda a: lax.fori_loop(0, 20, lambda i, x: 0.5 * (x + a / x), a), positive(4) + 1)
    case("vmap while", jax.vmap(lambda x: lax.while_loop(lambda v: v < 10, lambda v: v * 2, x)), positive(6))
    case("vmap cond", jax.vmap(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x)), bools(6), f32(6))
    case("scan tuple of ints", lambda xs: lax.scan(lambda c, x: ((c[0] + x, c[1] ^ x), c[0] > c[1]), (0, 0), xs), ints(0, 50, 9))

    # --- Integers and random numbers
    case("floor divide", lambda a, b: (a // b, a % b), ints(-20, 20, 30), np.where(ints(0, 2, 30) > 0, 3, -4).astype(np.int32))
    case("division by zero", lambda a, b: (lax.div(a, b), lax.rem(a, b)), np.array([5, -5, 0, -(2**31)], np.int32), np.array([0, 0, 0, -1], np.int32))
    case("gcd lcm", lambda a, b: (jnp.gcd(a, b), jnp.lcm(a, b)), ints(1, 40, 9), ints(1, 40, 9))
    case("random.uniform", lambda k: jax.random.uniform(k, (3, 5)), np.array([1, 2], np.uint32))
    case("random.normal", lambda k: jax.random.normal(k, (3, 5)), np.array([1, 2], np.uint32))
    case("random.bernoulli", lambda k: jax.random.bernoulli(k, 0.3, (20,)), np.array([1, 2], np.uint32))
    case("random.randint", lambda k: jax.random.randint(k, (9,), 0, 100), np.array([1, 2], np.uint32))
    case("random.permutation", lambda k: jax.random.permutation(k, 9), np.array([1, 2], np.uint32))
    case("random.categorical", lambda k, x: jax.random.categorical(k, x, axis=-1), np.array([1, 2], np.uint32), f32(4, 7))
    case("random.split", lambda k: jax.random.split(k, 3), np.array([1, 2], np.uint32))
    case("random.gamma", lambda k: jax.random.gamma(k, 2.0, (4,)), np.array([1, 2], np.uint32))
    for name, bits in (("THREE_FRY", np.uint32), ("THREE_FRY", np.uint64), ("PHILOX", np.uint32), ("DEFAULT", np.uint32), ("DEFAULT", np.uint8)):
        algorithm = getattr(lax.RandomAlgorithm, f"RNG_{name}")
        case(f"rng_bit_generator {name} {np.dtype(bits).name}", lambda k, a=algorithm, d=bits: lax.rng_bit_generator(k, (3, 5), dtype=d, algorithm=a), np.array([1, 2, 3, 4], np.uint32))
    case("dropout", lambda k, x: jnp.where(jax.random.bernoulli(k, 0.8, x.shape), x / 0.8, 0), np.array([1, 2], np.uint32), f32(4, 7))

    # --- Complex numbers and Fourier transforms
    for name in "abs exp log sqrt rsqrt sin cos tan tanh neg conj real imag sign square sinh cosh log1p expm1".split():
        case(f"lax.{name} c64", getattr(lax, name), c64(4, 5))
    for name in "add sub mul div pow eq ne".split():
        case(f"lax.{name} c64", getattr(lax, name), c64(4, 5), c64(4, 5))
    case("complex matmul", jnp.matmul, c64(3, 4), c64(4, 5))
    case("complex sum", lambda x: (x.sum(), x.mean(0)), c64(3, 4))
    case("angle", jnp.angle, c64(3, 4))
    for n in (8, 12, 30, 97, 256, 1000):
        case(f"fft {n}", jnp.fft.fft, c64(2, n))
    case("ifft rfft irfft", lambda x, r: (jnp.fft.ifft(x), jnp.fft.rfft(r), jnp.fft.irfft(x)), c64(2, 12), f32(2, 15))
    case("fft2 fftn", lambda x: (jnp.fft.fft2(x), jnp.fft.fftshift(x)), c64(2, 6, 10))
    case("rfft2 irfft2", lambda x: jnp.fft.irfft2(jnp.fft.rfft2(x)), f32(6, 10))

    # --- Linear algebra
    matrix = f32(6, 6)
    spd = matrix @ matrix.T + 6 * np.eye(6, dtype=np.float32)
    batch = f32(3, 5, 5) + 3 * np.eye(5, dtype=np.float32)
    case("cholesky", jnp.linalg.cholesky, spd)
    case("solve_triangular", lambda a, b: linalg.solve_triangular(a, b, lower=True), np.tril(spd), f32(6, 3))
    case("solve_triangular upper", lambda a, b: linalg.solve_triangular(a, b, trans=1), np.triu(spd), f32(6, 3))
    case("solve", jnp.linalg.solve, batch, f32(3, 5, 2))
    case("inv det", lambda a: (jnp.linalg.inv(a), jnp.linalg.det(a), jnp.linalg.slogdet(a)), batch)
    case("cho_solve", lambda a, b: linalg.cho_solve((jnp.linalg.cholesky(a), True), b), spd, f32(6, 2))
    case("matrix_power", lambda a: jnp.linalg.matrix_power(a, 3), f32(4, 4))
    case("expm", linalg.expm, f32(4, 4) * 0.3)
    case("qr", jnp.linalg.qr, f32(6, 4))
    case("eigh", lambda a: jnp.linalg.eigh(a)[0], spd)
    case("svd", lambda a: jnp.linalg.svd(a, compute_uv=False), f32(5, 4))
    case("lax.linalg.cholesky", lambda a: lax.linalg.cholesky(a), spd)

    # --- Special functions
    case("polygamma", lambda x: special.polygamma(2, x), positive(9))
    case("zeta", lambda x, q: special.zeta(x, q), positive(9) + 1.5, positive(9))
    case("betainc", special.betainc, positive(6), positive(6), rng.random(6).astype(np.float32))
    case("gammainc", special.gammainc, positive(6), positive(6))
    case("i0 i1", lambda x: (special.i0(x), special.i0e(x)), f32(9))
    case("i1e", special.i1e, f32(9))
    case("ndtr log_ndtr", lambda x: (special.ndtr(x), special.log_ndtr(x)), f32(9))
    case("xlogy entr expit logit", lambda x: (special.xlogy(x, x), special.entr(x), special.expit(x), special.logit(x)), rng.random(9).astype(np.float32))
    case("sinc heaviside", lambda x: (jnp.sinc(x), jnp.heaviside(x, 0.5)), f32(9))
    case("interp", lambda x: jnp.interp(x, jnp.arange(5.0), jnp.array([1.0, 3, 2, 5, 4])), f32(9) * 3)
    case("polyval", lambda c, x: jnp.polyval(c, x), f32(4), f32(9))

    # --- Layers
    for name in "relu gelu silu softplus sigmoid elu selu leaky_relu hard_swish hard_tanh log_sigmoid mish celu soft_sign relu6 swish".split():
        case(f"nn.{name}", getattr(nn, name), f32(4, 9) * 3)
    for name in "softmax log_softmax logsumexp".split():
        case(f"nn.{name}", lambda x, f=getattr(nn, name): f(x, axis=-1), f32(4, 9))
    case("nn.standardize", lambda x: nn.standardize(x, axis=-1), f32(4, 9))
    case("nn.glu", lambda x: nn.glu(x), f32(4, 10))
    case("layer norm", lambda x, g, b: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g + b, f32(4, 16), f32(16), f32(16))
    case("rms norm", lambda x, g: x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g, f32(4, 16), f32(16))
    case("dot_product_attention", lambda q, k, v: nn.dot_product_attention(q, k, v), f32(2, 6, 3, 8), f32(2, 7, 3, 8), f32(2, 7, 3, 8))
    case("causal attention", lambda q, k, v: nn.dot_product_attention(q, k, v, is_causal=True), f32(2, 6, 3, 8), f32(2, 6, 3, 8), f32(2, 6, 3, 8))
    case("cross entropy", lambda x, y: -jnp.take_along_axis(nn.log_softmax(x), y[:, None], 1).mean(), f32(6, 10), ints(0, 10, 6))
    case("grad cross entropy", jax.grad(lambda w, x, y: -jnp.take_along_axis(nn.log_softmax(x @ w), y[:, None], 1).mean()), f32(8, 10), f32(6, 8), ints(0, 10, 6))
    case("image resize", lambda x: jax.image.resize(x, (1, 8, 10, 2), "bilinear"), f32(1, 5, 6, 2))
    case("image resize nearest", lambda x: jax.image.resize(x, (1, 8, 10, 2), "nearest"), f32(1, 5, 6, 2))

    def block(x, p):
        h = nn.relu(conv(x, p[0]) * p[1] + p[2])
        h = conv(h, p[3]) * p[4] + p[5]
        return nn.relu(h + x)

    def transformer(x, p):
        def norm(y):
            return (y - y.mean(-1, keepdims=True)) / jnp.sqrt(y.var(-1, keepdims=True) + 1e-5)

        b, n, d = x.shape
        q, k, v = (jnp.split((norm(x) @ p["qkv"]).reshape(b, n, 3, 2, d // 2), 3, axis=2))
        q, k, v = (y[:, :, 0] for y in (q, k, v))
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(d // 2)
        s = jnp.where(jnp.tril(jnp.ones((n, n), bool)), s, -1e9)
        o = jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(s), v).reshape(b, n, d)
        x = x + o @ p["out"]
        return x + nn.gelu(norm(x) @ p["up"]) @ p["down"]

    weights = {"qkv": f32(16, 48) * 0.3, "out": f32(16, 16) * 0.3, "up": f32(16, 64) * 0.3, "down": f32(64, 16) * 0.3}
    parts = [f32(3, 3, 8, 8) * 0.1, f32(8), f32(8), f32(3, 3, 8, 8) * 0.1, f32(8), f32(8)]
    case("ResNet block", lambda x, *p: block(x, p), f32(1, 10, 10, 8), *parts)
    case("transformer block", transformer, f32(2, 7, 16), weights)
    case("grad transformer block", jax.grad(lambda p, x: (transformer(x, p) ** 2).mean()), weights, f32(2, 7, 16))
    case("MLP training step", lambda w, x, y: jax.tree.map(lambda a, g: a - 0.1 * g, w, jax.grad(lambda v: ((jnp.tanh(x @ v[0]) @ v[1] - y) ** 2).mean())(w)), [f32(5, 8), f32(8, 2)], f32(6, 5), f32(6, 2))

    def lstm(c, x, w):
        h, s = c
        i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w, 4, -1)
        s = nn.sigmoid(f) * s + nn.sigmoid(i) * jnp.tanh(g)
        h = nn.sigmoid(o) * jnp.tanh(s)
        return (h, s), h

    case("LSTM", lambda xs, w: lax.scan(lambda c, x: lstm(c, x, w), (jnp.zeros((2, 6)), jnp.zeros((2, 6))), xs)[1], f32(5, 2, 4), f32(10, 24) * 0.4)
    case("hessian", jax.hessian(lambda x: (jnp.sin(x) * x[::-1]).sum()), f32(4))
    case("jvp vjp", lambda x, t: (jax.jvp(lambda y: jnp.sin(y) * y, (x,), (t,)), jax.vjp(jnp.tanh, x)[1](t)), f32(5), f32(5))
    case("checkpoint", jax.grad(lambda x: jax.checkpoint(lambda y: jnp.sin(jnp.sin(y)))(x).sum()), f32(5))
    case("custom_vjp", lambda x: nn.relu(x) + jax.grad(lambda y: nn.relu(y).sum())(x), f32(5))
    case("i8 quantized", lambda x, w: (jnp.clip(jnp.round(x * 10), -128, 127).astype(np.int8).astype(np.int32) @ w.astype(np.int32)), f32(4, 6), ints(-99, 99, 6, 3, dtype=np.int8))
    return CASES
