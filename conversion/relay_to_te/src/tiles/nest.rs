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
        let s = loops.scalars();
        let rows = self.extent(loops, 0);
        let from = worth_filling(self.versions);
        let mut done = s.index(0);
        for (at, version) in self.versions.iter().enumerate() {
            let size = version.sizes[0] as i64;
            let count = s.index_div(s.index_sub(rows, done), size);
            let first = done;
            loops.upto(count, LoopKind::Serial, &[], |inner, i, _| {
                let s = inner.scalars();
                let origin = s.index_add(first, s.index_affine(i, size, 0));
                self.run_in_place(inner, at, origin);
                Vec::new()
            });
            done = s.index_add(done, s.index_affine(count, size, 0));
            if from[at] as i64 >= size || !self.tile.may_be_padded() {
                continue;
            }
            let left = s.index_sub(rows, done);
            let fills = s.index_compare(Compare::Less, s.index(from[at] as i64 - 1), left);
            loops.guard(fills, |inner| self.run(inner, at, &[done]));
            done = s.index_select(fills, rows, done);
        }
    }

    fn windows(&self, loops: &Loops<'c>) {
        let s = loops.scalars();
        let axes = self.tile.geometry.axes();
        let extents: Vec<Value> = (0..axes).map(|axis| self.extent(loops, axis)).collect();
        let places = extents_of(loops, &self.tensors[self.tile.inputs.len()].ty);
        let counts: Vec<Vec<Value>> = self
            .versions
            .iter()
            .map(|v| {
                if self.tile.patches_of(&v.sizes).is_some() {
                    let size = v.sizes[0] as i64;
                    return vec![s.index_div(s.index_affine(places, 1, size - 1), size)];
                }
                let up = |(extent, size): (&Value<'c>, &u64)| {
                    s.index_div(s.index_affine(*extent, 1, *size as i64 - 1), *size as i64)
                };
                extents.iter().zip(&v.sizes).map(up).collect()
            })
            .collect();
        let time = |at: usize| {
            let tiles = counts[at].iter().copied().reduce(|a, b| s.index_mul(a, b)).unwrap_or(extents[0]);
            s.index_affine(tiles, self.versions[at].nanoseconds as i64, 0)
        };
        let (mut least, mut best) = (time(0), s.index(0));
        for at in 1..self.versions.len() {
            let own = time(at);
            let is_less = s.index_compare(Compare::Less, own, least);
            least = s.index_select(is_less, own, least);
            best = s.index_select(is_less, s.index(at as i64), best);
        }
        for (at, counts) in counts.iter().enumerate() {
            let chosen = s.index_compare(Compare::Equal, best, s.index(at as i64));
            loops.guard(chosen, |inner| match self.tile.patches_of(&self.versions[at].sizes) {
                Some((patches, size)) => {
                    inner.upto(counts[0], LoopKind::Serial, &[], |l, i, _| {
                        let s = l.scalars();
                        let origin = s.index_affine(i, size as i64, 0);
                        let count = s.index_min(s.index_sub(places, origin), s.index(size as i64));
                        let result = &self.tensors[self.tile.inputs.len()].ty;
                        self.run_patches(l, at, &Runs { patches, result, origin, count, places: size });
                        Vec::new()
                    });
                }
                None => self.each_tile(inner, at, counts, &mut Vec::new()),
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
