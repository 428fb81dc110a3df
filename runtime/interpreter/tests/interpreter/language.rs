//! Data types, functions as values, recursion of any depth, and what is told when a program goes wrong.

use super::*;
use fusion_interpreter::run_program;

const LIST: &str = r#"
relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]
"#;

/// The list from 0 to n - 1 before `tail`; its sum by a loop and by a recursion; and the loop's own countdown.
const LISTS: &str = r#"
func.func @upto(%n: tensor<i32>, %tail: !relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@List, [tensor<i32>]> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %done = relay.less_equal %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = relay.if %done {
    relay.yield %tail : !relay.adt<@List, [tensor<i32>]>
  } else {
    %m = relay.sub %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %l = relay.construct @List::@Cons(%m, %tail) : (tensor<i32>, !relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@List, [tensor<i32>]>
    %s = relay.call @upto(%m, %l) : (tensor<i32>, !relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@List, [tensor<i32>]>
    relay.yield %s : !relay.adt<@List, [tensor<i32>]>
  } : (tensor<i1>) -> !relay.adt<@List, [tensor<i32>]>
  return %r : !relay.adt<@List, [tensor<i32>]>
}
func.func @sum(%l: !relay.adt<@List, [tensor<i32>]>) -> tensor<i32> {
  %r = relay.match %l : (!relay.adt<@List, [tensor<i32>]>) -> tensor<i32>
  case [@List::@Nil] {
    %zero = relay.constant dense<0> : tensor<i32>
    relay.yield %zero : tensor<i32>
  }
  case [@List::@Cons, "x", "rest"] {
  ^bb0(%x: tensor<i32>, %rest: !relay.adt<@List, [tensor<i32>]>):
    %s = relay.call @sum(%rest) : (!relay.adt<@List, [tensor<i32>]>) -> tensor<i32>
    %t = relay.add %x, %s : (tensor<i32>, tensor<i32>) -> tensor<i32>
    relay.yield %t : tensor<i32>
  }
  return %r : tensor<i32>
}
func.func @countdown(%n: tensor<i32>) -> tensor<i32> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %done = relay.less_equal %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = relay.if %done {
    relay.yield %n : tensor<i32>
  } else {
    %m = relay.sub %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %s = relay.call @countdown(%m) : (tensor<i32>) -> tensor<i32>
    relay.yield %s : tensor<i32>
  } : (tensor<i1>) -> tensor<i32>
  return %r : tensor<i32>
}
"#;

fn int(value: i128) -> Tensor {
    Tensor::from_ints(DType::I32, &[], &[value]).unwrap()
}

/// What a function of a program gives, as text.
fn shown(source: &str, name: &str, inputs: &[Tensor], limits: Limits) -> Result<String, String> {
    let context = load_context();
    let module = parse_module(&context, source).expect("the program parses");
    let values = run_program(module.as_operation(), name, inputs, limits);
    values.map(|values| values[0].to_string()).map_err(|error| error.to_string())
}

fn value(body: &str, inputs: &[Tensor]) -> String {
    shown(&format!("{LIST}{body}"), "main", inputs, Limits::default()).unwrap_or_else(|error| error)
}

#[test]
fn lists_are_made_and_shown() {
    let text = value(
        r#"func.func @main() -> !relay.adt<@List, [tensor<f32>]> {
             %x = relay.constant dense<1.5> : tensor<f32>
             %0 = relay.construct @List::@Nil() : () -> !relay.adt<@List, [tensor<f32>]>
             %1 = relay.construct @List::@Cons(%x, %0) : (tensor<f32>, !relay.adt<@List, [tensor<f32>]>) -> !relay.adt<@List, [tensor<f32>]>
             return %1 : !relay.adt<@List, [tensor<f32>]>
           }"#,
        &[],
    );
    assert_eq!(text, "Cons(tensor<f32> 1.5, Nil)");
}

#[test]
fn nested_patterns_take_the_first_that_fits() {
    let source = r#"func.func @main(%n: tensor<i32>) -> tensor<i32> {
          %nil = relay.construct @List::@Nil() : () -> !relay.adt<@List, [tensor<i32>]>
          %l = relay.call @upto(%n, %nil) : (tensor<i32>, !relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@List, [tensor<i32>]>
          %t = relay.tuple %l, %n : (!relay.adt<@List, [tensor<i32>]>, tensor<i32>) -> tuple<!relay.adt<@List, [tensor<i32>]>, tensor<i32>>
          %r = relay.match %t : (tuple<!relay.adt<@List, [tensor<i32>]>, tensor<i32>>) -> tensor<i32>
          case [[@List::@Cons, "_", [@List::@Cons, "second", "_"]], "n"] {
          ^bb0(%second: tensor<i32>, %m: tensor<i32>):
            %0 = relay.add %second, %m : (tensor<i32>, tensor<i32>) -> tensor<i32>
            relay.yield %0 : tensor<i32>
          }
          case ["_", "n"] {
          ^bb0(%m: tensor<i32>):
            %0 = relay.neg %m : (tensor<i32>) -> tensor<i32>
            relay.yield %0 : tensor<i32>
          }
          return %r : tensor<i32>
        }"#;
    let source = format!("{LISTS}{source}");
    assert_eq!(value(&source, &[int(3)]), "tensor<i32> 4");
    assert_eq!(value(&source, &[int(1)]), "tensor<i32> -1");
}

