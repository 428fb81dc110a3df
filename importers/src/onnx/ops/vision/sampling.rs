//! Sampling of images at computed places.

use fusion_operators::ops::{contraction, elementwise as ew, indexing};
use fusion_operators::{Attrs, DType};

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[row("AffineGrid", affine_grid), row("GridSample", grid_sample)];

/// The places, from -1 to 1, that an affine map takes each element of an image of known size to.
fn affine_grid(im: &mut Importer, node: &Node) -> Converted {
    let theta = node.input(0)?;
    let size = im.ints_of(node, 1)?;
    let axes = size.len().saturating_sub(2);
    if !(2..=3).contains(&axes) || size.iter().any(|&n| !(1..1 << 24).contains(&n)) {
        return Err(Fault::value(format!("size must be [N, C, (D,) H, W], found {size:?}")));
    }
    let spatial = &size[2..];
    let total = spatial.iter().fold(1i64, |n, &d| n.saturating_mul(d));
    if total > 1 << 22 {
        return Err(Fault::unsupported("so large a grid"));
    }
    let corners = node.flag("align_corners")?;
    let at = |i: i64, n: i64| match corners {
        true if n == 1 => 0.0,
        true => -1.0 + 2.0 * i as f64 / (n - 1) as f64,
        false => (2 * i + 1) as f64 / n as f64 - 1.0,
    };
    // Rows (x, y, (z,) 1): the innermost axis first.
    let mut base = Vec::new();
    for flat in 0..total {
        let mut rest = flat;
        for &n in spatial.iter().rev() {
            base.push(at(rest % n, n));
            rest /= n;
        }
        base.push(1.0);
    }
    let base = im.floats(im.dtype(theta)?, &[total as usize, axes + 1], &base)?;
    let attrs = Attrs::new().with("transpose_b", true);
    let grid = im.op(&contraction::MATMUL, &[base, theta], attrs)?;
    let mut shape = vec![size[0]];
    shape.extend(spatial);
    shape.push(axes as i64);
    Ok(vec![im.reshape(grid, &shape)?])
}

#[derive(Clone, Copy, PartialEq)]
enum Padding {
    Zeros,
    Border,
    Reflection,
}

/// One axis of the image, and where along it each sample lies.
struct Along {
    extent: i64,
    place: Value,
    /// Where reflection turns.
    turns: (f64, f64),
}

impl Along {
    /// A place beyond the ends, reflected until it lies within.
    fn reflect(&self, im: &mut Importer, x: Value) -> Made {
        let (low, high) = self.turns;
        let range = high - low;
        if range <= 0.0 {
            return im.mul_f(x, 0.0);
        }
        // The distance from the low end, folded: | ((x - low) mod 2r) - r | counts back from r.
        let from_low = im.add_f(x, -low)?;
        let period = im.like(x, 2.0 * range)?;
        let within = im.bin(&ew::MOD, from_low, period)?;
        let centred = im.add_f(within, -range)?;
        let size = im.un(&ew::ABS, centred)?;
        im.f_sub(range + low, size)
    }

    /// A tap's index within the image, and whether it counts.
    fn tap(&self, im: &mut Importer, at: Value, padding: Padding) -> Result<(Value, Option<Value>), Fault> {
        let last = (self.extent - 1) as f64;
        let at = if padding == Padding::Reflection { self.reflect(im, at)? } else { at };
        let clamped = im.clip(at, 0.0, last)?;
        let inside = match padding {
            Padding::Zeros => Some(im.equal(at, clamped)?),
            _ => None,
        };
        Ok((im.cast(clamped, DType::I64)?, inside))
    }
}

