//! Pieces: what follows a product goes over equal parts of its columns, as the gates of a recurrent cell do.
//!
//! ```text
//!     g = h w + b                                   [r, G H]
//!     c = sigmoid(g[.., H..2H]) * c + sigmoid(g[.., 0..H]) * tanh(g[.., 2H..3H])         [r, H]
//! ```
//!
//! The schedule computes the same columns of all pieces, then what goes over them (`te/auto_schedule/cells`). So pieces are of whole vectors,
//! all of one width, and those of as many columns as a vector has stay in the nearest cache: a product of many rows is no cell. Of Strassen's
//! algorithm (`te/auto_schedule/strassen_cells`) no piece lies in both halves.

use super::kernel::{Illegal, Members};
use super::space::{Candidate, ClassId};
use fusion_operators::ops::contraction::{DENSE, MATMUL};
use fusion_operators::ops::shape::{SLICE, slices};
use fusion_operators::ops::strassen::{MATMUL_STRASSEN, PRODUCTS};
use fusion_operators::{Call, Dim, TensorType};

/// Blocks of a matrix in Strassen's algorithm.
const BLOCKS: u64 = 4;
/// The share of the nearest cache that pieces have, beside weights.
const SHARE: u64 = 2;
/// Bytes of an element.
const BYTES: u64 = 4;

impl Members<'_> {
    /// True for a member that cuts something out.
    pub(super) fn is_piece(&self, member: ClassId) -> bool {
        cuts(self.state.candidate(self.space, member))
    }

    /// True for a product whose columns may be pieces.
    pub(super) fn has_pieces(&self, product: ClassId) -> bool {
        let products = [&MATMUL, &DENSE, &MATMUL_STRASSEN];
        self.operator(product).is_some_and(|o| products.iter().any(|p| o.is(p)))
    }

    /// What follows a product goes over pieces of its columns.
    pub(super) fn check_pieces(
        &self,
        product: ClassId,
        after: &[ClassId],
        results: &[ClassId],
    ) -> Result<(), Illegal> {
        let name = self.name(product);
        let wrong = |member: ClassId| Illegal::Epilogue(name, self.name(member));
        let (rates, whole) = (&self.space.rates, self.dims(product));
        let by_halves = self.operator(product).is_some_and(|o| o.is(&MATMUL_STRASSEN));
        let (Some(lanes), Some(core), [rows @ .., columns]) = (rates.stored_together, &rates.core, whole)
        else {
            return Err(after.first().map_or(Illegal::Results, |first| wrong(*first)));
        };
        let extents = || Some((rows.iter().map(Dim::known).product::<Option<u64>>()?, columns.known()?));
        let (rows, columns) = extents().ok_or(Illegal::Results)?;
        // The extents of a piece, once one is known.
        let mut piece: Option<&[Dim]> = None;
        let mut cut: Vec<ClassId> = Vec::new();
        for &member in self.members.iter().filter(|&&m| m != product) {
            if !after.contains(&member) {
                match self.is_beside(member) {
                    true => continue,
                    false => return Err(wrong(member)),
                }
            }
            let dims = self.dims(member);
            let mut reads = self.operands(member).iter().filter(|o| **o == product || after.contains(o));
            let of_whole = |o: &ClassId| !cut.contains(o);
            if self.is_elementwise(member) && dims == whole && reads.clone().all(of_whole) {
                continue;
            }
            let is_cut = match self.is_piece(member) {
                true => reads.all(of_whole) && self.cuts_columns(member, whole, columns),
                false => self.is_elementwise(member) && !reads.any(of_whole),
            };
            if !is_cut || piece.is_some_and(|piece| piece != dims) {
                return Err(wrong(member));
            }
            piece = Some(dims);
            cut.push(member);
        }
        if !results.iter().all(|r| cut.contains(r)) {
            return Err(Illegal::Results);
        }
        let width = piece.and_then(|dims| dims.last()?.known()).unwrap_or(0);
        if width == 0 || !width.is_multiple_of(lanes) {
            return Err(cut
                .first()
                .map_or(Illegal::Results, |first| Illegal::Apart(name, self.name(*first))));
        }
        // A piece of either half of the columns is made of the same columns of all products, each of a quarter of what they give.
        if by_halves && !(columns / width).is_multiple_of(2) {
            return Err(Illegal::Pieces(name));
        }
        let kept = if by_halves { columns * PRODUCTS as u64 / BLOCKS } else { columns };
        let near = rows.saturating_mul(kept / width).saturating_mul(lanes * BYTES);
        if near > core.first_cache / SHARE { Err(Illegal::Pieces(name)) } else { Ok(()) }
    }

    /// True for a piece of the columns of what is as large as a product, one of several that are equal.
    fn cuts_columns(&self, member: ClassId, whole: &[Dim], columns: u64) -> bool {
        let candidate = self.state.candidate(self.space, member);
        let (Some(op), Some(source)) = (candidate.operator, candidate.operands.first()) else { return false };
        let Some(ty) = self.ty(*source).filter(|ty| ty.dims == whole) else { return false };
        let operands: [TensorType; 1] = [ty.clone()];
        let Ok(sliced) = slices(&Call { op, operands: &operands, attrs: &candidate.attrs.attrs }) else {
            return false;
        };
        sliced.iter().all(|slice| {
            let Some(extent) = ty.dims[slice.axis].known() else { return false };
            let (begin, length) = slice.of(extent);
            match slice.axis + 1 == whole.len() {
                true => {
                    let is_one = length > 0 && slice.stride == 1 && begin % i128::from(length) == 0;
                    is_one && columns.is_multiple_of(length)
                }
                false => (begin, length) == (0, extent),
            }
        })
    }
}

/// True for a candidate that cuts something out.
pub(super) fn cuts(candidate: &Candidate) -> bool {
    candidate.operator.is_some_and(|o| o.is(&SLICE))
}
