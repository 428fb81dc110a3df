//! Loops of elementwise operators, which become kernels: counted, with scalars, state that is stacked, and integers that wrap.

use super::whole::compare_all;
use super::*;

/// Random elementwise operators on floats. State may grow from step to step, and none of them is less exact of large numbers.
fn floats(random: &mut Random, body: &mut String, shape: &str, values: &mut Vec<String>) {
    for _ in 0..random.within(1, 6) {
        let name = format!("%f{}", values.len());
        let pick = |r: &mut Random| values[r.below(values.len() as u64) as usize].clone();
        let (a, b) = (pick(random), pick(random));
        let (f, i) = (format!("tensor<{shape}xf32>"), format!("tensor<{shape}xi1>"));
        let line = match random.below(5) {
            0 => format!("{name} = relay.tanh {a} : ({f}) -> {f}"),
            1 => format!("{name} = relay.mul {a}, {b} : ({f}, {f}) -> {f}"),
            2 => format!("{name} = relay.mul {a}, %half : ({f}, tensor<f32>) -> {f}"),
            3 => {
                let sum = format!("{name}_sum = relay.add {a}, {b} : ({f}, {f}) -> {f}");
                format!("{sum}\n      {name} = relay.mul {name}_sum, %half : ({f}, tensor<f32>) -> {f}")
            }
            _ => {
                let asked = format!("{name}_less = relay.less_equal {a}, %zero : ({f}, tensor<f32>) -> {i}");
                format!("{asked}\n      {name} = relay.where {name}_less, {b}, {a} : ({i}, {f}, {f}) -> {f}")
            }
        };
        writeln!(body, "      {line}").unwrap();
        values.push(name);
    }
}

fn program(random: &mut Random) -> (String, Vec<Tensor>) {
    let n = random.of(&[1usize, 7, 16, 33, 100, 260]);
    let pieces = random.of(&[1usize, 2, 3]);
    let trips = random.of(&[1u64, 2, 5, 17]);
    let shape = n.to_string();
    let (p, f, i) =
        (format!("tensor<{pieces}x{n}xf32>"), format!("tensor<{n}xf32>"), format!("tensor<{n}xi32>"));
    let mut body = String::new();
    let mut values = vec!["%a".to_owned(), "%w".to_owned()];
    for k in 0..pieces {
        writeln!(body, "      %at{k} = relay.constant dense<{k}> : tensor<i64>").unwrap();
        writeln!(
            body,
            "      %p{k} = relay.gather %p, %at{k} {{axis = 0 : i64}} : ({p}, tensor<i64>) -> {f}"
        )
        .unwrap();
        values.push(format!("%p{k}"));
    }
    writeln!(body, "      %k = relay.constant dense<1664525> : tensor<i32>\n      %r1 = relay.mul %r, %k : ({i}, tensor<i32>) -> {i}").unwrap();
    writeln!(body, "      %rf = relay.cast %r1 {{dtype = f32}} : ({i}) -> {f}").unwrap();
    writeln!(body, "      %tiny = relay.constant dense<4.0e-10> : tensor<f32>\n      %rs = relay.mul %rf, %tiny : ({f}, tensor<f32>) -> {f}").unwrap();
    values.push("%rs".to_owned());
    writeln!(body, "      %if = relay.cast %i {{dtype = f32}} : (tensor<i64>) -> tensor<f32>\n      %is = relay.cos %if : (tensor<f32>) -> tensor<f32>").unwrap();
    writeln!(body, "      %ai = relay.mul %a, %is : ({f}, tensor<f32>) -> {f}").unwrap();
    values.push("%ai".to_owned());
    floats(random, &mut body, &shape, &mut values);
    let last = |r: &mut Random| values[values.len() - 1 - r.below(3) as usize].clone();
    let a = last(random);
    let mut rows = Vec::new();
    for k in 0..pieces {
        let from = last(random);
        writeln!(
            body,
            "      %q{k} = relay.expand_dims {from} {{axes = array<i64: 0>}} : ({f}) -> tensor<1x{n}xf32>"
        )
        .unwrap();
        rows.push(format!("%q{k}"));
    }
    let types = vec![format!("tensor<1x{n}xf32>"); pieces].join(", ");
    writeln!(body, "      %next = relay.concat {} {{axis = 0 : i64}} : ({types}) -> {p}", rows.join(", "))
        .unwrap();
    let state = format!("tensor<i64>, tensor<i1>, {f}, {p}, {i}");
    let arguments = format!("%i: tensor<i64>, %go: tensor<i1>, %a: {f}, %p: {p}, %r: {i}");
    let source = format!(
        "func.func @main(%x: {f}, %y: {p}, %z: {i}, %w: {f}) -> ({f}, {p}, {i}) {{
    %end = relay.constant dense<{trips}> : tensor<i64>
    %start = relay.constant dense<0> : tensor<i64>
    %true = relay.constant dense<true> : tensor<i1>
    %half = relay.constant dense<0.5> : tensor<f32>
    %zero = relay.constant dense<0.0> : tensor<f32>
    %l:5 = relay.while(%start, %true, %x, %y, %z) {{
    ^bb0({arguments}):
      %below = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %both = relay.logical_and %below, %go : (tensor<i1>, tensor<i1>) -> tensor<i1>
      relay.yield %both : tensor<i1>
    }} do {{
    ^bb0({arguments}):
{body}      %one = relay.constant dense<1> : tensor<i64>
      %j = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
      relay.yield %j, %go, {a}, %next, %r1 : {state}
    }} : ({state}) -> ({state})
    return %l#2, %l#3, %l#4 : {f}, {p}, {i}
  }}