fn grid_sample(im: &mut Importer, node: &Node) -> Converted {
    let (x, grid) = (node.input(0)?, node.input(1)?);
    let shape = im.shape(x, "the image")?;
    let axes = shape.len().saturating_sub(2);
    if !(1..=3).contains(&axes) || im.rank(grid)? != axes + 2 || shape.contains(&0) {
        return Err(Fault::value(format!("{} is no grid for {}", im.ty(grid)?, im.ty(x)?)));
    }
    let mode = match node.string("mode", "linear")? {
        "linear" | "bilinear" => "linear",
        "cubic" | "bicubic" => "cubic",
        "nearest" => "nearest",
        _ => return Err(Fault::Attribute { name: "mode".into(), expected: "linear, nearest or cubic" }),
    };
    let padding = match node.string("padding_mode", "zeros")? {
        "zeros" => Padding::Zeros,
        "border" => Padding::Border,
        "reflection" => Padding::Reflection,
        _ => {
            return Err(Fault::Attribute {
                name: "padding_mode".into(),
                expected: "zeros, border or reflection",
            });
        }
    };
    let corners = node.flag("align_corners")?;
    let grid = im.cast(grid, DType::F32)?;
    // The last axis of the grid names the innermost axis of the image first.
    let mut along = Vec::new();
    for i in 0..axes {
        let extent = shape[i + 2];
        let g = im.select_at(grid, axes + 1, (axes - 1 - i) as i64)?;
        let n = extent as f64;
        let (scale, shift) =
            if corners { ((n - 1.0) / 2.0, (n - 1.0) / 2.0) } else { (n / 2.0, (n - 1.0) / 2.0) };
        let scaled = im.mul_f(g, scale)?;
        let place = im.add_f(scaled, shift)?;
        let turns = if corners { (0.0, n - 1.0) } else { (-0.5, n - 0.5) };
        let mut one = Along { extent, place, turns };
        if mode != "cubic" {
            one.place = match padding {
                Padding::Zeros => place,
                Padding::Border => im.clip(place, 0.0, n - 1.0)?,
                Padding::Reflection => one.reflect(im, place)?,
            };
        }
        along.push(one);
    }
    // Channels last, so that one index picks all channels of an element.
    let order: Vec<usize> = std::iter::once(0).chain(2..axes + 2).chain([1]).collect();
    let dtype = im.dtype(x)?;
    let image = im.transpose(x, &order)?;
    let image = if dtype.is_float() { im.wide(image)? } else { im.cast(image, DType::F32)? };
    // For each axis: its taps with their weights.
    let mut taps: Vec<Vec<(Value, Option<Value>)>> = Vec::new();
    for one in &along {
        taps.push(match mode {
            "nearest" => vec![(im.un(&ew::ROUND, one.place)?, None)],
            "linear" => linear_taps(im, one.place)?,
            _ => cubic_taps(im, one.place)?,
        });
    }
    let mut sum = None;
    let counts: Vec<usize> = taps.iter().map(Vec::len).collect();
    for choice in 0..counts.iter().product::<usize>() {
        let (mut rest, mut indices, mut weight): (usize, Vec<Value>, Option<Value>) =
            (choice, Vec::new(), None);
        for (i, one) in along.iter().enumerate() {
            let (at, share) = taps[i][rest % counts[i]];
            rest /= counts[i];
            let (index, inside) = one.tap(im, at, padding)?;
            indices.push(im.expand_dims(index, &[axes as i64 + 1])?);
            let inside = inside.map(|v| im.cast(v, DType::F32)).transpose()?;
            for factor in [share, inside].into_iter().flatten() {
                weight = Some(match weight {
                    None => factor,
                    Some(weight) => im.mul(weight, factor)?,
                });
            }
        }
        let indices = im.concat(&indices, axes + 1)?;
        let attrs = Attrs::new().with("batch_dims", 1i64);
        let mut term = im.op(&indexing::GATHER_ND, &[image, indices], attrs)?;
        if let Some(weight) = weight {
            let weight = im.expand_dims(weight, &[axes as i64 + 1])?;
            let weight = im.cast(weight, im.dtype(term)?)?;
            term = im.mul(term, weight)?;
        }
        sum = Some(match sum {
            None => term,
            Some(sum) => im.add(sum, term)?,
        });
    }
    let Some(sum) = sum else { return Err(Fault::value("the image has no axes")) };
    let back: Vec<usize> = [0, axes + 1].into_iter().chain(1..axes + 1).collect();
    let y = im.transpose(sum, &back)?;
    Ok(vec![im.cast(y, dtype)?])
}

fn linear_taps(im: &mut Importer, place: Value) -> Result<Vec<(Value, Option<Value>)>, Fault> {
    let floor = im.un(&ew::FLOOR, place)?;
    let next = im.add_f(floor, 1.0)?;
    let share = im.sub(place, floor)?;
    let rest = im.f_sub(1.0, share)?;
    Ok(vec![(floor, Some(rest)), (next, Some(share))])
}

/// Keys' kernel with a = -0.75.
fn cubic_taps(im: &mut Importer, place: Value) -> Result<Vec<(Value, Option<Value>)>, Fault> {
    let a = -0.75;
    let floor = im.un(&ew::FLOOR, place)?;
    let share = im.sub(place, floor)?;
    // Coefficients of the kernel's polynomial in the distance, highest power first.
    let near = [a + 2.0, -(a + 3.0), 0.0, 1.0];
    let far = [a, -5.0 * a, 8.0 * a, -4.0 * a];
    let mut taps = Vec::new();
    for (offset, polynomial) in [(-1.0, far), (0.0, near), (1.0, near), (2.0, far)] {
        let at = im.add_f(floor, offset)?;
        let apart = im.add_f(share, -offset)?;
        let distance = im.un(&ew::ABS, apart)?;
        let mut weight = im.mul_f(distance, polynomial[0])?;
        for (i, &coefficient) in polynomial[1..].iter().enumerate() {
            weight = im.add_f(weight, coefficient)?;
            if i < 2 {
                weight = im.mul(weight, distance)?;
            }
        }
        taps.push((at, Some(weight)));
    }
    Ok(taps)
}
