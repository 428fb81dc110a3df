//! Columns added into an image, `y[n, c, i s + k d - p] += x[n, c K + k, i]`, as what each element of the image is the sum of.
//!
//! Without dilation a place `o = q s + t` has one position in every s-th of the kernel, from `r` on, and of each the element `b` before `q + e`:
//!
//!     t + p = e s + r        y[n, c, q s + t] = sum_b x[n, c K + r + b s, q + e - b]          0 <= b < (kernel - r) / s, rounded up
//!
//! `t` goes over few numbers, so that its loop is written out and `q` goes along vectors. Where strides do not divide the result's extents,
//! or a window has too many such elements, each position of the window is asked whether a column has it there.

use super::{Built, Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Compare, Kernel, Scalar, Scalars};
use fusion_operators::ops::columns::COL2IM;
use fusion_operators::ops::window::{Axis, Window};

pub const TABLE: Table = &[(&COL2IM, col2im)];

/// Elements that a sum is written out for.
const MOST: u64 = 16;

fn col2im<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let window = Window::of_columns(&call.attrs, call.types[0].rank() - 2).map_err(|v| v.to_string())?;
    let columns = Columns::of(call, window)?;
    match columns.phases() {
        Some(most) => Ok(vec![columns.by_phases(kernel, call, &most)]),
        None => Ok(vec![columns.by_positions(kernel, call)]),
    }
}

/// The geometry of a call.
struct Columns {
    axes: Vec<Axis>,
    kernel: Vec<u64>,
    /// Spatial extents of the data, and of the result.
    data: Vec<u64>,
    image: Vec<u64>,
}

impl Columns {
    fn of(call: &TeCall, window: Window) -> Result<Columns, String> {
        let kernel = window.kernel().ok_or("has a kernel of unknown extents")?;
        let image = call.result_extents(0, 2)?;
        let fits = |(axis, n): (&Axis, &u64)| {
            i64::try_from(axis.begin.checked_add(*n)?.checked_add(axis.span()?)?).ok()
        };
        if window.axes.iter().zip(&image).any(|pair| fits(pair).is_none()) {
            return Err("has padding that reaches further than can be addressed".to_owned());
        }
        Ok(Columns { axes: window.axes, kernel, data: super::known_from(&call.types[0], 2)?, image })
    }

    /// How many elements at most are added up for one, along each axis, where they are found without asking.
    fn phases(&self) -> Option<Vec<u64>> {
        let even = self.axes.iter().zip(&self.image).all(|(a, n)| a.dilation == 1 && n % a.stride == 0);
        let most: Vec<u64> = self.axes.iter().zip(&self.kernel).map(|(a, k)| k.div_ceil(a.stride)).collect();
        (even && most.iter().try_fold(1u64, |n, &b| n.checked_mul(b))? <= MOST).then_some(most)
    }

    fn by_phases<'c>(&self, kernel: &Kernel<'c>, call: &TeCall<'c>, most: &[u64]) -> Value<'c> {
        let ty = &call.results[0];
        kernel.compute(call.op.name, ty, |s, at| {
            let mut sum: Option<Scalar<'c>> = None;
            let mut b = vec![0; most.len()];
            loop {
                let parts: Vec<Part> = (0..b.len()).map(|i| self.in_phase(s, i, at[2 + i], b[i])).collect();
                let value = self.load(s, call, at, &parts);
                sum = Some(sum.map_or(value, |sum| s.add(sum, value)));
                if !next(&mut b, most) {
                    break;
                }
            }
            sum.unwrap_or_else(|| s.int(0, ty.dtype))
        })
    }

