//! Orders of images that convolutions are offered in, and how they compare.
//!
//!     NCHW      vectors along rows of pixels, or along filters that are turned round when they are stored
//!     NHWC      vectors along filters, as they lie
//!     NCHW32c   the same, with the filters of a tile in one piece of memory: two vectors of 16
//!
//! The plain order wins where rows of pixels fill vectors; where they do not, for small images and strides, lanes are lost or results turned
//! round. What a convolution takes in each order is counted in cycles as its schedule will count them (`te/auto_schedule/contraction`).

use super::extract::rates::are_bytes;
use fusion_machine::{Dot4, Machine, Target};
use fusion_operators::ops::convolution::CONV2D;
use fusion_operators::ops::layout::{ALL, IMAGES, LAYOUT_CONV2D, Layouts, WEIGHTS, plain};
use fusion_operators::ops::pooling::{AVG_POOL2D, MAX_POOL2D};
use fusion_operators::ops::window::Window;
use fusion_operators::{Attrs, Call, DType, Layout, Operator, TensorType};
use fusion_schedule::auto_schedule::Convolution;
use std::cell::RefCell;
use std::collections::HashMap;

/// Channels last.
pub const LAST: &str = "NHWC";
/// Channels in blocks, and their weights.
pub const BLOCKS: &str = "NCHW32c";
/// Weights in blocks of both kinds of channels.
pub const BLOCKS_OF_WEIGHTS: &str = "OIHW32i32o";

/// Less gain than this is not worth moving images on both sides: the count is right within a tenth, and what moves them is a kernel.
const LEAST_GAIN: f64 = 1.15;
/// Where the data is to be had in the order, only what is made of it may have to be moved.
const LEAST_GAIN_BEHIND: f64 = 1.05;

/// True for orders that kernels of windows are made in.
pub fn is_known(layout: &Layout) -> bool {
    [IMAGES, LAST, BLOCKS].contains(&layout.to_string().as_str())
}

/// A call of windows over images.
pub struct Windows {
    /// The plain operator.
    pub row: &'static Operator,
    /// Its attributes, without orders.
    pub attrs: Attrs,
    /// The order of the data.
    pub data: Layout,
    /// That of the weight, when there is one.
    pub weight: Option<Layout>,
    /// That of the result.
    pub result: Layout,
}

impl Windows {
    /// Of an operator with those attributes.
    pub fn of(op: &'static Operator, attrs: &Attrs) -> Option<Windows> {
        let row = [&CONV2D, &MAX_POOL2D, &AVG_POOL2D].into_iter().find(|row| op.is(row)).or(plain(op))?;
        let parse =
            |name: &str, default: &str, axes: &str| Layout::parse(attrs.str_or(name, default), axes).ok();
        let data = parse("data_layout", IMAGES, IMAGES)?;
        let result = parse("out_layout", &data.to_string(), IMAGES)?;
        let weight = if row.is(&CONV2D) { Some(parse("kernel_layout", WEIGHTS, WEIGHTS)?) } else { None };
        let mut others = Attrs::new();
        let is_order = |name: &str| ["data_layout", "out_layout", "kernel_layout"].contains(&name);
        attrs
            .iter()
            .filter(|(name, _)| !is_order(name))
            .for_each(|(name, value)| others.set(name, value.clone()));
        Some(Windows { row, attrs: others, data, weight, result })
    }

    /// True for a convolution of one group: its kernels read in one order and store in another.
    pub fn is_product(&self) -> bool {
        self.weight.is_some() && self.attrs.int_or("groups", 1) == 1
    }

    /// The same with data and result in those orders, and the weight in the one in which it is read in vectors: along filters, where the
    /// result has these side by side.
    pub fn in_orders(&self, data: &Layout, result: &Layout) -> Option<Windows> {
        let name = match (self.is_product(), data.to_string().as_str(), result.to_string().as_str()) {
            (true, _, BLOCKS) => BLOCKS_OF_WEIGHTS,
            (true, ..) => WEIGHTS,
            (false, from, to) if from != to => return None,
            (false, BLOCKS, _) => "OIHW32o",
            (false, LAST, _) => "HWIO",
            _ => WEIGHTS,
        };
        let weight = match self.weight {
            Some(_) => Some(Layout::parse(name, WEIGHTS).ok()?),
            None => None,
        };
        Some(Windows {
            row: self.row,
            attrs: self.attrs.clone(),
            data: data.clone(),
            weight,
            result: result.clone(),
        })
    }

