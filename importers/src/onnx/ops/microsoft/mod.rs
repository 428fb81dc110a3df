//! Operators of ONNX Runtime's own domain, `com.microsoft`.

mod matmul_nbits;

use super::Conversion;
use crate::onnx::build::Converted;
use crate::onnx::importer::Importer;
use crate::onnx::node::Node;

pub const FAMILIES: &[&[Conversion]] = &[matmul_nbits::ROWS];

/// A row of the domain.
const fn row(
    op_type: &'static str,
    convert: for<'m> fn(&mut Importer<'m>, &Node<'m>) -> Converted,
) -> Conversion {
    Conversion { domain: "com.microsoft", op_type, convert }
}