"
    );
    let unit = |r: &mut Random, shape: &[usize]| r.between(DType::F32, shape, -1, 1);
    let seeds: Vec<i128> = (0..n).map(|_| random.within(-(1 << 31), (1 << 31) - 1).into()).collect();
    let inputs = vec![
        unit(random, &[n]),
        unit(random, &[pieces, n]),
        Tensor::from_ints(DType::I32, &[n], &seeds).unwrap(),
        unit(random, &[n]),
    ];
    (source, inputs)
}

#[test]
fn counted_loops() {
    let mut random = Random::new(51);
    compare_all((0..40).map(|_| program(&mut random)));
}

/// The same loops with several steps behind each other, and what is left over.
#[test]
fn unrolled_loops() {
    register();
    let mut random = Random::new(52);
    let each = |r: &mut Random| {
        let (source, inputs) = program(r);
        let context = load_context();
        let module = parse_module(&context, &source).unwrap();
        let factor = r.within(2, 4);
        fusion_dialects::run_passes(
            &module,
            &format!("builtin.module(relay-loop-kernels{{unroll={factor}}})"),
        )
        .unwrap();
        let text = module.as_operation().to_string();
        assert!(text.contains("relay.primitive"), "{text}");
        (text, inputs)
    };
    compare_all((0..15).map(|_| each(&mut random)));
}

/// A loop whose body is a step of random operators, written several times by hand.
fn repeated(random: &mut Random) -> (String, Vec<Tensor>, u64) {
    let (n, trips, copies) =
        (random.of(&[1usize, 16, 33, 100]), random.of(&[1u64, 3, 5]), random.of(&[2u64, 3, 4]));
    let (shape, f) = (n.to_string(), format!("tensor<{n}xf32>"));
    let (seed, moves) = (random.0, random.below(2) == 0);
    let (mut body, mut a, mut b) = (String::new(), "%a".to_owned(), "%b".to_owned());
    for copy in 0..copies {
        let mut step = Random(seed);
        let (mut lines, mut values) = (String::new(), vec![a.clone(), b.clone(), "%w".to_owned()]);
        for _ in 0..3 {
            floats(&mut step, &mut lines, &shape, &mut values);
        }
        writeln!(lines, "      %fa = relay.mul {a}, {} : ({f}, {f}) -> {f}", values[values.len() - 1])
            .unwrap();
        writeln!(lines, "      %fb = relay.sub {b}, {} : ({f}, {f}) -> {f}", values[values.len() - 2])
            .unwrap();
        body += &lines.replace("%f", &format!("%c{copy}_"));
        (a, b) = (format!("%c{copy}_a"), if moves { a } else { format!("%c{copy}_b") });
    }
    let state = format!("tensor<i64>, {f}, {f}");
    let arguments = format!("%i: tensor<i64>, %a: {f}, %b: {f}");
    let source = format!(
        "func.func @main(%x: {f}, %y: {f}, %w: {f}) -> ({f}, {f}) {{
    %end = relay.constant dense<{trips}> : tensor<i64>
    %start = relay.constant dense<0> : tensor<i64>
    %half = relay.constant dense<0.5> : tensor<f32>
    %zero = relay.constant dense<0.0> : tensor<f32>
    %l:3 = relay.while(%start, %x, %y) {{
    ^bb0({arguments}):
      %below = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
      relay.yield %below : tensor<i1>
    }} do {{
    ^bb0({arguments}):
{body}      %one = relay.constant dense<1> : tensor<i64>
      %j = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
      relay.yield %j, {a}, {b} : {state}
    }} : ({state}) -> ({state})
    return %l#1, %l#2 : {f}, {f}
  }}
"
    );
    let inputs = (0..3).map(|_| random.between(DType::F32, &[n], -1, 1)).collect();
    (source, inputs, trips * copies)
}

/// Steps written behind each other by hand are found again, and computed as they were written.
#[test]
fn rolled_loops() {
    register();
    let mut random = Random::new(53);
    let mut rolled = 0;
    let mut each = |r: &mut Random| {
        let (source, inputs, steps) = repeated(r);
        let context = load_context();
        let module = parse_module(&context, &source).unwrap();
        fusion_dialects::run_passes(&module, "builtin.module(canonicalize,cse,relay-loop-kernels)").unwrap();
        let text = module.as_operation().to_string();
        if !text.contains(&format!("dense<{steps}> : tensor<i64>")) {
            println!("{text}");
        }
        rolled += usize::from(text.contains(&format!("dense<{steps}> : tensor<i64>")));
        (source, inputs)
    };
    let programs: Vec<_> = (0..20).map(|_| each(&mut random)).collect();
    assert!(rolled >= 15, "{rolled} of 20");
    compare_all(programs.into_iter());
}
