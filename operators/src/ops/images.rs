//! Pictures of files as tensors. After the ONNX operator ImageDecoder.

use crate::form::{form, operand, text};
use crate::operator::{Related, cost::ten_each};
use crate::reference::images;
use crate::{Call, DType, Dim, FusionKind, Operator, TensorType, Violation, operators, require};

/// What a pixel may be, and how many numbers it then has.
pub const PIXELS: [(&str, u64); 3] = [("RGB", 3), ("BGR", 3), ("Grayscale", 1)];

/// C1: the operand is a vector of ui8. C2: a known form of pixels. How large the picture is, only decoding shows.
fn decode_relation(call: &Call) -> Related {
    let (file, wanted) = (&call.operands[0], call.attrs.str_or("pixels", "RGB"));
    require!(file.dtype == DType::U8 && file.rank() == 1, C 1, "the operand must be a vector of ui8, found {file}");
    match PIXELS.iter().find(|(name, _)| *name == wanted) {
        Some((_, channels)) => {
            Ok(vec![TensorType::new(vec![Dim::Any, Dim::Any, Dim::Static(*channels)], DType::U8)])
        }
        None => Err(Violation::new(
            2,
            format!("attribute pixels must be \"RGB\", \"BGR\" or \"Grayscale\", found {wanted:?}"),
        )),
    }
}

operators! {
    /// The picture in a file, row by row: [height, width, numbers of a pixel]
    ///
    /// Files are BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP. What is none of these, or larger than 2^28 pixels, gives an empty
    /// picture. Gray is 0.299 R + 0.587 G + 0.114 B. `pixels` is "RGB" when absent.
    /// - C1: the operand is a vector of ui8. C2: pixels is "RGB", "BGR" or "Grayscale".
    DECODE_IMAGE = Operator::new("decode_image", FusionKind::Opaque, decode_relation, ten_each, images::decode)
        .of(form(&[operand("file")]).attributes(&[text("pixels")]));
}
