//! Loading: what a file says is checked against what is there.

use std::fs;
use std::path::PathBuf;

use crate::common::*;
use fusion_importers::onnx::Options;
use fusion_importers::onnx::model::{LoadError, Model, read_tensor};
use fusion_importers::onnx::proto::{ModelProto, SparseTensorProto, StringStringEntryProto, TensorProto};
use fusion_importers::onnx::tensor::{TensorProtoError, tensor};
use fusion_operators::{DType, Tensor};
use prost::Message;

/// An empty directory of its own for each test.
fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("fusion-onnx-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the temporary directory is writable");
    path
}

fn of_type(data_type: i32, dims: &[i64]) -> TensorProto {
    TensorProto { name: "t".into(), dims: dims.to_vec(), data_type, ..Default::default() }
}

fn external(location: &str, offset: &str, length: &str) -> TensorProto {
    let entry = |key: &str, value: &str| StringStringEntryProto { key: key.into(), value: value.into() };
    let external_data = vec![entry("location", location), entry("offset", offset), entry("length", length)];
    TensorProto { external_data, data_location: 1, ..of_type(1, &[2]) }
}

#[test]
fn truncated_file_is_an_error() {
    let mut bytes = conv_model().encode_to_vec();
    bytes.truncate(bytes.len() - 3);
    assert!(matches!(Model::from_bytes(bytes), Err(LoadError::Decode { .. })));
    assert!(matches!(Model::from_bytes(b"not a model at all".to_vec()), Err(LoadError::Decode { .. })));
}

#[test]
fn model_without_graph_or_operator_set_is_an_error() {
    let empty = ModelProto::default().encode_to_vec();
    assert!(matches!(Model::from_bytes(empty), Err(LoadError::NoGraph { .. })));
    let unnamed = ModelProto { opset_import: vec![], ..conv_model() }.encode_to_vec();
    assert!(matches!(Model::from_bytes(unnamed), Err(LoadError::NoOpset { .. })));
}

#[test]
fn half_floats_are_bit_patterns() {
    let half = TensorProto { int32_data: vec![0x3c00, 0xc000], ..of_type(10, &[2]) };
    assert_eq!(tensor(&half, None).map(|t| t.to_f64s()).ok(), Some(vec![1.0, -2.0]));
    let brain = TensorProto { int32_data: vec![0x3f80, 0xc000], ..of_type(16, &[2]) };
    assert_eq!(tensor(&brain, None).map(|t| t.to_f64s()).ok(), Some(vec![1.0, -2.0]));
}

#[test]
fn booleans_become_0_or_1() {
    let raw = TensorProto { raw_data: Some(vec![0, 7].into()), ..of_type(9, &[2]) };
    assert_eq!(tensor(&raw, None).map(|t| t.bytes().to_vec()).ok(), Some(vec![0, 1]));
}

#[test]
fn every_numeric_type_has_its_field() {
    for (number, dtype) in [
        (2, DType::U8),
        (3, DType::I8),
        (4, DType::U16),
        (5, DType::I16),
        (6, DType::I32),
        (7, DType::I64),
        (11, DType::F64),
        (12, DType::U32),
        (13, DType::U64),
    ] {
        let proto = TensorProto {
            int32_data: if matches!(number, 2..=6) { vec![3] } else { vec![] },
            int64_data: if number == 7 { vec![3] } else { vec![] },
            double_data: if number == 11 { vec![3.0] } else { vec![] },
            uint64_data: if number > 11 { vec![3] } else { vec![] },
            ..of_type(number, &[1])
        };
        let found = tensor(&proto, None).expect("a small tensor");
        assert_eq!((found.dtype(), found.to_f64s()), (dtype, vec![3.0]));
    }
}

#[test]
fn wrong_extents_and_counts_are_errors() {
    assert!(matches!(tensor(&of_type(1, &[-1]), None), Err(TensorProtoError::Extent { extent: -1, .. })));
    assert!(matches!(tensor(&of_type(1, &[1 << 62]), None), Err(TensorProtoError::Extent { .. })));
    let product = of_type(1, &[1 << 40, 1 << 40]);
    assert!(matches!(tensor(&product, None), Err(TensorProtoError::Tensor { .. })));
    let short = f32s("t", &[3], &[1.0]);
    assert!(matches!(tensor(&short, None), Err(TensorProtoError::Count { expected: 3, found: 1, .. })));
    let raw = TensorProto { raw_data: Some(vec![0; 5].into()), ..of_type(1, &[2]) };
    assert!(matches!(tensor(&raw, None), Err(TensorProtoError::Tensor { .. })));
}

