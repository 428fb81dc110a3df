//! Whether two functions compute the same: both are run on random inputs, and what they give is compared.
//!
//! ```text
//!   before:  %0 = conv %x, %w       after:  %0 = winograd %x, %u      inputs of a seed -> run both -> |a - b| / max |a|
//!            %1 = add %0, %b                %1 = add %0, %b
//! ```
//!
//! Where they differ, both run again with all their tensors kept. A value of the first that the second has as well is *kept*; one that
//! something kept depends on is *explained* (it was fused away, say). The first operation of the first function that is not
//! explained is where the values part.
//!
//! Of kernels that take too long some elements are compared ([`sampled`](crate::sampled)), by the same rules.

use crate::program::{Interpreter, Traced};
use crate::value::Value;
use crate::{InterpretError, Limits, flops_of, sampled};
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Op, OpExt, OperationLike, Value as Name, arguments, key, op_key, te, tensor_type, users,
};
use fusion_operators::random::Random;
use fusion_operators::{DType, Tensor, dtype::Class};
use std::collections::HashSet;

/// How much a comparison may cost, and how far values may be apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Operations of a run; functions that take more are not run, and of kernels that take more than a two-hundredth of that, whose
    /// operations are interpreted one by one, some elements are computed.
    pub flops: f64,
    /// The largest difference, relative to the largest element expected. Narrow floats may differ by their rounding.
    pub tolerance: f64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { flops: 1e9, tolerance: 1e-4 }
    }
}

/// What a comparison that found no difference says.
#[derive(Clone, Debug, PartialEq)]
pub enum Agreement {
    /// Both compute the same.
    Same {
        /// The largest difference, relative to the largest element of its tensor.
        error: f64,
        /// True where only some elements were compared, [`SAMPLES`] of each result.
        sampled: bool,
    },
    /// It is not known, and why.
    Unknown(String),
}

/// Two functions do not compute the same.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("@{function} gives other values: {what} (inputs of seed {seed}){}", at(.first))]
pub struct Mismatch {
    /// The function.
    pub function: String,
    /// Which output differs, and how.
    pub what: String,
    /// The seed of the inputs.
    pub seed: u64,
    /// The difference relative to the largest element expected; infinite where types differ.
    pub error: f64,
    /// The operation of the first function where the values part, with its place, if it could be found.
    pub first: Option<String>,
}

/// Elements of each result that are compared where all would take too long.
pub const SAMPLES: usize = 256;

/// How much longer an operation of a kernel takes than one of an operator, which is computed with all of its tensor.
const SLOWER: f64 = 200.0;

/// What a run of a comparison may do.
const LIMITS: Limits = Limits { steps: 10_000_000, depth: 10_000, memory: 2 << 30 };

fn at(first: &Option<String>) -> String {
    first.as_ref().map_or(String::new(), |op| format!("; the first value that is lost is that of {op}"))
}

