"""What is told of a compiled model, and models of fewer bits."""

import fusion
import numpy as np
import pytest

MODEL = """func.func @main(%x: tensor<4x8xf32> {relay.name = "x"}) -> tensor<4x8xf32> {
  %w = relay.constant dense<0.5> : tensor<8x8xf32>
  %0 = relay.dense %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = relay.relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
"""


@pytest.fixture(scope="module")
def model():
    return fusion.compile(MODEL)


def test_a_report_names_the_kernels(model, tmp_path):
    report = model.explain()
    assert [len(report.data["kernels"]), "relu" in str(report)] == [1, True]
    assert "<!DOCTYPE html>" in report.html and report._repr_html_().startswith("<iframe srcdoc=")
    report.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == report.html


def test_a_profile_tells_times(model):
    report = model.profile(budget=2)
    assert report.html is None and report._repr_html_().startswith("<pre>")
    assert report.data["kernels"] and "relu" in report.text


def test_modules_behind_stages(model):
    assert "relay.dense" in model.mlir("import")
    assert "relay.primitive" in model.mlir()
    assert "te.compute" in model.mlir("te")
    assert "loop." in model.mlir("loop")
    assert "llvm.func" in model.mlir("llvm")
    with pytest.raises(fusion.FusionError, match="no stage \"tee\"; those of this model are import, relay, te"):
        model.mlir("tee")


def test_mixed_precision_keeps_inputs_and_outputs(model):
    x = np.random.default_rng(1).standard_normal((4, 8)).astype(np.float32)
    mixed = fusion.compile(MODEL, mixed_precision="bf16", passes="builtin.module(cse)")
    assert "bf16" in mixed.mlir("te") and mixed.inputs == model.inputs
    exact, narrow = model(x), mixed(x)
    assert 0 < np.abs(exact - narrow).max() < 0.05 * np.abs(exact).max()
    with pytest.raises(ValueError, match='mixed_precision is "f8"'):
        fusion.compile(MODEL, mixed_precision="f8")


def test_a_loaded_library_has_no_source(model, tmp_path):
    model.save(tmp_path / "m.so")
    loaded = fusion.load(tmp_path / "m.so")
    with pytest.raises(fusion.FusionError, match="explain needs the model itself"):
        loaded.explain()


def test_a_model_is_quantized_by_samples(tmp_path):
    onnx = pytest.importorskip("onnx")
    helper, f32 = onnx.helper, onnx.TensorProto.FLOAT
    rng = np.random.default_rng(5)
    weights = [onnx.numpy_helper.from_array(rng.standard_normal((16, 16)).astype(np.float32), name) for name in ("v", "w")]
    nodes = [helper.make_node("MatMul", ["x", "v"], ["h"]), helper.make_node("Relu", ["h"], ["r"]), helper.make_node("MatMul", ["r", "w"], ["y"])]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [value("x", f32, [1, 16])], [value("y", f32, [1, 16])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    data = {"x": rng.standard_normal((32, 16)).astype(np.float32)}
    report = fusion.quantize(model, data, tmp_path / "q.onnx", max_loss=0.01)
    assert report.data["loss"] <= 0.01 and report.data["bytes"] < report.data["bytes_before"] and len(report.data["layers"]) == 2
    exact, fewer = (fusion.compile(m, shapes={"x": [1, 16]})(data["x"][:1]) for m in (model, str(tmp_path / "q.onnx")))
    assert 0 < np.abs(exact - fewer).max() < 0.1 * np.abs(exact).max()
    with pytest.raises(ValueError, match='method is "best", and one of max'):
        fusion.quantize(model, data, tmp_path / "q.onnx", method="best")
    with pytest.raises(ValueError, match="percentile is for method 'percentile'"):
        fusion.quantize(model, data, tmp_path / "q.onnx", percentile=99.0)
    with pytest.raises(ValueError, match='the ending of output is "txt", and one of onnx, mlir'):
        fusion.quantize(model, data, tmp_path / "q.txt")
    with pytest.raises(fusion.FusionError, match='^input "x" has no samples; give at least one$'):
        fusion.quantize(model, {"x": np.zeros((0, 16), np.float32)}, tmp_path / "q.onnx")
