//! What each operator computes, as tensor expressions: the te half of its row of facts.
//!
//! One family a file; each has a table from operators to definitions. An operator without a definition cannot be
//! compiled, and the conversion says so by name.

mod attention;
mod bitcast;
mod columns;
mod contraction;
mod convolution;
mod creation;
mod elementwise;
mod few_bits;
mod indexing;
pub(crate) mod indices;
mod inner_product_trick;
mod layout;
pub mod looped;
mod mean;
mod moments;
mod non_max_suppression;
mod normalization;
mod online_attention;
mod pad;
mod padding;
mod philox;
mod pooling;
mod reduction;
pub(crate) mod resize;
mod scan;
mod scatter;
mod sequence_mask;
mod shape;
mod sparse;
mod strassen;
mod topk;
mod topk_heap;
mod transposed;
mod transposed_dynamic;
mod winograd;

use fusion_dialects::module::FpMath;
use fusion_dialects::te::Kernel;
use fusion_dialects::{Value, computed_in};
use fusion_machine::Target;
use fusion_operators::{Attrs, Call, DType, Dim, Operator, TensorType};
use std::collections::HashMap;
use std::sync::OnceLock;

/// A call of an operator on tensors of a kernel.
pub struct TeCall<'c> {
    /// The operator.
    pub op: &'static Operator,
    /// Its attributes.
    pub attrs: Attrs,
    /// Tensors of the kernel.
    pub operands: Vec<Value<'c>>,
    /// Their types; extents are known or, where the operator is compiled for dynamic ones too, have names.
    pub types: Vec<TensorType>,
    /// Types of the results.
    pub results: Vec<TensorType>,
    /// What the kernel is for.
    pub target: Target,
    /// What its arithmetic may be taken for.
    pub fp_math: FpMath,
}

impl TeCall<'_> {
    /// Whether the kernel is for a GPU.
    pub fn on_gpu(&self) -> bool {
        self.target.is_gpu()
    }

    /// The type in which scalars of an element type are computed.
    pub fn compute_type(&self, dtype: DType) -> DType {
        computed_in(self.fp_math.floats(), dtype)
    }

    /// The known extents of an operand.
    pub fn shape(&self, operand: usize) -> Vec<u64> {
        self.types[operand].shape().unwrap_or_default()
    }

    /// The extents of an operand, 1 for those that are known at run time only.
    pub fn least(&self, operand: usize) -> Vec<u64> {
        self.types[operand].dims.iter().map(|dim| dim.known().unwrap_or(1)).collect()
    }

    /// The extents of an operand, which may have names.
    pub fn dims(&self, operand: usize) -> &[Dim] {
        &self.types[operand].dims
    }

    /// The known extents of a result from an axis on.
    pub fn result_extents(&self, result: usize, first: usize) -> Result<Vec<u64>, String> {
        known_from(&self.results[result], first)
    }

    /// The call as the type relations see it.
    pub fn facts(&self) -> Call<'_> {
        Call { op: self.op, operands: &self.types, attrs: &self.attrs }
    }

    /// The known extents of a result.
    pub fn result_shape(&self, result: usize) -> Vec<u64> {
        self.results[result].shape().unwrap_or_default()
    }
}

/// The extents of a tensor from an axis on, which must be known.
pub(crate) fn known_from(ty: &TensorType, first: usize) -> Result<Vec<u64>, String> {
    let known: Option<Vec<u64>> = ty.dims.iter().skip(first).map(Dim::known).collect();
    known.ok_or_else(|| format!("needs a {ty} whose extents from axis {first} on are known when compiling"))
}

/// The results of a call, or a sentence that says why it has none.
pub type Built<'c> = Result<Vec<Value<'c>>, String>;

/// Builds the computations of a call and gives its results.
pub type Definition = for<'c> fn(&Kernel<'c>, &TeCall<'c>) -> Built<'c>;

/// A family's table.
pub type Table = &'static [(&'static Operator, Definition)];

const FAMILIES: &[Table] = &[
    elementwise::TABLE,
    contraction::TABLE,
    few_bits::TABLE,
    strassen::TABLE,
    inner_product_trick::TABLE,
    attention::TABLE,
    convolution::TABLE,
    transposed::TABLE,
    columns::TABLE,
    pooling::TABLE,
    layout::TABLE,
    normalization::TABLE,
    shape::TABLE,
    pad::TABLE,
    resize::TABLE,
    indexing::TABLE,
    scatter::TABLE,
    creation::TABLE,
    reduction::TABLE,
    scan::TABLE,
    topk::TABLE,
    winograd::TABLE,
    sequence_mask::TABLE,
    philox::TABLE,
    non_max_suppression::TABLE,
    bitcast::TABLE,
];

/// True for operators that compute each element of elements at the same place, with broadcasting.
pub fn is_elementwise(op: &'static Operator) -> bool {
    elementwise::TABLE.iter().any(|(row, _)| row.is(op))
}

/// The definition of an operator.
pub fn definition_of(op: &'static Operator) -> Option<Definition> {
    static BY_ROW: OnceLock<HashMap<usize, Definition>> = OnceLock::new();
    let by_row = BY_ROW.get_or_init(|| {
        FAMILIES.iter().flat_map(|t| t.iter()).map(|(op, d)| (std::ptr::from_ref(*op) as usize, *d)).collect()
    });
    by_row.get(&(std::ptr::from_ref(op) as usize)).copied()
}
