//! Pictures of files: what is none is empty, and one that says it is too large is.

use fusion_operators::ops::images::DECODE_IMAGE;
use fusion_operators::reference::evaluate;
use fusion_operators::{Attrs, DType, Tensor, TensorType};

fn decoded(file: &[u8], pixels: &str) -> Tensor {
    let file = Tensor::from_slice(&[file.len()], file).unwrap();
    evaluate(&DECODE_IMAGE, &Attrs::new().with("pixels", pixels), &[file]).unwrap().remove(0)
}

/// Two pixels, one above the other.
const FILE: &[u8] = b"P6 1 2 255 \x0A\x14\x1E\xFF\x00\x80";

#[test]
fn pixels_in_each_form() {
    let bytes = |pixels| decoded(FILE, pixels).bytes().to_vec();
    assert_eq!(decoded(FILE, "RGB").shape(), [2, 1, 3]);
    assert_eq!(bytes("RGB"), [10, 20, 30, 255, 0, 128]);
    assert_eq!(bytes("BGR"), [30, 20, 10, 128, 0, 255]);
    assert_eq!(decoded(FILE, "Grayscale").shape(), [2, 1, 1]);
    assert_eq!(bytes("Grayscale"), [18, 91]);
}

#[test]
fn what_is_no_picture_is_empty() {
    for file in
        [&b""[..], b"P6 1 2 255 \x0A", b"\xFF\xD8\xFF\xE0", b"\xFF\x4F\xFF\x51\x00", b"\x89PNG\r\n\x1A\n"]
    {
        assert_eq!(decoded(file, "Grayscale").shape(), [0, 0, 1]);
    }
}

#[test]
fn a_file_that_says_it_is_huge_is_empty() {
    assert_eq!(decoded(b"P6 4000000000 4000000000 255 \x0A", "RGB").shape(), [0, 0, 3]);
}

#[test]
fn constraints_are_named() {
    let wrong = |dtype, pixels| {
        let file = TensorType::fixed(&[4], dtype);
        DECODE_IMAGE.infer(&[file], &Attrs::new().with("pixels", pixels)).unwrap_err().to_string()
    };
    assert!(wrong(DType::I8, "RGB").contains("C1"));
    assert!(wrong(DType::U8, "HSV").contains("C2"));
}
