#!/usr/bin/env python3
"""Makes test models out of the topologies that the onnx package carries.

    make.py DIRECTORY [NAME...]      without names, all of them

The package has nine image classifiers without their weights (light_*.onnx). Each gets seeded random weights here, scaled so
that activations keep their size through the depth, and becomes an ONNX backend test:

    DIRECTORY/NAME/model.onnx
    DIRECTORY/NAME/test_data_set_0/input_0.pb, output_0.pb (what the model gives), output_1.pb (before its softmax)
    DIRECTORY/NAME/input.npy, the same input for `fusion run`

The expected outputs are those of another implementation; record.py wrote them into expected/. The random numbers are
integers of numpy's frozen RandomState, scaled without a function of a mathematical library, so that the models are the
same, byte for byte, wherever they are made; expected/recorded.txt holds their digests.
"""

import hashlib
import io
import math
import pathlib
import sys
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SEED = 20261121
EXPECTED = pathlib.Path(__file__).parent / "expected"

# Each model with the gain of its filters and that of its last layer: activations neither die nor grow beyond all bounds,
# and the softmax has something to tell apart.
MODELS = {
    "bvlc_alexnet": (1.1, 2.0),
    "densenet121": (1.1, 1.0),
    "inception_v1": (1.3, 8.0),
    "inception_v2": (1.1, 0.4),
    "resnet50": (0.9, 0.8),
    "shufflenet": (0.9, 0.7),
    "squeezenet": (1.4, 1.2),
    "vgg19": (1.2, 1.0),
    "zfnet512": (1.25, 2.0),
}

# Weights by the operator that takes them, and as which operand.
FILTERS = {("Conv", 1), ("Gemm", 1)}
RANGES = {
    ("Conv", 2): (-0.1, 0.1),
    ("Gemm", 2): (-0.1, 0.1),
    ("BatchNormalization", 1): (0.5, 1.5),
    ("BatchNormalization", 2): (-0.5, 0.5),
    ("BatchNormalization", 3): (-0.5, 0.5),
    ("BatchNormalization", 4): (0.5, 1.5),
    ("Mul", 1): (0.5, 1.5),
    ("Add", 1): (-0.5, 0.5),
}


def generator(key):
    """A stream of random numbers that depends on the key and nothing else."""
    return np.random.RandomState(SEED ^ zlib.crc32(key.encode()))


def integers(random, count):
    """Uniform integers of 16 bits."""
    return np.frombuffer(random.bytes(2 * count), "<i2").astype(np.int64)


def uniform(key, shape, low, high):
    """Uniform float32 numbers."""
    values = integers(generator(key), math.prod(shape)) * ((high - low) / 65536) + (low + high) / 2
    return values.astype(np.float32).reshape(shape)


