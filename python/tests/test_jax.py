"""Functions of JAX; without jax these are left out."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import fusion  # noqa: E402
import fusion.jax  # noqa: E402
from jax import lax, nn  # noqa: E402
from jax import numpy as jnp  # noqa: E402

rng = np.random.default_rng(3)


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def agree(found, wanted):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), found, wanted)


def test_a_function_gives_what_jax_gives():
    def layer(p, x):
        return {"y": nn.softmax(nn.relu(x @ p["w"] + p["b"])), "sum": x.sum()}

    p, x = {"w": f32(6, 4), "b": f32(4)}, f32(3, 6)
    agree(fusion.jax.jit(layer)(p, x), layer(p, x))


def test_other_shapes_are_compiled_for():
    f = fusion.jax.jit(lambda x: jnp.cumsum(x, 0))
    for n in (3, 5):
        x = f32(n, 2)
        agree(f(x), np.cumsum(x, 0))


def test_options_and_static_arguments():
    @fusion.jax.jit(static_argnums=1, threads=2)
    def power(x, n):
        return x**n

    x = f32(5)
    agree(power(x, 2), x**2)
    agree(power(x, 3), x**3)


def test_loops_and_gradients():
    def f(x):
        return lax.scan(lambda c, y: (c * 0.5 + jnp.sin(y), c), jnp.zeros(3), x)[0].sum()

    x = f32(7, 3)
    agree(fusion.jax.jit(jax.grad(f))(x), jax.grad(f)(x))


def test_complex_numbers():
    x = f32(2, 12) + 1j * f32(2, 12)
    agree(fusion.jax.jit(jnp.fft.fft)(x.astype(np.complex64)), np.fft.fft(x))


def test_unused_arguments_stay():
    f = fusion.jax.jit(lambda x, y, z: x + z)
    x, y, z = f32(3), f32(4), f32(3)
    agree(f(x, y, z), x + z)


def test_exported_functions_are_models():
    exported = jax.export.export(jax.jit(lambda x, w: jnp.tanh(x @ w)))(*(jax.ShapeDtypeStruct(s, np.float32) for s in ((2, 3), (3, 4))))
    x, w = f32(2, 3), f32(3, 4)
    agree(fusion.compile(exported)(x, w), np.tanh(x @ w))
    agree(fusion.compile(exported.mlir_module_serialized)(x, w), np.tanh(x @ w))


def test_symbolic_shapes_serve_all_sizes():
    (b,) = jax.export.symbolic_shape("b")
    exported = jax.export.export(jax.jit(lambda x: nn.relu(x).reshape(-1, 2).sum(1)))(jax.ShapeDtypeStruct((b, 4), np.float32))
    model = fusion.compile(exported)
    for n in (2, 5):
        x = f32(n, 4)
        agree(model(x), np.maximum(x, 0).reshape(-1, 2).sum(1))