/// Runs two functions, each in its module, on the same inputs.
///
/// `before` is the judge: where it cannot be run, or `after` cannot, the outcome is [`Agreement::Unknown`].
pub fn agree(before: Op, after: Op, seed: u64, budget: &Budget) -> Result<Agreement, Mismatch> {
    let name = before.text("sym_name").unwrap_or_default();
    let inputs = match inputs_of(before, seed) {
        Ok(inputs) => inputs,
        Err(why) => return Ok(Agreement::Unknown(why)),
    };
    let mut is_sampled = [false; 2];
    for (function, sampled) in [before, after].into_iter().zip(&mut is_sampled) {
        let flops = function
            .parent_operation()
            .map_or(0.0, |m| flops_of(m, function.text("sym_name").unwrap_or_default()));
        *sampled = matches!(function.kind(), Some(Kind::Te(te::Op::Kernel))) && flops > budget.flops / SLOWER;
        if flops > budget.flops && !*sampled {
            let why = format!(
                "it takes {flops:.1e} operations, more than the {:.1e} that are allowed",
                budget.flops
            );
            return Ok(Agreement::Unknown(why));
        }
    }
    if is_sampled != [false; 2] {
        return agree_in_samples([(before, is_sampled[0]), (after, is_sampled[1])], &inputs, seed, budget);
    }
    let expected = match run(before, &inputs, false) {
        Ok((expected, _)) => expected,
        Err(why) => return Ok(Agreement::Unknown(format!("before the pass, {why}"))),
    };
    let found = match run(after, &inputs, false) {
        Ok((found, _)) => found,
        Err(why) => return Ok(Agreement::Unknown(format!("after the pass, {why}"))),
    };
    let mismatch = |(what, error)| {
        let first = first_lost(before, after, &inputs, budget.tolerance);
        Mismatch { function: name.to_owned(), what, seed, error, first }
    };
    if expected.len() != found.len() {
        let what = format!("there are {} outputs where there were {}", found.len(), expected.len());
        return Err(mismatch((what, f64::INFINITY)));
    }
    if !expected.is_empty() && expected.iter().all(says_nothing) {
        return Ok(Agreement::Unknown("all its outputs are NaN or empty for random inputs".to_owned()));
    }
    match worst_of(&expected, &found, budget.tolerance) {
        Ok(error) => Ok(Agreement::Same { error, sampled: false }),
        Err((what, error)) => match sensitivity(before, &inputs, &expected) {
            Some(changed) if error <= SLACK * changed => Ok(Agreement::Unknown(format!(
                "it differs by {error:.1e}, but a change of its inputs in the last place changes it by {changed:.1e}"
            ))),
            _ => Err(mismatch((what, error))),
        },
    }
}

/// The same for functions of which some elements are compared: those of kernels that say so are computed by themselves.
fn agree_in_samples(
    [before, after]: [(Op, bool); 2],
    inputs: &[Tensor],
    seed: u64,
    budget: &Budget,
) -> Result<Agreement, Mismatch> {
    let expected = match samples(before, inputs) {
        Ok(expected) => expected,
        Err(why) => return Ok(Agreement::Unknown(format!("before the pass, {why}"))),
    };
    let found = match samples(after, inputs) {
        Ok(found) => found,
        Err(why) => return Ok(Agreement::Unknown(format!("after the pass, {why}"))),
    };
    let name = before.0.text("sym_name").unwrap_or_default();
    let mismatch = |(what, error)| Mismatch { function: name.to_owned(), what, seed, error, first: None };
    if expected.len() != found.len() {
        let what = format!("there are {} outputs where there were {}", found.len(), expected.len());
        return Err(mismatch((what, f64::INFINITY)));
    }
    match worst_of(&expected, &found, budget.tolerance) {
        Ok(error) => Ok(Agreement::Same { error, sampled: true }),
        Err((what, error)) => {
            let nudged: Option<Vec<Tensor>> = inputs.iter().map(nudged).collect();
            let changed = nudged.and_then(|inputs| samples(before, &inputs).ok());
            match changed.and_then(|changed| worst_of(&expected, &changed, f64::INFINITY).ok()) {
                Some(changed) if error <= SLACK * changed => Ok(Agreement::Unknown(format!(
                    "it differs by {error:.1e}, but a change of its inputs in the last place changes it by {changed:.1e}"
                ))),
                _ => Err(mismatch((format!("of {SAMPLES} elements, {what}"), error))),
            }
        }
    }
}

/// Some elements of each result of a function, as tensors of one axis.
fn samples((function, by_itself): (Op, bool), inputs: &[Tensor]) -> Result<Vec<Tensor>, InterpretError> {
    let chosen = |elements: usize| sampled::places(elements, SAMPLES);
    if by_itself {
        return sampled::elements(function, inputs, &chosen);
    }
    let (whole, _) = run(function, inputs, false)?;
    whole.iter().map(|tensor| sampled::some_of(tensor, &chosen(tensor.len()))).collect()
}

