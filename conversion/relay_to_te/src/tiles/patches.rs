//! Tiles of patches: some places of a convolution's result, of any images, with what each needs of the data beside each other (im2col).
//!
//! ```text
//!   data  [n, C, h, w]   =>   columns [C * 3 * 3, T]      columns[(c, i, j), t] = data[n, c, y + i - 1, x + j - 1] at place t = (n, y, x)
//!   conv 3 x 3           =>   1 x 1 convolution of [1, C * 3 * 3, T, 1]
//! ```
//!
//! Places are numbered over all images, so that nothing is computed for the border of small images. A run of places in one line of an image
//! is a run of elements of each line of the columns.
//!
//! Chellapilla, Puri and Simard, "High Performance Convolutional Neural Networks for Document Processing" (2006).

use super::helpers::Helpers;
use super::tensor::{Local, Tensor};
use fusion_dialects::loops::{Buffer, LoopKind, Loops};
use fusion_dialects::te::{Compare, Scalar};
use fusion_dialects::{Op, OpExt, Value, tensor_type};
use fusion_operators::TensorType;
use fusion_operators::ops::window::{Axis, Window};

/// The patches of a convolution.
#[derive(Clone, Debug)]
pub struct Patches {
    /// Channels of the data.
    channels: u64,
    /// The windows along the spatial axes.
    axes: Vec<Axis>,
    /// Their kernels' extents.
    kernel: Vec<u64>,
}

impl Patches {
    /// Of a convolution; none where it has groups, or a kernel of one element: then windows need nothing beside each other.
    pub fn of(convolution: Op) -> Option<Patches> {
        let operands = convolution.operand_values();
        let (data, weight) = (tensor_type(*operands.first()?)?, tensor_type(*operands.get(1)?)?);
        let window = Window::of_convolution(&convolution.attrs(), &weight).ok()?;
        let (channels, kernel) = (data.dims.get(1)?.known()?, window.kernel()?);
        (window.groups == 1).then_some(Patches { channels, axes: window.axes, kernel })
    }

    /// Elements of a place's patch.
    fn elements(&self) -> u64 {
        self.channels * self.kernel.iter().product::<u64>()
    }

    /// The type of so many places of a tensor: the columns of the data, all channels of others.
    pub fn tile_type(&self, ty: &TensorType, is_data: bool, places: u64) -> Option<TensorType> {
        let channels = if is_data { self.elements() } else { ty.dims.get(1)?.known()? };
        let mut dims = vec![1, channels, places];
        dims.resize(ty.rank().max(3), 1);
        Some(TensorType::fixed(&dims, ty.dtype))
    }

    /// The type of the weight of columns.
    pub fn weight_type(&self, ty: &TensorType) -> Option<TensorType> {
        let mut dims = vec![ty.dims.first()?.known()?, self.elements()];
        dims.resize(ty.rank(), 1);
        Some(TensorType::fixed(&dims, ty.dtype))
    }
}

/// Runs of places that lie in one line of an image each, of a tile that begins at `origin`.
pub struct Runs<'t, 'c> {
    /// The convolution's.
    pub patches: &'t Patches,
    /// The type of the result, with names.
    pub result: &'t TensorType,
    /// Its first place, and how many it has.
    pub origin: Value<'c>,
    /// How many of these there are.
    pub count: Value<'c>,
    /// Places of the tile.
    pub places: u64,
}

/// A run: the places of a tile from `first` on, `length` of them, in the line `at` (an image and all spatial axes but the last) from `column` on.
pub struct Run<'c> {
    image: Value<'c>,
    at: Vec<Value<'c>>,
    column: Value<'c>,
    first: Value<'c>,
    length: Value<'c>,
}

