//! Resize and Upsample.
//!
//! What relay.resize has becomes one. Everything else (cubic kernels, antialiasing, crops) is linear in
//! the operand, one axis after the other: a gather, or a product with a matrix of weights.

use fusion_operators::ops::{contraction, shape as sh};
use fusion_operators::{Attrs, DType, Dim};

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::known::Extent;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::moving::shape::{axes_in, extents_of};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[row("Resize", resize), row("Upsample", upsample)];

/// One axis that changes.
struct Axis {
    axis: usize,
    from: i64,
    to: i64,
    scale: f64,
    /// The part that is sampled, for `tf_crop_and_resize`, in units of the axis.
    roi: (f64, f64),
}

/// How a place in the result becomes a place in the operand, and that a weighted sum.
struct Sampling<'n> {
    method: &'n str,
    coordinates: &'n str,
    rounding: &'n str,
    cubic: f64,
    antialias: bool,
    exclude_outside: bool,
    extrapolation: f64,
}

impl Sampling<'_> {
    /// True for what relay.resize has.
    fn is_an_operator(&self, dtype: DType) -> bool {
        let simple =
            matches!(self.coordinates, "half_pixel" | "pytorch_half_pixel" | "asymmetric" | "align_corners");
        let exact = !self.antialias && !self.exclude_outside && self.method != "cubic";
        simple && exact && (self.method == "nearest" || dtype.is_float())
    }

    /// relay.resize; without scales, they are those of the extents.
    fn operator(&self, im: &mut Importer, x: Value, size: Vec<Dim>, scales: Option<Vec<f64>>) -> Made {
        let mut attrs = Attrs::new();
        attrs.set_dims("size", size);
        if let Some(scales) = scales {
            attrs.set("scales", scales);
        }
        let attrs = attrs.with("method", self.method).with("coordinates", self.coordinates);
        im.op(&sh::RESIZE, &[x], attrs.with("rounding", self.rounding))
    }
}

/// Scales are an attribute before version 9, then an operand; places are asymmetric, rounded down.
fn upsample(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let scales = match node.version >= 9 {
        true => im.floats_of(node, 1)?,
        false => node.floats("scales")?.ok_or_else(|| Fault::MissingAttribute { name: "scales".into() })?,
    };
    let axes = scaled(im, x, &scales, &(0..im.rank(x)?).collect::<Vec<_>>())?;
    let sampling =
        Sampling { method: method(node)?, coordinates: "asymmetric", rounding: "floor", ..plain() };
    Ok(vec![sample(im, x, &axes, &sampling)?])
}

fn plain<'n>() -> Sampling<'n> {
    Sampling {
        method: "nearest",
        coordinates: "half_pixel",
        rounding: "round_prefer_floor",
        cubic: -0.75,
        antialias: false,
        exclude_outside: false,
        extrapolation: 0.0,
    }
}

fn method<'n>(node: &Node<'n>) -> Result<&'n str, Fault> {
    match node.string("mode", "nearest")? {
        // The first versions said bilinear where later ones say linear.
        "linear" | "bilinear" => Ok("linear"),
        mode @ ("nearest" | "cubic") => Ok(mode),
        _ => Err(Fault::Attribute { name: "mode".into(), expected: "nearest, linear or cubic" }),
    }
}

fn scaled(im: &mut Importer, x: Value, scales: &[f64], axes: &[usize]) -> Result<Vec<Axis>, Fault> {
    if scales.len() != axes.len() {
        return Err(Fault::value(format!("{} scales are given for {} axes", scales.len(), axes.len())));
    }
    let mut list = Vec::new();
    for (&scale, &axis) in scales.iter().zip(axes) {
        if !(scale > 0.0 && scale < 1e9) {
            return Err(Fault::value(format!("scales must be positive, found {scale}")));
        }
        if scale != 1.0 {
            let from = im.extent(x, axis, "the operand")?;
            list.push(Axis { axis, from, to: (from as f64 * scale).floor() as i64, scale, roi: (0.0, 1.0) });
        }
    }
    Ok(list)
}

