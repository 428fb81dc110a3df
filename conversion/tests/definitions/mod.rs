//! Random calls of operators: the reference semantics against the definition in tensor expressions, interpreted.

mod indexing;
mod reduction;
mod shape;

use crate::common::{Random, attribute};
use fusion_dialects::{load_context, parse_module};
use fusion_operators::reference::evaluate;
use fusion_operators::{Attrs, DType, Operator, Tensor, TensorType};
use melior::pass::PassManager;
use std::fmt::Write;
use std::sync::Once;

impl Random {
    /// A shape of `least` to 4 axes with extents of `smallest` to 5.
    fn shape(&mut self, least: i64, smallest: i64) -> Vec<usize> {
        (0..self.within(least, 4)).map(|_| self.within(smallest, 5) as usize).collect()
    }

    /// An axis, from the front or from the back.
    fn axis(&mut self, rank: usize) -> i64 {
        self.within(-(rank as i64), rank as i64 - 1)
    }

    /// Some of the axes in any order.
    fn axes(&mut self, rank: usize) -> Vec<i64> {
        let count = self.below(rank as u64 + 1) as usize;
        self.permutation(rank)[..count].to_vec()
    }

    fn permutation(&mut self, rank: usize) -> Vec<i64> {
        let mut axes: Vec<i64> = (0..rank as i64).collect();
        for i in (1..rank).rev() {
            axes.swap(i, self.below(i as u64 + 1) as usize);
        }
        axes
    }

    /// Small numbers that every type but the booleans and unsigned ones holds exactly, with repetitions.
    fn small(&mut self, dtype: DType, shape: &[usize]) -> Tensor {
        let values: Vec<f64> = (0..shape.iter().product()).map(|_| self.within(-6, 6) as f64).collect();
        Tensor::from_f64s(dtype, shape, &values).unwrap()
    }

    /// As `small`, of one of the types.
    fn small_of(&mut self, dtypes: &[DType], shape: &[usize]) -> Tensor {
        let dtype = self.of(dtypes);
        self.small(dtype, shape)
    }

    fn indices(&mut self, dtype: DType, shape: &[usize], extent: usize) -> Tensor {
        let n = extent as i64;
        let values: Vec<i128> = (0..shape.iter().product()).map(|_| self.within(-n, n - 1).into()).collect();
        Tensor::from_ints(dtype, shape, &values).unwrap()
    }
}

/// A program of one call, as the primitive function `@kernel`.
fn program(op: &'static Operator, attrs: &Attrs, operands: &[TensorType]) -> String {
    let results = op.infer(operands, attrs).unwrap();
    let join = |items: Vec<String>| items.join(", ");
    let all = |types: &[TensorType]| join(types.iter().map(TensorType::to_string).collect());
    let (given, made) = (all(operands), all(&results));
    let names = join((0..operands.len()).map(|i| format!("%x{i}")).collect());
    let inputs = join(operands.iter().enumerate().map(|(i, t)| format!("%x{i}: {t}")).collect());
    let attrs = join(attrs.iter().map(|(name, value)| format!("{name} = {}", attribute(value))).collect());
    let outputs = join((0..results.len()).map(|i| format!("%y{i}")).collect());
    let mut source = String::new();
    let name = op.name;
    writeln!(source, "func.func @main({inputs}) -> ({made}) {{").unwrap();
    writeln!(source, "  %r:{} = call @kernel({names}) : ({given}) -> ({made})", results.len()).unwrap();
    let called = join((0..results.len()).map(|i| format!("%r#{i}")).collect());
    writeln!(source, "  return {called} : {made}\n}}").unwrap();
    writeln!(source, "func.func private @kernel({inputs}) -> ({made}) attributes {{relay.primitive}} {{")
        .unwrap();
    writeln!(source, "  {outputs} = \"relay.{name}\"({names}) {{{attrs}}} : ({given}) -> ({made})").unwrap();
    writeln!(source, "  return {outputs} : {made}\n}}").unwrap();
    source
}

/// Compares a call's definition with its reference.
fn check(op: &'static Operator, attrs: Attrs, operands: &[Tensor]) {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        fusion_dialects::register_upstream_passes();
        fusion_conversion::register();
    });
    let types: Vec<TensorType> = operands.iter().map(Tensor::tensor_type).collect();
    let expected = evaluate(op, &attrs, operands).unwrap();
    let source = program(op, &attrs, &types);
    let context = load_context();
    let mut module = parse_module(&context, &source).unwrap_or_else(|_| panic!("{source}"));
    let passes = PassManager::new(&context);
    let pipeline = "builtin.module(convert-relay-to-te)";
    melior::utility::parse_pass_pipeline(passes.as_operation_pass_manager(), pipeline).unwrap();
    passes.run(&mut module).unwrap_or_else(|_| panic!("{source}"));
    let found = fusion_interpreter::run_function(module.as_operation(), "main", operands)
        .unwrap_or_else(|error| panic!("{error}\n{source}\n{}", module.as_operation()));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found.tensor_type(), expected.tensor_type(), "{source}");
        assert!(close(found, expected), "{found:?}\nis not\n{expected:?}\n{operands:?}\n{source}");
    }
}

/// The same integers, and floats that are equal up to roundings on the way.
fn close(a: &Tensor, b: &Tensor) -> bool {
    if !a.dtype().is_float() {
        return a == b;
    }
    let tolerance = match a.dtype() {
        DType::F64 | DType::F32 => 1e-5,
        DType::F16 => 1e-3,
        _ => 8e-3,
    };
    a.to_f64s()
        .into_iter()
        .zip(b.to_f64s())
        .all(|(x, y)| x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= tolerance * y.abs().max(1.0))
}
