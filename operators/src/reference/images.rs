//! Pictures of files, as the `image` crate and, for JPEG 2000, `hayro-jpeg2000` decode them.

use super::Evaluated;
use crate::{Call, DType, Tensor, TensorType};
use hayro_jpeg2000::{ColorSpace, DecodeSettings, DecoderContext, Image};
use image::{ImageReader, Limits};
use std::io::Cursor;

/// A file may say that its picture is larger than memory.
const MOST_PIXELS: u64 = 1 << 28;
const CHANNELS: usize = 3;
const JPEG_2000: [&[u8]; 2] = [b"\x00\x00\x00\x0CjP  ", b"\xFF\x4F\xFF\x51"];

/// A picture of red, green and blue.
struct Picture {
    extents: [usize; 2],
    pixels: Vec<u8>,
}

/// The picture in a file; an empty one where there is none.
pub fn decode(call: &Call, _: &[TensorType], x: &[Tensor]) -> Evaluated {
    let file = x[0].bytes();
    let is_2000 = JPEG_2000.iter().any(|magic| file.starts_with(magic));
    let read = if is_2000 { jpeg_2000(file) } else { others(file) };
    let Picture { extents: [height, width], pixels } =
        read.unwrap_or(Picture { extents: [0, 0], pixels: vec![] });
    let triples = pixels.chunks_exact(CHANNELS);
    let (channels, data) = match call.attrs.str_or("pixels", "RGB") {
        "BGR" => (CHANNELS, triples.flat_map(|p| [p[2], p[1], p[0]]).collect()),
        "Grayscale" => (1, triples.map(gray).collect()),
        _ => (CHANNELS, pixels),
    };
    Ok(vec![Tensor::from_bytes(DType::U8, &[height, width, channels], data)?])
}

/// Luma of ITU-R BT.601, to the nearest number.
fn gray(pixel: &[u8]) -> u8 {
    let [red, green, blue] = [pixel[0], pixel[1], pixel[2]].map(u32::from);
    ((299 * red + 587 * green + 114 * blue + 500) / 1000) as u8
}

fn is_bounded(width: u32, height: u32) -> bool {
    u64::from(width) * u64::from(height) <= MOST_PIXELS
}

fn others(file: &[u8]) -> Option<Picture> {
    let reader = || ImageReader::new(Cursor::new(file)).with_guessed_format().ok();
    let (width, height) = reader()?.into_dimensions().ok()?;
    if !is_bounded(width, height) {
        return None;
    }
    let mut reader = reader()?;
    let mut limits = Limits::default();
    // Samples may have 16 bits, and a fourth one says how opaque a pixel is.
    limits.max_alloc = Some(8 * u64::from(width) * u64::from(height) + (1 << 20));
    reader.limits(limits);
    let pixels = reader.decode().ok()?.into_rgb8().into_raw();
    Some(Picture { extents: [height as usize, width as usize], pixels })
}

fn jpeg_2000(file: &[u8]) -> Option<Picture> {
    let picture = Image::new(file, &DecodeSettings::default()).ok()?;
    let (width, height) = (picture.width(), picture.height());
    let samples = match picture.color_space() {
        ColorSpace::Gray => 1,
        ColorSpace::RGB => CHANNELS,
        _ => return None,
    };
    if !is_bounded(width, height) {
        return None;
    }
    let each = samples + usize::from(picture.has_alpha());
    let decoded = picture.decode(&mut DecoderContext::default()).ok()?.data_u8();
    let pixels = decoded.chunks_exact(each);
    let pixels: Vec<u8> = match samples {
        1 => pixels.flat_map(|p| [p[0]; CHANNELS]).collect(),
        _ => pixels.flat_map(|p| [p[0], p[1], p[2]]).collect(),
    };
    let extents = [height as usize, width as usize];
    (pixels.len() == CHANNELS * extents[0] * extents[1]).then_some(Picture { extents, pixels })
}
