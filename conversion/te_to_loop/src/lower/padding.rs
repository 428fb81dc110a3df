//! The iterations of a loop of a sum that add something, where others only add products with zeros of a padding (`te.skip_padding`).
//!
//!     p[r] = a[r - 3] if 0 <= r - 3 <= 6 else 0
//!     s[y] += p[y + k] * w[k]        0 <= y + k - 3   and   0 <= 9 - y - k     so k from 3 - y to 9 - y, where these are iterations
//!
//! Asked of whole iterations: what loops inside decide, and what differs among the copies that unrolled and vectorized loops become, is at its
//! most favourable, so that an iteration runs where any of them needs it.

use super::Lowering;
use super::nest::{Bindings, Nest, is_jammed};
use super::ranges::ranged;
use super::ways::Way;
use fusion_dialects::Value;
use fusion_dialects::indices::RANGED;
use fusion_dialects::indices::expr::{Atom, Expr, Var};
use fusion_dialects::indices::put;
use fusion_dialects::loops::{LoopKind, Loops};
use fusion_schedule::schedule::AxisId;
use fusion_schedule::schedule::primitives::skip_padding::SKIPS_PADDING;
use fusion_schedule::schedule::zeros::unless_padding;

/// Iterations of a loop, one after the other.
pub(super) struct Adding<'c> {
    /// The first of them.
    pub first: Value<'c>,
    /// How many there are; below 1 for none.
    pub count: Value<'c>,
}

impl<'c> Lowering<'c, '_> {
    /// The iterations of a part of a loop that add something; none where it passes over nothing.
    pub(super) fn adding(
        &self,
        loops: &Loops<'c>,
        nest: &Nest,
        bound: &Bindings,
        axis: AxisId,
        way: &Way,
    ) -> Option<Adding<'c>> {
        let stage = &self.tree.stages[nest.stage];
        // A loop that was made a vector afterwards has all of its iterations at once.
        let is_serial = stage.axes[axis].kind == LoopKind::Serial;
        if !is_serial || !stage.notes.iter().any(|n| n.axis == axis && n.key == SKIPS_PADDING) {
            return None;
        }
        let probe = Var { id: RANGED, extent: way.iterations };
        let mut fresh = probe.id;
        let mut all = way.at(axis, Expr::atom(Atom::Var(probe)));
        for &l in nest.order.iter().filter(|&&l| is_jammed(stage.axes[l].kind) && bound.is_bound(l)) {
            all.bind(l, ranged(&mut fresh, self.extent(nest, bound, l)));
        }
        let axes = self.ranged_axes(nest, &all, &mut fresh);
        let (mut first, mut end) = (vec![Expr::constant(0)], vec![Expr::constant(way.iterations as i64)]);
        for e in unless_padding(self.tree, nest.stage) {
            let Some(e) = put(&e, &axes).and_then(|e| greatest(e, probe)) else { continue };
            let Some(by) = e.coefficient(probe.id).filter(|&by| by != 0) else { continue };
            if e.range().is_some_and(|(low, _)| low >= 0) {
                continue;
            }
            // by k + rest >= 0
            let rest = e.minus(&Expr::atom(Atom::Var(probe)).times(by));
            match by > 0 {
                true => first.push(rest.div(by).times(-1)),
                false => end.push(rest.div(-by).plus(&Expr::constant(1))),
            }
        }
        if first.len() + end.len() == 2 {
            return None;
        }
        let s = loops.scalars();
        let value = |e: &Expr| self.indices.value(&loops.build, e);
        let begin = first.iter().map(value).reduce(|a, b| s.index_max(a, b))?;
        let end = end.iter().map(value).reduce(|a, b| s.index_min(a, b))?;
        Some(Adding { first: begin, count: s.index_sub(end, begin) })
    }
}

/// The greatest value of an expression as variables but for one run over their range; none where it does not rise or fall with them.
fn greatest(mut e: Expr, probe: Var) -> Option<Expr> {
    let open = |e: &Expr| e.variables().find(|v| v.id > probe.id);
    while let Some(v) = open(&e) {
        let best = if e.direction(v.id)? > 0 { v.extent as i64 - 1 } else { 0 };
        e = e.substitute(&|w| (w.id == v.id).then(|| Expr::constant(best)));
    }
    Some(e)
}