    /// The position and the element that a place along an axis has as its `b`-th.
    fn in_phase<'c>(&self, s: &Scalars<'c>, axis: usize, o: Value<'c>, b: u64) -> Part<'c> {
        let (Axis { stride, begin, .. }, extent) = (&self.axes[axis], self.data[axis]);
        let (stride, begin, b) = (*stride as i64, *begin as i64, b as i64);
        let (q, t) = (s.index_div(o, stride), s.index_mod(o, stride));
        let ahead = s.index_affine(t, 1, begin);
        let position = s.index_affine(s.index_mod(ahead, stride), 1, b * stride);
        let element = s.index_affine(s.index_add(q, s.index_div(ahead, stride)), 1, -b);
        let mut conditions = Vec::new();
        if (b + 1) * stride > self.kernel[axis] as i64 {
            conditions.push(s.index_compare(Compare::Less, position, s.index(self.kernel[axis] as i64)));
        }
        // The least and the greatest element that some place asks for.
        let (least, greatest) = (begin / stride - b, (begin + self.image[axis] as i64 - 1) / stride - b);
        if least < 0 {
            conditions.push(s.index_compare(Compare::GreaterEqual, element, s.index(0)));
        }
        if greatest >= extent as i64 {
            conditions.push(s.index_compare(Compare::Less, element, s.index(extent as i64)));
        }
        Part { position, element, conditions }
    }

    fn by_positions<'c>(&self, kernel: &Kernel<'c>, call: &TeCall<'c>) -> Value<'c> {
        kernel.reduce(call.op.name, &call.results[0], &self.kernel, Combine::Sum, |s, at, over| {
            let parts: Vec<Part> =
                (0..over.len()).map(|i| self.at_position(s, i, at[2 + i], over[i])).collect();
            self.load(s, call, at, &parts)
        })
    }

    /// The element whose column has a position of the kernel at a place.
    fn at_position<'c>(&self, s: &Scalars<'c>, axis: usize, o: Value<'c>, k: Value<'c>) -> Part<'c> {
        let (Axis { stride, dilation, begin, .. }, extent) = (&self.axes[axis], self.data[axis]);
        let back = s.index_affine(k, -(*dilation as i64), *begin as i64);
        let from = s.index_add(o, back);
        let is_ahead = s.index_compare(Compare::GreaterEqual, from, s.index(0));
        // Quotients are of numbers that are not negative.
        let from = s.index_max(from, s.index(0));
        let element = s.index_div(from, *stride as i64);
        let even = s.index_compare(Compare::Equal, s.index_mod(from, *stride as i64), s.index(0));
        let inside = s.index_compare(Compare::Less, element, s.index(extent as i64));
        Part { position: k, element, conditions: vec![is_ahead, even, inside] }
    }

    /// The element of the data at a position and an element along each axis; 0 where there is none.
    fn load<'c>(
        &self,
        s: &Scalars<'c>,
        call: &TeCall<'c>,
        at: &[Value<'c>],
        parts: &[Part<'c>],
    ) -> Scalar<'c> {
        let channel = parts.iter().zip(&self.kernel).fold(at[1], |channel, (part, &extent)| {
            s.index_add(s.index_affine(channel, extent as i64, 0), part.position)
        });
        let mut index = vec![at[0], channel];
        index.extend(parts.iter().map(|part| part.element));
        let conditions = parts.iter().flat_map(|part| part.conditions.iter().copied());
        match conditions.reduce(|a, b| s.and(a, b)) {
            None => s.load(call.operands[0], &index),
            Some(inside) => s.load_if(inside, call.operands[0], &index, s.int(0, call.types[0].dtype)),
        }
    }
}

/// Along an axis, a position of the kernel and an element of the data, and when there is one.
struct Part<'c> {
    position: Value<'c>,
    element: Value<'c>,
    conditions: Vec<Scalar<'c>>,
}

/// Counts on; false behind the last.
fn next(number: &mut [u64], extents: &[u64]) -> bool {
    for (digit, &extent) in number.iter_mut().zip(extents).rev() {
        *digit += 1;
        if *digit < extent {
            return true;
        }
        *digit = 0;
    }
    false
}