/// The largest error of all outputs; of the first output that differs too much, how.
fn worst_of(expected: &[Tensor], found: &[Tensor], tolerance: f64) -> Result<f64, (String, f64)> {
    let mut worst: f64 = 0.0;
    for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
        let difference = compare(expected, found, tolerance);
        worst = worst.max(difference.map_err(|(what, error)| (format!("output {index} {what}"), error))?);
    }
    Ok(worst)
}

/// How much more than a change of the inputs in the last place all the roundings on the way may change a result.
const SLACK: f64 = 4.0;

/// How much a function's result changes with its inputs in their last place, relative to the largest element: a hundred steps of a
/// chaotic system make a difference of every rounding, and so of the order of two sums.
fn sensitivity(function: Op, inputs: &[Tensor], results: &[Tensor]) -> Option<f64> {
    let nudged: Vec<Tensor> = inputs.iter().map(nudged).collect::<Option<_>>()?;
    let (changed, _) = run(function, &nudged, false).ok()?;
    let same_shape = results.len() == changed.len();
    let mut most: f64 = 0.0;
    for (expected, found) in results.iter().zip(&changed) {
        // Integers and shapes that change say nothing of rounding.
        most = most.max(compare(expected, found, f64::INFINITY).ok().filter(|e| e.is_finite())?);
    }
    same_shape.then_some(most)
}

/// A tensor whose floats are moved by one place, up and down in turn.
fn nudged(tensor: &Tensor) -> Option<Tensor> {
    let place = match tensor.dtype() {
        DType::F64 => f64::EPSILON,
        DType::F32 => f64::from(f32::EPSILON),
        DType::F16 => 1.0 / 1024.0,
        DType::BF16 => 1.0 / 128.0,
        _ => return Some(tensor.clone()),
    };
    let moved = |i: usize| tensor.f64_at(i) * if i.is_multiple_of(2) { 1.0 + place } else { 1.0 - place };
    let numbers: Vec<f64> = (0..tensor.len()).map(moved).collect();
    Tensor::from_f64s(tensor.dtype(), tensor.shape(), &numbers).ok()
}

/// Random inputs of a function; the error says why there are none.
fn inputs_of(function: Op, seed: u64) -> Result<Vec<Tensor>, String> {
    let Some(body) = function.body(0) else { return Err("it has no body".to_owned()) };
    let mut random = Random::new(seed);
    let tensor = |(index, argument): (usize, Name)| {
        let ty = tensor_type(argument).ok_or_else(|| format!("its argument {index} is no tensor"))?;
        let shape = ty.shape().ok_or_else(|| format!("its argument {index} has an unknown extent"))?;
        let shape: Vec<usize> = shape.into_iter().map(|n| n as usize).collect();
        random.tensor(ty.dtype, &shape).map_err(|error| error.to_string())
    };
    arguments(body).into_iter().enumerate().map(tensor).collect()
}

/// What a function gives, and, where wanted, all tensors on the way.
fn run<'c>(
    function: Op<'c>,
    inputs: &[Tensor],
    traced: bool,
) -> Result<(Vec<Tensor>, Vec<Traced<'c>>), InterpretError> {
    let name = function.text("sym_name").unwrap_or_default();
    let module = function.parent_operation().ok_or_else(|| InterpretError::NoFunction(name.to_owned()))?;
    let mut interpreter = Interpreter::new(module, LIMITS);
    interpreter.trace = traced.then(Vec::new);
    let results = interpreter.call(name, inputs.iter().cloned().map(Value::from).collect());
    let results = results.and_then(|r| r.into_iter().map(|value| value.into_tensor(name)).collect());
    interpreter.empty_cells();
    Ok((results?, interpreter.trace.unwrap_or_default()))
}

fn says_nothing(tensor: &Tensor) -> bool {
    tensor.dtype().class() == Class::Float && (0..tensor.len()).all(|i| tensor.f64_at(i).is_nan())
}

