"""Weights from seeds, with numpy alone: the same where a program is compiled and where it runs."""

import numpy as np


def weight(shape, fill):
    """-1.5, -0.5, 0.5 or 1.5 of a power of two near the scale, which f16 and bf16 represent."""
    drawn = np.random.default_rng(fill["seed"]).integers(0, 4, shape, dtype=np.uint8)
    return (drawn - 1.5) * 2.0 ** np.round(np.log2(fill["scale"] / 1.118))
