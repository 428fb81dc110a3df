//! Products whose result is given in another order, as heads of attention are.
//!
//!     for m, n, k     p[m, n] += x[m, k] * w[k, n]                for m, n  p = 0 ; for k  p += x[m, k] * w[k, n]
//!     for h, s, d     y[h, s, d] = p[s, h D + d]           =>               y[n / D, m, n mod D] = p
//!
//! What rearranges goes over the product's axes (`reverse_reindex`), and is its epilogue then. Whole vectors of the product must stay together;
//! where they do not, the product is stored first.

use super::reductions::reads_once;
use super::writer::Writer;
use crate::auto_schedule::accesses::LANE_BYTES;
use crate::layout::Layout;
use crate::merge::epilogues;
use crate::schedule::primitives::reverse_reindex::{readers, rearrangement};
use crate::schedule::{Schedule, StageId};
use fusion_dialects::{OpExt, tensor_type};
use fusion_machine::Machine;

/// Has the results that rearrange a product go over its axes.
pub fn follow_products(writer: &mut Writer, machine: &Machine) -> Result<(), String> {
    for product in 0..writer.tree.stages.len() {
        let tree = &writer.tree;
        if !tree.stages[product].is_reduction() || reads_once(tree, product) {
            continue;
        }
        let last = last_over_the_same(tree, product);
        let Some(result) = only_result_behind(tree, last).filter(|r| *r != last) else { continue };
        let bytes =
            |s: StageId| Some(tensor_type(*tree.stages[s].op.result_values().first()?)?.dtype.size() as u64);
        let lanes = machine.lanes(bytes(result).unwrap_or(LANE_BYTES));
        if rearrangement(tree, result, last)
            .is_ok_and(|r| keeps_vectors(&r.layout, lanes) || keeps_order(&r.layout))
        {
            writer.reverse_reindex(result, last)?;
        }
    }
    Ok(())
}

/// The last of the stages that follow a product element by element; the product where several do, or none.
fn last_over_the_same(tree: &Schedule, product: StageId) -> StageId {
    let axes = |s: StageId| tree.stages[s].op.ints("axes");
    let goes_on = |s: StageId| tree.consumers(s).into_iter().all(|c| axes(c) == axes(product));
    match epilogues(tree, product, &|s| tree.results.contains(&s) || !goes_on(s)) {
        Some(ends) if ends.len() == 1 => ends[0],
        _ => product,
    }
}

/// The result of the kernel behind a stage, when there is one.
fn only_result_behind(tree: &Schedule, stage: StageId) -> Option<StageId> {
    let mut behind = readers(tree, stage).into_iter().filter(|s| tree.results.contains(s));
    behind.next().filter(|_| behind.next().is_none())
}

/// True when elements lie in the order of the product's axes, which are but cut.
fn keeps_order(layout: &Layout) -> bool {
    layout.digits().windows(2).all(|pair| {
        let [outer, inner] = pair else { return true };
        outer.axis < inner.axis || outer.axis == inner.axis && outer.unit > inner.unit
    })
}

/// True when vectors of so many elements, along the axis whose last digit is the innermost, lie side by side.
fn keeps_vectors(layout: &Layout, lanes: u64) -> bool {
    let last = layout.digits().last();
    last.is_some_and(|d| d.unit == 1 && d.base.is_none_or(|base| base.is_multiple_of(lanes)))
}
