//! The te dialect: kernels of tensor expressions, and schedules.

mod blocks;
mod builder;
mod combine;
pub mod handles;
mod index;
mod parts;
mod reductions;
pub mod scalar;
pub mod verify;

pub use builder::{Kernel, View};
pub use combine::{Combine, Neutral, neutral};
pub use parts::{Parts, Slice};
pub use scalar::{Compare, Scalar, Scalars};

/// On a `te.compute` of dynamic extents: the names of all axes, parallel ones first; empty for known extents.
pub const NAMES: &str = "te.names";
/// On a `te.kernel` of dynamic extents: their names, in the order in which the caller passes their numbers.
pub const EXTENTS: &str = "te.extents";
/// On a `te.kernel` of dynamic extents: for each of these the smallest number, the largest, and what it is a multiple of.
pub const RANGES: &str = "te.ranges";
/// What stands for the extent of an axis that has a name.
pub const DYNAMIC: i64 = -1;

crate::operations! {
    /// Operations of te.
    Op {
        Kernel = "te.kernel",
        Return = "te.return",
        Extent = "te.extent",
        Compute = "te.compute",
        Extern = "te.extern",
        Load = "te.load",
        LoadIf = "te.load_if",
        Yield = "te.yield",
        Call = "te.call",
        Constant = "te.constant",
        View = "te.view",
        Schedule = "te.schedule",
        Stage = "te.stage",
        Axes = "te.axes",
        Split = "te.split",
        Tile = "te.tile",
        Fuse = "te.fuse",
        Reorder = "te.reorder",
        Vectorize = "te.vectorize",
        Unroll = "te.unroll",
        Parallel = "te.parallel",
        ComputeInline = "te.compute_inline",
        ComputeAt = "te.compute_at",
        Input = "te.input",
        CacheRead = "te.cache_read",
        Reindex = "te.reindex",
        ReverseReindex = "te.reverse_reindex",
        CacheWrite = "te.cache_write",
        Divide = "te.divide",
        Recompute = "te.recompute",
        RFactor = "te.rfactor",
        TransformLayout = "te.transform_layout",
        StoreAt = "te.store_at",
        ReverseComputeAt = "te.reverse_compute_at",
        SetScope = "te.set_scope",
        DoubleBuffer = "te.double_buffer",
        StorageAlign = "te.storage_align",
        StorageSwizzle = "te.storage_swizzle",
        Stream = "te.stream",
        Pipeline = "te.pipeline",
        SkipPadding = "te.skip_padding",
        BulkCopy = "te.bulk_copy",
        Prefetch = "te.prefetch",
        Bind = "te.bind",
        Annotate = "te.annotate",
        Intrinsic = "te.intrinsic",
        Tensorize = "te.tensorize",
    }
}

/// The extents of the axes of a `te.compute`, parallel ones first, with their names where they are dynamic; `None` when one is neither
/// known nor named.
pub fn dims_of(compute: crate::Op) -> Option<Vec<fusion_operators::Dim>> {
    use crate::OpExt;
    use fusion_operators::Dim;
    let extents =
        [compute.ints("axes").unwrap_or_default(), compute.ints("reduce").unwrap_or_default()].concat();
    let names = compute.attr(NAMES).map(crate::array_elements).unwrap_or_default();
    let dim = |(i, extent): (usize, &i64)| match u64::try_from(*extent) {
        Ok(known) => Some(Dim::Static(known)),
        Err(_) => {
            let name = names.get(i).and_then(|name| crate::text_of(*name)).filter(|name| !name.is_empty());
            name.filter(|_| *extent == DYNAMIC).map(|name| Dim::Symbol(name.to_owned()))
        }
    };
    extents.iter().enumerate().map(dim).collect()
}

/// How many elements the buffer of a tensor is said to have where a nest goes over it: of dynamic extents, more than there are. `None`
/// where an extent is neither known nor named.
pub fn elements_of(ty: &fusion_operators::TensorType) -> Option<u64> {
    use fusion_operators::Dim;
    let known = ty.dims.iter().all(|dim| dim.known().is_some());
    let named = !ty.dims.contains(&Dim::Any);
    if known { ty.elements() } else { named.then_some(crate::loops::DYNAMIC_ELEMENTS) }
}
