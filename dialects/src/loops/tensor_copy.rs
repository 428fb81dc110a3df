//! TMA copies of tensors: what an operation says, and what can be copied so.
//!
//! ```text
//!   tensor of 300 x 1000, at (256, 960)        box of 128 x 64, in shared memory
//!        +---------------+
//!        |               |                     x x x 0
//!        |            +--|--+          =>      x x x 0        what is beyond the tensor's ends is 0
//!        +------------|--+  |                  0 0 0 0
//!                     +-----+
//! ```
//!
//! The limits are those of NVIDIA's tensor maps (CUDA driver API, cuTensorMapEncodeTiled).

use crate::{Op, OpExt, Value};

/// Axes of a tensor, at most.
pub const MOST_AXES: usize = 5;
/// Elements of a box along an axis, at most.
pub const MOST_BOX: u64 = 256;
/// Bytes that all is a multiple of.
pub const UNIT_BYTES: u64 = 16;
/// Bytes of a line of a swizzled box, at most.
pub const LINE_BYTES: u64 = 128;
/// Elements of a tensor along an axis, at most.
const MOST_EXTENT: u64 = 1 << 32;
/// Bytes between neighbours along an axis, below.
const MOST_APART: u64 = 1 << 40;

/// What a `loop.copy_tensor` says.
#[derive(Clone, Debug)]
pub struct TensorCopy<'c> {
    /// Where the tensor is.
    pub source: Value<'c>,
    /// Where in it the box begins.
    pub at: Vec<Value<'c>>,
    /// Extents of the tensor, outermost first.
    pub extents: Vec<u64>,
    /// Those of the box.
    pub size: Vec<u64>,
    /// Where the box goes.
    pub buffer: Value<'c>,
    /// From which element on.
    pub to: Value<'c>,
    /// The mbarriers, and which of them tells of it.
    pub mbarrier: Option<(Value<'c>, Value<'c>)>,
}

impl<'c> TensorCopy<'c> {
    /// That of an operation; `None` where its numbers of axes do not agree.
    pub fn of(op: Op<'c>) -> Option<TensorCopy<'c>> {
        let list = |name: &str| -> Option<Vec<u64>> {
            op.ints(name)?.into_iter().map(|n| u64::try_from(n).ok()).collect()
        };
        let (extents, size) = (list("extents")?, list("box")?);
        let axes = extents.len();
        let operands = op.operand_values();
        let (source, rest) = operands.split_first()?;
        let at = rest.get(..axes)?.to_vec();
        let (buffer, to, mbarrier) = match rest.get(axes..)? {
            [buffer, to] => (*buffer, *to, None),
            [buffer, to, mbarriers, mbarrier] => (*buffer, *to, Some((*mbarriers, *mbarrier))),
            _ => return None,
        };
        let fits = (1..=MOST_AXES).contains(&axes) && size.len() == axes;
        fits.then_some(TensorCopy { source: *source, at, extents, size, buffer, to, mbarrier })
    }

    /// Elements of the box.
    pub fn elements(&self) -> u64 {
        self.size.iter().product()
    }

    /// What can be copied, of elements of so many bytes.
    pub fn limits(&self, bytes: u64, swizzled: bool) -> Result<(), String> {
        limits(&self.extents, &self.size, bytes, swizzled)
    }
}

/// How far neighbours along each axis of a tensor are apart, in elements.
pub fn strides(extents: &[u64]) -> Vec<u64> {
    let mut strides = vec![1u64; extents.len()];
    for axis in (1..extents.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(extents[axis]);
    }
    strides
}

/// Whether boxes of such a tensor can be copied.
pub fn limits(extents: &[u64], size: &[u64], bytes: u64, swizzled: bool) -> Result<(), String> {
    let line = size.last().copied().unwrap_or(0).saturating_mul(bytes);
    if !line.is_multiple_of(UNIT_BYTES) || (swizzled && line > LINE_BYTES) {
        return Err(format!(
            "violates constraint C3: lines of the box have {line} bytes; they have a multiple of {UNIT_BYTES}, at most {LINE_BYTES} where they are swizzled"
        ));
    }
    if let Some(n) = size.iter().find(|n| !(1..=MOST_BOX).contains(*n)) {
        return Err(format!(
            "violates constraint C3: the box has {n} elements along an axis, not 1 to {MOST_BOX}"
        ));
    }
    let (_, outer) =
        strides(extents).split_last().map(|(last, outer)| (*last, outer.to_vec())).unwrap_or_default();
    let apart = |stride: &u64| stride.saturating_mul(bytes);
    if let Some(stride) =
        outer.iter().find(|s| !apart(s).is_multiple_of(UNIT_BYTES) || apart(s) >= MOST_APART)
    {
        return Err(format!(
            "violates constraint C4: neighbours along an axis of the tensor are {} bytes apart, which is no multiple of {UNIT_BYTES} below {MOST_APART}",
            apart(stride)
        ));
    }
    match extents.iter().find(|n| !(1..=MOST_EXTENT).contains(*n)) {
        Some(n) => Err(format!("violates constraint C4: the tensor has {n} elements along an axis")),
        None => Ok(()),
    }
}