impl<'c> Runs<'_, 'c> {
    /// Does something for each run.
    pub fn each(&self, loops: &Loops<'c>, body: &mut dyn FnMut(&Loops<'c>, &Run<'c>)) {
        let s = loops.scalars();
        let extents: Vec<Value> = self.result.dims[2..].iter().map(|dim| s.extent(dim)).collect();
        let Some((&width, outer)) = extents.split_last() else { return };
        let line = s.index_quotient(self.origin, width);
        let column = s.index_remainder(self.origin, width);
        // The line of the last place.
        let last = s.index_affine(s.index_add(column, self.count), 1, -1);
        let lines = s.index_affine(s.index_quotient(last, width), 1, 1);
        loops.upto(lines, LoopKind::Serial, &[], |l, i, _| {
            let s = l.scalars();
            let begin = s.index_sub(s.index_mul(i, width), column);
            let first = s.index_max(begin, s.index(0));
            let end = s.index_min(s.index_add(begin, width), self.count);
            let mut number = s.index_add(line, i);
            let mut at = Vec::new();
            for extent in outer.iter().rev() {
                at.insert(0, s.index_remainder(number, *extent));
                number = s.index_quotient(number, *extent);
            }
            let run = Run {
                image: number,
                at,
                column: s.index_sub(first, begin),
                first,
                length: s.index_sub(end, first),
            };
            body(l, &run);
            Vec::new()
        });
    }

    /// Fills the columns of the data with a run.
    pub fn fill_columns(
        &self,
        loops: &Loops<'c>,
        helpers: &Helpers<'c>,
        data: &Tensor,
        (from, (to, start)): (Buffer<'c>, Local<'c>),
        run: &Run<'c>,
    ) {
        let s = loops.scalars();
        let index = |n: u64| s.index(n as i64);
        let mut numbers =
            vec![index(self.patches.channels), index(self.places), run.image, run.first, run.length, start];
        let places = run.at.iter().chain([&run.column]).zip(&data.ty.dims[2..]);
        for ((place, dim), (axis, kernel)) in places.zip(self.patches.axes.iter().zip(&self.patches.kernel)) {
            let window = [*kernel, axis.stride, axis.dilation, axis.begin].map(index);
            numbers.extend([*place, s.extent(dim)].into_iter().chain(window));
        }
        // Lines of a stride of one element are copied by vectors, which a number that comes with the call does not tell.
        let stride = self.patches.axes.last().map_or(1, |axis| axis.stride);
        let name = format!("tile_columns_{}_{stride}_{}", self.patches.axes.len(), to.dtype);
        helpers.call(loops, &name, &[from, to], &numbers, |l, buffers, numbers| {
            let axes = numbers[6..].chunks(6).map(|n| Axial {
                place: n[0],
                extent: n[1],
                kernel: n[2],
                stride: n[3],
                dilation: n[4],
                begin: n[5],
            });
            let mut axes: Vec<Axial> = axes.collect();
            if let Some(last) = axes.last_mut() {
                last.stride = l.scalars().index(stride as i64);
            }
            let fill = Fill {
                axes,
                places: numbers[1],
                first: l.scalars().index_add(numbers[5], numbers[3]),
                length: numbers[4],
                from: buffers[0],
                to: buffers[1],
            };
            let (channels, image) = (numbers[0], numbers[2]);
            l.upto(channels, LoopKind::Serial, &[], |l, channel, _| {
                let s = l.scalars();
                let plane = s.index_add(s.index_mul(image, channels), channel);
                fill.axis(l, 0, plane, channel, None);
                Vec::new()
            });
        });
    }

    /// Copies a run of a tensor of the result's extents into the tile, or back.
    pub fn copy(
        &self,
        loops: &Loops<'c>,
        helpers: &Helpers<'c>,
        tensor: &Tensor,
        (whole, (local, start)): (Buffer<'c>, Local<'c>),
        run: &Run<'c>,
        is_result: bool,
    ) {
        let s = loops.scalars();
        let channels = s.index(tensor.ty.dims[1].known().unwrap_or(0) as i64);
        // Elements of a channel, and the place in one.
        let (mut elements, mut place) = (s.index(1), s.index(0));
        for (at, dim) in run.at.iter().chain([&run.column]).zip(&tensor.ty.dims[2..]) {
            elements = s.index_mul(elements, s.extent(dim));
            place = s.index_add(s.index_mul(place, s.extent(dim)), *at);
        }
        let first = s.index_mul(run.image, channels);
        let places = s.index(self.places as i64);
        let begin = s.index_add(start, run.first);
        let numbers = [channels, first, elements, place, places, begin, run.length];
        let way = if is_result { "give" } else { "fill" };
        let name = format!("tile_{way}_run_{}", local.dtype);
        helpers.call(loops, &name, &[whole, local], &numbers, |l, buffers, numbers| {
            let [channels, plane, elements, place, places, first, length] = *numbers else { return };
            let (whole, local) = (buffers[0], buffers[1]);
            l.upto(channels, LoopKind::Serial, &[], |l, channel, _| {
                let s = l.scalars();
                let there = s.index_add(s.index_mul(s.index_add(plane, channel), elements), place);
                let here = s.index_add(s.index_mul(channel, places), first);
                l.upto(length, LoopKind::Serial, &[], |l, i, _| {
                    let s = l.scalars();
                    let (there, here) = (s.index_add(there, i), s.index_add(here, i));
                    match is_result {
                        true => l.store(l.load_raw(local, here), whole, there),
                        false => l.store(l.load_raw(whole, there), local, here),
                    }
                    Vec::new()
                });
                Vec::new()
            });
        });
    }
}

