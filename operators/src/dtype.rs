//! Element types of tensors.

use std::fmt;
use std::str::FromStr;

/// The type of a tensor's elements. Integers are two's complement; `Bool` is one byte, 0 or 1, in
/// memory. An element of `String` is the number of a string in a list ([`crate::strings`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum DType {
    F64,
    F32,
    F16,
    BF16,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    Bool,
    String,
}

/// What an element type holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Class {
    Float,
    Signed,
    Unsigned,
    Bool,
    String,
}

impl DType {
    /// The types of numbers, widest first in each class.
    pub const NUMBERS: [DType; 13] = [
        DType::F64,
        DType::F32,
        DType::F16,
        DType::BF16,
        DType::I64,
        DType::I32,
        DType::I16,
        DType::I8,
        DType::U64,
        DType::U32,
        DType::U16,
        DType::U8,
        DType::Bool,
    ];

    /// All element types, in the order of their declaration.
    pub const ALL: [DType; 14] = {
        let mut all = [DType::String; 14];
        let mut i = 0;
        while i < DType::NUMBERS.len() {
            all[i] = DType::NUMBERS[i];
            i += 1;
        }
        all
    };

    /// Bytes of one element in memory.
    pub const fn size(self) -> usize {
        match self {
            DType::F64 | DType::I64 | DType::U64 | DType::String => 8,
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::F16 | DType::BF16 | DType::I16 | DType::U16 => 2,
            DType::I8 | DType::U8 | DType::Bool => 1,
        }
    }

    /// Float, signed, unsigned or boolean.
    pub const fn class(self) -> Class {
        match self {
            DType::F64 | DType::F32 | DType::F16 | DType::BF16 => Class::Float,
            DType::I64 | DType::I32 | DType::I16 | DType::I8 => Class::Signed,
            DType::U64 | DType::U32 | DType::U16 | DType::U8 => Class::Unsigned,
            DType::Bool => Class::Bool,
            DType::String => Class::String,
        }
    }

    /// True for f64, f32, f16 and bf16.
    pub const fn is_float(self) -> bool {
        matches!(self.class(), Class::Float)
    }

    /// True for signed and unsigned integers, not for booleans.
    pub const fn is_int(self) -> bool {
        matches!(self.class(), Class::Signed | Class::Unsigned)
    }

    /// The name MLIR prints: `f32`, `bf16`, `i8`, `ui8`, `i1`, `!relay.string`.
    pub const fn mlir_name(self) -> &'static str {
        match self {
            DType::F64 => "f64",
            DType::F32 => "f32",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::I64 => "i64",
            DType::I32 => "i32",
            DType::I16 => "i16",
            DType::I8 => "i8",
            DType::U64 => "ui64",
            DType::U32 => "ui32",
            DType::U16 => "ui16",
            DType::U8 => "ui8",
            DType::Bool => "i1",
            DType::String => "!relay.string",
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mlir_name())
    }
}

impl FromStr for DType {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        DType::ALL.into_iter().find(|t| t.mlir_name() == text).ok_or(())
    }
}
