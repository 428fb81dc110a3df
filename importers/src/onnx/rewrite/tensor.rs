//! Tensors as files have them.

use crate::onnx::proto::TensorProto;
use fusion_operators::{DType, Tensor};
use prost::bytes::Bytes;

/// A tensor as a file has it.
pub fn proto_of(name: &str, tensor: &Tensor, bits: u32) -> TensorProto {
    let (data_type, raw) = match (bits, tensor.dtype()) {
        (4, dtype) => {
            let number = if dtype == DType::U8 { 21 } else { 22 };
            (number, packed(tensor.bytes(), bits))
        }
        (_, DType::U8) => (2, tensor.bytes().to_vec()),
        (_, DType::I8) => (3, tensor.bytes().to_vec()),
        (_, DType::I32) => (6, tensor.bytes().to_vec()),
        (_, DType::F16) => (10, tensor.bytes().to_vec()),
        (_, DType::BF16) => (16, tensor.bytes().to_vec()),
        (_, DType::F64) => (11, tensor.bytes().to_vec()),
        _ => (1, tensor.bytes().to_vec()),
    };
    TensorProto {
        dims: tensor.shape().iter().map(|&n| n as i64).collect(),
        data_type,
        name: name.to_owned(),
        raw_data: Some(Bytes::from(raw)),
        ..TensorProto::default()
    }
}

/// Elements of fewer than 8 bits, each given as a byte, as many in a byte as fit, the first one in the lowest bits.
pub fn packed(elements: &[u8], bits: u32) -> Vec<u8> {
    let mask = u8::MAX >> (8 - bits);
    let join = |some: &[u8]| {
        some.iter().enumerate().fold(0, |all, (i, element)| all | (element & mask) << (i as u32 * bits))
    };
    elements.chunks((8 / bits) as usize).map(join).collect()
}
