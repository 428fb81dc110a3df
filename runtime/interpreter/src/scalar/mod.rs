//! Scalars of kernels, and the operations of arith and math on them.
//!
//! Floats are f64 whatever their type, and rounded where they are stored or truncated. Integers are exact and
//! wrapped to their width, in signed form; `i1` is 0 or 1.

mod float;
mod int;

use crate::InterpretError;
use fusion_dialects::{Op, OpExt, OperationLike, Type, Value, ValueLike, attr_of, dtype_of, index_type};
use fusion_operators::tensor::{push_f64, push_int};
use fusion_operators::{Attr, DType};
use std::collections::HashMap;
use std::sync::OnceLock;

/// A scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// Of an integer type or index.
    Int(i128),
    /// Of a float type.
    Float(f64),
}

impl Scalar {
    /// An integer wrapped to a width, in signed form.
    pub fn wrapped(value: i128, width: u32) -> Self {
        Scalar::Int(int::wrap(value, width))
    }

    /// The scalar an attribute is.
    pub fn of_attr(attr: &Attr) -> Option<Self> {
        match attr {
            Attr::Int(v) => Some(Scalar::Int((*v).into())),
            Attr::Bool(v) => Some(Scalar::Int((*v).into())),
            Attr::Float(v) => Some(Scalar::Float(*v)),
            _ => None,
        }
    }

    /// As an integer.
    pub fn int(self) -> i128 {
        match self {
            Scalar::Int(v) => v,
            Scalar::Float(v) => v as i128,
        }
    }

    /// As a float.
    pub fn float(self) -> f64 {
        match self {
            Scalar::Int(v) => v as f64,
            Scalar::Float(v) => v,
        }
    }

    /// Appends the scalar as an element, rounded or wrapped.
    pub fn store(self, dtype: DType, data: &mut Vec<u8>) {
        match self {
            Scalar::Int(v) => push_int(data, dtype, v),
            Scalar::Float(v) => push_f64(data, dtype, v),
        }
    }
}

fusion_dialects::operations! {
    /// Operations of scalars.
    Name {
        Constant = "arith.constant", Select = "arith.select", Bitcast = "arith.bitcast",
        AddI = "arith.addi", SubI = "arith.subi", MulI = "arith.muli",
        DivSI = "arith.divsi", DivUI = "arith.divui", RemSI = "arith.remsi", RemUI = "arith.remui",
        FloorDivSI = "arith.floordivsi", CeilDivSI = "arith.ceildivsi", CeilDivUI = "arith.ceildivui",
        AndI = "arith.andi", OrI = "arith.ori", XOrI = "arith.xori",
        ShLI = "arith.shli", ShRSI = "arith.shrsi", ShRUI = "arith.shrui",
        MaxSI = "arith.maxsi", MaxUI = "arith.maxui", MinSI = "arith.minsi", MinUI = "arith.minui",
        CmpI = "arith.cmpi", AbsI = "math.absi", IPowI = "math.ipowi",
        ExtSI = "arith.extsi", ExtUI = "arith.extui", TruncI = "arith.trunci",
        IndexCast = "arith.index_cast", IndexCastUI = "arith.index_castui",
        SIToFP = "arith.sitofp", UIToFP = "arith.uitofp", FPToSI = "arith.fptosi", FPToUI = "arith.fptoui",
        ExtF = "arith.extf", TruncF = "arith.truncf", CmpF = "arith.cmpf",
        IsNan = "math.isnan", IsInf = "math.isinf", IsFinite = "math.isfinite",
        AddF = "arith.addf", SubF = "arith.subf", MulF = "arith.mulf", DivF = "arith.divf", RemF = "arith.remf",
        NegF = "arith.negf", MaximumF = "arith.maximumf", MinimumF = "arith.minimumf",
        MaxNumF = "arith.maxnumf", MinNumF = "arith.minnumf",
        AbsF = "math.absf", Ceil = "math.ceil", Floor = "math.floor", Round = "math.round",
        RoundEven = "math.roundeven", Trunc = "math.trunc", Exp = "math.exp", Exp2 = "math.exp2",
        ExpM1 = "math.expm1", Log = "math.log", Log2 = "math.log2", Log10 = "math.log10", Log1p = "math.log1p",
        Sqrt = "math.sqrt", Rsqrt = "math.rsqrt", Cbrt = "math.cbrt", Sin = "math.sin", Cos = "math.cos",
        Tan = "math.tan", Asin = "math.asin", Acos = "math.acos", Atan = "math.atan", Sinh = "math.sinh",
        Cosh = "math.cosh", Tanh = "math.tanh", Asinh = "math.asinh", Acosh = "math.acosh", Atanh = "math.atanh",
        Erf = "math.erf", Erfc = "math.erfc", PowF = "math.powf", FPowI = "math.fpowi", Atan2 = "math.atan2",
        CopySign = "math.copysign", Fma = "math.fma",
    }
}

fn name_of(op: Op) -> Option<Name> {
    static NAMES: OnceLock<HashMap<&'static str, Name>> = OnceLock::new();
    let names = NAMES.get_or_init(|| Name::ALL.iter().map(|name| (name.name(), *name)).collect());
    names.get(op.full_name().as_str()).copied()
}

/// An operation, read once.
pub struct Step {
    name: Name,
    /// Bits of the first operand's and of the result's type.
    from: u32,
    to: u32,
    /// The result's type when it is a float.
    float: Option<DType>,
    predicate: i64,
    value: Option<Scalar>,
}

impl Step {
    /// What an operation computes.
    pub fn of(op: Op) -> Result<Self, InterpretError> {
        let name = name_of(op).ok_or_else(|| InterpretError::at(op, "is not interpreted in a kernel"))?;
        let bits = |value: Option<Value>| value.map_or(Some(0), |v| bits_of(op, v.r#type()));
        let result = op.result_values().first().copied();
        let (from, to) = (bits(op.operand(0).ok()), bits(result));
        let (Some(from), Some(to)) = (from, to) else {
            return Err(InterpretError::at(op, "is interpreted of scalars only"));
        };
        Ok(Step {
            name,
            from,
            to,
            float: result.and_then(|r| dtype_of(r.r#type())).filter(|dtype| dtype.is_float()),
            predicate: op.int("predicate").unwrap_or(0),
            value: op.attr("value").and_then(attr_of).and_then(|attr| Scalar::of_attr(&attr)),
        })
    }

    /// The value of a constant.
    pub fn constant(&self) -> Option<Scalar> {
        if self.name == Name::Constant { self.value } else { None }
    }

    /// The result, or a sentence that says why there is none.
    pub fn run(&self, x: &[Scalar]) -> Result<Scalar, String> {
        let at = |i: usize| x.get(i).copied().ok_or_else(|| format!("takes more than {} operands", x.len()));
        if let Name::Select = self.name {
            return at(if at(0)?.int() != 0 { 1 } else { 2 });
        }
        if let Name::Bitcast = self.name {
            return float::bitcast(at(0)?, self.from, self.float, self.to);
        }
        match at(0)? {
            Scalar::Float(_) => float::run(self, at),
            Scalar::Int(_) => int::run(self, at),
        }
    }
}

/// The width of a scalar type; index has 64 bits.
fn bits_of(op: Op, ty: Type) -> Option<u32> {
    match dtype_of(ty) {
        Some(DType::Bool) => Some(1),
        Some(dtype) => Some(8 * dtype.size() as u32),
        None => (ty == index_type(op.context_ref())).then_some(64),
    }
}
