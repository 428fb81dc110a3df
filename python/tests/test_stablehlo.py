"""Programs of StableHLO, operator by operator, beside what NumPy computes. (JAX's own functions are in test_jax.py, which needs jax.)"""

import math

import numpy as np
import pytest

import fusion

rng = np.random.default_rng(11)


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def ints(*shape, dtype=np.int32):
    return rng.integers(-100, 100, shape).astype(dtype)


def type_of(array):
    name = {"f": "f", "i": "i", "u": "ui", "b": "i1"}[array.dtype.kind]
    element = name if name == "i1" else f"{name}{8 * array.dtype.itemsize}"
    return f"tensor<{''.join(f'{n}x' for n in array.shape)}{element}>"


def check(lines, inputs, expected, rtol=2e-5, atol=2e-6):
    """A program of these lines, which takes %x0, %x1, ... and gives %y0, %y1, ..."""
    expected = [np.asarray(y) for y in expected]
    parameters = ", ".join(f"%x{k}: {type_of(x)}" for k, x in enumerate(inputs))
    types = [type_of(y) for y in expected]
    names = ", ".join(f"%y{k}" for k in range(len(expected)))
    text = f"func.func @main({parameters}) -> ({', '.join(types)}) {{\n{lines}\n  return {names} : {', '.join(types)}\n}}\n"
    found = fusion.compile(text.encode())(*inputs)
    found = found if isinstance(found, (list, tuple)) else [found]
    assert len(found) == len(expected)
    for k, (a, b) in enumerate(zip(found, expected)):
        assert a.dtype == b.dtype and a.shape == b.shape, f"%y{k}"
        if b.dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=f"%y{k}")
        else:
            np.testing.assert_array_equal(a, b, err_msg=f"%y{k}")


def check_each(rows, inputs, **tolerance):
    """Programs of one line, all in one: of each row the operator is applied to all inputs."""
    types = ", ".join(type_of(x) for x in inputs)
    names = ", ".join(f"%x{k}" for k in range(len(inputs)))
    expected = [np.asarray(function(*inputs)) for _, function in rows]
    line = '  %y{k} = "{op}"({names}){rest} : ({types}) -> {result}'
    lines = []
    for k, ((op, _), y) in enumerate(zip(rows, expected)):
        op, _, rest = op.partition(" ")
        lines.append(line.format(k=k, op=op, names=names, rest=rest and f" {rest}", types=types, result=type_of(y)))
    check("\n".join(lines), inputs, expected, **tolerance)


def by_element(function):
    return lambda *x: np.vectorize(function, otypes=[np.float32])(*x)


def test_functions_of_one_real():
    check_each(
        [
            ("stablehlo.abs", np.abs),
            ("stablehlo.negate", np.negative),
            ("stablehlo.sign", np.sign),
            ("stablehlo.floor", np.floor),
            ("stablehlo.ceil", np.ceil),
            ("stablehlo.round_nearest_even", np.round),
            ("stablehlo.round_nearest_afz", lambda x: np.sign(x) * np.floor(np.abs(x) + np.float32(0.5))),
            ("stablehlo.cbrt", np.cbrt),
            ("stablehlo.exponential", np.exp),
            ("stablehlo.exponential_minus_one", np.expm1),
            ("stablehlo.logistic", lambda x: 1 / (1 + np.exp(-x))),
            ("stablehlo.tanh", np.tanh),
            ("stablehlo.sine", np.sin),
            ("stablehlo.cosine", np.cos),
            ("stablehlo.tan", np.tan),
            ("stablehlo.is_finite", np.isfinite),
            ("chlo.sinh", np.sinh),
            ("chlo.cosh", np.cosh),
            ("chlo.asinh", np.arcsinh),
            ("chlo.atan", np.arctan),
            ("chlo.erf", by_element(math.erf)),
            ("chlo.erfc", by_element(math.erfc)),
            ("chlo.square", np.square),
        ],
        [np.concatenate([f32(9), np.array([0.0, 0.5, -0.5, 1.5, -2.5], np.float32)])],
    )


