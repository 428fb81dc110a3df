"""Compiling and running from Python."""

import threading

import fusion
import numpy as np
import pytest

MODEL = """func.func @main(%x: tensor<2x3xf32> {relay.name = "x"}, %y: tensor<3xf32> {relay.name = "y"}) -> tensor<2x3xf32> {
  %0 = relay.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = relay.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
"""
X = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)
Y = np.array([1, 1, 1], np.float32)
WANTED = np.maximum(X + Y, 0)


@pytest.fixture(scope="module")
def model():
    return fusion.compile(MODEL)


def test_a_model_says_what_it_takes_and_gives(model):
    assert [(p.name, p.dtype, p.shape) for p in model.inputs] == [("x", np.float32, (2, 3)), ("y", np.float32, (3,))]
    assert [p.shape for p in model.outputs] == [(2, 3)]
    assert "x: float32[2, 3]" in repr(model)


def test_results_are_arrays_that_may_be_written(model):
    result = model(X, Y)
    np.testing.assert_array_equal(result, WANTED)
    result[:] = 0
    np.testing.assert_array_equal(list(model.run({"y": Y, "x": X}).values())[0], WANTED)


def test_results_are_written_where_they_are_wanted(model):
    out = np.zeros((2, 3), np.float32)
    assert model(X, Y, out=out) is out
    np.testing.assert_array_equal(out, WANTED)
    out[:] = 0
    name = model.outputs[0].name
    assert model.run({"x": X, "y": Y}, {name: out})[name] is out
    np.testing.assert_array_equal(out, WANTED)


def test_memory_that_does_not_fit_a_result_is_refused(model):
    with pytest.raises(fusion.FusionError, match="a tensor<2x3xf32>, but memory for a tensor<3x2xf32> was given"):
        model(X, Y, out=np.zeros((3, 2), np.float32))
    with pytest.raises(fusion.FusionError, match="memory for a tensor<2x3xf64> was given"):
        model(X, Y, out=np.zeros((2, 3)))
    with pytest.raises(fusion.FusionError, match="memory for a tensor<24xui8> was given"):
        model(X, Y, out=np.zeros((2, 3, 4), np.uint8).reshape(-1)[:24].reshape(24))
    with pytest.raises(fusion.FusionError, match="gives 1 outputs, but memory for 2 was given"):
        model(X, Y, out=(np.zeros((2, 3), np.float32), np.zeros(1, np.float32)))
    with pytest.raises(ValueError, match="row-major array that may be written"):
        model(X, Y, out=np.zeros((3, 2), np.float32).T)
    with pytest.raises(TypeError, match="a list is none"):
        model(X, Y, out=([1.0],))
    x = X.copy()
    with pytest.raises(ValueError, match="shares memory with an input"):
        model(x, Y, out=x)
    with pytest.raises(ValueError, match="has no output 'z'"):
        model.run({"x": X, "y": Y}, {"z": x})
    np.testing.assert_array_equal(x, X)


def test_arrays_of_any_layout_are_taken(model):
    turned = np.asfortranarray(X)
    held = X.copy()
    held.flags.writeable = False
    for x in (turned, X[:, ::-1][:, ::-1], held, X.astype(">f4"), np.concatenate([X, X])[:2]):
        np.testing.assert_array_equal(model(x, Y), WANTED)


def test_lists_become_arrays_of_the_type_that_is_expected(model):
    np.testing.assert_array_equal(model(X.tolist(), [1, 1, 1]), WANTED)


def test_a_model_is_saved_and_loaded(model, tmp_path):
    model.save(tmp_path / "m.so")
    assert (tmp_path / "m.h").exists()
    np.testing.assert_array_equal(fusion.load(tmp_path / "m.so")(X, Y), WANTED)


def test_threads_share_a_model(model):
    results = [None] * 8

    def run(i):
        for _ in range(50):
            results[i] = model(X * i, Y)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for i, result in enumerate(results):
        np.testing.assert_array_equal(result, np.maximum(X * i + Y, 0))


