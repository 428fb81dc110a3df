//! The loops over tiles, and what a tile takes and gives.
//!
//! ```text
//!   rows       o = 0;  for 64, 16, 4, 1:  (n - o) / 64 times { @tile_64(x + o, y + o); o += 64 }
//!              what is left goes into a tile of its own: rows are copied there, and those there are copied back
//!   windows    for each image, for each 16 x 16 places:  copy x with its border, zeros beyond;  @tile(...);  copy y back
//!   patches    for each 64 places:  copy what they need of x beside each other;  @tile(...);  copy y back
//! ```
//!
//! Functions take addresses, so that a tile's rows, which lie together, are read and written where they are.

use super::Tile;
use super::copies::Copy;
use super::geometry::{Part, prefix};
use super::helpers::Helpers;
use super::patches::Runs;
use super::tensor::{Tensor, known, number};
use super::versions::{Version, worth_filling};
use crate::definitions::indices::Size;
use fusion_dialects::loops::{Buffer, LoopKind, Loops};
use fusion_dialects::rows::Upstream;
use fusion_dialects::te::{Compare, Kernel};
use fusion_dialects::{Value, index_type, key, symbol_attr, tensor_type};
use fusion_operators::{DType, TensorType};

/// What is needed to write the loops.
struct Nest<'t, 'c> {
    tile: &'t Tile<'c>,
    tensors: Vec<Tensor>,
    buffers: Vec<Buffer<'c>>,
    /// Buffers of each version's tiles, one for each tensor that has parts, and the workspace.
    local: Vec<Vec<Option<Buffer<'c>>>>,
    workspaces: Vec<Buffer<'c>>,
    versions: &'t [Version],
    helpers: &'t Helpers<'c>,
}

