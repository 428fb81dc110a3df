//! The row of facts of an operator.

use crate::evaluation::Evaluated;
use crate::form::Form;
use crate::quantization::Quantization;
use crate::{Attrs, DType, Precision, Tensor, TensorType, Violation};

/// How an operator may be fused with its neighbours: Relay's operator patterns
/// (Roesch et al., "Relay: A High-Level Compiler for Deep Learning", section 4.4), ordered from the
/// freest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FusionKind {
    /// One output element needs the input elements at the same index.
    Elementwise,
    /// As elementwise, with inputs repeated along some axes.
    Broadcast,
    /// One output element needs one input element at an index that follows from its own.
    Injective,
    /// Many input elements are combined into one output element.
    Reduction,
    /// One row of the result needs the same row of the first operand; the axis (`axis`, the last when absent) ends the rows.
    Rows,
    /// A contraction or convolution: elementwise consumers may run on its results as an epilogue.
    Contraction,
    /// Stays alone.
    Opaque,
}

/// An operator applied to operand types and attributes.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The operator.
    pub op: &'static Operator,
    /// Types of the operands.
    pub operands: &'a [TensorType],
    /// Attributes.
    pub attrs: &'a Attrs,
}

/// Result types, or the constraint that does not hold.
pub type Related = Result<Vec<TensorType>, Violation>;

/// The attribute of products with the element type of their sums.
pub const OUT_DTYPE: &str = "out_dtype";

/// A type relation.
pub type Relation = fn(&Call) -> Related;

/// Computes a call on host tensors. `results` are the types its relation gave.
pub type Reference = fn(&Call, results: &[TensorType], operands: &[Tensor]) -> Evaluated;

/// Arithmetic of a call, in floating-point (or integer) operations. Bytes follow from the types.
pub type Cost = fn(&Call, results: &[TensorType]) -> f64;

/// One operator: a row of facts. Rows are statics; two rows are the same operator when they are the
/// same static, and an operator is compared by identity ([`Operator::is`]).
pub struct Operator {
    /// Name in the dialect without its prefix: `conv2d` for `relay.conv2d`.
    pub name: &'static str,
    /// What it is, in words: the first line is a summary.
    pub docs: &'static [&'static str],
    /// What a call looks like.
    pub form: Form,
    /// Result types from operand types and attributes.
    pub relation: Relation,
    /// How it fuses.
    pub fusion: FusionKind,
    /// Arithmetic operations of a call.
    pub cost: Cost,
    /// What it computes, plainly, on host tensors: the oracle of every test.
    pub reference: Reference,
    /// Whether operands and results may be tensors of strings.
    pub takes_strings: bool,
    /// What a quantizer may do with a call; without it a call stays in floats.
    pub quantization: Option<&'static Quantization>,
    /// In which floats it computes where a program has narrow ones; without it, as its fusion kind says ([`Operator::precision`]).
    pub computes: Option<Precision>,
}

impl Operator {
    /// A row of one operand and no attributes, unless [`of`](Operator::of) says otherwise.
    pub const fn new(
        name: &'static str,
        fusion: FusionKind,
        relation: Relation,
        cost: Cost,
        reference: Reference,
    ) -> Operator {
        Operator {
            name,
            docs: &[],
            form: Form::UNARY,
            relation,
            fusion,
            cost,
            reference,
            takes_strings: false,
            quantization: None,
            computes: None,
        }
    }

    /// The same row with another form.
    pub const fn of(self, form: Form) -> Operator {
        Operator { form, ..self }
    }

    /// The same row, whose calls may be quantized.
    pub const fn quantized(self, how: &'static Quantization) -> Operator {
        Operator { quantization: Some(how), ..self }
    }

    /// The same row, which computes in those floats whatever its fusion kind says.
    pub const fn computes(self, precision: Precision) -> Operator {
        Operator { computes: Some(precision), ..self }
    }

    /// The same row, of an operator that only moves or compares elements, or is one of strings.
    pub const fn of_strings(self) -> Operator {
        Operator { takes_strings: true, ..self }
    }

    /// The same row, whose operands may change places.
    pub const fn commutes(self) -> Operator {
        Operator { form: Form { commutes: true, ..self.form }, ..self }
    }

    /// The same row with its documentation, as `operators!` finds it.
    pub const fn documented(self, docs: &'static [&'static str]) -> Operator {
        Operator { docs, ..self }
    }

    /// Fewest and most operands; `usize::MAX` for any number.
    pub fn arity(&self) -> (usize, usize) {
        self.form.arity()
    }

    /// In which floats it computes where a program has narrow ones.
    pub fn precision(&self) -> Precision {
        self.computes.unwrap_or(match self.fusion {
            FusionKind::Contraction => Precision::Narrow,
            FusionKind::Elementwise | FusionKind::Broadcast | FusionKind::Injective => Precision::Follow,
            FusionKind::Reduction | FusionKind::Rows | FusionKind::Opaque => Precision::Wide,
        })
    }

    /// True when an attribute of its calls says in which type their products are summed.
    pub fn names_sums(&self) -> bool {
        self.form.attributes.iter().any(|attribute| attribute.name == OUT_DTYPE)
    }

    /// True when both are the same row.
    pub fn is(&self, other: &Operator) -> bool {
        std::ptr::eq(self, other)
    }

    /// Checks the number of operands and whether they may be strings (constraint C0), then the type relation.
    pub fn infer(&'static self, operands: &[TensorType], attrs: &Attrs) -> Related {
        let (least, most) = self.arity();
        crate::require!(
            (least..=most).contains(&operands.len()),
            C 0,
            "relay.{} takes {} operands, found {}",
            self.name,
            if least == most { least.to_string() } else { format!("at least {least}") },
            operands.len()
        );
        let results = |types: &[TensorType]| types.iter().any(|ty| ty.dtype == DType::String);
        crate::require!(
            self.takes_strings || !results(operands),
            C 0,
            "relay.{} takes no strings; operators on strings are relay.equal, relay.where, those that move elements, and \
             those whose names begin with string_",
            self.name
        );
        let found = (self.relation)(&Call { op: self, operands, attrs })?;
        crate::require!(
            self.takes_strings || !results(&found),
            C 0,
            "relay.{} gives no strings; write relay.string_of to make strings of numbers",
            self.name
        );
        Ok(found)
    }
}

impl std::fmt::Debug for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "relay.{}", self.name)
    }
}

/// Costs that many rows share.
pub mod cost {
    use super::*;

    /// Elements of all results together; unknown extents count as 1.
    pub fn elements(types: &[TensorType]) -> f64 {
        let of_one = |t: &TensorType| t.dims.iter().map(|d| d.known().unwrap_or(1) as f64).product::<f64>();
        types.iter().map(of_one).sum()
    }

    /// No arithmetic: data is only moved.
    pub fn free(_: &Call, _: &[TensorType]) -> f64 {
        0.0
    }

    /// One operation for each element of the result.
    pub fn one_each(_: &Call, results: &[TensorType]) -> f64 {
        elements(&results[..1])
    }

    /// A transcendental function for each element of the result, counted as ten operations.
    pub fn ten_each(_: &Call, results: &[TensorType]) -> f64 {
        10.0 * elements(&results[..1])
    }

    /// One operation for each element of the first operand.
    pub fn one_each_input(call: &Call, _: &[TensorType]) -> f64 {
        elements(&call.operands[..1])
    }
}