def test_wrong_inputs_are_sentences(model):
    with pytest.raises(fusion.FusionError, match="a tensor<2x2xf32> was given"):
        model(X[:, :2], Y)
    with pytest.raises(fusion.FusionError, match="f64"):
        model(X.astype(np.float64), Y)
    with pytest.raises(fusion.FusionError, match="2"):
        model(X)
    with pytest.raises(ValueError, match="has no input 'z'; its inputs are x, y"):
        model.run({"x": X, "z": Y})
    with pytest.raises(ValueError, match="needs input 'y'"):
        model.run({"x": X})
    with pytest.raises(fusion.FusionError, match="a tensor<1x!relay.string> was given"):
        model(np.array(["a"]), Y)
    with pytest.raises(fusion.FusionError, match="which are no element type"):
        model(X.astype(complex), Y)
    with pytest.raises(TypeError, match="and 1 is a int"):
        model(np.array(["a", 1], dtype=object), Y)


def test_wrong_models_are_sentences(tmp_path):
    with pytest.raises(fusion.FusionError, match="relay.nothing"):
        fusion.compile(MODEL.replace("relay.relu", "relay.nothing"))
    with pytest.raises(fusion.FusionError):
        fusion.compile(b"no model")
    with pytest.raises(fusion.FusionError, match="none.onnx"):
        fusion.compile(tmp_path / "none.onnx")
    with pytest.raises(TypeError, match="a int is none"):
        fusion.compile(7)
    with pytest.raises(fusion.FusionError, match="names like it are"):
        fusion.compile(MODEL, target="cpu:x86-64-v9")
    with pytest.raises(ValueError, match="strict, standard, fast"):
        fusion.compile(MODEL, fp_math="exact")
    with pytest.raises(fusion.FusionError, match="cannot read the tuning log"):
        fusion.compile(MODEL, tuning_log=tmp_path / "none.jsonl")


def test_half_types_of_other_libraries():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    model = fusion.compile(MODEL.replace("f32", "bf16"))
    x, y = X.astype(ml_dtypes.bfloat16), Y.astype(ml_dtypes.bfloat16)
    result = model(x, y)
    assert result.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(result.astype(np.float32), WANTED)
    out = np.zeros_like(result)
    assert model(x, y, out=out) is out
    np.testing.assert_array_equal(out, result)


def test_one_library_serves_all_shapes():
    model = fusion.compile(
        'func.func @main(%x: tensor<?x3xf32, #relay.dims<["n", ""]>>) -> tensor<?x3xf32, #relay.dims<["n", ""]>> {\n'
        '  %0 = relay.tanh %x : (tensor<?x3xf32, #relay.dims<["n", ""]>>) -> tensor<?x3xf32, #relay.dims<["n", ""]>>\n'
        '  return %0 : tensor<?x3xf32, #relay.dims<["n", ""]>>\n}\n'
    )
    for n in (1, 5, 40):
        x = np.linspace(-2, 2, 3 * n, dtype=np.float32).reshape(n, 3)
        np.testing.assert_allclose(model(x), np.tanh(x), rtol=1e-5)
        out = np.empty_like(x)
        assert model(x, out=out) is out
        np.testing.assert_allclose(out, np.tanh(x), rtol=1e-5)
    with pytest.raises(ValueError, match=r"an array of float32\[1, 3\] was given"):
        model(np.zeros((2, 3), np.float32), out=np.zeros((1, 3), np.float32))


def test_passes_run_from_python():
    text = fusion.opt("func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = relay.neg %x : (tensor<2xf32>) -> tensor<2xf32>\n"
                      "  %1 = relay.neg %x : (tensor<2xf32>) -> tensor<2xf32>\n  %2 = relay.add %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n"
                      "  return %2 : tensor<2xf32>\n}\n", "builtin.module(cse)")
    assert text.count("relay.neg") == 1
    with pytest.raises(fusion.FusionError):
        fusion.opt("func.func @f(", "builtin.module(cse)")
