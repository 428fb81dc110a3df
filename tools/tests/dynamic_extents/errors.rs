//! Checks that are left for run time: each way to run a program fails with a sentence that says where and what.

use super::{Compiled, Inputs, inputs};
use fusion_operators::Tensor;

/// What the virtual machine and native code say; the interpreter fails as well.
fn said(source: &str, shapes: &[(&str, &[usize])]) -> [String; 2] {
    let [interpreted, vm, aot] = Compiled::of(source).run(&inputs(shapes));
    interpreted.expect_err("the interpreter fails");
    [vm.expect_err("the virtual machine fails"), aot.expect_err("native code fails")]
}

fn all_say(source: &str, shapes: &[(&str, &[usize])], parts: &[&str]) {
    for message in said(source, shapes) {
        for part in parts {
            assert!(message.contains(part), "{message:?} does not say {part:?}");
        }
    }
}

#[test]
fn extents_that_do_not_broadcast() {
    let source =
        "def @main(%x: Tensor[(?, 2), float32], %y: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] {
  add(%x, %y)
}";
    let parts = ["program.relay:2:", "in @main", "relay.add", "do not broadcast", "found 3 and 5"];
    all_say(source, &[("x", &[3, 2]), ("y", &[5, 2])], &parts);
}

#[test]
fn what_is_summed_over_differs() {
    let source =
        "def @main(%x: Tensor[(?, ?), float32], %w: Tensor[(4, 8), float32]) -> Tensor[(?, 4), float32] {
  nn.dense(%x, %w, units=4)
}";
    let parts = ["program.relay:2:", "relay.dense violates constraint C3", "found 8 and 9"];
    all_say(source, &[("x", &[3, 9]), ("w", &[4, 8])], &parts);
}

#[test]
fn names_that_are_one_extent() {
    let source =
        "def @f(%x: Tensor[(n), float32], %y: Tensor[(n), float32]) -> Tensor[(n), float32] { add(%x, %y) }
def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) -> Tensor[(?), float32] { @f(%x, %y) }";
    all_say(source, &[("x", &[3]), ("y", &[5])], &["program.relay:1:", "in @f"]);
}

#[test]
fn a_field_is_narrower_than_what_was_put_in() {
    let source = "type Box { Box(Tensor[(5), float32]) }
def @wrap(%x: Tensor[(?), float32]) -> Box { Box(%x) }
def @main(%x: Tensor[(?), float32]) -> Tensor[(5), float32] {
  match (@wrap(%x)) { Box(%held) => negative(%held) }
}";
    all_say(source, &[("x", &[4])], &["tensor<5xf32>", "tensor<4xf32>"]);
    Compiled::of(source).agree(&inputs(&[("x", &[5])]));
}

#[test]
fn a_cell_is_narrower_than_what_was_put_in() {
    let source = "def @main(%x: Tensor[(?), float32]) -> Tensor[(5), float32] {
  let %cell = ref(zeros(shape=[5], dtype=\"float32\"));
  ref_write(%cell, %x);
  negative(ref_read(%cell))
}";
    all_say(source, &[("x", &[4])], &["tensor<5xf32>", "tensor<4xf32>"]);
    Compiled::of(source).agree(&inputs(&[("x", &[5])]));
}

#[test]
fn a_result_is_narrower_than_what_is_given() {
    let source = "def @f(%x: Tensor[(?), float32]) -> Tensor[(5), float32] { %x }
def @main(%x: Tensor[(?), float32]) -> Tensor[(5), float32] { negative(@f(%x)) }";
    all_say(source, &[("x", &[4])], &["tensor<5xf32>", "tensor<4xf32>"]);
    Compiled::of(source).agree(&inputs(&[("x", &[5])]));
}

#[test]
fn a_branch_is_narrower_than_what_it_gives() {
    let source = "def @main(%c: bool, %x: Tensor[(?), float32]) -> Tensor[(5), float32] {
  let %y: Tensor[(5), float32] = if (%c) { %x } else { zeros(shape=[5], dtype=\"float32\") };
  negative(%y)
}";
    let mut given = inputs(&[("x", &[4])]);
    given.insert(
        "c".to_owned(),
        fusion_operators::Tensor::from_ints(fusion_operators::DType::Bool, &[], &[1]).unwrap(),
    );
    for outcome in Compiled::of(source).run(&given) {
        let message = outcome.expect_err("the value has another extent");
        assert!(message.contains("5xf32") && message.contains("4xf32"), "{message}");
    }
}

#[test]
fn the_program_gives_what_it_says() {
    let source = "def @main(%x: Tensor[(?), float32]) -> Tensor[(5), float32] { %x }";
    all_say(source, &[("x", &[4])], &["tensor<5xf32>", "tensor<4xf32>"]);
    Compiled::of(source).agree(&inputs(&[("x", &[5])]));
}

#[test]
fn a_function_value_is_called_with_more_than_it_takes() {
    let source = "def @apply(%f: fn(Tensor[(?), float32]) -> Tensor[(?), float32], %x: Tensor[(?), float32]) -> Tensor[(?), float32] { %f(%x) }
def @five(%x: Tensor[(5), float32]) -> Tensor[(?), float32] { negative(%x) }
def @main(%x: Tensor[(?), float32]) -> Tensor[(?), float32] { @apply(@five, %x) }";
    all_say(source, &[("x", &[4])], &["5xf32", "4xf32"]);
    Compiled::of(source).agree(&inputs(&[("x", &[5])]));
}

#[test]
fn the_program_gives_a_tuple_that_is_narrower() {
    let source = "def @pair(%x: Tensor[(?), float32]) -> (Tensor[(?), float32], float32) { (%x, 1f) }
def @main(%x: Tensor[(?), float32]) -> (Tensor[(5), float32], float32) { @pair(%x) }";
    // The interpreter does not look into tuples: it has no memory of that size to fill.
    let [_, vm, aot] = Compiled::of(source).run(&inputs(&[("x", &[4])]));
    for message in [vm.unwrap_err(), aot.unwrap_err()] {
        assert!(message.contains("tensor<5xf32>") && message.contains("tensor<4xf32>"), "{message}");
    }
    Compiled::of(source).agree(&inputs(&[("x", &[5])]));
}

#[test]
fn an_extent_from_a_constant() {
    let source = "def @main(%x: Tensor[(?), float32]) -> Tensor[(?), float32] {
  take(%x, fusion.dynamic_iota(2i64), axis=0)
}";
    Compiled::of(source).agree(&inputs(&[("x", &[5])]));
}

#[test]
fn an_extent_from_a_number_below_zero() {
    let source = "def @main(%x: Tensor[(?), float32]) -> Tensor[(?), int64] {
  fusion.dynamic_iota(cast(sum(%x), dtype=\"int64\"))
}";
    let parts = ["program.relay:2:", "relay.dynamic_iota needs a number that is not negative"];
    let below_zero =
        |number: f32| Inputs::from([("x".to_owned(), Tensor::from_slice(&[1], &[number]).unwrap())]);
    let [interpreted, vm, aot] = Compiled::of(source).run(&below_zero(-2.0));
    interpreted.expect_err("the interpreter fails");
    for message in [vm.expect_err("the virtual machine fails"), aot.expect_err("native code fails")] {
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
    Compiled::of(source).agree(&below_zero(3.0));
    Compiled::of(source).agree(&below_zero(0.0));
}