fn resize(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let rank = im.rank(x)?;
    if node.version < 11 {
        return upsample(im, node);
    }
    let chosen = match node.ints("axes")? {
        Some(axes) => axes_in(axes, rank)?,
        None => (0..rank).collect(),
    };
    let coordinates = node.string("coordinate_transformation_mode", "half_pixel")?;
    let sampling = Sampling {
        method: method(node)?,
        coordinates,
        rounding: node.string("nearest_mode", "round_prefer_floor")?,
        cubic: node.float("cubic_coeff_a", -0.75)?,
        antialias: node.flag("antialias")?,
        exclude_outside: node.flag("exclude_outside")?,
        extrapolation: node.float("extrapolation_value", 0.0)?,
    };
    // An empty list of scales stands for none.
    let has_scales = match node.opt(2) {
        Some(scales) => im.ty(scales)?.elements() != Some(0),
        None => false,
    };
    if im.ty(x)?.shape().is_none() && coordinates != "tf_crop_and_resize" {
        return Ok(vec![dynamic(im, node, x, &chosen, &sampling, has_scales)?]);
    }
    let mut axes = match has_scales {
        true => {
            let scales = im.floats_of(node, 2)?;
            // A crop is resampled even at scale 1.
            scaled(im, x, &scales, &chosen)?
        }
        false => sized(im, node, x, &chosen)?,
    };
    if coordinates == "tf_crop_and_resize" {
        let roi = im.floats_of(node, 1)?;
        if roi.len() != 2 * chosen.len() {
            return Err(Fault::value(format!(
                "roi must have {} numbers, found {}",
                2 * chosen.len(),
                roi.len()
            )));
        }
        for (i, &axis) in chosen.iter().enumerate() {
            let part = (roi[i], roi[chosen.len() + i]);
            match axes.iter_mut().find(|a| a.axis == axis) {
                Some(entry) => entry.roi = part,
                None if part != (0.0, 1.0) => {
                    let from = im.extent(x, axis, "the operand")?;
                    axes.push(Axis { axis, from, to: from, scale: 1.0, roi: part });
                }
                None => {}
            }
        }
    }
    Ok(vec![sample(im, x, &axes, &sampling)?])
}

/// An operand of extents that are known at run time only: what relay.resize has.
fn dynamic(
    im: &mut Importer,
    node: &Node,
    x: Value,
    chosen: &[usize],
    s: &Sampling,
    has_scales: bool,
) -> Made {
    let mut size = im.dims(x)?;
    let stretches = has_scales || node.string("keep_aspect_ratio_policy", "stretch")? == "stretch";
    if !stretches || !s.is_an_operator(im.dtype(x)?) {
        return Err(Fault::NeedsShape { input: "the operand".into(), ty: im.ty(x)?.to_string() });
    }
    let mut scales = None;
    if has_scales {
        let given = im.floats_of(node, 2)?;
        let scales = scales.insert(vec![1.0; size.len()]);
        if given.len() != chosen.len() || given.iter().any(|&scale| !(scale > 0.0 && scale < 1e9)) {
            return Err(Fault::value(format!(
                "there must be a positive scale for each of {} axes, found {given:?}",
                chosen.len()
            )));
        }
        for (&scale, &axis) in given.iter().zip(chosen) {
            scales[axis] = scale;
            size[axis] = match (size[axis].known(), ratio(scale)) {
                (Some(n), _) => Dim::Static((n as f64 * scale).floor() as u64),
                (None, Some((a, b))) => size[axis].times(&Dim::Static(a)).over(&Dim::Static(b)),
                (None, None) => {
                    return Err(Fault::unsupported(format!("scaling {} elements by {scale}", size[axis])));
                }
            };
        }
    } else {
        let sizes = extents_of(im, node, 3)?;
        if sizes.len() != chosen.len() {
            return Err(Fault::value(format!("{} sizes are given for {} axes", sizes.len(), chosen.len())));
        }
        for (to, &axis) in sizes.into_iter().zip(chosen) {
            size[axis] = to.dim();
        }
    }
    if size.contains(&Dim::Any) {
        return Err(Fault::NeedsValue(format!(
            "input 3 ('{}') must be extents that follow from those of the inputs",
            node.name(3)
        )));
    }
    s.operator(im, x, size, scales)
}

