"""Torch's own programs of operators that are not in its set for core ATen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import global_decomposition_table

aten = torch.ops.aten

NAMES = (
    aten._batch_norm_with_update_functional, aten.addmv, aten.adaptive_avg_pool3d, aten.dist, aten.grid_sampler_2d, aten.ldexp, aten.narrow_copy,
    aten.permute_copy, aten.unbind_copy, aten.view_copy, aten.tril_indices, aten.triu_indices, aten.max_pool2d_with_indices_backward,
    aten.rrelu_with_noise_backward, aten.batch_norm_backward,
)


def chosen() -> dict[Any, Callable]:
    """The programs by operator, of each form of it."""
    known = global_decomposition_table["post_autograd"]
    return {form: known[form] for name in NAMES for form in (getattr(name, o) for o in name.overloads()) if form in known}
