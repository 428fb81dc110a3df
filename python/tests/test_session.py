"""The session of ONNX Runtime."""

import fusion
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402


@pytest.fixture(scope="module")
def model():
    nodes = [helper.make_node("MatMul", ["x", "w"], ["z"]), helper.make_node("Relu", ["z"], ["y"])]
    w = onnx.numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(4, 3) - 6, "w")
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3]), helper.make_tensor_value_info("z", TensorProto.FLOAT, [2, 3])], [w])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


X = np.array([[1, 2, 3, 4], [0, -1, 0, 1]], np.float32)
Z = X @ (np.arange(12, dtype=np.float32).reshape(4, 3) - 6)


def test_a_program_for_onnxruntime_runs(model, tmp_path):
    onnx.save(model, tmp_path / "m.onnx")
    for given in (model.SerializeToString(), str(tmp_path / "m.onnx")):
        options = fusion.SessionOptions()
        options.intra_op_num_threads = 1
        session = fusion.InferenceSession(given, options, providers=["CPUExecutionProvider"])
        (x,), (y, z) = session.get_inputs(), session.get_outputs()
        assert (x.name, x.type, x.shape) == ("x", "tensor(float)", [2, 4])
        assert (y.name, z.shape) == ("y", [2, 3])
        np.testing.assert_allclose(session.run(["z"], {"x": X})[0], Z)
        results = session.run(None, {"x": fusion.OrtValue.ortvalue_from_numpy(X)})
        np.testing.assert_allclose(results[0], np.maximum(Z, 0))
        assert len(results) == 2


def test_a_model_of_onnx_is_compiled_as_it_is(model):
    np.testing.assert_allclose(fusion.compile(model)(X)[1], Z)
    assert "relay.matmul" in fusion.import_text(model)


def test_a_model_says_of_itself_what_is_declared(model):
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    changed.producer_name, changed.model_version = "tests", 7
    changed.metadata_props.add(key="character", value="a\nb")
    changed.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    for output in changed.graph.output:
        output.type.tensor_type.shape.dim[0].dim_param = "batch"
    session = fusion.InferenceSession(changed.SerializeToString())
    meta = session.get_modelmeta()
    assert (meta.producer_name, meta.version, meta.custom_metadata_map) == ("tests", 7, {"character": "a\nb"})
    assert [p.shape for p in session.get_inputs() + session.get_outputs()] == [["batch", 4], ["batch", 3], ["batch", 3]]
    for x in (X, X[:1], np.concatenate([X, X])):
        np.testing.assert_allclose(session.run(["y"], {"x": x})[0], np.maximum(x @ (np.arange(12, dtype=np.float32).reshape(4, 3) - 6), 0))


def test_runs_with_a_binding(model):
    session = fusion.InferenceSession(model.SerializeToString())
    binding = session.io_binding()
    binding.bind_cpu_input("x", X)
    binding.bind_output("z")
    session.run_with_iobinding(binding)
    np.testing.assert_allclose(binding.copy_outputs_to_cpu()[0], Z)


def test_what_has_no_meaning_is_said(model):
    options = fusion.SessionOptions()
    options.enable_profiling = True
    with pytest.warns(UserWarning, match="no session option enable_profiling"):
        fusion.InferenceSession(model.SerializeToString(), options)
    with pytest.warns(UserWarning, match="no provider CUDAExecutionProvider"):
        fusion.InferenceSession(model.SerializeToString(), providers=["CUDAExecutionProvider"])


def test_wrong_names_are_said(model):
    session = fusion.InferenceSession(model.SerializeToString())
    with pytest.raises(ValueError, match="has no output 'q'; its outputs are y, z"):
        session.run(["q"], {"x": X})


def test_strings_are_arrays_of_str():
    encoder = helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", keys_strings=["a", "é"], values_strings=["one", "two"])
    graph = helper.make_graph([encoder], "g", [helper.make_tensor_value_info("x", TensorProto.STRING, ["n", 2])],
                              [helper.make_tensor_value_info("y", TensorProto.STRING, ["n", 2])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 4)])
    session = fusion.InferenceSession(model.SerializeToString())
    assert session.get_inputs()[0].type == "tensor(string)"
    for given in (np.array([["é", "?"], ["a", ""]]), np.array([["é", "?"], ["a", ""]], object), np.array([[b"\xc3\xa9", b"?"], [b"a", b""]])):
        (y,) = session.run(None, {"x": given})
        assert y.dtype == object and y.tolist() == [["two", "_Unused"], ["one", "_Unused"]]
    with pytest.raises(TypeError, match="1 is a int"):
        session.run(None, {"x": np.array([["a", 1]], object)})
