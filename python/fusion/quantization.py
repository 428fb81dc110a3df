"""Quantizing models by samples of their inputs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _fusion
from .model import source
from .reports import Report


def quantize(
    model: Any,
    data: str | os.PathLike | Mapping[str, Any],
    output: str | os.PathLike,
    *,
    dtype: str = "int8",
    scheme: str = "per-channel",
    method: str = "max",
    percentile: float | None = None,
    max_loss: float | None = None,
    metric: str = "cosine",
    labels: Sequence[int] | None = None,
    target: str | None = None,
    threads: int = 1,
) -> Report:
    """Quantizes a model and writes it to `output`: an ordinary ONNX file with QuantizeLinear and DequantizeLinear, or .mlir. What was found is returned.

    data: samples by input, whose first axis counts them; or a .npz or .npy file of such, or a folder with a file for each run.
    dtype: "int8" (data and weights), or "int4-weights" (data in floats).
    scheme: "per-channel" or "per-tensor" scales of weights.
    method: how ranges follow from what was seen: "max", "percentile", "mse", "kl-divergence", "entropy" or "power-of-two".
    percentile: per cent of the elements that method "percentile" keeps in range.
    max_loss: the largest loss, such as 0.01: layers get more bits, up to floats, until it is kept.
    metric: how it is measured: "cosine", "mse" or "top1", for which `labels` are the right classes.
    """
    if scheme not in ("per-channel", "per-tensor"):
        raise ValueError(f"scheme is {scheme!r}, and 'per-channel' or 'per-tensor' is expected")
    if percentile is not None and (method != "percentile" or not 0 < percentile <= 100):
        raise ValueError(f"percentile is for method 'percentile', a number above 0 and up to 100; it is {percentile}, and the method {method!r}")
    if labels is not None and metric != "top1":
        raise ValueError(f"labels are for metric 'top1', and the metric is {metric!r}; leave one of the two away")
    if max_loss is not None and not 0 <= max_loss < float("inf"):
        raise ValueError(f"max_loss is a number from 0 on, such as 0.01, and {max_loss} is none")
    with tempfile.TemporaryDirectory() as scratch:
        content, form = source(model)
        if form != "file":
            path = Path(scratch, "model." + {"bytes": "onnx", "stablehlo": "mlir"}.get(form, form))
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            content = str(path)
        if isinstance(data, Mapping):
            samples = os.path.join(scratch, "samples.npz")
            np.savez(samples, **{name: np.asarray(array) for name, array in data.items()})
        else:
            samples = os.fspath(data)
        try:
            told = _fusion.quantize(
                content, samples, os.fspath(output), dtype=dtype, per_channel=scheme == "per-channel", method=method, percentile=percentile,
                max_loss=max_loss, metric=metric, labels=None if labels is None else [int(label) for label in labels], target=target, threads=threads,
            )
        except _fusion.FusionError as why:
            # Files that the caller does not know of are no place to look at.
            hidden = [f"{file}: " for file in (content, samples) if file.startswith(scratch)]
            raise _fusion.FusionError(next((str(why)[len(file):] for file in hidden if str(why).startswith(file)), str(why))) from None
    return Report(*told)
