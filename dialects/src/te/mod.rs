//! The te dialect: kernels of tensor expressions, and schedules.

mod builder;
mod parts;
pub mod scalar;
pub mod verify;

pub use builder::{Combine, Kernel, Neutral, View, neutral};
pub use parts::{Parts, Slice};
pub use scalar::{Compare, Scalar, Scalars};

crate::operations! {
    /// Operations of te.
    Op {
        Kernel = "te.kernel",
        Return = "te.return",
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
        CacheWrite = "te.cache_write",
        RFactor = "te.rfactor",
        TransformLayout = "te.transform_layout",
        StoreAt = "te.store_at",
        ReverseComputeAt = "te.reverse_compute_at",
        SetScope = "te.set_scope",
        DoubleBuffer = "te.double_buffer",
        StorageAlign = "te.storage_align",
        Prefetch = "te.prefetch",
        Bind = "te.bind",
        Annotate = "te.annotate",
        Intrinsic = "te.intrinsic",
        Tensorize = "te.tensorize",
    }
}
