//! Tensors in files: round trips, what numpy writes, and files that lie.

use fusion_operators::{DType, Tensor};
use fusion_runtime::npy::{self, NpyError};
use fusion_runtime::npz::{self, NpzError};
use fusion_runtime::random::Random;
use std::fs;
use std::path::Path;

fn npy_bytes(version: [u8; 2], header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend(version);
    match version[0] {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn parse(header: &str, data: &[u8]) -> Result<Tensor, NpyError> {
    let bytes = npy_bytes([1, 0], header, data);
    npy::read(&mut &bytes[..], bytes.len() as u64)
}

#[test]
fn every_element_type_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("all.npz");
    let mut random = Random::new(3);
    let mut tensors = npz::Tensors::new();
    for dtype in DType::ALL.into_iter().filter(|&d| d != DType::BF16) {
        tensors.insert(format!("t/{dtype}"), random.tensor(dtype, &[3, 2]).unwrap());
        tensors.insert(format!("scalar {dtype}"), random.tensor(dtype, &[]).unwrap());
        tensors.insert(format!("vector {dtype}"), random.tensor(dtype, &[5]).unwrap());
        tensors.insert(format!("empty {dtype}"), random.tensor(dtype, &[4, 0]).unwrap());
    }
    npz::write(&path, tensors.iter().map(|(n, t)| (n.as_str(), t))).unwrap();
    assert_eq!(npz::read(&path).unwrap(), tensors);

    let path = directory.path().join("one.npy");
    let one = &tensors["t/f32"];
    npz::write(&path, [("y", one)]).unwrap();
    assert_eq!(npz::read(&path).unwrap()["arr_0"], *one);
}

#[test]
fn strings_are_numbers_of_characters() {
    let of = |order: &str, data: &[[u8; 4]]| {
        parse(
            &format!("{{'descr': '{order}U2', 'fortran_order': True, 'shape': (2, 1)}}"),
            data.as_flattened(),
        )
    };
    let letters = ['é', 'a', '\u{1f600}', '\0'].map(|letter| u32::from(letter).to_le_bytes());
    let expected = Tensor::from_strings(&[2, 1], &["éa", "\u{1f600}"]).unwrap();
    assert_eq!(of("<", &letters).unwrap(), expected);
    let swapped = letters.map(|bytes| u32::from_le_bytes(bytes).to_be_bytes());
    assert_eq!(of(">", &swapped).unwrap(), expected);
    let wrong = of("<", &[[0, 0xd8, 0, 0]; 4]).unwrap_err().to_string();
    assert_eq!(wrong, "a string of the .npy file has a number that is no Unicode character");
}

#[test]
fn numpy_has_no_bf16_and_nothing_is_left() {
    let directory = tempfile::tempdir().unwrap();
    let half = Tensor::zeros(DType::BF16, &[2]).unwrap();
    let error = npz::write(&directory.path().join("x.npz"), [("x", &half)]).unwrap_err();
    assert!(error.to_string().contains("numpy has no bf16 element type"), "{error}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn orders_of_elements_and_bytes() {
    let data: Vec<u8> = (1..=6u16).flat_map(u16::to_be_bytes).collect();
    let t = parse("{'descr': '>u2', 'fortran_order': True, 'shape': (2L, 3L), }  \n", &data).unwrap();
    assert_eq!(t.to_vec::<u16>().unwrap(), [1, 3, 5, 2, 4, 6]);
    let t = parse("{\"shape\":(2,),\"descr\":\"|b1\",\"fortran_order\":False}", &[0, 7]).unwrap();
    assert_eq!(t.bytes(), [0, 1]);
    let bytes = npy_bytes([3, 0], "{'descr': '<i4', 'fortran_order': False, 'shape': ()}", &[9, 0, 0, 0]);
    assert_eq!(npy::read(&mut &bytes[..], 100).unwrap().to_ints(), [9]);
}

#[test]
fn malformed_headers_are_refused() {
    let of = |header: &str| parse(header, &[0; 8]).unwrap_err().to_string();
    for header in [
        "",
        "{",
        "{'descr'",
        "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
        "((((((((((((((((((((((((((((((",
    ] {
        assert!(of(header).starts_with("the .npy header is malformed: "), "{header}");
    }
    let typed = |t: &str| of(&format!("{{'descr': {t}, 'fortran_order': False, 'shape': (2,)}}"));
    assert_eq!(typed("'<U0'"), r#"elements of numpy type "<U0" are not supported"#);
    assert_eq!(typed("'<U3'"), "the file ends after 8 of the 24 bytes its shape [2] asks for");
    assert_eq!(typed("'<c8'"), r#"elements of numpy type "<c8" are not supported"#);
    assert_eq!(typed("'|O'"), r#"elements of numpy type "|O" are not supported"#);
    assert_eq!(typed("[('a', '<f4')]"), r#"elements of numpy type "a structure" are not supported"#);
    let many = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({})}}", "1,".repeat(200));
    assert!(of(&many).contains("more than 64 dimensions"));
}

#[test]
fn sizes_are_not_believed() {
    let shaped = |shape: &str, data: &[u8]| {
        parse(&format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}"), data).unwrap_err()
    };
    assert!(matches!(shaped("(1000000000000,)", &[0; 8]), NpyError::Truncated { .. }));
    assert!(matches!(shaped("(1000000000000, 1000000000000)", &[]), NpyError::Shape(_)));
    assert!(matches!(shaped("(3,)", &[0; 8]), NpyError::Truncated { found: 8, expected: 12, .. }));
    assert!(matches!(shaped("(1,)", &[0; 8]), NpyError::Trailing { expected: 4 }));
    let bytes = npy_bytes([2, 0], "", &[]);
    let claim = [&bytes[..8], &[0xff; 4]].concat();
    assert!(matches!(npy::read(&mut &claim[..], 12), Err(NpyError::HeaderLength(_))));
    assert!(matches!(npy::read(&mut &b"\x93NUMPY\x09\x00"[..], 8), Err(NpyError::Version(9, 0))));
    assert!(matches!(npy::read(&mut &b"\x93NU"[..], 3), Err(NpyError::Magic)));
}

/// Reads `bytes` as a file; it must not panic.
fn read(path: &Path, bytes: &[u8]) -> Result<npz::Tensors, NpzError> {
    fs::write(path, bytes).unwrap();
    npz::read(path)
}

#[test]
fn damaged_archives_give_one_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.npz");
    let tensor = Tensor::from_slice(&[2], &[1.0f32, 2.0]).unwrap();
    npz::write(&path, [("x", &tensor), ("y", &tensor)]).unwrap();
    let good = fs::read(&path).unwrap();
    for end in 0..good.len() {
        assert!(read(&path, &good[..end]).is_err(), "{end}");
    }
    for at in 0..good.len() {
        for value in [0xff, good[at] ^ 0x01] {
            let mut bad = good.clone();
            bad[at] = value;
            let _ = read(&path, &bad);
        }
    }
    for wide in 0..good.len() - 8 {
        let mut bad = good.clone();
        bad[wide..wide + 8].fill(0xff);
        let _ = read(&path, &bad);
    }
    let error = npz::read(&directory.path().join("absent.npz")).unwrap_err().to_string();
    assert!(error.contains("No such file"), "{error}");
    assert!(npz::read(directory.path()).unwrap_err().to_string().contains("cannot read"));
}

#[test]
fn an_archive_claiming_billions_of_entries_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.npz");
    // The end record of a 64-bit archive, whose directory is said to be a terabyte before it.
    for (count, size, offset) in
        [(1u64 << 34, 1u64 << 40, 0u64), (1 << 34, 1 << 40, 1 << 41), (1 << 60, u64::MAX / 2, 1 << 61)]
    {
        let mut bytes = b"PK\x03\x04".to_vec();
        let record = bytes.len() as u64;
        bytes.extend(b"PK\x06\x06");
        bytes.extend(44u64.to_le_bytes());
        bytes.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for field in [count, count, size, offset] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(b"PK\x06\x07\0\0\0\0");
        bytes.extend(record.to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
        bytes.extend(b"PK\x05\x06\0\0\0\0");
        bytes.extend([0xff; 12]);
        bytes.extend([0, 0]);
        assert!(read(&path, &bytes).is_err());
    }
}

#[test]
fn compressed_entries_are_read() {
    use std::io::Write;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.npz");
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (100, 100)}";
    let write = |data: &[u8]| {
        let mut archive = zip::ZipWriter::new(fs::File::create(&path).unwrap());
        let options =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        archive.start_file("zeros.npy", options).unwrap();
        archive.write_all(&npy_bytes([1, 0], header, data)).unwrap();
        archive.finish().unwrap();
    };
    write(&[0; 40_000]);
    assert_eq!(npz::read(&path).unwrap()["zeros"], Tensor::zeros(DType::F32, &[100, 100]).unwrap());
    // An entry that inflates to more than its header says is refused before it is inflated.
    write(&vec![0; 50_000_000]);
    let error = npz::read(&path).unwrap_err().to_string();
    assert!(error.contains("bytes after the 40000 bytes"), "{error}");
}
