//! The greatest element of each cell of a region whose ends are whole pixels (Girshick, "Fast R-CNN", 2015).
//!
//!     y[r, c, i, j] = max of x[b_r, c, h, w], h from start + floor(i cell) to start + ceil((i + 1) cell), w alike; 0 where a cell is empty
//!
//! Along each axis a cell is where a mask holds: columns first, then rows of what they left.

use fusion_operators::DType;
use fusion_operators::ops::{elementwise as ew, reduction};

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[row("MaxRoiPool", max_roi_pool)];

fn max_roi_pool(im: &mut Importer, node: &Node) -> Converted {
    let (x, rois) = (node.input(0)?, node.input(1)?);
    let image = <[i64; 4]>::try_from(im.shape(x, "the image")?);
    let (Ok([_, _, height, width]), [_, 5]) = (image, &im.shape(rois, "the regions")?[..]) else {
        let (x, rois) = (im.ty(x)?, im.ty(rois)?);
        return Err(Fault::value(format!(
            "takes an image of rank 4 and regions [R, 5], found {x} and {rois}"
        )));
    };
    let cells = match node.ints("pooled_shape")? {
        Some(&[rows, columns]) if (1..1 << 16).contains(&rows) && (1..1 << 16).contains(&columns) => {
            [rows, columns]
        }
        _ => return Err(Fault::Attribute { name: "pooled_shape".into(), expected: "two positive numbers" }),
    };
    let (dtype, scale) = (im.dtype(x)?, node.float("spatial_scale", 1.0)?);
    let regions = im.wide(rois)?;
    let batch = im.select_at(regions, 1, 0)?;
    let batch = im.cast(batch, DType::I64)?;
    let mut found = im.gather(x, batch, 0)?;
    let least = im.scalar(dtype, f64::NEG_INFINITY)?;
    for (first, extent, cells, axis) in [(1, width, cells[1], 3), (2, height, cells[0], 2)] {
        let mask = cells_of(im, regions, (first, scale), (extent, cells))?;
        // [R, cells, extent] to [R, 1, .., cells, extent, ..], beside an axis for the cells.
        let rank = im.rank(found)? as i64;
        let axes: Vec<i64> = (1..axis).chain(axis + 2..rank + 1).collect();
        let mask = im.expand_dims(mask, &axes)?;
        let wide = im.expand_dims(found, &[axis])?;
        let kept = im.select(mask, wide, least)?;
        found = im.reduce(&reduction::REDUCE_MAX, kept, &[axis as usize + 1], false)?;
    }
    let none = im.scalar(dtype, 0.0)?;
    let is_empty = im.equal(found, least)?;
    Ok(vec![im.select(is_empty, none, found)?])
}

/// Which places of an axis are in which cell of each region: [R, cells, extent].
fn cells_of(
    im: &mut Importer,
    regions: Value,
    (first, scale): (i64, f64),
    (extent, cells): (i64, i64),
) -> Made {
    let mut whole = |column: i64| {
        let end = im.slice(regions, 1, column, column + 1)?;
        let end = im.mul_f(end, scale)?;
        // Halves are rounded away from zero; pixels are seldom below it.
        let end = im.add_f(end, 0.5)?;
        im.un(&ew::FLOOR, end)
    };
    let (start, last) = (whole(first)?, whole(first + 2)?);
    let length = im.sub(last, start)?;
    let length = im.add_f(length, 1.0)?;
    let length = im.max_f(length, 1.0)?;
    let cell = im.mul_f(length, 1.0 / cells as f64)?;
    let dtype = im.dtype(cell)?;
    let mut bound = |first: f64, to_whole| {
        let numbers = im.arange(dtype, cells, first, 1.0)?;
        let bound = im.mul(cell, numbers)?;
        let bound = im.un(to_whole, bound)?;
        let bound = im.add(bound, start)?;
        im.expand_dims(bound, &[2])
    };
    let (begin, end) = (bound(0.0, &ew::FLOOR)?, bound(1.0, &ew::CEIL)?);
    let places = im.arange(dtype, extent, 0.0, 1.0)?;
    let (after, before) = (im.bin(&ew::GREATER_EQUAL, places, begin)?, im.less(places, end)?);
    im.and(after, before)
}
