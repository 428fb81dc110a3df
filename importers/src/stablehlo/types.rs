//! Types of StableHLO values.

use fusion_operators::{DType, Dim, TensorType};
use std::fmt;
use std::rc::Rc;

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// A tensor.
    Tensor(TensorTy),
    /// A tuple.
    Tuple(Vec<Type>),
    /// What orders side effects.
    Token,
    /// A type that no value of a supported program has.
    Other(String),
}

/// The type of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorTy {
    /// Extents; none where only running shows.
    pub dims: Vec<Option<u64>>,
    /// What its elements are.
    pub element: Element,
}

/// The type of an element.
#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    /// One that relay has.
    Plain(DType),
    /// A pair of floats.
    Complex(DType),
    /// An integer of fewer than 8 bits, kept in 8.
    Narrow {
        /// How many bits.
        bits: u32,
        /// Whether it may be below 0.
        signed: bool,
    },
    /// An integer that stands for a float.
    Quantized(Rc<Quantized>),
    /// One that no kernel computes.
    Other(String),
}

/// `real = (stored - zero) * scale`, by one scale or one each along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantized {
    /// What is stored.
    pub storage: Element,
    /// What it stands for.
    pub expressed: DType,
    /// The axis of the scales, where there are several.
    pub axis: Option<usize>,
    /// The scales.
    pub scales: Vec<f64>,
    /// The stored numbers that stand for 0.
    pub zeros: Vec<i64>,
    /// The least and the greatest stored number.
    pub range: (i64, i64),
}

impl Element {
    /// In what relay keeps an element, or one part of a complex one.
    pub fn kept(&self) -> Option<DType> {
        match self {
            Element::Plain(dtype) | Element::Complex(dtype) => Some(*dtype),
            Element::Narrow { signed, .. } => Some(if *signed { DType::I8 } else { DType::U8 }),
            Element::Quantized(quantized) => quantized.storage.kept(),
            Element::Other(_) => None,
        }
    }
}

impl TensorTy {
    /// The extents as relay has them, where only running shows as `?`.
    pub fn extents(&self) -> Vec<Dim> {
        self.dims.iter().map(|dim| dim.map_or(Dim::Any, Dim::Static)).collect()
    }

    /// The extents, when all are known.
    pub fn shape(&self) -> Option<Vec<u64>> {
        self.dims.iter().copied().collect()
    }

    /// As relay has it; of a complex tensor, one part.
    pub fn kept(&self) -> Option<TensorType> {
        Some(TensorType::new(self.extents(), self.element.kept()?))
    }
}

impl Type {
    /// The tensor type, where it is one.
    pub fn tensor(&self) -> Option<&TensorTy> {
        match self {
            Type::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// How many elements a tensor has, when all extents are known.
    pub fn elements(&self) -> Option<u64> {
        self.tensor()?.shape()?.into_iter().try_fold(1u64, u64::checked_mul)
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Plain(dtype) => write!(f, "{dtype}"),
            Element::Complex(dtype) => write!(f, "complex<{dtype}>"),
            Element::Narrow { bits, signed } => write!(f, "{}i{bits}", if *signed { "" } else { "u" }),
            Element::Quantized(q) => write!(f, "!quant.uniform<{}:{}>", q.storage, q.expressed),
            Element::Other(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Tensor(tensor) => {
                f.write_str("tensor<")?;
                for dim in &tensor.dims {
                    match dim {
                        Some(n) => write!(f, "{n}x")?,
                        None => f.write_str("?x")?,
                    }
                }
                write!(f, "{}>", tensor.element)
            }
            Type::Tuple(types) => {
                let texts: Vec<String> = types.iter().map(Type::to_string).collect();
                write!(f, "tuple<{}>", texts.join(", "))
            }
            Type::Token => f.write_str("!stablehlo.token"),
            Type::Other(text) => f.write_str(text),
        }
    }
}
