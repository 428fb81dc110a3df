//! Ranges of an axis: where they begin, an index of the loops around, and how long they are.

use fusion_dialects::indices::RANGED;
use fusion_dialects::indices::expr::{Atom, Expr};

/// A range of an axis: where it begins and how long it is.
pub type Range = (Expr, u64);

pub(super) fn ranged(fresh: &mut usize, extent: u64) -> Expr {
    *fresh += 1;
    Expr::var(*fresh, extent)
}

/// The fixed part of an index and the number of values it takes.
pub(super) fn span(e: &Expr) -> Option<Range> {
    let (mut from, mut extent) = (Expr::constant(e.offset()), 1u64);
    for (atom, c) in e.terms() {
        match atom {
            Atom::Var(v) if v.id >= RANGED => {
                let last = c.checked_mul(v.extent as i64 - 1)?;
                extent = extent.checked_add(last.unsigned_abs())?;
                from = from.plus(&Expr::constant(last.min(0)));
            }
            Atom::Opaque(_) => return None,
            Atom::Div(inner, _) | Atom::Mod(inner, _) if runs(inner) || inner.is_opaque() => return None,
            _ => from = from.plus(&Expr::atom(atom.clone()).times(c)),
        }
    }
    Some((from, extent))
}

fn runs(e: &Expr) -> bool {
    e.variables().any(|v| v.id >= RANGED)
}

/// The least range that has both, when they begin a known distance apart.
pub(super) fn join(a: &Range, b: &Range) -> Option<Range> {
    let distance = b.0.minus(&a.0).as_constant()?;
    let (from, first, second) =
        if distance < 0 { (&b.0, 0, distance.unsigned_abs()) } else { (&a.0, distance as u64, 0) };
    // `first` is how far b begins behind the join, `second` how far a does.
    Some((from.clone(), (a.1 + second).max(b.1 + first)))
}

/// True when a range of an axis lies inside it wherever the loops around are.
pub fn is_inside(range: &Range, extent: u64) -> bool {
    let (from, length) = range;
    from.range().is_some_and(|(low, high)| low >= 0 && high as u64 + length <= extent)
}
