//! Reductions, running sums, and the greatest elements.

use fusion_operators::ops::{elementwise as ew, reduction as red};
use fusion_operators::{Attrs, DType, Dim, Operator};

use crate::onnx::build::{Converted, Made, axis_in};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::known::Extent;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("ReduceSum", |im, node| reduced(im, node, 13, |im, x, over| over.reduce(im, &red::REDUCE_SUM, x))),
    row("ReduceProd", |im, node| reduced(im, node, 18, |im, x, over| over.reduce(im, &red::REDUCE_PROD, x))),
    row("ReduceMean", |im, node| reduced(im, node, 18, mean)),
    row("ReduceMax", |im, node| reduced(im, node, 18, |im, x, over| extreme(im, x, over, true))),
    row("ReduceMin", |im, node| reduced(im, node, 18, |im, x, over| extreme(im, x, over, false))),
    row("ReduceL1", |im, node| {
        reduced(im, node, 18, |im, x, over| {
            let size = im.un(&ew::ABS, x)?;
            over.reduce(im, &red::REDUCE_SUM, size)
        })
    }),
    row("ReduceL2", |im, node| {
        reduced(im, node, 18, |im, x, over| {
            let sum = sum_square(im, x, over)?;
            // Roots of integers are taken of floats and truncated.
            let dtype = im.dtype(sum)?;
            let float = if dtype.is_float() { sum } else { im.cast(sum, DType::F64)? };
            let root = im.un(&ew::SQRT, float)?;
            im.cast(root, dtype)
        })
    }),
    row("ReduceSumSquare", |im, node| reduced(im, node, 18, sum_square)),
    row("ReduceLogSum", |im, node| {
        reduced(im, node, 18, |im, x, over| {
            let sum = over.reduce(im, &red::REDUCE_SUM, x)?;
            im.un(&ew::LOG, sum)
        })
    }),
    row("ReduceLogSumExp", |im, node| reduced(im, node, 18, log_sum_exp)),
    row("ArgMax", |im, node| arg(im, node, &red::ARGMAX)),
    row("ArgMin", |im, node| arg(im, node, &red::ARGMIN)),
    row("CumSum", |im, node| scan(im, node, &red::CUMSUM)),
    row("CumProd", |im, node| scan(im, node, &red::CUMPROD)),
    row("TopK", top_k),
];

/// The axes of a reduction, and whether they stay with extent 1.
struct Over {
    axes: Vec<usize>,
    keepdims: bool,
}

impl Over {
    fn reduce(&self, im: &mut Importer, op: &'static Operator, x: Value) -> Made {
        im.reduce(op, x, &self.axes, self.keepdims)
    }

    /// Shape of the result when an axis reduced over is empty.
    fn empty(&self, im: &Importer, x: Value) -> Result<Option<Vec<i64>>, Fault> {
        let dims = im.dims(x)?;
        if !self.axes.iter().any(|&a| dims[a].known() == Some(0)) {
            return Ok(None);
        }
        let shape = im.shape(x, "the operand")?;
        let left = shape.iter().enumerate().filter_map(|(i, &n)| match self.axes.contains(&i) {
            false => Some(n),
            true => self.keepdims.then_some(1),
        });
        Ok(Some(left.collect()))
    }
}

/// Axes are an attribute before version `since`, then an optional operand.
fn reduced(
    im: &mut Importer,
    node: &Node,
    since: i64,
    f: impl FnOnce(&mut Importer, Value, &Over) -> Made,
) -> Converted {
    let x = node.input(0)?;
    let given = match node.version >= since {
        true => im.opt_ints_of(node, 1)?,
        false => node.ints("axes")?.map(<[i64]>::to_vec),
    };
    let rank = im.rank(x)?;
    let given = given.unwrap_or_default();
    let axes = match given.is_empty() {
        true if node.flag("noop_with_empty_axes")? => Vec::new(),
        true => (0..rank).collect(),
        false => given.iter().map(|&a| axis_in(a, rank)).collect::<Result<Vec<_>, _>>()?,
    };
    let over = Over { axes, keepdims: node.int("keepdims", 1)? != 0 };
    Ok(vec![f(im, x, &over)?])
}

/// Of integers: their sum divided by their number.
fn mean(im: &mut Importer, x: Value, over: &Over) -> Made {
    if im.dtype(x)?.is_float() {
        return over.reduce(im, &red::REDUCE_MEAN, x);
    }
    let shape = im.shape(x, "the operand")?;
    let count: i64 = over.axes.iter().map(|&a| shape[a]).product();
    let sum = over.reduce(im, &red::REDUCE_SUM, x)?;
    let count = im.like(sum, count as f64)?;
    im.div(sum, count)
}

