//! Tensors that tiles take or give, and how many places their parts have.

use super::geometry::Part;
use crate::definitions::indices::Size;
use fusion_dialects::Value;
use fusion_dialects::loops::{Buffer, Loops};
use fusion_operators::{Dim, TensorType};

/// A tensor that tiles take or give.
pub struct Tensor {
    /// Its type, with names for the extents that are not known.
    pub ty: TensorType,
    /// Its parts; none where all tiles take all of it.
    pub parts: Option<Vec<Part>>,
    /// Whether a convolution takes windows of it.
    pub is_data: bool,
}

/// Where a tile's part of a tensor is: the buffer, and the place in it where the part begins.
pub type Local<'c> = (Buffer<'c>, Value<'c>);

/// How many places a part of a tensor has.
pub fn number<'c>(loops: &Loops<'c>, ty: &TensorType, part: &Part) -> Value<'c> {
    let s = loops.scalars();
    Size::of(&s, &ty.dims[part.dims.clone()]).value(&s)
}

/// The same where it is known.
pub fn known(ty: &TensorType, part: &Part) -> u64 {
    ty.dims[part.dims.clone()].iter().filter_map(Dim::known).product()
}
