//! Tensors as files have them.

use crate::onnx::proto::TensorProto;
use crate::onnx::tensor::number_of;
use fusion_operators::{DType, Tensor};
use prost::bytes::Bytes;

/// A tensor as a file has it.
pub fn proto_of(name: &str, tensor: &Tensor, bits: u32) -> TensorProto {
    let (data_type, raw) = match (bits, tensor.dtype()) {
        (4, dtype) => {
            let number = if dtype == DType::U8 { 21 } else { 22 };
            (number, packed(tensor.bytes(), bits))
        }
        (_, dtype) => (number_of(dtype), tensor.bytes().to_vec()),
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
