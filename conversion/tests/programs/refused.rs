//! What cannot be lowered is refused with a sentence, and what fails when it runs says why.

use super::{compiled, refusal};
use fusion_bytecode::Instruction;

#[test]
fn a_module_without_main_has_nothing_to_start_with() {
    let said = refusal("func.func @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }");
    assert!(said.contains("has no function @main, which a program starts with"), "{said}");
}

#[test]
fn types_must_be_known() {
    let said = refusal(
        r#"func.func @main(%x: !relay.var<"a">) -> !relay.var<"a"> attributes {relay.type_params = ["a"]} { return %x : !relay.var<"a"> }"#,
    );
    assert!(said.contains("a program needs types without variables and unknowns"), "{said}");
}

#[test]
fn nesting_is_bounded() {
    let mut body = "relay.yield %x : tensor<f32>".to_owned();
    for level in 0..300 {
        body = format!(
            "%r{level} = relay.if %c {{ {body} }} else {{ %e{level} = relay.call @main(%c, %x) : (tensor<i1>, tensor<f32>) -> tensor<f32> relay.yield %e{level} : tensor<f32> }} : (tensor<i1>) -> tensor<f32> relay.yield %r{level} : tensor<f32>"
        );
    }
    let body = body.replace("relay.yield %r299", "return %r299");
    let said =
        refusal(&format!("func.func @main(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {{ {body} }}"));
    assert!(said.contains("is nested more than 256 levels deep"), "{said}");
}

#[test]
fn a_match_that_fits_not_all_says_what_it_lacks() {
    let made = compiled(
        r#"relay.data @Maybe [] [#relay.constructor<"No">, #relay.constructor<"Yes", [tensor<f32>]>]
        func.func @main(%m: !relay.adt<@Maybe>) -> tensor<f32> {
          %0 = relay.match %m : (!relay.adt<@Maybe>) -> tensor<f32>
          case [@Maybe::@Yes, "x"] {
          ^bb0(%x: tensor<f32>):
            relay.yield %x : tensor<f32>
          }
          return %0 : tensor<f32>
        }"#,
    );
    let fails = |i: &Instruction| matches!(i, Instruction::Fail { message } if message.ends_with("fits @Maybe::@No."));
    assert!(made.program.functions[0].code.iter().any(fails));
}