def test_functions_of_one_positive_number():
    check_each(
        [
            ("stablehlo.sqrt", np.sqrt),
            ("stablehlo.rsqrt", lambda x: 1 / np.sqrt(x)),
            ("stablehlo.log", np.log),
            ("stablehlo.log_plus_one", np.log1p),
            ("chlo.lgamma", by_element(math.lgamma)),
            ("chlo.acosh", lambda x: np.arccosh(x)),
        ],
        [np.abs(f32(11)) + 1.5],
    )
    check_each(
        [("chlo.asin", np.arcsin), ("chlo.acos", np.arccos), ("chlo.atanh", np.arctanh)],
        [np.linspace(-0.9, 0.9, 7, dtype=np.float32)],
    )


def test_special_functions_by_their_equations():
    x = np.linspace(0.3, 6, 9, dtype=np.float32)
    lines = """
  %one = stablehlo.constant dense<1.0> : tensor<9xf32>
  %x1 = stablehlo.add %x0, %one : tensor<9xf32>
  %a = chlo.digamma %x0 : tensor<9xf32> -> tensor<9xf32>
  %b = chlo.digamma %x1 : tensor<9xf32> -> tensor<9xf32>
  %y0 = stablehlo.subtract %b, %a : tensor<9xf32>
  %half = stablehlo.constant dense<0.1> : tensor<9xf32>
  %c = stablehlo.multiply %x0, %half : tensor<9xf32>
  %d = chlo.erf_inv %c : tensor<9xf32> -> tensor<9xf32>
  %y1 = chlo.erf %d : tensor<9xf32> -> tensor<9xf32>
  %two = stablehlo.constant dense<2.0> : tensor<9xf32>
  %e = chlo.zeta %two, %x0 : tensor<9xf32>, tensor<9xf32> -> tensor<9xf32>
  %f = chlo.polygamma %one, %x0 : tensor<9xf32>, tensor<9xf32> -> tensor<9xf32>
  %y2 = stablehlo.subtract %f, %e : tensor<9xf32>"""
    check(lines, [x], [1 / x, x * np.float32(0.1), 0 * x], atol=2e-5)


def test_functions_of_two_reals():
    check_each(
        [
            ("stablehlo.add", np.add),
            ("stablehlo.subtract", np.subtract),
            ("stablehlo.multiply", np.multiply),
            ("stablehlo.divide", np.divide),
            ("stablehlo.remainder", np.fmod),
            ("stablehlo.maximum", np.maximum),
            ("stablehlo.minimum", np.minimum),
            ("stablehlo.atan2", np.arctan2),
            ("chlo.next_after", np.nextafter),
            ("stablehlo.power", lambda a, b: np.power(a, b)),
            ("stablehlo.compare {comparison_direction = #stablehlo<comparison_direction LT>}", np.less),
            ("stablehlo.compare {comparison_direction = #stablehlo<comparison_direction GE>}", np.greater_equal),
            ("stablehlo.compare {comparison_direction = #stablehlo<comparison_direction NE>}", np.not_equal),
        ],
        [np.abs(f32(13)) + 0.1, np.concatenate([f32(12), [2.0]]).astype(np.float32)],
    )


def test_order_of_floats_by_their_bits():
    x = np.array([-0.0, 0.0, -1.0, np.inf, -np.inf, 2.0], np.float32)
    a, b = (m.ravel() for m in np.meshgrid(x, x))
    def total(v):
        bits = v.view(np.int32)
        return np.where(bits < 0, np.int32(-(2**31)) - bits - 1, bits)
    rows = [(f"stablehlo.compare {{comparison_direction = #stablehlo<comparison_direction {d}>, compare_type = #stablehlo<comparison_type TOTALORDER>}}", f)
            for d, f in (("LT", np.less), ("EQ", np.equal))]
    check_each([(op, lambda a, b, f=f: f(total(a), total(b))) for op, f in rows], [a, b])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64])
