//! The sizes for which tiles are made fast: those that a caller said, else some that models are often run on.
//!
//! ```text
//!   relay.likely = [{batch = 1, seq = 128}]      rows of tensor<batch x seq x 384>:  128
//!   nothing                                      rows: 7, 33, 128, 500 of one sequence, of 3, of 8, of 32
//! ```
//! A size that an extent's range does not have is the next one that it has.

use fusion_bytecode::Range;
use fusion_dialects::{Op, OpExt, PassError, arguments, tensor_type};
use fusion_operators::{Dim, TensorType};
use fusion_relay_to_te::dynamic::ranges::{self, Sizes};
use fusion_relay_to_te::tiles::Tile;
use std::collections::{BTreeMap, BTreeSet};

/// Batches: a single request, few, what is gathered of many, what is measured for throughput.
const BATCHES: [u64; 4] = [1, 3, 8, 32];
/// Sequences: a short question, a sentence, a paragraph, a page. Most are no powers of two.
const SEQUENCES: [u64; 4] = [7, 33, 128, 500];
/// Images: thumbnails, frames of detectors on small machines, what classifiers are trained on.
const IMAGES: [u64; 3] = [64, 160, 224];

/// What is known of the sizes of a kernel's extents.
pub(crate) struct Likely {
    /// Sizes of named extents that belong together.
    said: Vec<Sizes>,
    ranges: BTreeMap<String, Range>,
    /// Extents that are the first of what the kernel takes.
    batches: BTreeSet<String>,
}

/// Sizes of all extents.
struct Setting<'l> {
    likely: &'l Likely,
    said: Sizes,
    batch: u64,
    other: u64,
}

impl Likely {
    /// Of a kernel of dynamic extents.
    pub(crate) fn of<'c>(function: Op<'c>) -> Result<Likely, PassError<'c>> {
        let takes = function.body(0).map(arguments).unwrap_or_default();
        let first = |ty: TensorType| match ty.dims.first() {
            Some(Dim::Symbol(name)) => Some(name.clone()),
            _ => None,
        };
        Ok(Likely {
            said: ranges::likely(function)?,
            ranges: ranges::of(function)?.into_iter().collect(),
            batches: takes.into_iter().filter_map(tensor_type).filter_map(first).collect(),
        })
    }

    /// The extents of a tile's results at each likely size, each once, and what these sizes are called.
    pub(crate) fn results(&self, tile: &Tile) -> Vec<(String, Vec<u64>)> {
        let Some(ty) = tile.outputs.first().and_then(|v| tensor_type(*v)) else { return Vec::new() };
        let others: &[u64] = if tile.geometry.windows.is_some() { &IMAGES } else { &SEQUENCES };
        let said = if self.said.is_empty() { vec![Sizes::new()] } else { self.said.clone() };
        let mut all: Vec<(String, Vec<u64>)> = Vec::new();
        for said in said {
            for batch in BATCHES {
                for other in others {
                    let setting = Setting { likely: self, said: said.clone(), batch, other: *other };
                    let extents = ty.dims.iter().enumerate().map(|(axis, dim)| setting.extent(axis, dim));
                    let Some(extents) = extents.collect::<Option<Vec<u64>>>() else { continue };
                    if !all.iter().any(|(_, known)| *known == extents) {
                        all.push((setting.name(&ty), extents));
                    }
                }
            }
        }
        all
    }
}

impl Setting<'_> {
    fn named(&self, name: &str) -> u64 {
        let otherwise = if self.likely.batches.contains(name) { self.batch } else { self.other };
        let size = self.said.get(name).copied().unwrap_or(otherwise);
        self.likely.ranges.get(name).and_then(|range| range.nearest(size)).unwrap_or(size)
    }

    fn extent(&self, axis: usize, dim: &Dim) -> Option<u64> {
        match dim {
            Dim::Any => Some(if axis == 0 { self.batch } else { self.other }),
            dim => dim.replace(&|name| Some(self.named(name).into())).known(),
        }
    }

    /// The names that an extent of a type has, with their sizes.
    fn name(&self, ty: &TensorType) -> String {
        let names: BTreeSet<&str> = ty.dims.iter().flat_map(Dim::names).collect();
        let sizes: Vec<String> =
            names.into_iter().map(|name| format!("{name}={}", self.named(name))).collect();
        if sizes.is_empty() { format!("{}x{}", self.batch, self.other) } else { sizes.join(" ") }
    }
}
