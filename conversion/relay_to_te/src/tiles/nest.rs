//! The loops over tiles, and what a tile takes and gives.
//!
//! ```text
//!   rows       o = 0;  for 64, 16, 4, 1:  (n - o) / 64 times { @tile_64(x + o, y + o); o += 64 }
//!              what is left goes into a tile of its own: rows are copied there, and those there are copied back
//!   windows    for each image, for each 16 x 16 places:  copy x with its border, zeros beyond;  @tile(...);  copy y back
//!   patches    for each 16 places:  copy what they need of x beside each other;  @tile(...);  copy y back
//! ```
//!
//! Functions take addresses, so that a tile's rows, which lie together, are read and written where they are.

use super::Tile;
use super::copies::Copy;
use super::geometry::{Part, prefix};
use super::helpers::Helpers;
use super::patches::Runs;
use super::tensor::{Local, Tensor, known, number};
use super::versions::{Version, worth_filling};
use crate::definitions::indices::Size;
use fusion_dialects::loops::{Buffer, LoopKind, Loops};
use fusion_dialects::rows::Upstream;
use fusion_dialects::te::{Compare, Kernel};
use fusion_dialects::{Value, index_type, key, symbol_attr, tensor_type};
use fusion_operators::{DType, TensorType};

/// Elements, and bytes, of a part of the tiles are multiples of this: no two parts share a line of a cache.
const LINE: u64 = 64;

/// What is needed to write the loops.
struct Nest<'t, 'c> {
    tile: &'t Tile<'c>,
    tensors: Vec<Tensor>,
    buffers: Vec<Buffer<'c>>,
    /// Buffers of each version's tiles, one for each tensor that has parts, with the elements of a part of the tiles; and workspaces.
    local: Vec<Vec<Option<(Buffer<'c>, u64)>>>,
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
    let (mut tensors, mut written, data) = (Vec::new(), Vec::new(), tile.data());
    for value in tile.inputs.iter().chain(&tile.outputs) {
        let (ty, is_data) = (tensor_type(*value)?, data == Some(key(*value)));
        let parts = (prefix(&ty) > 0).then(|| tile.geometry.parts(&ty, is_data));
        tensors.push(Tensor { ty: named(*value)?, parts, is_data });
        written.push(ty);
    }
    let mut results: Vec<TensorType> = tensors[tile.inputs.len()..].iter().map(|t| t.ty.clone()).collect();
    let given = results.len();
    let mut elements: Vec<Vec<u64>> = Vec::new();
    for version in versions {
        let mut own = Vec::new();
        for (tensor, ty) in tensors.iter().zip(&written).filter(|(t, _)| t.parts.is_some()) {
            let local = tile.tile_type(ty, tensor.is_data, &version.sizes)?;
            let each = local.elements()?.max(1).next_multiple_of(LINE);
            results.push(TensorType::fixed(&[each.checked_mul(version.parts)?], local.dtype));
            own.push(each);
        }
        results.push(TensorType::fixed(&[workspace_of(version).checked_mul(version.parts)?], DType::I8));
        elements.push(own);
    }
    let made = kernel.nest("tiles", operands, &results, |loops, ins, outs| {
        let mut rest = outs[given..].iter().copied();
        let (mut local, mut workspaces) = (Vec::new(), Vec::new());
        for own in &elements {
            let mut own = own.iter().copied();
            let mut one = |t: &Tensor| t.parts.as_ref().and_then(|_| rest.next().zip(own.next()));
            local.push(tensors.iter().map(&mut one).collect());
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
            loops.guard(fills, |inner| self.run(inner, at, &[done], inner.scalars().index(0)));
            done = s.index_select(fills, rows, done);
        }
    }

    fn windows(&self, loops: &Loops<'c>) {
        let s = loops.scalars();
        let axes = self.tile.geometry.axes();
        let extents: Vec<Value> = (0..axes).map(|axis| self.extent(loops, axis)).collect();
        let result = &self.tensors[self.tile.inputs.len()].ty;
        // Of all images.
        let places = Size::of(&s, &[&result.dims[..1], &result.dims[2..]].concat()).value(&s);
        let up = |extent: Value<'c>, size: u64| {
            s.index_div(s.index_affine(extent, 1, size as i64 - 1), size as i64)
        };
        // How many tiles there are along each axis.
        let counts_of = |version: &Version| -> Vec<Value<'c>> {
            match self.tile.patches_of(&version.sizes) {
                Some((_, size)) => vec![up(places, size)],
                None => extents.iter().zip(&version.sizes).map(|(extent, size)| up(*extent, *size)).collect(),
            }
        };
        let counts: Vec<Vec<Value>> = self.versions.iter().map(counts_of).collect();
        let tiles = |at: usize| counts[at].iter().copied().reduce(|a, b| s.index_mul(a, b)).unwrap_or(places);
        let time = |at: usize| s.index_affine(tiles(at), self.versions[at].nanoseconds as i64, 0);
        let (mut least, mut best) = (time(0), s.index(0));
        for at in 1..self.versions.len() {
            let own = time(at);
            let is_less = s.index_compare(Compare::Less, own, least);
            least = s.index_select(is_less, own, least);
            best = s.index_select(is_less, s.index(at as i64), best);
        }
        for (at, counts) in counts.iter().enumerate() {
            let chosen = s.index_compare(Compare::Equal, best, s.index(at as i64));
            loops.guard(chosen, |inner| {
                self.in_parts(inner, at, tiles(at), |l, tile, part| {
                    match self.tile.patches_of(&self.versions[at].sizes) {
                        Some((patches, size)) => {
                            let s = l.scalars();
                            let origin = s.index_affine(tile, size as i64, 0);
                            let count = s.index_min(s.index_sub(places, origin), s.index(size as i64));
                            let runs = Runs { patches, result, origin, count, places: size };
                            self.run_patches(l, at, &runs, part);
                        }
                        None => self.run(l, at, &self.origins(l, at, counts, tile), part),
                    }
                });
            });
        }
    }

