//! Attributes of operators with windows over [N, C, spatial...], and rearrangements of such tensors.

use fusion_operators::Dim;

use crate::onnx::build::{Converted, axis_in, volume};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("DepthToSpace", depth_to_space),
    row("SpaceToDepth", space_to_depth),
    row("CenterCropPad", center_crop_pad),
    row("Col2Im", col2im),
];

/// Strides, dilations and padding of a window, one number an axis (two of padding).
pub struct Window {
    pub kernel: Vec<i64>,
    pub strides: Vec<i64>,
    pub dilations: Vec<i64>,
    /// All beginnings, then all ends.
    pub pads: Vec<i64>,
    pub auto: Auto,
}

/// The attribute `auto_pad`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Auto {
    NotSet,
    Valid,
    SameUpper,
    SameLower,
}

impl Window {
    /// Reads the attributes, all of `axes` numbers; padding is not computed yet.
    pub fn read(node: &Node, kernel: Vec<i64>) -> Result<Self, Fault> {
        let axes = kernel.len();
        let list = |name: &str, len: usize, default: i64| match node.ints(name)? {
            None => Ok(vec![default; len]),
            Some(list) if list.len() == len => Ok(list.to_vec()),
            Some(list) => Err(Fault::value(format!(
                "attribute {name} must have {len} numbers for {axes} spatial axes, found {list:?}"
            ))),
        };
        let (strides, dilations) = (list("strides", axes, 1)?, list("dilations", axes, 1)?);
        for (name, list) in [("kernel_shape", &kernel), ("strides", &strides), ("dilations", &dilations)] {
            if list.iter().any(|&n| n < 1 || n > i64::from(i32::MAX)) {
                return Err(Fault::value(format!("attribute {name} must be positive, found {list:?}")));
            }
        }
        let auto = match node.string("auto_pad", "NOTSET")? {
            "NOTSET" | "" => Auto::NotSet,
            "VALID" => Auto::Valid,
            "SAME_UPPER" => Auto::SameUpper,
            "SAME_LOWER" => Auto::SameLower,
            _ => {
                let expected = "NOTSET, VALID, SAME_UPPER or SAME_LOWER";
                return Err(Fault::Attribute { name: "auto_pad".into(), expected });
            }
        };
        let pads = if auto == Auto::NotSet { list("pads", 2 * axes, 0)? } else { vec![0; 2 * axes] };
        if pads.iter().any(|p| p.unsigned_abs() > i32::MAX as u64) {
            return Err(Fault::value(format!("attribute pads is out of range: {pads:?}")));
        }
        Ok(Window { kernel, strides, dilations, pads, auto })
    }

    /// The extent a window covers along an axis.
    pub fn reach(&self, axis: usize) -> i64 {
        (self.kernel[axis] - 1) * self.dilations[axis] + 1
    }

    /// Computes the padding that keeps the extent (divided by the stride), when that is asked for.
    pub fn resolve(&mut self, dims: &[Dim]) -> Result<(), Fault> {
        if !matches!(self.auto, Auto::SameUpper | Auto::SameLower) {
            return Ok(());
        }
        let axes = self.kernel.len();
        for i in 0..axes {
            let stride = self.strides[i];
            let total = match dims.get(i + 2).and_then(Dim::known) {
                Some(extent) => {
                    let extent = extent as i64;
                    let out = (extent + stride - 1) / stride;
                    ((out - 1) * stride + self.reach(i) - extent).max(0)
                }
                None if stride == 1 => self.reach(i) - 1,
                None => {
                    let ty = format!("extent {} of axis {}", dims.get(i + 2).unwrap_or(&Dim::Any), i + 2);
                    return Err(Fault::NeedsShape { input: "the operand".into(), ty });
                }
            };
            let begin = if self.auto == Auto::SameUpper { total / 2 } else { total - total / 2 };
            self.pads[i] = begin;
            self.pads[axes + i] = total - begin;
        }
        Ok(())
    }
}

fn image(im: &Importer, x: Value) -> Result<[i64; 4], Fault> {
    let shape = im.shape(x, "the operand")?;
    <[i64; 4]>::try_from(shape).map_err(|_| Fault::value("the operand must have rank 4"))
}

fn block(node: &Node) -> Result<i64, Fault> {
    match node.required_int("blocksize")? {
        b if (1..=i64::from(i16::MAX)).contains(&b) => Ok(b),
        b => Err(Fault::value(format!("attribute blocksize must be positive, found {b}"))),
    }
}

