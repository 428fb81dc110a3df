//! Tensors as files have them.

use crate::onnx::proto::TensorProto;
use fusion_operators::{DType, Tensor};
use prost::bytes::Bytes;

/// A tensor as a file has it; integers of 4 bits lie two in a byte, the first one in the lower half.
pub fn proto_of(name: &str, tensor: &Tensor, bits: u32) -> TensorProto {
    let (data_type, raw) = match (bits, tensor.dtype()) {
        (4, dtype) => {
            let number = if dtype == DType::U8 { 21 } else { 22 };
            let pack = |pair: &[u8]| pair[0] & 15 | pair.get(1).map_or(0, |high| high << 4);
            (number, tensor.bytes().chunks(2).map(pack).collect())
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