def test_bits_of_integers(dtype):
    bits = 8 * np.dtype(dtype).itemsize
    x = ints(12, dtype=dtype)
    unsigned = x.view(f"u{bits // 8}")
    check_each(
        [
            ("stablehlo.not", np.invert),
            ("stablehlo.popcnt", lambda x: np.array([bin(int(v)).count("1") for v in unsigned], dtype)),
            ("stablehlo.count_leading_zeros", lambda x: np.array([bits - int(v).bit_length() for v in unsigned], dtype)),
        ],
        [x],
    )
    # Shifting by as many bits as there are, or more, leaves nothing but the sign.
    n = np.array([0, 1, 3, bits - 1, bits, bits + 1, 2, 5, 1, 0, 4, 6], dtype)
    wide = [int(v) for v in unsigned]
    mask = (1 << bits) - 1

    def numbers(values):
        return np.array([v & mask for v in values], unsigned.dtype).view(dtype)

    signed = [v - (1 << bits) if v >> (bits - 1) else v for v in wide]
    check_each(
        [
            ("stablehlo.and", np.bitwise_and),
            ("stablehlo.or", np.bitwise_or),
            ("stablehlo.xor", np.bitwise_xor),
            ("stablehlo.shift_left", lambda a, b: numbers([v << min(int(k), bits) for v, k in zip(wide, b)])),
            ("stablehlo.shift_right_logical", lambda a, b: numbers([v >> min(int(k), bits) for v, k in zip(wide, b)])),
            ("stablehlo.shift_right_arithmetic", lambda a, b: numbers([v >> min(int(k), bits) for v, k in zip(signed, b)])),
        ],
        [x, n],
    )


def test_the_same_bits_as_another_type():
    x = f32(3, 2)
    lines = """
  %y0 = stablehlo.bitcast_convert %x0 : (tensor<3x2xf32>) -> tensor<3x2xi32>
  %y1 = stablehlo.bitcast_convert %x0 : (tensor<3x2xf32>) -> tensor<3x2x4xui8>
  %y2 = stablehlo.bitcast_convert %y1 : (tensor<3x2x4xui8>) -> tensor<3x2xf32>
  %y3 = stablehlo.bitcast_convert %x0 : (tensor<3x2xf32>) -> tensor<3xi64>"""
    check(lines, [x], [x.view(np.int32), x.view(np.uint8).reshape(3, 2, 4), x, x.view(np.int64).reshape(3)])


def test_fewer_digits():
    x = f32(8)
    lines = "  %y0 = stablehlo.reduce_precision %x0, format = e8m7 : tensor<8xf32>"
    bits = x.view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    check(lines, [x], [rounded.view(np.float32)], rtol=0, atol=0)


def test_complex_numbers():
    a, b, c, d = (f32(6) for _ in range(4))
    z, w = a + 1j * b, c + 1j * d
    ops = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "power": np.power,
        "exponential": np.exp, "log": np.log, "sqrt": np.sqrt, "rsqrt": lambda z: 1 / np.sqrt(z), "tanh": np.tanh, "sine": np.sin,
        "cosine": np.cos, "negate": np.negative, "logistic": lambda z: 1 / (1 + np.exp(-z)), "log_plus_one": np.log1p,
        "exponential_minus_one": np.expm1, "sign": lambda z: z / np.abs(z),
    }
    lines = ["  %z = stablehlo.complex %x0, %x1 : tensor<6xcomplex<f32>>", "  %w = stablehlo.complex %x2, %x3 : tensor<6xcomplex<f32>>"]
    expected = []
    for k, (name, function) in enumerate(ops.items()):
        two = name in ("add", "subtract", "multiply", "divide", "power")
        lines.append(f"  %c{k} = stablehlo.{name} {'%z, %w' if two else '%z'} : tensor<6xcomplex<f32>>")
        y = function(z.astype(np.complex128), w.astype(np.complex128)) if two else function(z.astype(np.complex128))
        for part in ("real", "imag"):
            lines.append(f"  %y{len(expected)} = stablehlo.{part} %c{k} : (tensor<6xcomplex<f32>>) -> tensor<6xf32>")
            expected.append(getattr(y, part).astype(np.float32))
    lines.append(f"  %y{len(expected)} = stablehlo.abs %z : (tensor<6xcomplex<f32>>) -> tensor<6xf32>")
    expected.append(np.abs(z).astype(np.float32))
    check("\n".join(lines), [a, b, c, d], expected, rtol=1e-3, atol=2e-5)


