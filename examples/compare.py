#!/usr/bin/env python3
"""Compares the tensors of two .npz files, in order: compare.py ACTUAL.npz EXPECTED.npz [TOLERANCE]

The tolerance, 1e-3 by default, is relative to the largest expected element. The exit status is 1 when an element is
beyond it.
"""

import sys

import numpy as np


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    actual, expected = np.load(sys.argv[1]), np.load(sys.argv[2])
    tolerance = float(sys.argv[3]) if len(sys.argv) == 4 else 1e-3
    if len(actual.files) != len(expected.files):
        sys.exit(f"{len(actual.files)} tensors, but {len(expected.files)} were expected")
    good = True
    for name, of in zip(actual.files, expected.files):
        a, e = actual[name], expected[of]
        if a.shape != e.shape:
            sys.exit(f"{name}: the shape is {a.shape}, but {e.shape} was expected")
        absolute, largest = abs(a - e).max(), abs(e).max()
        agrees = absolute <= tolerance * largest
        good &= bool(agrees)
        print(f"{name}: largest error {absolute:.2e}, {absolute / largest:.2e} of the largest element, "
              f"most likely class {a.argmax()} ({e.argmax()} expected){'' if agrees else ': DIFFERENT'}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