    /// The row and the attributes of the call.
    pub fn call(&self) -> Option<(&'static Operator, Attrs)> {
        let is_plain = [Some(&self.data), self.weight.as_ref(), Some(&self.result)]
            .into_iter()
            .flatten()
            .all(|layout| *layout == layout.plain_one());
        if is_plain {
            return Some((self.row, self.attrs.clone()));
        }
        let row = ALL.iter().find(|row| plain(row).is_some_and(|p| p.is(self.row)))?;
        let orders = [
            ("data_layout", Some(&self.data)),
            ("kernel_layout", self.weight.as_ref()),
            ("out_layout", Some(&self.result)),
        ];
        let mut attrs = self.attrs.clone();
        for (name, layout) in orders {
            if let Some(layout) = layout {
                attrs.set(name, layout.to_string());
            }
        }
        Some((row, attrs))
    }
}

/// Seconds of the arithmetic of a convolution of bytes, in whatever order.
pub fn seconds_of_bytes(call: &Call, results: &[TensorType], machine: &Machine) -> Option<f64> {
    let windows = Windows::of(call.op, call.attrs).filter(Windows::is_product)?;
    let (data, weight, result) = (&windows.data, windows.weight.as_ref()?, &windows.result);
    let types =
        [data.value(&call.operands[0])?, weight.value(&call.operands[1])?, result.value(results.first()?)?];
    are_bytes(call.operands).then_some(())?;
    let cycles = cycles(call.attrs, types.each_ref(), [data, weight, result], machine)?;
    Some(cycles / machine.clock)
}

/// How many times as fast as in the plain order a call of `relay.layout_conv2d` is.
pub fn gain(call: &Call, results: &[TensorType], machine: &Machine) -> Option<f64> {
    let layouts = Layouts::of(call).ok().filter(|_| call.op.is(&LAYOUT_CONV2D))?;
    let values = layouts.values(call.operands).ok()?;
    let result = layouts.result.value(results.first()?)?;
    let orders = [&layouts.operands[0], &layouts.operands[1], &layouts.result];
    compare(call.attrs, [&values[0], &values[1], &result], orders, machine)
}

/// True where a plain convolution gains by that order of its data and result, and that of its weight, on a core as most are; `lies` where its
/// data is to be had in the order.
pub fn pays(attrs: &Attrs, types: [&TensorType; 3], (order, of_weight): (&str, &str), lies: bool) -> bool {
    let (images, weight) = (Layout::parse(order, IMAGES), Layout::parse(of_weight, WEIGHTS));
    let (Ok(images), Ok(weight)) = (images, weight) else { return false };
    let fits = images.stored(types[0]).is_some()
        && images.stored(types[2]).is_some()
        && weight.stored(types[1]).is_some();
    let machine = Machine { dot4: Some(Dot4::Vpdpbusd), ..Machine::of(&Target::default(), 0) };
    let least = if lies { LEAST_GAIN_BEHIND } else { LEAST_GAIN };
    fits && compare(attrs, types, [&images, &weight, &images], &machine).is_some_and(|gain| gain >= least)
}

/// Cycles in the plain order as a multiple of those in others.
fn compare(attrs: &Attrs, types: [&TensorType; 3], orders: [&Layout; 3], machine: &Machine) -> Option<f64> {
    let is_counted = types[0].dtype == DType::F32 || are_bytes([types[0], types[1]]);
    if !is_counted || attrs.int_or("groups", 1) != 1 {
        return None;
    }
    let (images, weights) = (Layout::plain(IMAGES), Layout::plain(WEIGHTS));
    let plain = cycles(attrs, types, [&images, &weights, &images], machine)?;
    Some(plain / cycles(attrs, types, orders, machine)?)
}

/// Cycles of a convolution of one group of values of those types, in those orders.
fn cycles(attrs: &Attrs, types: [&TensorType; 3], orders: [&Layout; 3], machine: &Machine) -> Option<f64> {
    let window = Window::of_convolution(attrs, types[1]).ok()?;
    let extents = |ty: &TensorType| ty.shape().and_then(|shape| <[u64; 4]>::try_from(shape).ok());
    let convolution = Convolution {
        data: extents(types[0])?,
        weight: extents(types[1])?,
        result: extents(types[2])?,
        window: &window,
        dot4: machine.dot4.filter(|_| are_bytes([types[0], types[1]])),
    };
    counted(&convolution, orders, machine)
}