#[test]
fn unsupported_element_types_are_named() {
    for (number, name) in [(14, "complex64"), (99, "number 99")] {
        let error = tensor(&of_type(number, &[]), None).expect_err("the type is not supported");
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn packed_elements_get_a_byte_each() {
    let raw = TensorProto { raw_data: Some(vec![0x1f, 0x08].into()), ..of_type(22, &[3]) };
    let found = tensor(&raw, None).expect("a small tensor");
    assert_eq!((found.dtype(), found.to_f64s()), (DType::I8, vec![-1.0, 1.0, -8.0]));
    let error = tensor(&of_type(22, &[3]), None).expect_err("it is empty");
    assert_eq!(error.to_string(), "tensor 't' has 0 bytes of packed elements, but its shape [3] needs 2");
}

#[test]
fn external_data_is_read_at_its_offset() {
    let path = directory("offset");
    let bytes: Vec<u8> = [7f32, 1.0, 2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    fs::write(path.join("weights.bin"), bytes).expect("writable");
    let found = tensor(&external("weights.bin", "4", "8"), Some(&path)).expect("the data is there");
    assert_eq!(found.to_f64s(), vec![1.0, 2.0]);
    fs::write(path.join("t.pb"), f32s("t", &[1], &[5.0]).encode_to_vec()).expect("writable");
    assert_eq!(read_tensor(&path.join("t.pb")).map(|t| t.to_f64s()).ok(), Some(vec![5.0]));
}

#[test]
fn external_data_stays_in_bounds_and_in_the_directory() {
    let path = directory("bounds");
    fs::write(path.join("w"), [0; 8]).expect("writable");
    let inner = path.join("model");
    fs::create_dir(&inner).expect("writable");
    fs::write(inner.join("w"), [0; 8]).expect("writable");
    fs::create_dir(inner.join("d")).expect("writable");
    #[cfg(unix)]
    std::os::unix::fs::symlink(path.join("w"), inner.join("link")).expect("links can be made");
    for (location, offset, length, what) in [
        ("w", "4", "8", "exceeds the 4 bytes"),
        ("w", "9", "8", "beyond the 8 bytes"),
        ("w", "0", "4", "not the 8 bytes"),
        ("w", "-1", "8", "not a valid offset"),
        ("w", "0", "18446744073709551616", "not a valid length"),
        ("../w", "0", "8", "not a path within"),
        ("/etc/passwd", "0", "8", "not a path within"),
        ("", "0", "8", "not a path within"),
        ("link", "0", "8", "leads out of"),
        ("d", "0", "8", "not a regular file"),
        ("none", "0", "8", "cannot read"),
    ] {
        let error = tensor(&external(location, offset, length), Some(&inner)).expect_err(location);
        assert!(error.to_string().contains(what), "{location}: {error}");
    }
    let from_memory = tensor(&external("w", "0", "8"), None);
    assert!(matches!(from_memory, Err(TensorProtoError::NoDirectory { .. })));
}

#[test]
fn initializers_are_no_ports() {
    let mut model = conv_model();
    if let Some(graph) = &mut model.graph {
        graph.input.insert(0, input("w", 1, &["2", "1", "3", "3"]));
    }
    let (inputs, outputs) = loaded(model).ports();
    let names = |ports: &[fusion_importers::onnx::model::Port]| -> Vec<String> {
        ports.iter().map(|port| port.name.clone()).collect()
    };
    assert_eq!((names(&inputs), names(&outputs)), (vec!["x".to_owned()], vec!["y".to_owned()]));
}

fn sparse(dims: &[i64], indices: &[i64], of: &[i64], values: &[f32]) -> SparseTensorProto {
    let (values, indices) = (f32s("w", &[values.len() as i64], values), i64s("places", of, indices));
    SparseTensorProto { values: Some(values), indices: Some(indices), dims: dims.to_vec() }
}

fn with_sparse(initializer: SparseTensorProto) -> Result<Vec<Tensor>, String> {
    let mut whole =
        graph(vec![node("Add", &["x", "w"], &["y"], vec![])], vec![input("x", 1, &["2", "3"])], &["y"]);
    whole.sparse_initializer.push(initializer);
    let x = Tensor::from_slice(&[2, 3], &[1f32; 6]).unwrap();
    run(model(whole), &Options::default(), &[x]).map_err(|error| error.to_string())
}

#[test]
fn sparse_initializers_become_dense() {
    let expected = Tensor::from_slice(&[2, 3], &[1f32, 6.0, 1.0, 1.0, 1.0, -1.0]).unwrap();
    for of in
        [sparse(&[2, 3], &[1, 5], &[2], &[5.0, -2.0]), sparse(&[2, 3], &[0, 1, 1, 2], &[2, 2], &[5.0, -2.0])]
    {
        assert_eq!(with_sparse(of).unwrap()[0], expected);
    }
}

#[test]
fn sparse_initializers_that_contradict_themselves_are_refused() {
    let refused = |of| with_sparse(of).unwrap_err();
    assert!(refused(sparse(&[2, 3], &[1, 6], &[2], &[5.0, -2.0])).contains("index 1 lies outside of [2, 3]"));
    assert!(refused(sparse(&[2, 3], &[0, -1], &[1, 2], &[5.0])).contains("index 0 lies outside of [2, 3]"));
    assert!(refused(sparse(&[2, 3], &[0, 1], &[2, 1], &[5.0, 1.0])).contains("indices of shape [2, 1]"));
    assert!(refused(sparse(&[1 << 38, 3], &[0], &[1], &[5.0])).contains("are out of range"));
}