#[test]
fn a_match_that_nothing_fits_is_told() {
    let error = value(
        r#"func.func @main() -> tensor<i32> {
             %0 = relay.construct @List::@Nil() : () -> !relay.adt<@List, [tensor<i32>]>
             %1 = relay.match %0 : (!relay.adt<@List, [tensor<i32>]>) -> tensor<i32>
             case [@List::@Cons, "x", "_"] { ^bb0(%x: tensor<i32>): relay.yield %x : tensor<i32> }
             return %1 : tensor<i32>
           }"#,
        &[],
    );
    assert!(
        error.contains("'relay.match' op has no clause that fits a Nil of the data type @List"),
        "{error}"
    );
}

#[test]
fn tail_calls_take_no_memory() {
    let limits = Limits { depth: 2, memory: 1 << 20, ..Limits::default() };
    assert_eq!(
        shown(&format!("{LIST}{LISTS}"), "countdown", &[int(200_000)], limits).unwrap(),
        "tensor<i32> 0"
    );
}

#[test]
#[ignore = "takes half a minute"]
fn ten_million_tail_calls_end() {
    let limits = Limits { depth: 2, memory: 1 << 20, ..Limits::default() };
    assert_eq!(
        shown(&format!("{LIST}{LISTS}"), "countdown", &[int(10_000_000)], limits).unwrap(),
        "tensor<i32> 0"
    );
}

#[test]
fn recursion_goes_deeper_than_the_stack_of_the_host() {
    let source = r#"func.func @main(%n: tensor<i32>) -> tensor<i32> {
          %nil = relay.construct @List::@Nil() : () -> !relay.adt<@List, [tensor<i32>]>
          %l = relay.call @upto(%n, %nil) : (tensor<i32>, !relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@List, [tensor<i32>]>
          %r = relay.call @sum(%l) : (!relay.adt<@List, [tensor<i32>]>) -> tensor<i32>
          return %r : tensor<i32>
        }"#;
    assert_eq!(value(&format!("{LISTS}{source}"), &[int(100_000)]), "tensor<i32> 704982704");
}

#[test]
fn memory_is_limited() {
    let source = format!(
        "{LIST}{LISTS}{}",
        r#"func.func @main(%n: tensor<i32>) -> !relay.adt<@List, [tensor<i32>]> {
          %nil = relay.construct @List::@Nil() : () -> !relay.adt<@List, [tensor<i32>]>
          %l = relay.call @upto(%n, %nil) : (tensor<i32>, !relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@List, [tensor<i32>]>
          return %l : !relay.adt<@List, [tensor<i32>]>
        }"#
    );
    let limits = Limits { memory: 100_000, ..Limits::default() };
    let error = shown(&source, "main", &[int(10_000)], limits).unwrap_err();
    assert!(error.ends_with("bytes of values, more than 100000 are not allowed"), "{error}");
}

#[test]
fn functions_call_one_another() {
    let function = |name: &str, other: &str, base: &str| {
        format!(
            "func.func @{name}(%n: tensor<i32>) -> tensor<i1> {{
               %zero = relay.constant dense<0> : tensor<i32>
               %one = relay.constant dense<1> : tensor<i32>
               %done = relay.equal %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
               %r = relay.if %done {{
                 %base = relay.constant dense<{base}> : tensor<i1>
                 relay.yield %base : tensor<i1>
               }} else {{
                 %m = relay.sub %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
                 %s = relay.call @{other}(%m) : (tensor<i32>) -> tensor<i1>
                 relay.yield %s : tensor<i1>
               }} : (tensor<i1>) -> tensor<i1>
               return %r : tensor<i1>
             }}"
        )
    };
    let source = format!("{}{}", function("even", "odd", "true"), function("odd", "even", "false"));
    assert_eq!(shown(&source, "even", &[int(7)], Limits::default()).unwrap(), "tensor<i1> false");
    assert_eq!(shown(&source, "odd", &[int(7)], Limits::default()).unwrap(), "tensor<i1> true");
}

