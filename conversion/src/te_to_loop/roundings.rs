//! Which kernels round as the source does: those whose elements are rounded to integers later.
//!
//! ```text
//!   q = round((x * s + y * t) / u)        a fused multiply-add rounds x * s + y * t once where the source rounds twice;
//!                                         where the quotient then lies half between two integers, q is another one
//! ```
//!
//! A kernel rounds to integers when a stage of it does (`math.roundeven` and the like, `arith.fptosi`). It keeps the roundings of its
//! elementwise products and sums, and so does each kernel whose results it reads, whatever lies between. Every other kernel may
//! contract them, unless the module's arithmetic is strict. Terms of reductions are contracted into their sums in either case: a sum has no order, and so no roundings of its own.

use fusion_dialects::module::FpMath;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{
    Attribute, BlockLike, Context, Op, OpExt, OperationLike, RegionLike, Value, argument_owner, defining_op,
    key, kind_of, nested_ops, op_key, ops_in, top_level,
};
use std::collections::HashSet;

/// The names of the kernels of a module that keep the roundings of the source.
pub fn kernels_that_round_as_written(module: Op) -> HashSet<String> {
    let kernels = top_level(module, |kind| matches!(kind, Kind::Te(Te::Kernel)));
    let rounding = kernels.into_iter().filter(|kernel| nested_ops(*kernel).into_iter().any(to_integers));
    let mut found: HashSet<String> = rounding.filter_map(|kernel| name(kernel, "sym_name")).collect();
    let is_call = |op: &Op| matches!(kind_of(*op), Some(Kind::Te(Te::Call)));
    let calls: Vec<Op> = nested_ops(module).into_iter().filter(is_call).collect();
    let called = |call: &Op| name(*call, "kernel").is_some_and(|kernel| found.contains(&kernel));
    let mut behind: Vec<Op> = calls.iter().copied().filter(called).collect();
    let mut seen: HashSet<usize> = behind.iter().map(|op| op_key(*op)).collect();
    while let Some(op) = behind.pop() {
        found.extend(name(op, "kernel").filter(|_| is_call(&op)));
        let before = reads(op).into_iter().filter_map(|value| defining_op(value).or(argument_owner(value)));
        let new = before.filter(|op| !matches!(kind_of(*op), Some(Kind::Upstream(Upstream::Func))));
        behind.extend(new.filter(|op| seen.insert(op_key(*op))));
    }
    found
}

/// What an operation's results may depend on: what it reads, and what the blocks inside of it hand on.
fn reads<'c>(op: Op<'c>) -> Vec<Value<'c>> {
    let mut read = op.operand_values();
    for region in op.regions() {
        for block in std::iter::successors(region.first_block(), |block| block.next_in_region()) {
            read.extend(ops_in(block).last().map(|end| end.operand_values()).unwrap_or_default());
        }
    }
    read
}

fn name(op: Op, attribute: &str) -> Option<String> {
    op.text(attribute).map(str::to_owned)
}

/// True for what makes an integer of a float.
fn to_integers(op: Op) -> bool {
    use Upstream::{Ceil, FPToSI, FPToUI, Floor, Round, RoundEven, Trunc};
    matches!(kind_of(op), Some(Kind::Upstream(Ceil | FPToSI | FPToUI | Floor | Round | RoundEven | Trunc)))
}

/// Which roundings of the source a kernel keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roundings {
    /// None: products and sums are contracted, and reductions have no order.
    Free,
    /// Those of elementwise products and sums.
    Elementwise,
    /// All of them, and the order of reductions.
    All,
}

impl Roundings {
    /// Those of the kernel of that name, where these kernels round to integers.
    pub fn of(kernel: &str, to_integers: &HashSet<String>, fp_math: FpMath) -> Roundings {
        match (fp_math.is_strict(), to_integers.contains(kernel)) {
            (true, _) => Roundings::All,
            (_, true) => Roundings::Elementwise,
            _ => Roundings::Free,
        }
    }

    /// What may be done with the sums and products of a reduction, as flags of `arith`; in vectors each lane is a sum of its own and keeps its
    /// order: it becomes a chain of fused multiply-adds.
    pub fn of_reduction(self, is_vectorized: bool) -> &'static str {
        match (self, is_vectorized) {
            (Roundings::All, _) => "none",
            (_, true) => "contract",
            (_, false) => "reassoc, contract",
        }
    }
}

/// The products and sums of a stage that may be computed in one rounding.
pub struct Contracted {
    /// All of them, or only the products that a reduction adds.
    elementwise: bool,
    terms: HashSet<usize>,
}

impl Contracted {
    /// Those of a stage of a kernel that keeps roundings, or does not.
    pub fn of(stage: Op, roundings: Roundings) -> Contracted {
        let adds = roundings == Roundings::Elementwise && stage.body(1).is_some();
        let end = stage.body(0).filter(|_| adds).and_then(|block| ops_in(block).last().copied());
        let terms = end.map(|end| end.operand_values()).unwrap_or_default();
        Contracted { elementwise: roundings == Roundings::Free, terms: terms.into_iter().map(key).collect() }
    }

    /// Marks an operation that was made for one of the stage's body.
    pub fn mark<'c>(&self, context: &'c Context, of: Op<'c>, made: Op<'c>) {
        use Upstream::{AddF, MulF, SubF};
        let is_term = || of.result_values().iter().any(|value| self.terms.contains(&key(*value)));
        if !self.elementwise && !is_term() {
            return;
        }
        if let (Some(Kind::Upstream(AddF | SubF | MulF)), Some(contract)) =
            (kind_of(made), Attribute::parse(context, "#arith.fastmath<contract>"))
        {
            made.set_attr("fastmath", contract);
        }
    }
}
