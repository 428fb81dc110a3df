"""Functions that are compiled when they are first called."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ..model import Module, compile


class Function:
    """A function of JAX whose results fusion computes. Threads may share it."""

    def __init__(self, function: Callable, static_argnums: int | Sequence[int] | None, options: dict[str, Any]):
        functools.update_wrapper(self, function)
        self._static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums or ())
        # Arguments that are not used are taken nevertheless, so that inputs are the leaves of the arguments.
        self._jitted = jax.jit(function, static_argnums=self._static or None, keep_unused=True)
        self._options = options
        self._compiled: dict[Any, tuple[Module, Any]] = {}

    def _key(self, arguments: tuple, named: dict[str, Any]) -> tuple[list, Any]:
        """The tensors among the arguments, and what the function is compiled for."""
        static = tuple((i, arguments[i]) for i in self._static if i < len(arguments))
        dynamic = tuple(argument for i, argument in enumerate(arguments) if i not in self._static)
        leaves, tree = jax.tree.flatten((dynamic, named))
        types = tuple((np.shape(leaf), jax.dtypes.canonicalize_dtype(jax.numpy.result_type(leaf))) for leaf in leaves)
        return leaves, (static, tree, types)

    def module(self, *arguments: Any, **named: Any) -> Module:
        """The compiled model for arguments of these shapes and types."""
        return self._model(arguments, named, self._key(arguments, named)[1])[0]

    def _model(self, arguments: tuple, named: dict[str, Any], key: Any) -> tuple[Module, Any]:
        if key not in self._compiled:
            lowered = self._jitted.lower(*arguments, **named)
            self._compiled[key] = compile(lowered, **self._options), lowered.out_info
        return self._compiled[key]

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        leaves, key = self._key(arguments, named)
        model, wanted = self._model(arguments, named, key)
        given = [parts(np.asarray(leaf, dtype)) for leaf, (_, dtype) in zip(leaves, key[2])]
        found = model(*given)
        found = found if isinstance(found, tuple) else (found,)
        outputs, tree = jax.tree.flatten(wanted)
        return jax.tree.unflatten(tree, [jax.numpy.asarray(whole(x, info.dtype)) for x, info in zip(found, outputs)])


def parts(x: np.ndarray) -> np.ndarray:
    """Complex numbers as compiled models take them: both parts along a last axis."""
    return np.stack([x.real, x.imag], -1) if x.dtype.kind == "c" else x


def whole(x: np.ndarray, dtype: Any) -> np.ndarray:
    """The same, back."""
    return x[..., 0] + 1j * x[..., 1] if np.dtype(dtype).kind == "c" else x


def jit(function: Callable | None = None, *, static_argnums: int | Sequence[int] | None = None, **options: Any) -> Any:
    """Compiles a function of JAX with fusion, for each structure, shapes and types of its arguments when they are first seen.

    static_argnums: arguments that are no tensors, for each value of which the function is compiled.
    options: those of `fusion.compile`, such as `threads` and `fp_math`.
    """
    if function is None:
        return functools.partial(jit, static_argnums=static_argnums, **options)
    return Function(function, static_argnums, options)