/// The error of a tensor where it is within the tolerance; else how the tensors differ, and by how much.
fn compare(expected: &Tensor, found: &Tensor, tolerance: f64) -> Result<f64, (String, f64)> {
    if expected.tensor_type() != found.tensor_type() {
        let what = format!("is a {} where it was a {}", found.tensor_type(), expected.tensor_type());
        return Err((what, f64::INFINITY));
    }
    if expected.dtype().class() != Class::Float {
        return match (0..expected.len()).find(|i| expected.int_at(*i) != found.int_at(*i)) {
            None => Ok(0.0),
            Some(at) => {
                let (was, is) = (expected.int_at(at), found.int_at(at));
                Err((
                    format!("is {is} at {:?} where it was {was}", index_of(at, expected.shape())),
                    f64::INFINITY,
                ))
            }
        };
    }
    let finite = |x: &f64| x.is_finite();
    let largest = (0..expected.len()).map(|i| expected.f64_at(i).abs()).filter(finite).fold(0.0, f64::max);
    let allowed = tolerance.max(rounding(expected.dtype()));
    let (mut worst, mut at) = (0.0, 0);
    for i in 0..expected.len() {
        let (was, is) = (expected.f64_at(i), found.f64_at(i));
        let error = match (was - is).abs() {
            _ if was == is || (was.is_nan() && is.is_nan()) => 0.0,
            difference if difference.is_nan() => f64::INFINITY,
            difference => difference / largest.max(f64::MIN_POSITIVE),
        };
        if error > worst {
            (worst, at) = (error, i);
        }
    }
    if worst <= allowed {
        return Ok(worst);
    }
    let (was, is) = (expected.f64_at(at), found.f64_at(at));
    let index = index_of(at, expected.shape());
    let what = format!(
        "is {is} at {index:?} where it was {was}, which is {worst:.1e} of the largest element, {allowed:.0e} is allowed"
    );
    Err((what, worst))
}

/// Relative error that floats of a type have after some operations.
fn rounding(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 1e-2,
        DType::BF16 => 8e-2,
        _ => 0.0,
    }
}

fn index_of(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&n| {
            let i = at % n.max(1);
            at /= n.max(1);
            i
        })
        .collect();
    index.reverse();
    index
}

/// The first operation of `before` whose value neither `after` has nor anything that both have depends on.
fn first_lost(before: Op, after: Op, inputs: &[Tensor], tolerance: f64) -> Option<String> {
    let (Ok((_, old)), Ok((_, new))) = (run(before, inputs, true), run(after, inputs, true)) else {
        return None;
    };
    let has = |tensor: &Tensor| new.iter().any(|other| compare(tensor, &other.tensor, tolerance).is_ok());
    let top: Vec<&Traced> =
        old.iter().filter(|t| t.op.parent_operation().is_some_and(|p| op_key(p) == op_key(before))).collect();
    let mut explained: HashSet<usize> = HashSet::new();
    for value in top.iter().rev() {
        let name = value.op.result_values()[value.result];
        let read = users(name)
            .into_iter()
            .any(|user| user.result_values().iter().any(|r| explained.contains(&key(*r))));
        if read || has(&value.tensor) {
            explained.insert(key(name));
        }
    }
    // A constant that is gone was folded into something, or nothing of it is left to see.
    let computes = |value: &&&Traced| !value.op.operand_values().is_empty();
    let is_lost = |value: &&&Traced| !explained.contains(&key(value.op.result_values()[value.result]));
    let lost = top.iter().filter(computes).find(is_lost)?;
    Some(format!("{} at {}", lost.op.full_name(), place(lost.op)))
}

/// `file:line:column`, or the location as MLIR prints it.
fn place(op: Op) -> String {
    let text = op.location().to_string();
    text.strip_prefix("loc(").and_then(|t| t.strip_suffix(')')).unwrap_or(&text).replace('"', "")
}