/// The greatest or least element; of nothing, the lowest or highest number.
fn extreme(im: &mut Importer, x: Value, over: &Over, greatest: bool) -> Made {
    let dtype = im.dtype(x)?;
    if let Some(shape) = over.empty(im, x)? {
        let bits = 8 * dtype.size() as i32;
        let (lowest, highest) = match dtype.class() {
            fusion_operators::dtype::Class::Float => (f64::NEG_INFINITY, f64::INFINITY),
            fusion_operators::dtype::Class::Signed => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1) - 1.0),
            fusion_operators::dtype::Class::Unsigned => (0.0, 2f64.powi(bits) - 1.0),
            fusion_operators::dtype::Class::Bool => (0.0, 1.0),
            fusion_operators::dtype::Class::String => {
                return Err(Fault::unsupported("an extreme of strings"));
            }
        };
        return im.full(dtype, &shape, if greatest { lowest } else { highest });
    }
    let op = match (dtype, greatest) {
        (DType::Bool, true) => &red::REDUCE_ANY,
        (DType::Bool, false) => &red::REDUCE_ALL,
        (_, true) => &red::REDUCE_MAX,
        (_, false) => &red::REDUCE_MIN,
    };
    over.reduce(im, op, x)
}

fn sum_square(im: &mut Importer, x: Value, over: &Over) -> Made {
    let square = im.mul(x, x)?;
    over.reduce(im, &red::REDUCE_SUM, square)
}

/// log(sum(exp(x))), as m + log(sum(exp(x - m))) with the greatest element m, which does not overflow.
fn log_sum_exp(im: &mut Importer, x: Value, over: &Over) -> Made {
    if let Some(shape) = over.empty(im, x)? {
        return im.full(im.dtype(x)?, &shape, f64::NEG_INFINITY);
    }
    let greatest = im.reduce(&red::REDUCE_MAX, x, &over.axes, true)?;
    // An infinite greatest element would make NaN of itself.
    let infinite = im.un(&ew::IS_INF, greatest)?;
    let zero = im.like(x, 0.0)?;
    let shift = im.select(infinite, zero, greatest)?;
    let centred = im.sub(x, shift)?;
    let powers = im.un(&ew::EXP, centred)?;
    let sum = im.sum(powers, &over.axes, true)?;
    let log = im.un(&ew::LOG, sum)?;
    let result = im.add(log, shift)?;
    if over.keepdims {
        return Ok(result);
    }
    let axes: Vec<i64> = over.axes.iter().map(|&a| a as i64).collect();
    im.squeeze(result, &axes)
}

fn arg(im: &mut Importer, node: &Node, op: &'static Operator) -> Converted {
    let x = node.input(0)?;
    let attrs = Attrs::new()
        .with("axis", im.axis(x, node.int("axis", 0)?)? as i64)
        .with("keepdims", node.int("keepdims", 1)? != 0)
        .with("select_last", node.flag("select_last_index")?);
    Ok(vec![im.op(op, &[x], attrs)?])
}

fn scan(im: &mut Importer, node: &Node, op: &'static Operator) -> Converted {
    let x = node.input(0)?;
    let axis = im.int_of(node, 1)?;
    let attrs = Attrs::new()
        .with("axis", im.axis(x, axis)? as i64)
        .with("exclusive", node.flag("exclusive")?)
        .with("reverse", node.flag("reverse")?);
    Ok(vec![im.op(op, &[x], attrs)?])
}

/// k is an attribute before version 10, then an operand.
/// What k is, where it follows from extents.
fn extent_named(im: &mut Importer, node: &Node) -> Result<Option<Dim>, Fault> {
    Ok(match im.extents(node.input(1)?).as_deref() {
        Some([Extent::Dim(dim)]) if *dim != Dim::Any => Some(dim.clone()),
        _ => None,
    })
}

fn top_k(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let axis = im.axis(x, node.int("axis", -1)?)?;
    let k = match node.version < 10 {
        true => Ok(node.required_int("k")?),
        false => im.int_of(node, 1),
    };
    let attrs = Attrs::new().with("axis", axis as i64).with("smallest", node.int("largest", 1)? == 0);
    match k {
        Ok(k) => im.call(&red::TOPK, &[x], attrs.with("k", k)),
        // An extent is a number that has a name.
        Err(fault) if fault.needs_more() && extent_named(im, node)?.is_some() => {
            let mut attrs = attrs;
            attrs.set_dim("k", extent_named(im, node)?.unwrap_or(Dim::Any));
            im.call(&red::TOPK, &[x], attrs)
        }
        // All are sorted; as many are kept as turn out to be wanted, and are there.
        Err(fault) if fault.needs_more() => {
            let mut attrs = attrs;
            attrs.set_dim("k", im.dims(x)?[axis].clone());
            let sorted = im.call(&red::TOPK, &[x], attrs)?;
            let wanted = im.reshape(node.input(1)?, &[])?;
            let (wanted, all) = (im.cast(wanted, DType::I64)?, im.extent_of(x, axis)?);
            let count = im.minimum(wanted, all)?;
            sorted.into_iter().map(|all| im.first(all, count, axis)).collect()
        }
        Err(fault) => Err(fault),
    }
}