/// The results of a tile as one nest of loops; `named` gives tensors their types with names.
pub fn build<'c>(
    kernel: &Kernel<'c>,
    helpers: &Helpers<'c>,
    (tile, versions): (&Tile<'c>, &[Version]),
    operands: &[Value<'c>],
    named: &dyn Fn(Value<'c>) -> Option<TensorType>,
) -> Option<Vec<Value<'c>>> {
    let mut tensors = Vec::new();
    for value in tile.inputs.iter().chain(&tile.outputs) {
        let (ty, is_data) = (tensor_type(*value)?, tile.data() == Some(key(*value)));
        let parts = (prefix(&ty) > 0).then(|| tile.geometry.parts(&ty, is_data));
        tensors.push(Tensor { ty: named(*value)?, parts, is_data });
    }
    let written: Vec<TensorType> =
        tile.inputs.iter().chain(&tile.outputs).map(|v| tensor_type(*v)).collect::<Option<_>>()?;
    let mut results: Vec<TensorType> = tensors[tile.inputs.len()..].iter().map(|t| t.ty.clone()).collect();
    let given = results.len();
    for version in versions {
        for (tensor, ty) in tensors.iter().zip(&written).filter(|(t, _)| t.parts.is_some()) {
            let local = tile.tile_type(ty, tensor.is_data, &version.sizes)?;
            results.push(TensorType::fixed(&[local.elements()?.max(1)], local.dtype));
        }
        results.push(TensorType::fixed(&[version.workspace.max(1)], DType::I8));
    }
    let made = kernel.nest("tiles", operands, &results, |loops, ins, outs| {
        let mut rest = outs[given..].iter().copied();
        let (mut local, mut workspaces) = (Vec::new(), Vec::new());
        for _ in versions {
            local.push(tensors.iter().map(|t| t.parts.as_ref().and_then(|_| rest.next())).collect());
            workspaces.extend(rest.next());
        }
        let buffers = ins.iter().chain(&outs[..given]).copied().collect();
        let nest = Nest { tile, tensors, buffers, local, workspaces, versions, helpers };
        match tile.geometry.windows {
            None => nest.rows(loops),
            Some(_) => nest.windows(loops),
        }
    });
    Some(made[..given].to_vec())
}

impl<'c> Nest<'_, 'c> {
    /// How many places there are along an axis of the tiles.
    fn extent(&self, loops: &Loops<'c>, axis: usize) -> Value<'c> {
        let first = &self.tensors[self.tile.inputs.len()];
        let along = |part: &&Part| part.along.is_some_and(|along| along.axis == axis);
        let part = first.parts.iter().flatten().find(along);
        let s = loops.scalars();
        part.map_or_else(|| s.index(1), |part| number(loops, &first.ty, part))
    }

    fn rows(&self, loops: &Loops<'c>) {
        let rows = self.extent(loops, 0);
        let all: Vec<usize> = (0..self.versions.len()).collect();
        let fills = self.tile.may_be_padded();
        self.greedily(loops, rows, &all, fills, &mut |l, at, origin, is_full| match is_full {
            true => self.run_in_place(l, at, origin),
            false => self.run(l, at, &[origin]),
        });
    }

    /// Runs tiles of these versions, the largest first, along one axis; `fills` says whether a tile may be more than what is left.
    fn greedily(
        &self,
        loops: &Loops<'c>,
        extent: Value<'c>,
        among: &[usize],
        fills: bool,
        run: &mut dyn FnMut(&Loops<'c>, usize, Value<'c>, bool),
    ) {
        let s = loops.scalars();
        let mut done = s.index(0);
        for (at, from) in among.iter().copied().zip(worth_filling(self.versions, among)) {
            let size = self.versions[at].sizes[0] as i64;
            let count = s.index_div(s.index_sub(extent, done), size);
            let first = done;
            loops.upto(count, LoopKind::Serial, &[], |inner, i, _| {
                let s = inner.scalars();
                run(inner, at, s.index_add(first, s.index_affine(i, size, 0)), true);
                Vec::new()
            });
            done = s.index_add(done, s.index_affine(count, size, 0));
            if from as i64 >= size || !fills {
                continue;
            }
            let left = s.index_sub(extent, done);
            let is_filled = s.index_compare(Compare::Less, s.index(from as i64 - 1), left);
            loops.guard(is_filled, |inner| run(inner, at, done, false));
            done = s.index_select(is_filled, extent, done);
        }
    }

    /// What [`Self::greedily`] takes, in nanoseconds.
    fn time_greedily(&self, loops: &Loops<'c>, extent: Value<'c>, among: &[usize]) -> Value<'c> {
        let s = loops.scalars();
        let (mut time, mut left) = (s.index(0), extent);
        for (at, from) in among.iter().copied().zip(worth_filling(self.versions, among)) {
            let (size, each) = (self.versions[at].sizes[0] as i64, self.versions[at].nanoseconds as i64);
            let count = s.index_div(left, size);
            time = s.index_add(time, s.index_affine(count, each, 0));
            left = s.index_sub(left, s.index_affine(count, size, 0));
            let is_filled = s.index_compare(Compare::Less, s.index(from as i64 - 1), left);
            time = s.index_add(time, s.index_select(is_filled, s.index(each), s.index(0)));
            left = s.index_select(is_filled, s.index(0), left);
        }
        time
    }

    fn windows(&self, loops: &Loops<'c>) {
        let s = loops.scalars();
        let axes = self.tile.geometry.axes();
        let extents: Vec<Value> = (0..axes).map(|axis| self.extent(loops, axis)).collect();
        let places = extents_of(loops, &self.tensors[self.tile.inputs.len()].ty);
        let is_patches = |at: &usize| self.tile.patches_of(&self.versions[*at].sizes).is_some();
        let (patches, windows): (Vec<usize>, Vec<usize>) = (0..self.versions.len()).partition(is_patches);
        let up = |(extent, size): (&Value<'c>, &u64)| {
            s.index_div(s.index_affine(*extent, 1, *size as i64 - 1), *size as i64)
        };
        let counts_of = |at: usize| extents.iter().zip(&self.versions[at].sizes).map(up).collect();
        let counts: Vec<Vec<Value>> = windows.iter().map(|at| counts_of(*at)).collect();
        let tiles = |counts: &[Value<'c>]| counts.iter().copied().reduce(|a, b| s.index_mul(a, b));
        let mut times: Vec<Value> = Vec::new();
        for (at, counts) in windows.iter().zip(&counts) {
            let each = self.versions[*at].nanoseconds as i64;
            times.push(s.index_affine(tiles(counts).unwrap_or(places), each, 0));
        }
        if !patches.is_empty() {
            // Estimates are no more exact than that, and windows copy less.
            let time = self.time_greedily(loops, places, &patches);
            times.push(s.index_add(time, s.index_div(time, 4)));
        }
        let (mut least, mut best) = (times[0], s.index(0));
        for (way, time) in times.iter().enumerate().skip(1) {
            let is_less = s.index_compare(Compare::Less, *time, least);
            least = s.index_select(is_less, *time, least);
            best = s.index_select(is_less, s.index(way as i64), best);
        }
        let chosen = |way: usize| s.index_compare(Compare::Equal, best, s.index(way as i64));
        for (way, (at, counts)) in windows.iter().zip(&counts).enumerate() {
            loops.guard(chosen(way), |inner| self.each_tile(inner, *at, counts, &mut Vec::new()));
        }
        if !patches.is_empty() {
            loops.guard(chosen(windows.len()), |inner| {
                self.greedily(inner, places, &patches, true, &mut |l, at, origin, _| {
                    let Some((patches, size)) = self.tile.patches_of(&self.versions[at].sizes) else {
                        return;
                    };
                    let s = l.scalars();
                    let count = s.index_min(s.index_sub(places, origin), s.index(size as i64));
                    let result = &self.tensors[self.tile.inputs.len()].ty;
                    self.run_patches(l, at, &Runs { patches, result, origin, count, places: size });
                });
            });
        }
    }

    /// Runs all tiles of a version, from an axis on.
    fn each_tile(&self, loops: &Loops<'c>, at: usize, counts: &[Value<'c>], origins: &mut Vec<Value<'c>>) {
        let Some(&count) = counts.get(origins.len()) else { return self.run(loops, at, origins) };
        let size = self.versions[at].sizes[origins.len()] as i64;
        loops.upto(count, LoopKind::Serial, &[], |inner, i, _| {
            origins.push(inner.scalars().index_affine(i, size, 0));
            self.each_tile(inner, at, counts, origins);
            origins.pop();
            Vec::new()
        });
    }

    /// Runs a tile of rows on its rows where they lie.
    fn run_in_place(&self, loops: &Loops<'c>, at: usize, origin: Value<'c>) {
        let s = loops.scalars();
        let place = |(tensor, buffer): (&Tensor, &Buffer<'c>)| {
            let base = address(loops, *buffer);
            let Some(parts) = &tensor.parts else { return base };
            let row = parts[1..].iter().map(|part| known(&tensor.ty, part)).product::<u64>();
            let bytes = row * tensor.ty.dtype.size() as u64;
            s.index_add(base, s.index_affine(origin, bytes as i64, 0))
        };
        let places = self.tensors.iter().zip(&self.buffers).map(place).collect();
        self.call(loops, at, places);
    }

    /// Runs a tile that begins there on copies.
    fn run(&self, loops: &Loops<'c>, at: usize, origins: &[Value<'c>]) {
        let inputs = self.tile.inputs.len();
        let copies = || self.tensors.iter().zip(&self.buffers).zip(&self.local[at]);
        for ((tensor, buffer), local) in copies().take(inputs) {
            if let (Some(parts), Some(local)) = (&tensor.parts, local) {
                let copy = Copy {
                    tensor,
                    parts,
                    whole: *buffer,
                    local: *local,
                    sizes: &self.versions[at].sizes,
                    origins,
                };
                copy.fill(loops, self.helpers);
            }
        }
        let place = |((_, buffer), local): ((&Tensor, &Buffer<'c>), &Option<Buffer<'c>>)| {
            address(loops, local.unwrap_or(*buffer))
        };
        self.call(loops, at, copies().map(place).collect());
        for ((tensor, buffer), local) in copies().skip(inputs) {
            if let (Some(parts), Some(local)) = (&tensor.parts, local) {
                let copy = Copy {
                    tensor,
                    parts,
                    whole: *buffer,
                    local: *local,
                    sizes: &self.versions[at].sizes,
                    origins,
                };
                copy.give(loops, self.helpers);
            }
        }
    }

    /// Runs a tile of patches.
    fn run_patches(&self, loops: &Loops<'c>, at: usize, runs: &Runs<'_, 'c>) {
        let inputs = self.tile.inputs.len();
        let copies = || self.tensors.iter().zip(&self.buffers).zip(&self.local[at]);
        runs.each(loops, &mut |l, run| {
            for ((tensor, buffer), local) in copies().take(inputs) {
                match local {
                    Some(local) if tensor.is_data => {
                        runs.fill_columns(l, self.helpers, tensor, (*buffer, *local), run)
                    }
                    Some(local) => runs.copy(l, self.helpers, tensor, (*buffer, *local), run, false),
                    None => {}
                }
            }
        });
        let place = |((_, buffer), local): ((&Tensor, &Buffer<'c>), &Option<Buffer<'c>>)| {
            address(loops, local.unwrap_or(*buffer))
        };
        self.call(loops, at, copies().map(place).collect());
        runs.each(loops, &mut |l, run| {
            for ((tensor, buffer), local) in copies().skip(inputs) {
                if let Some(local) = local {
                    runs.copy(l, self.helpers, tensor, (*buffer, *local), run, true);
                }
            }
        });
    }

    fn call(&self, loops: &Loops<'c>, at: usize, mut places: Vec<Value<'c>>) {
        places.push(address(loops, self.workspaces[at]));
        let build = &loops.build;
        let callee = symbol_attr(build.context(), &self.versions[at].symbol);
        build.op(Upstream::Call.name(), &places, &[], &[("callee", callee)]);
    }
}

/// How many places a result of windows has, in all images.
fn extents_of<'c>(loops: &Loops<'c>, ty: &TensorType) -> Value<'c> {
    let s = loops.scalars();
    let places = [&ty.dims[..1], ty.dims.get(2..).unwrap_or(&[])].concat();
    match Size::of(&s, &places) {
        Size::Known(known) => s.index(known as i64),
        Size::Dynamic(value) => value,
    }
}

/// Where a buffer lies.
fn address<'c>(loops: &Loops<'c>, buffer: Buffer<'c>) -> Value<'c> {
    let ty = index_type(loops.build.context());
    loops.build.value("memref.extract_aligned_pointer_as_index", &[buffer.value], ty, &[])
}
