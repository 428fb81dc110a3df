//! Bilinear samples at computed places of images: regions pooled to one size, and convolutions whose taps are moved.
//!
//!     RoiAlign      y[r, c, i, j] = mean or greatest of s x s samples of cell (i, j) of region r
//!     DeformConv    y[n, f, i, j] = sum_(c, k) w[f, c, k] mask[n, k, i, j] x[n, c, (i, j) stride + k dilation - pad + offset[n, k, i, j]]
//!
//! Along each axis a place lies between two elements, its taps. The image has its channels last, so that one index picks
//! all channels of an element.

use fusion_operators::ops::{elementwise as ew, indexing, reduction};
use fusion_operators::{Attrs, DType};

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::moving::spatial::Window;
use crate::onnx::ops::vision::adaptive::{self, Regions};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[row("RoiAlign", roi_align), row("DeformConv", deform_conv)];

/// Most samples an axis of a cell.
const MOST_SAMPLES: i64 = 64;

/// Where along an axis a place reads, and with what weight.
type Taps = [(Value, Value); 2];

/// a * b for each pair of taps of two axes, with their flat index in an image of that width.
fn crossed(im: &mut Importer, rows: Taps, columns: Taps, width: i64) -> Result<Vec<(Value, Value)>, Fault> {
    let mut all = Vec::new();
    for (row, a) in rows {
        let begin = im.mul_f(row, width as f64)?;
        for (column, b) in columns {
            all.push((im.add(begin, column)?, im.mul(a, b)?));
        }
    }
    Ok(all)
}

/// Elements of an image [batch..., H W, C] at flat indices, each times its weight.
fn weighted(im: &mut Importer, image: Value, index: Value, weight: Value, batch_dims: i64) -> Made {
    let attrs = Attrs::new().with("batch_dims", batch_dims);
    let found = im.op(&indexing::GATHER_ND, &[image, index], attrs)?;
    let axis = im.rank(weight)? as i64;
    let weight = im.expand_dims(weight, &[axis])?;
    im.mul(found, weight)
}

/// low <= x <= high, as a number.
fn within(im: &mut Importer, x: Value, low: f64, high: f64) -> Made {
    let (low, high) = (im.like(x, low)?, im.like(x, high)?);
    let (above, below) = (im.bin(&ew::LESS_EQUAL, low, x)?, im.bin(&ew::LESS_EQUAL, x, high)?);
    let both = im.and(above, below)?;
    im.cast(both, im.dtype(x)?)
}

/// The taps of places in an axis of that extent. Places up to one element outside read the edge, others nothing.
fn edge_taps(im: &mut Importer, place: Value, extent: i64) -> Result<Taps, Fault> {
    let counts = within(im, place, -1.0, extent as f64)?;
    let last = (extent - 1) as f64;
    let at = im.clip(place, 0.0, last)?;
    let floor = im.un(&ew::FLOOR, at)?;
    let share = im.sub(at, floor)?;
    let rest = im.f_sub(1.0, share)?;
    let next = im.add_f(floor, 1.0)?;
    let next = im.clip(next, 0.0, last)?;
    let (rest, share) = (im.mul(rest, counts)?, im.mul(share, counts)?);
    Ok([(im.cast(floor, DType::I64)?, rest), (im.cast(next, DType::I64)?, share)])
}

/// The taps of places in an axis of that extent; what lies outside is 0.
fn zero_taps(im: &mut Importer, place: Value, extent: i64) -> Result<Taps, Fault> {
    let floor = im.un(&ew::FLOOR, place)?;
    let share = im.sub(place, floor)?;
    let rest = im.f_sub(1.0, share)?;
    let next = im.add_f(floor, 1.0)?;
    let mut tap = |at: Value, weight: Value| {
        let last = (extent - 1) as f64;
        let counts = within(im, at, 0.0, last)?;
        let clipped = im.clip(at, 0.0, last)?;
        Ok::<_, Fault>((im.cast(clipped, DType::I64)?, im.mul(weight, counts)?))
    };
    Ok([tap(floor, rest)?, tap(next, share)?])
}

fn image(im: &Importer, x: Value) -> Result<[i64; 4], Fault> {
    let shape = im.shape(x, "the image")?;
    match <[i64; 4]>::try_from(shape) {
        Ok(shape) if !shape.contains(&0) => Ok(shape),
        _ => Err(Fault::unsupported(format!("an image of type {}", im.ty(x)?))),
    }
}

