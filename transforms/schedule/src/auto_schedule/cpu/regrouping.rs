//! The axes of a nest as its accesses see them: parted where blocks are taken out, and one where rows that do not fill vectors follow each
//! other.
//!
//! ```text
//!     y[c, h, w] = x[c div 32, h, w, c mod 32]    =>    for co, ci, hw    y[32 co + ci, hw] = x[co, hw, ci]
//! ```
//!
//! Over c nothing is even: it is co that goes from block to block, and ci that goes on in one (Georganas et al., "Anatomy of High-Performance
//! Deep Learning Convolutions on SIMD Architectures", 2018, has the blocks). A row of 28 is a vector of 16 and one of 12, and 28 rows one behind the other are 49
//! of 16. What is found here is written as splits and fusions of loops, which leave each loop where it is in the order.

use crate::auto_schedule::writer::Writer;
use crate::schedule::StageId;
use fusion_dialects::indices::expr::{Atom, Expr};
use fusion_dialects::indices::put;

/// A nest over some axes, and how it was made of one over others.
#[derive(Clone, Debug)]
pub struct Regrouped {
    /// Offsets of the accesses, the store first: variable `i` is axis `i`.
    pub accesses: Vec<Option<Expr>>,
    /// The extents of the axes.
    pub extents: Vec<u64>,
    edits: Vec<Edit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edit {
    /// An axis becomes two, the inner one of so many elements.
    Split(usize, u64),
    /// An axis and the next one become one.
    Fuse(usize),
}

impl Regrouped {
    /// The nest as it is.
    pub fn of(accesses: &[Option<Expr>], extents: &[u64]) -> Regrouped {
        Regrouped { accesses: accesses.to_vec(), extents: extents.to_vec(), edits: Vec::new() }
    }

    /// Parts the axes of which an access takes quotients and remainders.
    pub fn part_blocks(&mut self) {
        while let Some((axis, size)) = self.block() {
            let outer = self.extents[axis] / size;
            let mut axes = self.axes_but(axis..axis + 1, 2);
            let inner = Expr::var(axis + 1, size);
            axes[axis] = Some(Expr::var(axis, outer).times(size as i64).plus(&inner));
            self.extents.splice(axis..=axis, [outer, size]);
            self.edit(Edit::Split(axis, size), &axes);
        }
    }

    /// Fuses an axis with those in front of it, but for another, as long as its extent is no multiple of a number and all accesses go on evenly;
    /// gives where both are then.
    pub fn fill(&mut self, mut axis: usize, mut other: usize, lanes: u64) -> (usize, usize) {
        while axis > 0
            && axis - 1 != other
            && !self.extents[axis].is_multiple_of(lanes)
            && self.goes_on(axis - 1)
        {
            axis -= 1;
            other -= usize::from(other > axis);
            let (rows, row) = (self.extents[axis], self.extents[axis + 1]);
            let mut axes = self.axes_but(axis..axis + 2, 1);
            let fused = Expr::var(axis, rows * row);
            axes[axis] = Some(fused.div(row as i64));
            axes[axis + 1] = Some(fused.modulo(row as i64));
            self.extents.splice(axis..axis + 2, [rows * row]);
            self.edit(Edit::Fuse(axis), &axes);
        }
        (axis, other)
    }

    /// How far each access goes along an axis.
    pub fn along(&self, axis: usize) -> Vec<Option<i64>> {
        self.accesses.iter().map(|e| e.as_ref().and_then(|e| e.coefficient(axis))).collect()
    }

    /// Makes these the outermost loops of a stage, which are those of the nest as it was.
    pub fn write(&self, writer: &mut Writer, stage: StageId) -> Result<(), String> {
        for &edit in &self.edits {
            let leaf = |place: usize, writer: &Writer| writer.tree.stages[stage].leaves[place];
            match edit {
                Edit::Split(axis, size) => {
                    let axis = leaf(axis, writer);
                    writer.split(stage, axis, size)?;
                }
                Edit::Fuse(axis) => {
                    let (outer, inner) = (leaf(axis, writer), leaf(axis + 1, writer));
                    writer.fuse(stage, outer, inner)?;
                }
            }
        }
        Ok(())
    }

