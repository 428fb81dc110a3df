//! The primitives of a schedule, one a file: what it checks, the edit, a picture of before and after.

pub mod annotate;
pub mod bind;
pub mod bulk_copy;
pub mod cache_read;
pub mod cache_write;
pub mod compute_at;
pub mod compute_inline;
pub mod divide;
pub mod double_buffer;
pub mod fuse;
pub mod parallel;
pub mod pipeline;
pub mod prefetch;
pub mod recompute;
pub mod reindex;
pub mod reorder;
pub mod reverse_compute_at;
pub mod reverse_reindex;
pub mod rfactor;
pub mod set_scope;
pub mod skip_padding;
pub mod split;
pub mod storage_align;
pub mod storage_swizzle;
pub mod store_at;
pub mod stream;
pub mod tensorize;
pub mod tile;
pub mod transform_layout;
pub mod unroll;
pub mod vectorize;

use super::{Handles, Schedule};
use fusion_dialects::Op;
use fusion_dialects::te::Op as Te;

/// Reads the operation of a primitive and edits the tree.
type Apply = for<'c> fn(&mut Schedule<'c>, Op<'c>, &mut Handles) -> Result<(), String>;

/// All primitives.
const PRIMITIVES: &[(Te, Apply)] = &[
    (Te::Split, split::apply),
    (Te::Tile, tile::apply),
    (Te::Fuse, fuse::apply),
    (Te::Reorder, reorder::apply),
    (Te::Vectorize, vectorize::apply),
    (Te::Unroll, unroll::apply),
    (Te::Parallel, parallel::apply),
    (Te::Pipeline, pipeline::apply),
    (Te::SkipPadding, skip_padding::apply),
    (Te::ComputeInline, compute_inline::apply),
    (Te::ComputeAt, compute_at::apply),
    (Te::CacheRead, cache_read::apply),
    (Te::CacheWrite, cache_write::apply),
    (Te::Divide, divide::apply),
    (Te::Recompute, recompute::apply),
    (Te::Reindex, reindex::apply),
    (Te::ReverseReindex, reverse_reindex::apply),
    (Te::RFactor, rfactor::apply),
    (Te::TransformLayout, transform_layout::apply),
    (Te::StoreAt, store_at::apply),
    (Te::ReverseComputeAt, reverse_compute_at::apply),
    (Te::SetScope, set_scope::apply),
    (Te::DoubleBuffer, double_buffer::apply),
    (Te::StorageAlign, storage_align::apply),
    (Te::StorageSwizzle, storage_swizzle::apply),
    (Te::Stream, stream::apply),
    (Te::BulkCopy, bulk_copy::apply),
    (Te::Prefetch, prefetch::apply),
    (Te::Bind, bind::apply),
    (Te::Annotate, annotate::apply),
    (Te::Tensorize, tensorize::apply),
];

/// Applies the primitive of that kind.
pub fn apply<'c>(kind: Te, tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    match PRIMITIVES.iter().find(|(k, _)| *k == kind) {
        Some((_, apply)) => apply(tree, op, handles),
        None => Err("is no primitive of a schedule".into()),
    }
}