def filters(key, shape, gain):
    """Weights of variance gain^2 * 2 / fan-in, as rectifiers want them (He et al., 2015). Those of one output sum up to 0:
    otherwise what all inputs have in common would drown what tells them apart."""
    random = generator(key)
    outputs, fan_in = shape[0], math.prod(shape[1:])
    values = np.empty((outputs, fan_in), np.float32)
    scale = gain * math.sqrt(6 / fan_in) / 32768
    step = max(1, (1 << 20) // fan_in)
    for at in range(0, outputs, step):
        rows = min(step, outputs - at)
        drawn = integers(random, rows * fan_in).reshape(rows, fan_in)
        values[at : at + rows] = (drawn - drawn.sum(axis=1, keepdims=True) // fan_in) * scale
    return values.reshape(shape)


def image(key, shape):
    """An input with a structure in the large, of mean 0 and variance 1."""
    batch, channels, height, width = shape
    cell = 16
    bound = math.sqrt(3)
    coarse = uniform(key, (batch, channels, height // cell, width // cell), -bound, bound)
    return coarse.repeat(cell, axis=2).repeat(cell, axis=3)


def roles(graph):
    """The operator and operand each tensor goes to, looked up through changes of shape."""
    found, same = {}, {}
    for node in reversed(graph.node):
        for position, operand in enumerate(node.input):
            found[operand] = (node, position)
        if node.op_type in ("Reshape", "Unsqueeze"):
            same[node.input[0]] = node.output[0]
    for inner, outer in same.items():
        found[inner] = found[outer]
    return found


def weight(key, shape, role, gain):
    """The values of a weight."""
    node, position = role
    if (node.op_type, position) in FILTERS:
        return filters(key, shape, gain)
    return uniform(key, shape, *RANGES[node.op_type, position])


def model(name):
    """The model, with weights; and its input."""
    path = pathlib.Path(onnx.__file__).parent / "backend/test/data/light" / f"light_{name}.onnx"
    light = onnx.load(path)
    graph = light.graph
    constants = {c.name: numpy_helper.to_array(c) for c in graph.initializer}
    shapes = {c: v.shape for c, v in constants.items() if v.dtype == np.float32}
    nodes = []
    for node in graph.node:
        if node.op_type == "ConstantOfShape":
            shapes[node.output[0]] = tuple(int(n) for n in constants.pop(node.input[0]))
        else:
            nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)

    used = roles(graph)
    last = [n.output[0] for n in graph.node if n.op_type in ("Conv", "Gemm")][-1]
    del graph.initializer[:]
    for constant, value in constants.items():
        if constant in used and constant not in shapes:
            graph.initializer.append(numpy_helper.from_array(value, constant))
    for tensor, shape in shapes.items():
        if tensor not in used:
            continue
        inner, outer = MODELS[name]
        gain = outer if used[tensor][0].output[0] == last else inner
        values = weight(f"{name}/{tensor}", shape, used[tensor], gain)
        graph.initializer.append(numpy_helper.from_array(values, tensor))

    given = {c.name for c in graph.initializer}
    inputs = [i for i in graph.input if i.name in used and i.name not in given]
    del graph.input[:]
    graph.input.extend(inputs)
    (data,) = inputs
    dimensions = data.type.tensor_type.shape.dim
    dimensions[0].dim_value = 1
    shape = [d.dim_value for d in dimensions]

    if nodes[-1].op_type == "Softmax":
        (output,) = graph.output
        logits = helper.make_tensor_value_info(nodes[-1].input[0], TensorProto.FLOAT, None)
        logits.type.CopyFrom(output.type)
        graph.output.append(logits)
    light.ir_version = 4  # the first where weights are no inputs
    onnx.checker.check_model(light)
    return light, image(f"{name}/input", shape)


def digest(made, data):
    """What tells two models, with their inputs, apart."""
    return hashlib.sha256(made.SerializeToString() + data.tobytes()).hexdigest()


def write(path, content):
    """Writes a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(content)
    part.replace(path)


def make(directory, name):
    """Writes a model as a backend test; its model.onnx last."""
    made, data = model(name)
    if f"model {name} {digest(made, data)}" not in (EXPECTED / "recorded.txt").read_text().splitlines():
        sys.exit(f"{name} is not the model that {EXPECTED}/{name}.npz was recorded from: run record.py, or install the "
                 f"versions in requirements.txt")
    case = directory / name / "test_data_set_0"
    given = numpy_helper.from_array(data, made.graph.input[0].name)
    write(case / "input_0.pb", given.SerializeToString())
    file = io.BytesIO()
    np.save(file, data)
    write(directory / name / "input.npy", file.getvalue())
    with np.load(EXPECTED / f"{name}.npz") as expected:
        for i, output in enumerate(made.graph.output):
            tensor = numpy_helper.from_array(expected[f"output_{i}"], output.name)
            write(case / f"output_{i}.pb", tensor.SerializeToString())
    write(directory / name / "model.onnx", made.SerializeToString())


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    directory, names = pathlib.Path(sys.argv[1]), sys.argv[2:] or MODELS
    for name in names:
        if name not in MODELS:
            sys.exit(f"there is no model {name}; the models are {', '.join(MODELS)}")
        make(directory, name)
        print(directory / name)


if __name__ == "__main__":
    main()
