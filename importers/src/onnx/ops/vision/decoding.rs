//! Pictures of files.

use fusion_operators::Attrs;
use fusion_operators::ops::images::DECODE_IMAGE;

use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[row("ImageDecoder", |im, node| {
    let pixels = node.string("pixel_format", "RGB")?.to_owned();
    Ok(vec![im.op(&DECODE_IMAGE, &[node.input(0)?], Attrs::new().with("pixels", pixels))?])
})];
