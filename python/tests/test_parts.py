"""Values that programs hold in two parts, and come whole to Python: complex numbers and maps."""

import fusion
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402


def saved(nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]).SerializeToString()


@pytest.mark.parametrize("dtype,element", [(np.complex64, TensorProto.COMPLEX64), (np.complex128, TensorProto.COMPLEX128)])
def test_arrays_of_complex_numbers_are_moved(dtype, element):
    nodes = [helper.make_node("Transpose", ["z"], ["t"]), helper.make_node("Concat", ["t", "t"], ["y"], axis=0)]
    model = saved(nodes, [helper.make_tensor_value_info("z", element, [2, 3])], [helper.make_tensor_value_info("y", element, [6, 2])])
    z = (np.arange(6) + 1j * np.arange(6, 12)).reshape(2, 3).astype(dtype)
    y = fusion.compile(model).run({"z": z})["y"]
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, np.concatenate([z.T, z.T]))
    session = fusion.InferenceSession(model)
    (given,), (made,) = session.get_inputs(), session.get_outputs()
    assert (given.name, given.type, given.shape) == ("z", f"tensor({np.dtype(dtype).name})", [2, 3])
    assert (made.name, made.shape) == ("y", [6, 2])
    np.testing.assert_array_equal(session.run(["y"], {"z": z})[0], y)


def test_a_dict_is_a_map():
    kind = helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    node = helper.make_node("DictVectorizer", ["m"], ["y"], domain="ai.onnx.ml", string_vocabulary=["a", "c", "b"])
    model = saved([node], [helper.make_value_info("m", kind)], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    session = fusion.InferenceSession(model)
    (given,) = session.get_inputs()
    assert (given.name, given.type) == ("m", "map(string,tensor(float))")
    for map_, row in (({"c": 8.0, "a": 4, "q": 1.0}, [4, 8, 0]), ({}, [0, 0, 0])):
        np.testing.assert_array_equal(session.run(None, {"m": map_})[0], [row])


@pytest.mark.parametrize("labels", [{"classlabels_strings": ["cat", "dog"]}, {"classlabels_int64s": [7, -1]}])
def test_scores_by_labels_are_dicts(labels):
    node = helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", **labels)
    model = saved([node], [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2])], [onnx.ValueInfoProto(name="y")])
    session = fusion.InferenceSession(model)
    first, second = next(iter(labels.values()))
    assert session.run(None, {"x": np.array([[0.25, 0.75], [1, 0]], np.float32)})[0] == [{first: 0.25, second: 0.75}, {first: 1, second: 0}]
    # The tensor of the scores is what a compiled model gives.
    np.testing.assert_array_equal(fusion.compile(model).run({"x": np.array([[0.5, 0.5]], np.float32)})["y"], [[0.5, 0.5]])