    /// Runs tiles, which threads share: each part of them has memory of its own. A single tile has all threads.
    fn in_parts(
        &self,
        loops: &Loops<'c>,
        at: usize,
        tiles: Value<'c>,
        body: impl FnOnce(&Loops<'c>, Value<'c>, Value<'c>),
    ) {
        let s = loops.scalars();
        let parts = s.index_min(tiles, s.index(self.versions[at].parts as i64));
        loops.upto(parts, LoopKind::Parallel, &[], |l, part, _| {
            let s = l.scalars();
            let begin = |part: Value<'c>| s.index_quotient(s.index_mul(part, tiles), parts);
            let first = begin(part);
            let count = s.index_sub(begin(s.index_affine(part, 1, 1)), first);
            l.upto(count, LoopKind::Serial, &[], |l, i, _| {
                body(l, l.scalars().index_add(first, i), part);
                Vec::new()
            });
            Vec::new()
        });
    }

    /// Where a tile begins along each axis, from its number.
    fn origins(&self, loops: &Loops<'c>, at: usize, counts: &[Value<'c>], tile: Value<'c>) -> Vec<Value<'c>> {
        let s = loops.scalars();
        let (mut origins, mut number) = (Vec::new(), tile);
        for (count, size) in counts.iter().zip(&self.versions[at].sizes).rev() {
            origins.insert(0, s.index_affine(s.index_remainder(number, *count), *size as i64, 0));
            number = s.index_quotient(number, *count);
        }
        origins
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
        self.call(loops, at, places, s.index(0));
    }

    /// Where a part's tile of a tensor is.
    fn local_of(&self, loops: &Loops<'c>, at: usize, tensor: usize, part: Value<'c>) -> Option<Local<'c>> {
        let (buffer, elements) = self.local[at][tensor]?;
        Some((buffer, loops.scalars().index_affine(part, elements as i64, 0)))
    }

    /// Runs a tile that begins there on copies.
    fn run(&self, loops: &Loops<'c>, at: usize, origins: &[Value<'c>], part: Value<'c>) {
        let copy = |tensor: usize| {
            let local = self.local_of(loops, at, tensor, part)?;
            let (whole, sizes) = (self.buffers[tensor], &self.versions[at].sizes);
            let tensor = &self.tensors[tensor];
            Some(Copy { tensor, parts: tensor.parts.as_deref()?, whole, local, sizes, origins })
        };
        let (taken, given) = (0..self.tile.inputs.len(), self.tile.inputs.len()..self.tensors.len());
        taken.filter_map(copy).for_each(|copy| copy.fill(loops, self.helpers));
        self.call_on_copies(loops, at, part);
        given.filter_map(copy).for_each(|copy| copy.give(loops, self.helpers));
    }

    /// Runs a tile of patches.
    fn run_patches(&self, loops: &Loops<'c>, at: usize, runs: &Runs<'_, 'c>, part: Value<'c>) {
        let inputs = self.tile.inputs.len();
        runs.each(loops, &mut |l, run| {
            for at_tensor in 0..inputs {
                let tensor = &self.tensors[at_tensor];
                match self.local_of(l, at, at_tensor, part) {
                    Some(local) if tensor.is_data => {
                        runs.fill_columns(l, self.helpers, tensor, (self.buffers[at_tensor], local), run);
                    }
                    Some(local) => {
                        runs.copy(l, self.helpers, tensor, (self.buffers[at_tensor], local), run, false);
                    }
                    None => {}
                }
            }
        });
        self.call_on_copies(loops, at, part);
        runs.each(loops, &mut |l, run| {
            for at_tensor in inputs..self.tensors.len() {
                if let Some(local) = self.local_of(l, at, at_tensor, part) {
                    let tensor = &self.tensors[at_tensor];
                    runs.copy(l, self.helpers, tensor, (self.buffers[at_tensor], local), run, true);
                }
            }
        });
    }

    /// Calls a version on a part's copies.
    fn call_on_copies(&self, loops: &Loops<'c>, at: usize, part: Value<'c>) {
        let s = loops.scalars();
        let place = |tensor: usize| match self.local_of(loops, at, tensor, part) {
            Some((buffer, first)) => {
                let bytes = s.index_affine(first, buffer.dtype.size() as i64, 0);
                s.index_add(address(loops, buffer), bytes)
            }
            None => address(loops, self.buffers[tensor]),
        };
        self.call(loops, at, (0..self.tensors.len()).map(place).collect(), part);
    }

    fn call(&self, loops: &Loops<'c>, at: usize, mut places: Vec<Value<'c>>, part: Value<'c>) {
        let s = loops.scalars();
        let own = s.index_affine(part, workspace_of(&self.versions[at]) as i64, 0);
        places.push(s.index_add(address(loops, self.workspaces[at]), own));
        let build = &loops.build;
        let callee = symbol_attr(build.context(), &self.versions[at].symbol);
        build.op(Upstream::Call.name(), &places, &[], &[("callee", callee)]);
    }
}

/// Bytes of a part's workspace.
fn workspace_of(version: &Version) -> u64 {
    version.workspace.max(1).next_multiple_of(LINE)
}

/// Where a buffer lies.
fn address<'c>(loops: &Loops<'c>, buffer: Buffer<'c>) -> Value<'c> {
    let ty = index_type(loops.build.context());
    loops.build.value("memref.extract_aligned_pointer_as_index", &[buffer.value], ty, &[])
}