fn roi_align(im: &mut Importer, node: &Node) -> Converted {
    let (x, rois, batches) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let [n, channels, height, width] = image(im, x)?;
    let dtype = im.dtype(x)?;
    if im.rank(rois)? != 2 || im.rank(batches)? != 1 {
        let (rois, batches) = (im.ty(rois)?, im.ty(batches)?);
        return Err(Fault::value(format!(
            "regions must be [R, 4] with batches [R], found {rois} and {batches}"
        )));
    }
    let count = im.extent(rois, 0, "the regions")?;
    let half = match node.string("coordinate_transformation_mode", "half_pixel")? {
        "half_pixel" => node.version >= 16,
        "output_half_pixel" => false,
        _ => {
            let expected = "half_pixel or output_half_pixel";
            return Err(Fault::Attribute { name: "coordinate_transformation_mode".into(), expected });
        }
    };
    let greatest = match node.string("mode", "avg")? {
        "avg" => false,
        "max" => true,
        _ => return Err(Fault::Attribute { name: "mode".into(), expected: "avg or max" }),
    };
    let samples = match node.int("sampling_ratio", 0)? {
        0 if greatest => {
            return Err(Fault::unsupported(
                "the greatest of a number of samples that depends on the regions (sampling_ratio 0)",
            ));
        }
        s if (0..=MOST_SAMPLES).contains(&s) => s,
        s => {
            return Err(Fault::value(format!(
                "attribute sampling_ratio must be from 0 to {MOST_SAMPLES}, found {s}"
            )));
        }
    };
    let scale = node.float("spatial_scale", 1.0)?;
    let wide = im.wide(rois)?;
    let (mut ends, mut cells) = ([[wide; 2]; 2], [0; 2]);
    for (axis, (name, at)) in [("output_height", 1), ("output_width", 0)].into_iter().enumerate() {
        cells[axis] = match node.int(name, 1)? {
            cells if (1..1 << 16).contains(&cells) => cells,
            cells => return Err(Fault::value(format!("attribute {name} must be positive, found {cells}"))),
        };
        for (end, i) in ends[axis].iter_mut().zip([at, at + 2]) {
            *end = im.slice(wide, 1, i, i + 1)?;
            *end = im.mul_f(*end, scale)?;
            if half {
                *end = im.add_f(*end, -0.5)?;
            }
        }
    }
    if samples == 0 {
        let regions = Regions { ends, batches, count, cells, at_least_one: !half };
        return adaptive::mean(im, x, &regions, [n, channels, height, width]);
    }
    let mut axes = Vec::new();
    for (axis, extent) in [height, width].into_iter().enumerate() {
        let ([begin, end], cells) = (ends[axis], cells[axis]);
        let mut size = im.sub(end, begin)?;
        if !half {
            size = im.max_f(size, 1.0)?;
        }
        let step = im.mul_f(size, 1.0 / (cells * samples) as f64)?;
        let middles = im.arange(im.dtype(wide)?, cells * samples, 0.5, 1.0)?;
        let along = im.mul(step, middles)?;
        let place = im.add(begin, along)?;
        axes.push((cells, edge_taps(im, place, extent)?));
    }
    let [(rows, of_rows), (columns, of_columns)] = axes[..] else {
        return Err(Fault::value("an image has two axes"));
    };
    let raised = |im: &mut Importer, taps: Taps, axis: i64| {
        let mut raise = |v: Value| im.expand_dims(v, &[axis]);
        Ok::<Taps, Fault>([(raise(taps[0].0)?, raise(taps[0].1)?), (raise(taps[1].0)?, raise(taps[1].1)?)])
    };
    let (of_rows, of_columns) = (raised(im, of_rows, 2)?, raised(im, of_columns, 1)?);
    let image = im.transpose(x, &[0, 2, 3, 1])?;
    let image = im.reshape(image, &[n, height * width, channels])?;
    let image = im.wide(image)?;
    let batches = im.cast(batches, DType::I64)?;
    let batches = im.expand_dims(batches, &[1, 2, 3])?;
    let all = [count, rows * samples, columns * samples];
    let batches = im.broadcast_to(batches, &[&all[..], &[1]].concat())?;
    let mut result = None;
    for (index, weight) in crossed(im, of_rows, of_columns, width)? {
        let index = im.expand_dims(index, &[3])?;
        let index = im.concat(&[batches, index], 3)?;
        let weight = im.cast(weight, im.dtype(image)?)?;
        let term = weighted(im, image, index, weight, 0)?;
        result = Some(match result {
            None => term,
            Some(result) if greatest => im.maximum(result, term)?,
            Some(result) => im.add(result, term)?,
        });
    }
    let Some(result) = result else { return Err(Fault::value("an image has taps")) };
    let cells = im.reshape(result, &[count, rows, samples, columns, samples, channels])?;
    let op = if greatest { &reduction::REDUCE_MAX } else { &reduction::REDUCE_MEAN };
    let pooled = im.reduce(op, cells, &[2, 4], false)?;
    let y = im.transpose(pooled, &[0, 3, 1, 2])?;
    Ok(vec![im.cast(y, dtype)?])
}

