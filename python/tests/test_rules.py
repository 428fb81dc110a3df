"""Rewrite rules written in Python."""

import fusion
import pytest

ROUNDED = """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = relay.ceil %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = relay.floor %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
"""


def optimized():
    return fusion.opt(ROUNDED, "builtin.module(relay-optimize)")


def test_a_rule_applies_where_its_condition_holds():
    seen = []
    assert "relay.floor" in optimized()

    @fusion.rewrite("(floor ?a (ceil ?b ?x))", "(ceil ?b ?x)", equation="floor ceil x = ceil x", exact=True)
    def floor_of_ceil(x):
        seen.append(x)
        return x.dtype == "f32"

    text = optimized()
    assert "relay.floor" not in text and "relay.ceil" in text
    assert fusion.Value("f32", (4, 8), None) in seen


def test_a_rule_that_is_none_is_refused():
    def holds():
        return True

    with pytest.raises(fusion.FusionError, match=r"rule holds: .* \?z, which nothing binds"):
        fusion.rewrite("(add ?a ?x ?y)", "?z")(holds)
    with pytest.raises(fusion.FusionError, match="is no term"):
        fusion.rewrite("(add ?a ?x", "?x")(holds)
    with pytest.raises(ValueError, match='family is "none", and one of algebra, '):
        fusion.rewrite("(add ?a ?x ?y)", "?x", family="none")(holds)


def test_an_exception_in_a_condition_is_reported_and_the_rule_does_not_apply(monkeypatch):
    told = []
    monkeypatch.setattr("sys.unraisablehook", told.append)

    @fusion.rewrite("(ceil ?a (floor ?b ?x))", "(floor ?b ?x)", exact=True)
    def ceil_of_floor(x):
        raise KeyError("wrong")

    text = fusion.opt(ROUNDED.replace("ceil", "_").replace("floor", "ceil").replace("_", "floor"), "builtin.module(relay-optimize)")
    assert "relay.ceil" in text and any(isinstance(told_of.exc_value, KeyError) for told_of in told)