thread_local! {
    /// What was counted: networks have the same convolution many times, and rules ask again in each round.
    static COUNTED: RefCell<HashMap<String, Option<f64>>> = RefCell::default();
}

/// More than networks have; what is beyond is counted each time.
const MOST_KEPT: usize = 4096;

fn counted(convolution: &Convolution, orders: [&Layout; 3], machine: &Machine) -> Option<f64> {
    let [data, weight, result] = orders;
    let Convolution { data: x, weight: w, result: y, window, dot4 } = convolution;
    let key = format!("{x:?} {w:?} {y:?} {window:?} {dot4:?} {data} {weight} {result} {machine:?}");
    if let Some(cycles) = COUNTED.with_borrow(|counted| counted.get(&key).copied()) {
        return cycles;
    }
    let cycles = convolution.cycles(machine, orders);
    COUNTED.with_borrow_mut(|counted| {
        if counted.len() < MOST_KEPT {
            counted.insert(key, cycles);
        }
    });
    cycles
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many times as fast as in the plain order a convolution of `[1, c, h, h]` with `[f, c, k, k]` is.
    fn gain_of((c, f, k, s, h): (u64, u64, u64, i64, u64), order: &str, of_weight: &str) -> f64 {
        let fixed = |shape: &[u64]| TensorType::fixed(shape, DType::F32);
        let p = (k / 2) as i64;
        let attrs = Attrs::new().with("strides", [s, s]).with("padding", [p, p, p, p]);
        let out = (h + 2 * (k / 2) - k) / s as u64 + 1;
        let types = [fixed(&[1, c, h, h]), fixed(&[f, c, k, k]), fixed(&[1, f, out, out])];
        let (images, weight) =
            (Layout::parse(order, IMAGES).unwrap(), Layout::parse(of_weight, WEIGHTS).unwrap());
        let machine = Machine::of(&Target::default(), 0);
        compare(&attrs, [&types[0], &types[1], &types[2]], [&images, &weight, &images], &machine).unwrap()
    }

    #[test]
    fn few_channels_gain_by_channels_last() {
        assert!(gain_of((3, 64, 7, 2, 224), LAST, WEIGHTS) > 1.05);
    }

    #[test]
    fn small_images_gain_by_blocks() {
        assert!(gain_of((160, 960, 1, 1, 7), BLOCKS, BLOCKS_OF_WEIGHTS) > 1.05);
        assert!(gain_of((512, 512, 3, 1, 7), BLOCKS, BLOCKS_OF_WEIGHTS) > 1.02);
    }

    #[test]
    fn rows_that_fill_vectors_gain_nothing() {
        let gain = gain_of((64, 64, 3, 1, 64), LAST, WEIGHTS);
        assert!((0.97..1.03).contains(&gain), "{gain}");
    }

    #[test]
    fn less_gain_is_enough_where_the_data_lies_in_the_order() {
        // 1.15 > gain > 1.05
        let fixed = |shape: &[u64]| TensorType::fixed(shape, DType::F32);
        let attrs = Attrs::new().with("padding", [0, 0, 0, 0]);
        let (x, w, y) = (fixed(&[1, 160, 7, 7]), fixed(&[960, 160, 1, 1]), fixed(&[1, 960, 7, 7]));
        let pays = |lies| super::pays(&attrs, [&x, &w, &y], (BLOCKS, BLOCKS_OF_WEIGHTS), lies);
        let gain = gain_of((160, 960, 1, 1, 7), BLOCKS, BLOCKS_OF_WEIGHTS);
        assert!((LEAST_GAIN_BEHIND..LEAST_GAIN).contains(&gain), "{gain}");
        assert!(pays(true) && !pays(false));
    }

    #[test]
    fn groups_are_not_compared() {
        let fixed = |shape: &[u64]| TensorType::fixed(shape, DType::F32);
        let types = [fixed(&[1, 64, 7, 7]), fixed(&[64, 32, 1, 1]), fixed(&[1, 64, 7, 7])];
        let types = [&types[0], &types[1], &types[2]];
        assert!(!pays(&Attrs::new().with("groups", 2), types, (LAST, WEIGHTS), true));
    }
}