fn depth_to_space(im: &mut Importer, node: &Node) -> Converted {
    let (x, b) = (node.input(0)?, block(node)?);
    let [n, c, h, w] = image(im, x)?;
    if c % (b * b) != 0 {
        return Err(Fault::value(format!("{c} channels do not divide into blocks of {b} by {b}")));
    }
    let depth = c / (b * b);
    let (split, axes) = match node.string("mode", "DCR")? {
        "DCR" => ([n, b, b, depth, h, w], [0, 3, 4, 1, 5, 2]),
        "CRD" => ([n, depth, b, b, h, w], [0, 1, 4, 2, 5, 3]),
        _ => return Err(Fault::Attribute { name: "mode".into(), expected: "DCR or CRD" }),
    };
    let x = im.reshape(x, &split)?;
    let x = im.transpose(x, &axes)?;
    Ok(vec![im.reshape(x, &[n, depth, h * b, w * b])?])
}

fn space_to_depth(im: &mut Importer, node: &Node) -> Converted {
    let (x, b) = (node.input(0)?, block(node)?);
    let [n, c, h, w] = image(im, x)?;
    if h % b != 0 || w % b != 0 {
        return Err(Fault::value(format!(
            "an image of {h} by {w} does not divide into blocks of {b} by {b}"
        )));
    }
    let x = im.reshape(x, &[n, c, h / b, b, w / b, b])?;
    // Before version 28 there is no mode but the first.
    let axes = match node.string("mode", "DCR")? {
        "DCR" => [0, 3, 5, 1, 2, 4],
        "CRD" => [0, 1, 3, 5, 2, 4],
        _ => return Err(Fault::Attribute { name: "mode".into(), expected: "DCR or CRD" }),
    };
    let x = im.transpose(x, &axes)?;
    Ok(vec![im.reshape(x, &[n, c * b * b, h / b, w / b])?])
}

/// Crops or pads axes around their centre to the extents given.
fn center_crop_pad(im: &mut Importer, node: &Node) -> Converted {
    let mut x = node.input(0)?;
    let rank = im.rank(x)?;
    let to = im.ints_of(node, 1)?;
    let axes = match node.ints("axes")? {
        None => (0..rank).collect(),
        Some(axes) => axes.iter().map(|&a| axis_in(a, rank)).collect::<Result<Vec<_>, _>>()?,
    };
    if axes.len() != to.len() {
        return Err(Fault::value(format!("{} extents are given for {} axes", to.len(), axes.len())));
    }
    let mut padding = vec![0; 2 * rank];
    for (&axis, &to) in axes.iter().zip(&to) {
        let extent = im.extent(x, axis, "the operand")?;
        if !(0..1 << 40).contains(&to) {
            return Err(Fault::value(format!("the extent {to} that is asked for is out of range")));
        }
        if extent > to {
            let begin = (extent - to) / 2;
            x = im.slice(x, axis, begin, begin + to)?;
        } else {
            padding[axis] = (to - extent) / 2;
            padding[rank + axis] = to - extent - padding[axis];
        }
    }
    Ok(vec![im.pad(x, &padding, 0.0)?])
}

/// Adds columns [N, C * block, L] into an image: element (k, l) of a column goes to l * stride + k * dilation - pad.
fn col2im(im: &mut Importer, node: &Node) -> Converted {
    use fusion_operators::Attrs;
    use fusion_operators::ops::columns::COL2IM;
    let x = node.input(0)?;
    let (size, kernel) = (im.ints_of(node, 1)?, im.ints_of(node, 2)?);
    let axes = kernel.len();
    if size.len() != axes || size.iter().any(|&n| !(1..1 << 16).contains(&n)) {
        return Err(Fault::value(format!("image shape {size:?} does not fit block shape {kernel:?}")));
    }
    let window = Window::read(node, kernel.clone())?;
    let [n, rows, columns] = <[i64; 3]>::try_from(im.shape(x, "the operand")?)
        .map_err(|_| Fault::value("the operand must have rank 3"))?;
    let taps = kernel.iter().fold(1i64, |n, &k| n.saturating_mul(k));
    if taps == 0 || rows % taps != 0 {
        return Err(Fault::value(format!("{rows} rows do not divide into blocks of {kernel:?}")));
    }
    let counts: Vec<i64> = (0..axes)
        .map(|i| (size[i] + window.pads[i] + window.pads[axes + i] - window.reach(i)) / window.strides[i] + 1)
        .collect();
    if counts.iter().any(|&c| c < 1) || volume(&counts, "the number of columns")? != columns {
        return Err(Fault::value(format!("{columns} columns are given, the shapes make {counts:?}")));
    }
    // Elements behind the last window: fewer than a stride.
    let behind = |i: usize| {
        let covered = (counts[i] - 1) * window.strides[i] + window.reach(i);
        size[i] + window.pads[i] + window.pads[axes + i] - covered
    };
    let attrs = Attrs::new()
        .with("kernel", kernel.clone())
        .with("strides", window.strides.clone())
        .with("padding", window.pads.clone())
        .with("dilation", window.dilations.clone())
        .with("output_padding", (0..axes).map(behind).collect::<Vec<_>>());
    let x = im.reshape(x, &[&[n, rows][..], &counts].concat())?;
    Ok(vec![im.op(&COL2IM, &[x], attrs)?])
}
