//! A code generator beside fusion's: it writes C for sums, products and `relu`, and fusion compiles the rest. `example-codegen MODEL`
//!
//! ```text
//!   relay-annotate-target, relay-merge-compiler-regions, relay-partition-graph      func @example_c_0 {relay.compiler = "example_c"}
//!   generate                                                                        void example_c_0(const float *a0, .., float *r0)
//!   cc                                                                              an object, which is linked with fusion's
//! ```
//! The model is compiled with and without it, and both are run on the same numbers.

use fusion::extend::{Kind, Op, OpExt, Value, add_code_generator, kind_of, tensor_type};
use fusion::{ArgumentDescription, Compiler, DType, Error, Tensor};
use fusion_dialects::rows::Upstream;
use fusion_dialects::{arguments, key, ops_in, relay, splat};
use fusion_operators::Operator;
use fusion_operators::ops::elementwise::{ADD, MUL, RELU};
use std::collections::HashMap;
use std::process::Command;

const NAME: &str = "example_c";
const PASSES: &str = "builtin.module(func.func(relay-annotate-target{target=example_c ops=add,mul,relu},\
                      relay-merge-compiler-regions),relay-partition-graph)";

/// What C writes for a call whose operands' elements are `x` and `y`.
type Element = fn(x: &str, y: &str) -> String;

/// What it can compile.
static OPERATORS: [(&Operator, Element); 3] = [
    (&ADD, |x, y| format!("{x} + {y}")),
    (&MUL, |x, y| format!("{x} * {y}")),
    (&RELU, |x, _| format!("{x} > 0 || {x} != {x} ? {x} : 0")),
];

/// Compiles a function: writes C, and has the system's compiler make an object of it.
fn generate(function: Op) -> Result<Vec<u8>, String> {
    let source = c_of(function)?;
    let folder = std::env::temp_dir().join(format!("example_codegen_{}", std::process::id()));
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let (c, o) = (folder.join("kernel.c"), folder.join("kernel.o"));
    std::fs::write(&c, source).map_err(failed)?;
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let made = Command::new(compiler).args(["-std=c11", "-O2", "-fPIC", "-c", "-o"]).args([&o, &c]).status();
    let object = match made.map_err(failed)?.success() {
        true => std::fs::read(&o).map_err(failed),
        false => Err("the C compiler refuses it".to_owned()),
    };
    std::fs::remove_dir_all(&folder).map_err(failed)?;
    object
}

/// The extents of a value, which must be a tensor of f32 of known shape.
fn shape(value: Value) -> Result<Vec<u64>, String> {
    let ty = tensor_type(value).ok_or("it has a value that is no tensor")?;
    match ty.shape().filter(|_| ty.dtype == DType::F32) {
        Some(shape) => Ok(shape),
        None => Err(format!("it has a {ty}, and this generator computes f32 of known shapes")),
    }
}

/// A function of C that computes what the function does, each operator in a loop of its own.
fn c_of(function: Op) -> Result<String, String> {
    let body = function.body(0).ok_or("it has no body")?;
    let mut names: HashMap<usize, String> = HashMap::new();
    let mut parameters = Vec::new();
    for (number, argument) in arguments(body).into_iter().enumerate() {
        shape(argument)?;
        names.insert(key(argument), format!("a{number}"));
        parameters.push(format!("const float *a{number}"));
    }
    let (mut text, mut results) = (String::new(), String::new());
    for (number, op) in ops_in(body).into_iter().enumerate() {
        match kind_of(op) {
            Some(Kind::Relay(relay::Op::Constant)) => {
                let value = op.attr("value").and_then(splat).ok_or("it has a constant of several numbers")?;
                text += &format!("  const float v{number}[1] = {{{:?}f}};\n", value.f64_at(0));
            }
            Some(Kind::Operator(row)) => text += &call(op, row, number, &names)?,
            Some(Kind::Upstream(Upstream::Return)) => {
                for (place, value) in op.operand_values().into_iter().enumerate() {
                    let count: u64 = shape(value)?.iter().product();
                    results += &format!(
                        "  for (long i = 0; i < {count}; i++) r{place}[i] = {}[i];\n",
                        names[&key(value)]
                    );
                    parameters.push(format!("float *r{place}"));
                }
            }
            _ => return Err(format!("it has a {}", op.full_name())),
        }
        op.result_values().into_iter().for_each(|value| drop(names.insert(key(value), format!("v{number}"))));
    }
    let name = function.text("relay.global_symbol").ok_or("it has no symbol")?;
    Ok(format!("void {name}({}) {{\n{text}{results}}}\n", parameters.join(", ")))
}

/// The loop of a call.
fn call(
    op: Op,
    row: &'static Operator,
    number: usize,
    names: &HashMap<usize, String>,
) -> Result<String, String> {
    let known = OPERATORS.iter().find(|(known, _)| known.is(row));
    let (_, element) = known.ok_or_else(|| format!("it has a relay.{}", row.name))?;
    let to = shape(op.result_values()[0])?;
    let mut operands = Vec::new();
    for value in op.operand_values() {
        let extents = shape(value)?;
        let name = &names[&key(value)];
        // A constant of many equal numbers is kept as one.
        let one = name.starts_with('v') && fusion_dialects::relay::constant_value(value).is_some();
        operands.push(format!("{name}[{}]", if one { "0".to_owned() } else { index(&extents, &to) }));
    }
    let count: u64 = to.iter().product();
    let value = element(&operands[0], operands.last().map_or("", |operand| operand));
    Ok(format!("  float v{number}[{count}];\n  for (long i = 0; i < {count}; i++) v{number}[i] = {value};\n"))
}

/// Where in an operand of that shape element `i` of a result is found, as NumPy broadcasts.
fn index(from: &[u64], to: &[u64]) -> String {
    let (mut inner, mut step) = (1, 1);
    let mut terms = vec!["0".to_owned()];
    for (axis, &extent) in to.iter().enumerate().rev() {
        let own = (axis + from.len()).checked_sub(to.len()).map_or(1, |axis| from[axis]);
        if own != 1 {
            terms.push(format!("i / {inner} % {extent} * {step}"));
            step *= own;
        }
        inner *= extent;
    }
    terms.join(" + ")
}

/// Numbers from -2 to 2.
fn numbers(input: &ArgumentDescription) -> Result<Tensor, Error> {
    let count: usize = input.shape.iter().product();
    let values: Vec<f64> = (0..count).map(|i| f64::from((i * 7 % 17) as u32) / 4.0 - 2.0).collect();
    Ok(Tensor::from_f64s(input.dtype, &input.shape, &values)?)
}

fn main() -> Result<(), Error> {
    let model = std::env::args().nth(1).unwrap_or_else(|| "test/codegen.mlir".to_owned());
    let alone = Compiler::new().compile(&model)?;
    let inputs: Vec<Tensor> = alone.inputs().iter().map(numbers).collect::<Result<_, _>>()?;
    let expected = alone.run(&inputs)?;
    add_code_generator(NAME, |function| {
        println!("{}", c_of(function)?);
        generate(function)
    });
    let found = Compiler::new().passes(PASSES).compile(&model)?.run(&inputs)?;
    for (found, expected) in found.iter().zip(&expected) {
        let pairs = found.to_f64s().into_iter().zip(expected.to_f64s());
        println!("largest difference: {:e}", pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max));
    }
    Ok(())
}
