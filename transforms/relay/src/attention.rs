//! `relay-attention`: two products of matrices around a softmax are attention, one kernel that keeps no scores in memory.
//!
//!     %s = relay.matmul %q, transpose(%k)
//!     %t = scale %s + %bias                =>      relay.attention %q, %k, %v, %bias {scale}
//!     %p = relay.softmax %t
//!     %y = relay.matmul %p, %v
//!
//! What is between is used nowhere else. The scale is a constant that the scores are multiplied or divided by; keys that are
//! transposed already are transposed back, which cancels where they were transposed from.

use fusion_dialects::relay::{Builder, constant_value};
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Build, Op, OpExt, Pass, PassError, RunContext, StatisticSpec, Value, defining_op, kind_of, nested_ops,
    tensor_type, users,
};
use fusion_operators::ops::attention::ATTENTION;
use fusion_operators::ops::contraction::{BATCH_MATMUL, MATMUL};
use fusion_operators::ops::elementwise::{ADD, DIV, MUL};
use fusion_operators::ops::normalization::SOFTMAX;
use fusion_operators::ops::shape::TRANSPOSE;
use fusion_operators::{Attrs, DType, Operator};

/// The pass.
pub struct RelayAttention;

impl Pass for RelayAttention {
    const NAME: &'static str = "relay-attention";
    const DESCRIPTION: &'static str = "Recognize attention in products of matrices around a softmax";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "recognized", description: "Calls of relay.attention made" }];
    const DIALECTS: &'static [&'static str] = &["relay"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        for op in nested_ops(function) {
            if let Some(found) = Found::at(op) {
                found.rewrite(op)?;
                cx.count(0, 1);
            }
        }
        Ok(())
    }
}

/// The parts of an attention.
struct Found<'c> {
    queries: Value<'c>,
    keys: Value<'c>,
    /// True when the keys have their width last.
    keys_by_row: bool,
    values: Value<'c>,
    bias: Option<Value<'c>>,
    scale: f64,
}

fn is_call(op: Op, of: &[&'static Operator]) -> bool {
    matches!(kind_of(op), Some(Kind::Operator(operator)) if of.iter().any(|o| operator.is(o)))
}

/// The operation of such an operator that gives a value, when the value is used once.
fn only<'c>(value: Value<'c>, of: &[&'static Operator]) -> Option<Op<'c>> {
    defining_op(value).filter(|op| is_call(*op, of) && users(value).len() == 1)
}

impl<'c> Found<'c> {
    /// The attention whose second product an operation is.
    fn at(op: Op<'c>) -> Option<Self> {
        const PRODUCTS: &[&Operator] = &[&MATMUL, &BATCH_MATMUL];
        let is_plain = |op: Op| !op.attrs().flag("transpose_a") && !op.attrs().flag("transpose_b");
        if !is_call(op, PRODUCTS) || !is_plain(op) {
            return None;
        }
        let (weights, values) = (op.operand_values()[0], op.operand_values()[1]);
        let softmax = only(weights, &[&SOFTMAX])?;
        let rank = tensor_type(weights)?.rank() as i64;
        let axis = softmax.attrs().int_or("axis", -1);
        if axis != -1 && axis != rank - 1 {
            return None;
        }
        let mut scores = softmax.operand_values()[0];
        let (mut bias, mut scale) = (None, 1.0);
        if let Some(add) = only(scores, &[&ADD]) {
            let (a, b) = (add.operand_values()[0], add.operand_values()[1]);
            let is_scores = |v: Value| only(v, &[&MATMUL, &BATCH_MATMUL, &MUL, &DIV]).is_some();
            (scores, bias) = if is_scores(a) { (a, Some(b)) } else { (b, Some(a)) };
        }
        if let Some(scaled) = only(scores, &[&MUL, &DIV]) {
            let (a, b) = (scaled.operand_values()[0], scaled.operand_values()[1]);
            let divides = is_call(scaled, &[&DIV]);
            let number = |v: Value| constant_value(v).filter(|t| t.len() == 1).map(|t| t.f64_at(0));
            (scores, scale) = match (number(a), number(b)) {
                (_, Some(by)) => (a, if divides { 1.0 / by } else { by }),
                (Some(by), None) if !divides => (b, by),
                _ => return None,
            };
        }
        let product = only(scores, PRODUCTS).filter(|p| !p.attrs().flag("transpose_a"))?;
        let (queries, keys) = (product.operand_values()[0], product.operand_values()[1]);
        let found =
            Found { queries, keys, keys_by_row: product.attrs().flag("transpose_b"), values, bias, scale };
        found.fits().then_some(found)
    }

    /// True when leading extents are the same, as attention wants them; it is made for f32.
    fn fits(&self) -> bool {
        let lead = |v: Value| {
            let ty = tensor_type(v).filter(|t| t.dtype == DType::F32)?;
            Some(ty.shape()?.split_last_chunk::<2>()?.0.to_vec())
        };
        let queries = lead(self.queries);
        let bias = self.bias.is_none_or(|b| {
            tensor_type(b).is_some_and(|t| {
                t.dtype == DType::F32 && t.rank() <= queries.as_ref().map_or(0, Vec::len) + 2
            })
        });
        queries.is_some() && queries == lead(self.keys) && queries == lead(self.values) && bias
    }

    fn rewrite(&self, op: Op<'c>) -> Result<(), PassError<'c>> {
        let builder = Builder::new(Build::before(op));
        let fail = |why| PassError::at(op, why);
        let keys =
            if self.keys_by_row { self.keys } else { transposed(&builder, self.keys).map_err(fail)? };
        let mut operands = vec![self.queries, keys, self.values];
        operands.extend(self.bias);
        let attrs = Attrs::new().with("scale", self.scale);
        let result = builder.op(&ATTENTION, &operands, &attrs).map_err(fail)?;
        op.replace_all_uses(&result);
        op.erase();
        Ok(())
    }
}

/// A value with its last two axes exchanged; where it is a transpose, together with that.
fn transposed<'c>(builder: &Builder<'c>, value: Value<'c>) -> Result<Value<'c>, fusion_operators::Violation> {
    let rank = tensor_type(value).map_or(0, |t| t.rank());
    let before = defining_op(value).filter(|op| is_call(*op, &[&TRANSPOSE]));
    let (source, mut axes) = match before {
        None => (value, (0..rank as i64).collect()),
        Some(op) => {
            let reversed: Vec<i64> = (0..rank as i64).rev().collect();
            let axes = op.attrs().ints("axes").map_or(reversed, <[i64]>::to_vec);
            (op.operand_values()[0], axes)
        }
    };
    axes.swap(rank - 2, rank - 1);
    if axes.iter().enumerate().all(|(i, &a)| a == i as i64 || a == i as i64 - rank as i64) {
        return Ok(source);
    }
    Ok(builder.op(&TRANSPOSE, &[source], &Attrs::new().with("axes", axes))?[0])
}