def test_fourier_transforms():
    a, b, x = f32(2, 8), f32(2, 8), f32(3, 6)
    lines = """
  %z = stablehlo.complex %x0, %x1 : tensor<2x8xcomplex<f32>>
  %f = stablehlo.fft %z, type = FFT, length = [8] : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xcomplex<f32>>
  %y0 = stablehlo.real %f : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xf32>
  %y1 = stablehlo.imag %f : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xf32>
  %g = stablehlo.fft %f, type = IFFT, length = [8] : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xcomplex<f32>>
  %y2 = stablehlo.imag %g : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xf32>
  %r = stablehlo.fft %x2, type = RFFT, length = [6] : (tensor<3x6xf32>) -> tensor<3x4xcomplex<f32>>
  %y3 = stablehlo.imag %r : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xf32>
  %y4 = stablehlo.fft %r, type = IRFFT, length = [6] : (tensor<3x4xcomplex<f32>>) -> tensor<3x6xf32>"""
    f = np.fft.fft(a + 1j * b)
    parts = [f.real, f.imag, b, np.fft.rfft(x).imag, x]
    check(lines, [a, b, x], [p.astype(np.float32) for p in parts], atol=1e-5)


def test_random_bits_follow_their_key():
    lines = """
  %s0, %y0 = "stablehlo.rng_bit_generator"(%x0) {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<64xui32>)
  %s1, %y1 = "stablehlo.rng_bit_generator"(%s0) {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<64xui32>)
  %s2, %y2 = "stablehlo.rng_bit_generator"(%x0) {rng_algorithm = #stablehlo<rng_algorithm PHILOX>} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<64xui32>)"""
    types = "tensor<64xui32>"
    text = f"func.func @main(%x0: tensor<2xui64>) -> ({types}, {types}, {types}) {{\n{lines}\n  return %y0, %y1, %y2 : {types}, {types}, {types}\n}}\n"
    model = fusion.compile(text.encode())
    key = np.array([3, 5], np.uint64)
    first, again, other = model(key), model(key), model(key + np.uint64(1))
    for a, b, c in zip(first, again, other):
        np.testing.assert_array_equal(a, b)
        assert (a != c).mean() > 0.9
        # Half of the bits are set, give or take five standard deviations.
        assert abs(sum(bin(int(v)).count("1") for v in a) - 1024) < 5 * math.sqrt(64 * 32 / 4)
    assert (first[0] != first[1]).mean() > 0.9


def test_moves():
    x, y = f32(4, 5), f32(4, 2)
    lines = """
  %y0 = stablehlo.slice %x0 [1:4:2, 0:5:3] : (tensor<4x5xf32>) -> tensor<2x2xf32>
  %y1 = stablehlo.concatenate %x0, %x1, dim = 1 : (tensor<4x5xf32>, tensor<4x2xf32>) -> tensor<4x7xf32>
  %y2 = stablehlo.reverse %x0, dims = [0, 1] : tensor<4x5xf32>
  %y3 = stablehlo.transpose %x0, dims = [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %y4 = stablehlo.reshape %x0 : (tensor<4x5xf32>) -> tensor<2x10xf32>
  %y5 = stablehlo.broadcast_in_dim %x1, dims = [2, 0] : (tensor<4x2xf32>) -> tensor<2x3x4xf32>
  %y6 = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %y7 = stablehlo.pad %x1, %one, low = [1, -1], high = [0, 2], interior = [1, 0] : (tensor<4x2xf32>, tensor<f32>) -> tensor<8x3xf32>
  %i = stablehlo.constant dense<3> : tensor<i32>
  %j = stablehlo.constant dense<-2> : tensor<i32>
  %y8 = stablehlo.dynamic_slice %x0, %i, %j, sizes = [2, 3] : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %y9 = stablehlo.dynamic_update_slice %x0, %x1, %j, %i : (tensor<4x5xf32>, tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32>"""
    padded = np.ones((8, 4), np.float32)
    padded[1::2, :2] = y
    updated = x.copy()
    updated[:, 3:] = y
    check(lines, [x, y], [
        x[1:4:2, 0:5:3], np.concatenate([x, y], 1), x[::-1, ::-1], x.T, x.reshape(2, 10), np.broadcast_to(y.T[:, None, :], (2, 3, 4)),
        np.tile(np.arange(3, dtype=np.int32), (2, 1)), padded[:, 1:], x[2:4, :3], updated,
    ])


