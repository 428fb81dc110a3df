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

/// True when an index takes some values between the first and the last one that it takes not at all: `j + 4 k` does for fixed j.
pub(super) fn has_holes(e: &Expr) -> bool {
    let steps = e.terms().filter_map(|(atom, c)| match atom {
        Atom::Var(v) if v.id >= RANGED && v.extent > 1 => Some((c.unsigned_abs(), v.extent - 1)),
        _ => None,
    });
    let mut steps: Vec<(u64, u64)> = steps.collect();
    steps.sort_unstable();
    // With the smaller steps so many values in a row are taken.
    let mut row = 1u64;
    steps.into_iter().any(|(step, times)| {
        let is_hole = step > row;
        row = row.saturating_add(step.saturating_mul(times));
        is_hole
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_smaller_ones_do_not_fill_are_holes() {
        let along = |step: i64, id: usize, extent: u64| Expr::var(RANGED + id, extent).times(step);
        assert!(!has_holes(&along(1, 0, 4).plus(&along(4, 1, 2))));
        assert!(!has_holes(&along(3, 0, 4).plus(&along(-1, 1, 4))));
        assert!(has_holes(&along(4, 0, 2)));
        assert!(has_holes(&along(4, 0, 2).plus(&along(1, 1, 3))));
        assert!(!has_holes(&along(4, 0, 1).plus(&Expr::var(0, 9).times(7))));
    }
}