/// Greatest denominator of a scale that is taken for a ratio.
const MOST_PARTS: u64 = 64;

/// A scale as a ratio of small numbers, when it is one.
fn ratio(scale: f64) -> Option<(u64, u64)> {
    (1..=MOST_PARTS).find_map(|b| {
        let a = scale * b as f64;
        (a.fract() == 0.0 && a >= 1.0).then_some((a as u64, b))
    })
}

fn sized(im: &mut Importer, node: &Node, x: Value, chosen: &[usize]) -> Result<Vec<Axis>, Fault> {
    let sizes = extents_of(im, node, 3)?;
    if sizes.len() != chosen.len() {
        return Err(Fault::value(format!("{} sizes are given for {} axes", sizes.len(), chosen.len())));
    }
    let dims = im.dims(x)?;
    let mut list = Vec::new();
    for (size, &axis) in sizes.into_iter().zip(chosen) {
        let to = match size {
            Extent::Known(to) if (1..1 << 40).contains(&to) => to,
            Extent::Dim(dim) if dim == dims[axis] => continue,
            Extent::Known(n) => return Err(Fault::value(format!("sizes must be positive, found {n}"))),
            Extent::Dim(_) => {
                let name = node.name(3);
                return Err(Fault::NeedsValue(format!(
                    "input 3 ('{name}') must be known when the model is imported"
                )));
            }
        };
        let from = im.extent(x, axis, "the operand")?;
        list.push(Axis { axis, from, to, scale: to as f64 / from as f64, roi: (0.0, 1.0) });
    }
    let policy = node.string("keep_aspect_ratio_policy", "stretch")?;
    let scales = list.iter().map(|a| a.scale);
    let common = match policy {
        "stretch" => None,
        "not_larger" => scales.reduce(f64::min),
        "not_smaller" => scales.reduce(f64::max),
        _ => {
            let expected = "stretch, not_larger or not_smaller";
            return Err(Fault::Attribute { name: "keep_aspect_ratio_policy".into(), expected });
        }
    };
    for axis in &mut list {
        if let Some(scale) = common {
            axis.scale = scale;
            axis.to = (scale * axis.from as f64 + 0.5).floor() as i64;
        }
    }
    list.retain(|a| a.scale != 1.0 || a.from != a.to);
    Ok(list)
}

fn sample(im: &mut Importer, x: Value, axes: &[Axis], s: &Sampling) -> Made {
    if axes.is_empty() {
        return Ok(x);
    }
    if let Some(axis) = axes.iter().find(|a| a.from == 0) {
        return Err(Fault::value(format!("axis {} of the operand is empty", axis.axis)));
    }
    if let Some(mut size) = im.ty(x)?.shape().map(|_| im.dims(x)).transpose()?
        && s.is_an_operator(im.dtype(x)?)
        && axes.iter().all(|a| a.to > 0)
    {
        let mut scales = vec![1.0; size.len()];
        for a in axes {
            size[a.axis] = Dim::Static(a.to as u64);
            scales[a.axis] = a.scale;
        }
        return s.operator(im, x, size, Some(scales));
    }
    let dtype = im.dtype(x)?;
    let float = dtype.is_float();
    let mut y = if s.method == "nearest" { x } else { im.wide(x)? };
    if s.method != "nearest" && !float {
        y = im.cast(y, DType::F32)?;
    }
    for a in axes {
        y = along(im, y, a, s)?;
    }
    im.cast(y, dtype)
}

