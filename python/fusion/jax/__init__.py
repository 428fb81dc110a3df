"""Functions of JAX, compiled by fusion:

    import fusion.jax

    @fusion.jax.jit
    def layer(x, w):
        return jax.nn.relu(x @ w)

    jax.jit(f).lower(...)  ->  StableHLO  ->  module of relay  ->  compiled model

A function is lowered and compiled once for each structure, shapes and types of its arguments, as jax.jit does. `fusion.compile` takes what
`jax.jit(f).lower(...)` and `jax.export.export(...)(...)` give as well.
"""

from .function import Function, jit

__all__ = ["Function", "jit"]