/// The window along an axis, and where a run lies on it.
struct Axial<'c> {
    place: Value<'c>,
    extent: Value<'c>,
    kernel: Value<'c>,
    stride: Value<'c>,
    dilation: Value<'c>,
    begin: Value<'c>,
}

/// Fills lines of the columns.
struct Fill<'c> {
    axes: Vec<Axial<'c>>,
    places: Value<'c>,
    first: Value<'c>,
    length: Value<'c>,
    from: Buffer<'c>,
    to: Buffer<'c>,
}

impl<'c> Fill<'c> {
    /// All positions of the kernel from an axis on: `place` is the place in the data so far, `row` the line of the columns, `inside` whether
    /// the data has such a place.
    fn axis(
        &self,
        loops: &Loops<'c>,
        at: usize,
        place: Value<'c>,
        row: Value<'c>,
        inside: Option<Scalar<'c>>,
    ) {
        let axis = &self.axes[at];
        loops.upto(axis.kernel, LoopKind::Serial, &[], |l, k, _| {
            let s = l.scalars();
            let row = s.index_add(s.index_mul(row, axis.kernel), k);
            let place = s.index_mul(place, axis.extent);
            let shift = s.index_sub(s.index_mul(k, axis.dilation), axis.begin);
            if at + 1 == self.axes.len() {
                self.line(l, axis, place, shift, row, inside);
                return Vec::new();
            }
            let here = s.index_add(s.index_mul(axis.place, axis.stride), shift);
            let above = s.index_compare(Compare::Less, s.index(-1), here);
            let below = s.index_compare(Compare::Less, here, axis.extent);
            let both = s.and(above, below);
            let inside = inside.map_or(both, |so_far| s.and(so_far, both));
            self.axis(l, at + 1, s.index_add(place, here), row, Some(inside));
            Vec::new()
        });
    }

    /// A line of the columns: zeros, what the data has, zeros.
    fn line(
        &self,
        loops: &Loops<'c>,
        axis: &Axial<'c>,
        place: Value<'c>,
        shift: Value<'c>,
        row: Value<'c>,
        inside: Option<Scalar<'c>>,
    ) {
        let s = loops.scalars();
        let zero = s.index(0);
        let up = |n: Value<'c>| {
            let more = s.index_add(s.index_max(n, zero), s.index_affine(axis.stride, 1, -1));
            s.index_quotient(more, axis.stride)
        };
        let within = |n: Value<'c>| s.index_min(s.index_max(n, zero), self.length);
        // Columns from there on lie behind the beginning, and before the end.
        let behind = up(s.index_sub(zero, shift));
        let before = up(s.index_sub(axis.extent, shift));
        let first = within(s.index_sub(behind, axis.place));
        let end = s.index_max(within(s.index_sub(before, axis.place)), first);
        let end = inside.map_or(end, |inside| s.index_select(inside, end, first));
        let to = s.index_add(s.index_mul(row, self.places), self.first);
        let zeros = |begin: Value<'c>, end: Value<'c>| {
            loops.upto(s.index_sub(end, begin), LoopKind::Serial, &[], |l, i, _| {
                let s = l.scalars();
                let zero = s.float(0.0, self.to.dtype);
                l.store(zero, self.to, s.index_add(s.index_add(to, begin), i));
                Vec::new()
            });
        };
        zeros(zero, first);
        loops.upto(s.index_sub(end, first), LoopKind::Serial, &[], |l, i, _| {
            let s = l.scalars();
            let at = s.index_add(first, i);
            let column = s.index_mul(s.index_add(axis.place, at), axis.stride);
            let from = s.index_add(place, s.index_add(column, shift));
            l.store(l.load_raw(self.from, from), self.to, s.index_add(to, at));
            Vec::new()
        });
        zeros(end, self.length);
    }
}