def test_choices():
    x, low, high = f32(7), np.float32(-0.5), np.float32(0.5)
    lines = """
  %y0 = stablehlo.clamp %x1, %x0, %x2 : (tensor<f32>, tensor<7xf32>, tensor<f32>) -> tensor<7xf32>
  %p = stablehlo.compare GT, %x0, %y0 : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  %y1 = stablehlo.select %p, %x0, %y0 : tensor<7xi1>, tensor<7xf32>
  %y2 = stablehlo.convert %p : (tensor<7xi1>) -> tensor<7xi64>"""
    check(lines, [x, np.asarray(low), np.asarray(high)], [x.clip(low, high), np.maximum(x, x.clip(low, high)), (x > high).astype(np.int64)])


def windows(x, size, stride, function, padding, neutral, dilation=1):
    """A window function over the last axis."""
    x = np.pad(x, [(0, 0), padding], constant_values=neutral)
    span = (size - 1) * dilation + 1
    places = range(0, x.shape[1] - span + 1, stride)
    return np.stack([function(x[:, p : p + span : dilation], 1) for p in places], 1)


def test_windows():
    x = f32(2, 9)
    def window(name, neutral, op, options, result):
        return f"""
  %n{name} = stablehlo.constant dense<{neutral}> : tensor<f32>
  %{name} = "stablehlo.reduce_window"(%x0, %n{name}) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.{op} %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }}) {{{options}}} : (tensor<2x9xf32>, tensor<f32>) -> {result}"""
    lines = window("y0", "0.0", "add", "window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>", "tensor<2x4xf32>")
    lines += window("y1", "0xFF800000", "maximum", "window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 3>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>", "tensor<2x4xf32>")
    lines += window("y2", "0.0", "add", "window_dimensions = array<i64: 1, 3>, window_dilations = array<i64: 1, 2>, padding = dense<[[0, 0], [2, 0]]> : tensor<2x2xi64>", "tensor<2x7xf32>")
    lines += window("y3", "1.0", "multiply", "window_dimensions = array<i64: 1, 4>", "tensor<2x6xf32>")
    lines += """
  %y4 = "stablehlo.select_and_scatter"(%x0, %y1, %ny0) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %r : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 3>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>} : (tensor<2x9xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x9xf32>"""
    largest = windows(x, 2, 3, np.max, (1, 1), -np.inf)
    scattered = np.zeros_like(x)
    for row in range(2):
        for k, value in enumerate(largest[row]):
            inside = [i for i in (3 * k - 1, 3 * k) if 0 <= i < 9]
            scattered[row, max(inside, key=lambda i: x[row, i])] += value
    check(lines, [x], [
        windows(x, 3, 2, np.sum, (0, 0), 0), largest, windows(x, 3, 1, np.sum, (2, 0), 0, 2), windows(x, 4, 1, np.prod, (0, 0), 1), scattered,
    ])


