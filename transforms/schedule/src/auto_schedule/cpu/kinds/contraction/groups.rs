//! Groups: channels of which some use the same data are an axis over the groups and one in a group.
//!
//!     y[f, x] = sum_c  d[f floordiv 4, c, x] * w[f, c]      =>      y[g, i, x] = sum_c  d[g, c, x] * w[4 g + i, c]
//!
//! So the rows of a tile can be the channels of a group, each of which uses what was loaded of the data.

use crate::auto_schedule::operands::Operand;
use fusion_dialects::indices::expr::{Atom, Expr, Var};

/// An axis that an operand reads by its quotient alone, and the divisor, when that divides the extent.
pub(super) fn find(operands: &[Operand], extents: &[u64]) -> Option<(usize, u64)> {
    (0..extents.len()).find_map(|axis| {
        let whole = Expr::var(axis, extents[axis]);
        let divisor = |e: &Expr| {
            e.terms().find_map(|(atom, _)| match atom {
                Atom::Div(inner, n) if **inner == whole => u64::try_from(*n).ok(),
                _ => None,
            })
        };
        let n = operands.iter().flat_map(|o| &o.indices).find_map(divisor)?;
        (n > 1 && n < extents[axis] && extents[axis].is_multiple_of(n)).then_some((axis, n))
    })
}

/// Rewrites the indices for the two axes; all variables behind them have the next number then.
pub(super) fn separate((axis, n): (usize, u64), operands: &mut [Operand], extents: &mut Vec<u64>) {
    let count = extents[axis] / n;
    let with = |v: Var| {
        Some(match v.id {
            id if id < axis => Expr::var(id, v.extent),
            id if id == axis => Expr::var(axis, count).times(n as i64).plus(&Expr::var(axis + 1, n)),
            id => Expr::var(id + 1, v.extent),
        })
    };
    for index in operands.iter_mut().flat_map(|o| &mut o.indices) {
        *index = index.substitute(&with);
    }
    extents[axis] = count;
    extents.insert(axis + 1, n);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_of_a_group_read_the_same_data() {
        // y[f, x] of 12 channels in 3 groups, and a step k.
        let (f, x, k) = (Expr::var(0, 12), Expr::var(1, 8), Expr::var(2, 5));
        let operand = |indices: Vec<Expr>, shape: Vec<u64>| Operand {
            input: Some(0),
            stage: None,
            reader: 0,
            read: 0,
            shape,
            indices,
            is_fused: false,
        };
        let data = operand(vec![f.div(4).times(5).plus(&k), x], vec![15, 8]);
        let weight = operand(vec![f, k], vec![12, 5]);
        let (mut operands, mut extents) = (vec![data, weight], vec![12, 8]);
        let found = find(&operands, &extents);
        assert_eq!(found, Some((0, 4)));
        separate((0, 4), &mut operands, &mut extents);
        assert_eq!(extents, [3, 4, 8]);
        let (group, inner, step) = (Expr::var(0, 3), Expr::var(1, 4), Expr::var(3, 5));
        assert_eq!(operands[0].indices, [group.times(5).plus(&step), Expr::var(2, 8)]);
        assert_eq!(operands[1].indices, [group.times(4).plus(&inner), step]);
        assert_eq!(find(&operands, &extents), None);
    }
}
