#!/usr/bin/env python3
"""Compares `fusion quantize` with ONNX Runtime's quantize_static: quantizer.py [--seed N] FUSION [DIR]

    pip install torch onnxscript scikit-learn onnx onnxruntime
    bench/quantizer.py target/debug/fusion

Trains three small networks on scikit-learn's digits: convolutions, convolutions of one channel each (whose weights have very different
ranges), and dense layers. Both quantizers get the same 256 samples, of the training set. A line for each network and each quantized form of
it: bytes of the file, the part of the test set that is right, run by ONNX Runtime and by fusion, and the mean square of the difference of
the outputs from those in floats, as a part of the mean square of these. DIR keeps the models; by default they go.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
import torch
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

CALIBRATION = 256


def conv(inputs, outputs, stride=1, groups=1):
    """A convolution with a norm and a rectifier."""
    return [nn.Conv2d(inputs, outputs, 3, stride, 1, groups=groups, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]


def pointwise(inputs, outputs):
    """A convolution of single points, with a norm and a rectifier."""
    return [nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU6()]


NETWORKS = {
    "convolutions": lambda: nn.Sequential(
        *conv(1, 16), *conv(16, 32, 2), *conv(32, 32), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 10)
    ),
    "depthwise": lambda: nn.Sequential(
        *conv(1, 16), *conv(16, 16, 1, 16), *pointwise(16, 32), *conv(32, 32, 2, 32), *pointwise(32, 32),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)
    ),
    "dense": lambda: nn.Sequential(
        nn.Flatten(), nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64), nn.GELU(), nn.Linear(64, 10)
    ),
}


def train(network, x, y):
    """Trains a network for a minute at most."""
    optimizer = torch.optim.Adam(network.parameters(), 3e-3)
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    for _ in range(30):
        order = torch.randperm(len(x))
        for batch in order.split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(network(x[batch]), y[batch]).backward()
            optimizer.step()
    return network.eval()


class Reader(CalibrationDataReader):
    """Samples for ONNX Runtime, one at a time."""

    def __init__(self, x):
        self.samples = iter(x)

    def get_next(self):
        sample = next(self.samples, None)
        return None if sample is None else {"x": sample[None]}


def run(command):
    """Runs a command; ends with what it says if it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stderr}")
    return done.stdout


class Case:
    """A network, and what its quantized forms are judged on."""

    def __init__(self, fusion, folder, x, y):
        self.fusion, self.folder, self.x, self.y = fusion, folder, x, y
        np.savez(folder / "test.npz", x=x)

    def outputs(self, model):
        """The outputs of both run times on the test set."""
        session = ort.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        theirs = session.run(None, {"x": self.x})[0]
        shape = ",".join(map(str, self.x.shape))
        file = self.folder / "out.npz"
        run([self.fusion, "run", model, "--shape", f"x={shape}", "--inputs", self.folder / "test.npz", "--outputs", file])
        ours = next(iter(np.load(file).values()))
        return theirs, ours

    def line(self, name, form, model, expected=None):
        """Prints what a model is worth; gives its outputs."""
        theirs, ours = self.outputs(model)
        right = [f"{100 * np.mean(y.argmax(1) == self.y):.2f} %" for y in (theirs, ours)]
        expected = theirs if expected is None else expected
        off = [np.mean((y - expected) ** 2) / np.mean(expected**2) for y in (theirs, ours)]
        size = model.stat().st_size
        print(f"| {name} | {form} | {size} | {right[0]} | {right[1]} | {off[0]:.2e} | {off[1]:.2e} |", flush=True)
        return theirs


FORMS = [
    ("int8, max", ["--method", "max"]),
    ("int8, per tensor", ["--method", "max", "--scheme", "per-tensor"]),
    ("int8, percentile", ["--method", "percentile"]),
    ("int8, mse", ["--method", "mse"]),
    ("int8, kl-divergence", ["--method", "kl-divergence"]),
    ("int8, entropy", ["--method", "entropy"]),
    ("int8, power-of-two", ["--method", "power-of-two"]),
    ("int4 weights, mse", ["--dtype", "int4-weights", "--method", "mse"]),
    ("mixed, cosine 0.01 %", ["--dtype", "int4-weights", "--method", "mse", "--max-loss", "0.01%"]),
]
THEIRS = [
    ("ONNX Runtime int8, max", dict(per_channel=True)),
    ("ONNX Runtime int8, per tensor", dict(per_channel=False)),
    ("ONNX Runtime int8, percentile", dict(per_channel=True, calibrate_method=CalibrationMethod.Percentile)),
    ("ONNX Runtime int8, entropy", dict(per_channel=True, calibrate_method=CalibrationMethod.Entropy)),
]


def compare(fusion, name, folder, x_train, y_train, x_test, y_test):
    """Trains a network and prints its table."""
    network = train(NETWORKS[name](), x_train, y_train)
    model, prepared = folder / f"{name}.onnx", folder / f"{name}.prepared.onnx"
    batch = torch.export.Dim("batch", min=1, max=4096)
    torch.onnx.export(network, (torch.from_numpy(x_test[:2]),), model, input_names=["x"], output_names=["y"],
                      dynamic_shapes=({0: batch},), dynamo=True, external_data=False, verbose=False)
    quant_pre_process(str(model), str(prepared))
    data = folder / "calibration.npz"
    np.savez(data, x=x_train[:CALIBRATION])
    case = Case(fusion, folder, x_test, y_test)
    floats = case.line(name, "f32", model)
    for form, options in THEIRS:
        path = folder / f"{name}.ort.onnx"
        quantize_static(str(prepared), str(path), Reader(x_train[:CALIBRATION]), quant_format=QuantFormat.QDQ,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, **options)
        case.line(name, form, path, floats)
    for form, options in FORMS:
        path = folder / f"{name}.fusion.onnx"
        run([fusion, "quantize", model, "--data", data, "-o", path, *options])
        onnx.checker.check_model(str(path), full_check=True)
        case.line(name, f"fusion {form}", path, floats)


def main():
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fusion", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    torch.manual_seed(asked.seed)
    digits = load_digits()
    x = (digits.images[:, None] / 16).astype(np.float32)
    x_train, x_test, y_train, y_test = train_test_split(x, digits.target, test_size=0.4, random_state=asked.seed)
    print("| network | form | bytes | right, ONNX Runtime | right, fusion | off, ONNX Runtime | off, fusion |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for name in NETWORKS:
            compare(asked.fusion.resolve(), name, folder, x_train, y_train, x_test, y_test)


if __name__ == "__main__":
    main()