def test_control_flow():
    x, n = f32(3), np.asarray(np.int32(5))
    lines = """
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %k, %y0 = stablehlo.while(%i = %zero, %v = %x0) : tensor<i32>, tensor<3xf32>
   cond {
    %c = stablehlo.compare LT, %i, %x1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %w = stablehlo.add %v, %v : tensor<3xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %w : tensor<i32>, tensor<3xf32>
  }
  %p = stablehlo.compare GT, %x1, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %y1 = "stablehlo.if"(%p) ({
    %a = stablehlo.negate %x0 : tensor<3xf32>
    stablehlo.return %a : tensor<3xf32>
  }, {
    stablehlo.return %x0 : tensor<3xf32>
  }) : (tensor<i1>) -> tensor<3xf32>
  %y2 = "stablehlo.case"(%x1) ({
    stablehlo.return %x0 : tensor<3xf32>
  }, {
    %a = stablehlo.abs %x0 : tensor<3xf32>
    stablehlo.return %a : tensor<3xf32>
  }) : (tensor<i32>) -> tensor<3xf32>"""
    check(lines, [x, n], [32 * x, -x, np.abs(x)])
    check(lines, [x, np.asarray(np.int32(0))], [x, x, x])


def test_linear_algebra():
    m = f32(4, 4)
    a, b = (m @ m.T + 4 * np.eye(4, dtype=np.float32)), f32(4, 2)
    lines = """
  %y0 = stablehlo.cholesky %x0, lower = true : tensor<4x4xf32>
  %y1 = "stablehlo.triangular_solve"(%y0, %x1) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %y2 = "stablehlo.triangular_solve"(%y0, %y1) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>"""
    lower = np.linalg.cholesky(a)
    check(lines, [a, b], [lower, np.linalg.solve(lower, b), np.linalg.solve(a, b)], rtol=1e-3, atol=1e-4)


def test_normalization():
    x, scale, offset, mean, variance = f32(5, 3), f32(3), f32(3), f32(3), np.abs(f32(3)) + 0.5
    lines = """
  %y0 = "stablehlo.batch_norm_inference"(%x0, %x1, %x2, %x3, %x4) {epsilon = 1.0e-03 : f32, feature_index = 1 : i64} : (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  %y1, %y2, %y3 = "stablehlo.batch_norm_training"(%x0, %x1, %x2) {epsilon = 1.0e-03 : f32, feature_index = 1 : i64} : (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>)"""
    def normal(mean, variance):
        return (x - mean) / np.sqrt(variance + np.float32(1e-3)) * scale + offset
    check(lines, [x, scale, offset, mean, variance], [normal(mean, variance), normal(x.mean(0), x.var(0)), x.mean(0), x.var(0)], rtol=1e-4, atol=1e-5)


def test_sorting():
    x, n = rng.integers(0, 5, (2, 7)).astype(np.float32), np.arange(14, dtype=np.int32).reshape(2, 7)
    lines = """
  %y0, %y1 = "stablehlo.sort"(%x0, %x1) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %r = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %r : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<2x7xf32>, tensor<2x7xi32>) -> (tensor<2x7xf32>, tensor<2x7xi32>)
  %y2, %y3 = chlo.top_k(%x0, k = 3) : tensor<2x7xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)"""
    order = np.argsort(-x, 1, kind="stable")
    down = np.take_along_axis(x, order, 1)
    check(lines, [x, n], [down, np.take_along_axis(n, order, 1), down[:, :3], order[:, :3].astype(np.int32)])


@pytest.mark.parametrize("op, function", [("add", np.add.at), ("maximum", np.maximum.at), ("multiply", np.multiply.at)])
def test_scatters_to_places_that_come_again(op, function):
    x, updates = f32(6, 2), f32(4, 2)
    places = np.array([[1], [4], [1], [0]], np.int32)
    lines = f"""
  %y0 = "stablehlo.scatter"(%x0, %x1, %x2) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.{op} %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }}) {{indices_are_sorted = false, unique_indices = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}} : (tensor<6x2xf32>, tensor<4x1xi32>, tensor<4x2xf32>) -> tensor<6x2xf32>"""
    expected = x.copy()
    function(expected, places[:, 0], updates)
    check(lines, [x, places, updates], [expected])


def test_an_operator_that_is_none():
    with pytest.raises(fusion.FusionError, match="stablehlo.nonsense"):
        check('  %y0 = "stablehlo.nonsense"(%x0) : (tensor<3xf32>) -> tensor<3xf32>', [f32(3)], [f32(3)])