#[test]
fn closures_call_themselves() {
    let text = value(
        r#"func.func @main(%n: tensor<i32>, %step: tensor<i32>) -> tensor<i32> {
             %zero = relay.constant dense<0> : tensor<i32>
             %f = relay.fn attributes {relay.recursive} {
             ^bb0(%self: (tensor<i32>) -> tensor<i32>, %m: tensor<i32>):
               %done = relay.less_equal %m, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
               %r = relay.if %done {
                 relay.yield %m : tensor<i32>
               } else {
                 %k = relay.sub %m, %step : (tensor<i32>, tensor<i32>) -> tensor<i32>
                 %s = relay.apply %self(%k) : (tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>
                 relay.yield %s : tensor<i32>
               } : (tensor<i1>) -> tensor<i32>
               relay.yield %r : tensor<i32>
             } : (tensor<i32>) -> tensor<i32>
             %r = relay.apply %f(%n) : (tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>
             return %r : tensor<i32>
           }"#,
        &[int(100_000), int(3)],
    );
    assert_eq!(text, "tensor<i32> -2");
}

#[test]
fn polymorphic_programs_run_without_their_types() {
    let text = value(
        r#"func.func @map(%f: (!relay.var<"a">) -> !relay.var<"b">, %l: !relay.adt<@List, [!relay.var<"a">]>) -> !relay.hole attributes {relay.type_params = ["a", "b"]} {
             %r = relay.match %l : (!relay.adt<@List, [!relay.var<"a">]>) -> !relay.hole
             case [@List::@Nil] {
               %0 = relay.construct @List::@Nil() : () -> !relay.hole
               relay.yield %0 : !relay.hole
             }
             case [@List::@Cons, "x", "rest"] {
             ^bb0(%x: !relay.var<"a">, %rest: !relay.adt<@List, [!relay.var<"a">]>):
               %y = relay.apply %f(%x) : (!relay.var<"a">) -> !relay.var<"b">, (!relay.var<"a">) -> !relay.var<"b">
               %ys = relay.call @map(%f, %rest) : ((!relay.var<"a">) -> !relay.var<"b">, !relay.adt<@List, [!relay.var<"a">]>) -> !relay.hole
               %0 = relay.construct @List::@Cons(%y, %ys) : (!relay.var<"b">, !relay.hole) -> !relay.hole
               relay.yield %0 : !relay.hole
             }
             return %r : !relay.hole
           }
           func.func @twice(%x: tensor<i32>) -> tensor<i32> {
             %0 = relay.add %x, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>
             return %0 : tensor<i32>
           }
           func.func @main() -> !relay.hole {
             %x = relay.constant dense<3> : tensor<i32>
             %f = relay.global @twice : (tensor<i32>) -> tensor<i32>
             %0 = relay.construct @List::@Nil() : () -> !relay.adt<@List, [tensor<i32>]>
             %1 = relay.construct @List::@Cons(%x, %0) : (tensor<i32>, !relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@List, [tensor<i32>]>
             %2 = relay.call @map(%f, %1) : ((tensor<i32>) -> tensor<i32>, !relay.adt<@List, [tensor<i32>]>) -> !relay.hole
             %3 = relay.tuple %f, %2 : ((tensor<i32>) -> tensor<i32>, !relay.hole) -> !relay.hole
             %4 = relay.ascribe %3 : !relay.hole -> !relay.hole
             return %4 : !relay.hole
           }"#,
        &[],
    );
    assert_eq!(text, "(<function>, Cons(tensor<i32> 6, Nil))");
}

#[test]
fn cells_inside_themselves_are_shown_and_freed() {
    let text = value(
        r#"relay.data @Knot [] [#relay.constructor<"End">, #relay.constructor<"Tie", [!relay.ref<!relay.adt<@Knot>>]>]
           func.func @main() -> !relay.ref<!relay.adt<@Knot>> {
             %end = relay.construct @Knot::@End() : () -> !relay.adt<@Knot>
             %cell = relay.ref.new %end : !relay.adt<@Knot> -> !relay.ref<!relay.adt<@Knot>>
             %tie = relay.construct @Knot::@Tie(%cell) : (!relay.ref<!relay.adt<@Knot>>) -> !relay.adt<@Knot>
             relay.ref.write %cell, %tie : !relay.ref<!relay.adt<@Knot>>, !relay.adt<@Knot>
             return %cell : !relay.ref<!relay.adt<@Knot>>
           }"#,
        &[],
    );
    assert_eq!(text, "ref(Tie(...))");
}

#[test]
fn named_extents_are_one_number_in_a_function() {
    let source = r#"func.func @main(%x: tensor<?xf32, #relay.dims<["n"]>>, %y: tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>> {
          return %y : tensor<?xf32, #relay.dims<["n"]>>
        }"#;
    assert!(run(source, &[f32s(&[2], &[0.0; 2]), f32s(&[2], &[0.0; 2])]).is_ok());
    let error = message(source, &[f32s(&[2], &[0.0; 2]), f32s(&[3], &[0.0; 3])]);
    assert_eq!(error, "@main takes (tensor<nxf32>, tensor<nxf32>), found (tensor<2xf32>, tensor<3xf32>)");
}