fn deform_conv(im: &mut Importer, node: &Node) -> Converted {
    let (x, w, offset) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let [n, channels, height, width] = image(im, x)?;
    let [filters, depth, kernel @ ..] = image(im, w)?;
    let [_, of_offset, rows, columns] = image(im, offset)?;
    let window = Window::read(node, kernel.to_vec())?;
    let (group, sets) = (node.int("group", 1)?, node.int("offset_group", 1)?);
    let taps = kernel[0] * kernel[1];
    let fits = group > 0 && sets > 0 && depth.checked_mul(group) == Some(channels) && filters % group == 0;
    if !fits || channels % sets != 0 || (2 * taps).checked_mul(sets) != Some(of_offset) {
        let (x, w, offset) = (im.ty(x)?, im.ty(w)?, im.ty(offset)?);
        return Err(Fault::value(format!(
            "{x}, {w} and offsets {offset} are no convolution of {group} groups"
        )));
    }
    let dtype = im.dtype(x)?;
    let offset = im.wide(offset)?;
    let split = im.reshape(offset, &[n, sets, taps, 2, rows, columns])?;
    let mut along = Vec::new();
    for (axis, extent) in [height, width].into_iter().enumerate() {
        // Where each tap lies before it is moved, [taps, rows, columns].
        let mut places = Vec::new();
        for tap in 0..taps {
            let k = if axis == 0 { tap / kernel[1] } else { tap % kernel[1] };
            for i in 0..rows * columns {
                let at = if axis == 0 { i / columns } else { i % columns };
                places.push(
                    (at * window.strides[axis] + k * window.dilations[axis] - window.pads[axis]) as f64,
                );
            }
        }
        let places =
            im.floats(im.dtype(offset)?, &[taps as usize, rows as usize, columns as usize], &places)?;
        let moved = im.select_at(split, 3, axis as i64)?;
        let place = im.add(moved, places)?;
        along.push(zero_taps(im, place, extent)?);
    }
    let [of_rows, of_columns] = along[..] else { return Err(Fault::value("an image has two axes")) };
    let image = im.reshape(x, &[n, sets, channels / sets, height * width])?;
    let image = im.swap(image, 2, 3)?;
    let image = im.wide(image)?;
    let mut sum = None;
    for (index, weight) in crossed(im, of_rows, of_columns, width)? {
        let index = im.expand_dims(index, &[5])?;
        let weight = im.cast(weight, im.dtype(image)?)?;
        let term = weighted(im, image, index, weight, 2)?;
        sum = Some(match sum {
            None => term,
            Some(sum) => im.add(sum, term)?,
        });
    }
    let Some(mut samples) = sum else { return Err(Fault::value("an image has taps")) };
    if let Some(mask) = node.opt(4) {
        let mask = im.reshape(mask, &[n, sets, taps, rows, columns, 1])?;
        let mask = im.cast(mask, im.dtype(samples)?)?;
        samples = im.mul(samples, mask)?;
    }
    // From [n, sets, taps, rows, columns, channels] to a matrix of columns for each group.
    let ordered = im.transpose(samples, &[0, 1, 5, 2, 3, 4])?;
    let matrix = im.reshape(ordered, &[n, group, depth * taps, rows * columns])?;
    let weights = im.wide(w)?;
    let weights = im.reshape(weights, &[1, group, filters / group, depth * taps])?;
    let weights = im.broadcast_to(weights, &[n, group, filters / group, depth * taps])?;
    let product = im.matmul(weights, matrix)?;
    let mut y = im.reshape(product, &[n, filters, rows, columns])?;
    if let Some(bias) = node.opt(3) {
        let bias = im.along_channels(bias, 4)?;
        let bias = im.cast(bias, im.dtype(y)?)?;
        y = im.add(y, bias)?;
    }
    Ok(vec![im.cast(y, dtype)?])
}