/// Samples one axis.
fn along(im: &mut Importer, x: Value, a: &Axis, s: &Sampling) -> Made {
    if a.to.saturating_mul(a.from) > 1 << 24 {
        return Err(Fault::unsupported(format!(
            "resizing an axis from {} to {} elements this way",
            a.from, a.to
        )));
    }
    let places: Vec<f64> = (0..a.to).map(|o| place(o as f64, a, s)).collect::<Result<_, _>>()?;
    let y = if s.method == "nearest" {
        let nearest: Vec<i64> = places.iter().map(|&p| round(p, s).clamp(0, a.from - 1)).collect();
        let nearest = im.ints(&[nearest.len()], &nearest)?;
        im.gather(x, nearest, a.axis)?
    } else {
        let (rows, columns) = (places.len(), a.from as usize);
        let mut weights = vec![0.0; rows * columns];
        for (row, &p) in places.iter().enumerate() {
            weigh(p, a, s, &mut weights[row * columns..][..columns]);
        }
        let weights = im.floats(im.dtype(x)?, &[rows, columns], &weights)?;
        let last = im.rank(x)? - 1;
        let x = im.swap(x, a.axis, last)?;
        let y = im.bin(&contraction::DENSE, x, weights)?;
        im.swap(y, a.axis, last)?
    };
    if s.coordinates != "tf_crop_and_resize" {
        return Ok(y);
    }
    let inside: Vec<f64> =
        places.iter().map(|p| f64::from(u8::from((0.0..=(a.from - 1) as f64).contains(p)))).collect();
    if inside.iter().all(|&i| i == 1.0) {
        return Ok(y);
    }
    let inside = im.floats(DType::Bool, &[inside.len()], &inside)?;
    let behind: Vec<i64> = (1..(im.rank(y)? - a.axis) as i64).collect();
    let inside = im.expand_dims(inside, &behind)?;
    let outside = im.like(y, s.extrapolation)?;
    im.select(inside, y, outside)
}

/// The place in the operand of an element of the result.
fn place(o: f64, a: &Axis, s: &Sampling) -> Result<f64, Fault> {
    let (from, to) = (a.from as f64, a.scale * a.from as f64);
    Ok(match s.coordinates {
        "half_pixel" => (o + 0.5) / a.scale - 0.5,
        "pytorch_half_pixel" if to <= 1.0 => -0.5,
        "pytorch_half_pixel" => (o + 0.5) / a.scale - 0.5,
        "asymmetric" => o / a.scale,
        "align_corners" if to <= 1.0 => 0.0,
        "align_corners" => o * (from - 1.0) / (to - 1.0),
        "half_pixel_symmetric" => from / 2.0 * (1.0 - a.to as f64 / to) + (o + 0.5) / a.scale - 0.5,
        "tf_crop_and_resize" => {
            let (begin, end) = a.roi;
            let step = match a.to {
                1 => (end - begin) * (from - 1.0) / 2.0,
                _ => o * (end - begin) * (from - 1.0) / (to - 1.0),
            };
            step + begin * (from - 1.0)
        }
        other => return Err(Fault::unsupported(format!("coordinate_transformation_mode '{other}'"))),
    })
}

fn round(p: f64, s: &Sampling) -> i64 {
    (match s.rounding {
        "floor" => p.floor(),
        "ceil" => p.ceil(),
        "round_prefer_ceil" => (p + 0.5).floor(),
        _ => (p - 0.5).ceil(),
    }) as i64
}

/// The weights of the operand's elements at a place; elements beyond the ends repeat those there.
fn weigh(p: f64, a: &Axis, s: &Sampling, weights: &mut [f64]) {
    // With antialiasing the kernel is as wide as the elements that fall together.
    let shrink = if s.antialias { a.scale.min(1.0) } else { 1.0 };
    let reach = if s.method == "cubic" { 2.0 } else { 1.0 } / shrink;
    let kernel = |distance: f64| {
        let (d, c) = ((distance * shrink).abs(), s.cubic);
        match s.method {
            "cubic" if d <= 1.0 => ((c + 2.0) * d - (c + 3.0)) * d * d + 1.0,
            "cubic" if d < 2.0 => ((c * d - 5.0 * c) * d + 8.0 * c) * d - 4.0 * c,
            "cubic" => 0.0,
            _ => (1.0 - d).max(0.0),
        }
    };
    let (first, last) = ((p - reach).floor() as i64, (p + reach).ceil() as i64);
    let mut total = 0.0;
    for tap in first..=last {
        let weight = kernel(tap as f64 - p);
        if s.exclude_outside && !(0..a.from).contains(&tap) {
            continue;
        }
        weights[tap.clamp(0, a.from - 1) as usize] += weight;
        total += weight;
    }
    if total != 0.0 {
        for weight in weights {
            *weight /= total;
        }
    }
}