    /// An axis with the size of the blocks that an access takes it apart by.
    fn block(&self) -> Option<(usize, u64)> {
        let of = |atom: &Atom| match atom {
            Atom::Div(e, n) | Atom::Mod(e, n) => Some((e.as_variable()?.id, u64::try_from(*n).ok()?)),
            _ => None,
        };
        let terms = self.accesses.iter().flatten().flat_map(Expr::terms);
        let parts = |&(axis, size): &(usize, u64)| {
            self.extents
                .get(axis)
                .is_some_and(|extent| size > 1 && size < *extent && extent.is_multiple_of(size))
        };
        terms.filter_map(|(atom, _)| of(atom)).find(parts)
    }

    /// True where the next step along an axis is the one behind the last step along the next axis, in all accesses.
    fn goes_on(&self, axis: usize) -> bool {
        let row = self.extents[axis + 1];
        let even = |(outer, inner): (Option<i64>, Option<i64>)| {
            outer.zip(inner).is_some_and(|(o, i)| o == i * row as i64)
        };
        self.extents[axis] > 1 && row > 1 && self.along(axis).into_iter().zip(self.along(axis + 1)).all(even)
    }

    /// The old axes in terms of new ones, but for some, which so many take the place of.
    fn axes_but(&self, some: std::ops::Range<usize>, made: usize) -> Vec<Option<Expr>> {
        let one = |(axis, &extent): (usize, &u64)| match axis {
            axis if axis < some.start => Some(Expr::var(axis, extent)),
            axis if axis >= some.end => Some(Expr::var(axis + made - some.len(), extent)),
            _ => None,
        };
        self.extents.iter().enumerate().map(one).collect()
    }

    fn edit(&mut self, edit: Edit, axes: &[Option<Expr>]) {
        for access in &mut self.accesses {
            *access = access.as_ref().and_then(|e| put(e, axes));
        }
        self.edits.push(edit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(extents: &[u64]) -> Vec<Expr> {
        extents.iter().enumerate().map(|(axis, &extent)| Expr::var(axis, extent)).collect()
    }

    /// y[c, h, w] = x[c div 32, h, w, c mod 32]
    fn blocks_taken_apart(height: i64, width: i64) -> Regrouped {
        let extents = [64, height as u64, width as u64];
        let [c, h, w] = &axes(&extents)[..] else { unreachable!() };
        let pixel = h.times(width).plus(w);
        let store = c.times(height * width).plus(&pixel);
        let load = c.div(32).times(height * width * 32).plus(&pixel.times(32)).plus(&c.modulo(32));
        Regrouped::of(&[Some(store), Some(load)], &extents)
    }

    #[test]
    fn blocks_are_parted() {
        let mut nest = blocks_taken_apart(28, 28);
        assert_eq!(nest.along(0), [Some(784), None]);
        nest.part_blocks();
        assert_eq!(nest.extents, [2, 32, 28, 28]);
        assert_eq!((nest.along(1), nest.along(3)), (vec![Some(784), Some(1)], vec![Some(1), Some(32)]));
        assert_eq!(nest.edits, [Edit::Split(0, 32)]);
    }

    #[test]
    fn rows_that_do_not_fill_vectors_are_one() {
        let mut nest = blocks_taken_apart(28, 28);
        nest.part_blocks();
        assert_eq!(nest.fill(3, 1, 16), (2, 1));
        assert_eq!((nest.extents.as_slice(), nest.along(2)), (&[2, 32, 784][..], vec![Some(1), Some(32)]));
        // 32 in one block: what stands in front is another one.
        assert_eq!(nest.fill(1, 2, 16), (1, 2));
        let mut nest = blocks_taken_apart(4, 32);
        nest.part_blocks();
        assert_eq!(nest.fill(3, 1, 16), (3, 1));
    }

    #[test]
    fn what_does_not_go_on_stays() {
        // y[h, w] = x[h, 2 w] of rows of 30
        let extents = [4, 10];
        let [h, w] = &axes(&extents)[..] else { unreachable!() };
        let accesses = [Some(h.times(10).plus(w)), Some(h.times(30).plus(&w.times(2)))];
        let mut nest = Regrouped::of(&accesses, &extents);
        nest.part_blocks();
        assert_eq!(nest.fill(1, 5, 16), (1, 5));
        assert!(nest.edits.is_empty());
        // An extent that the blocks do not divide, and what depends on data.
        let c = Expr::var(0, 33);
        let mut nest = Regrouped::of(&[Some(c.clone()), Some(c.modulo(32)), None], &[33]);
        nest.part_blocks();
        assert!(nest.edits.is_empty());
    }
}
