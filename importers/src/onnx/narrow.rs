//! Element types of fewer than 8 bits, and floats of 8: numbers that are stored and converted, and not computed with.
//!
//! A program holds each in a byte: integers as numbers of i8 or u8, floats as their bits. What a byte stands for is known
//! at import only, where a value carries the row of its type. Conversions become arithmetic:
//!
//!     number of a float     a table of all codes, read at the byte
//!     float of a number     code = bits of |x| rounded to the mantissa, half to even, with the exponent biased anew;
//!                           |x| / least positive, rounded, below the least normal number
//!     integer of a number   its lowest bits
//!
//! Operators that only move elements take such values as they are ([`MOVES`]); a few convert ([`READS`]); others refuse them.

use fusion_operators::ops::elementwise as ew;
use fusion_operators::{Attrs, DType};

use super::build::Made;
use super::error::Fault;
use super::importer::Importer;
use super::node::{Node, Value};

/// A type, by its number in `TensorProto.DataType`.
#[derive(Debug)]
pub struct Narrow {
    number: i32,
    /// Its name.
    pub name: &'static str,
    /// Bits of an element in a file.
    pub bits: u32,
    /// What holds it in a program.
    pub dtype: DType,
    form: Form,
}

/// What the bits mean.
#[derive(Debug)]
enum Form {
    /// Two's complement, or none.
    Integer,
    /// Sign, exponent and mantissa.
    Float(Float),
    /// An exponent alone, biased by 127; all ones are no number.
    Exponent,
}

#[derive(Debug)]
struct Float {
    /// Bits of the mantissa.
    mantissa: u32,
    bias: i32,
    /// The code of the greatest number, of what is beyond it, and of no number.
    greatest: i64,
    beyond: i64,
    nan: i64,
    /// Whether 0 and NaN have a sign.
    signed: bool,
}

const fn float(mantissa: u32, bias: i32, [greatest, beyond, nan]: [i64; 3], signed: bool) -> Form {
    Form::Float(Float { mantissa, bias, greatest, beyond, nan, signed })
}

const fn narrow(number: i32, name: &'static str, bits: u32, dtype: DType, form: Form) -> Narrow {
    Narrow { number, name, bits, dtype, form }
}

/// All of them (Micikevicius et al., "FP8 Formats for Deep Learning", 2022; OCP Microscaling Formats 1.0).
static ROWS: [Narrow; 10] = [
    narrow(17, "float8e4m3fn", 8, DType::U8, float(3, 7, [0x7e, 0x7f, 0x7f], true)),
    narrow(18, "float8e4m3fnuz", 8, DType::U8, float(3, 8, [0x7f, 0x80, 0x80], false)),
    narrow(19, "float8e5m2", 8, DType::U8, float(2, 15, [0x7b, 0x7c, 0x7e], true)),
    narrow(20, "float8e5m2fnuz", 8, DType::U8, float(2, 16, [0x7f, 0x80, 0x80], false)),
    narrow(21, "uint4", 4, DType::U8, Form::Integer),
    narrow(22, "int4", 4, DType::I8, Form::Integer),
    // It has no code for what is no number: that becomes -0.
    narrow(23, "float4e2m1", 4, DType::U8, float(1, 1, [7, 7, 8], true)),
    narrow(24, "float8e8m0", 8, DType::U8, Form::Exponent),
    narrow(25, "uint2", 2, DType::U8, Form::Integer),
    narrow(26, "int2", 2, DType::I8, Form::Integer),
];

/// Operators that move elements and do not look at them; their results have the type of the first operand.
const MOVES: &[&str] = &[
    "Concat",
    "Expand",
    "Flatten",
    "Gather",
    "Identity",
    "Reshape",
    "Slice",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
    "Shape",
    "Size",
];
/// Operators that know what the bytes mean.
const READS: &[&str] = &["Cast", "CastLike", "QuantizeLinear", "DequantizeLinear"];

/// How a number becomes one of fewer bits.
#[derive(Clone, Copy)]
pub struct Rounding {
    /// What is beyond the greatest number becomes that.
    pub saturates: bool,
    /// To an exponent alone: up, down, or to the nearest.
    pub mode: Mode,
}

/// Where a number between two powers of two goes.
#[derive(Clone, Copy, PartialEq)]
pub enum Mode {
    Up,
    Down,
    Nearest,
}

impl Rounding {
    /// Reads the attributes.
    pub fn read(node: &Node) -> Result<Rounding, Fault> {
        let mode = match node.string("round_mode", "up")? {
            "up" => Mode::Up,
            "down" => Mode::Down,
            "nearest" => Mode::Nearest,
            _ => return Err(Fault::Attribute { name: "round_mode".into(), expected: "up, down or nearest" }),
        };
        Ok(Rounding { saturates: node.int("saturate", 1)? != 0, mode })
    }
}

impl Narrow {
    /// The type of a number in `TensorProto.DataType`.
    pub fn of(number: i64) -> Option<&'static Narrow> {
        ROWS.iter().find(|row| i64::from(row.number) == number)
    }

    /// The type an attribute names.
    pub fn of_attribute(node: &Node, name: &str) -> Result<Option<&'static Narrow>, Fault> {
        Ok(node.opt_int(name)?.and_then(Narrow::of))
    }

    /// True for integers.
    pub fn is_int(&self) -> bool {
        matches!(self.form, Form::Integer)
    }

    /// The least and greatest integer.
    pub fn range(&self) -> (f64, f64) {
        let most = 2f64.powi(self.bits as i32);
        if self.dtype == DType::I8 { (-most / 2.0, most / 2.0 - 1.0) } else { (0.0, most - 1.0) }
    }

    /// One byte an element, of a file's bytes, where elements lie from the lowest bits on.
    pub fn unpacked(&self, data: &[u8], count: usize) -> Vec<u8> {
        let (bits, per_byte) = (self.bits, (8 / self.bits) as usize);
        let spare = 8 - bits;
        let element = |i: usize| {
            let byte = data.get(i / per_byte).copied().unwrap_or(0);
            // To the top and back, which repeats the sign of a signed one.
            let top = (byte >> ((i % per_byte) as u32 * bits)) << spare;
            if self.dtype == DType::I8 { ((top as i8) >> spare) as u8 } else { top >> spare }
        };
        (0..count).map(element).collect()
    }

    /// Bytes in a file.
    pub fn packed_size(&self, count: usize) -> usize {
        count.div_ceil((8 / self.bits) as usize)
    }

    /// The number that a code stands for.
    fn number(&self, code: i64) -> f64 {
        let Form::Float(float) = &self.form else {
            return if code == 255 { f64::NAN } else { 2f64.powi(code as i32 - 127) };
        };
        let sign = 1i64 << (self.bits - 1);
        let size = code & (sign - 1);
        if !float.signed && code == float.nan {
            return f64::NAN;
        }
        let (exponent, rest) = ((size >> float.mantissa) as i32, size & ((1 << float.mantissa) - 1));
        let unit = |exponent: i32| 2f64.powi(exponent - float.bias - float.mantissa as i32);
        let value = match exponent {
            _ if size > float.greatest && size == float.beyond && float.beyond != float.nan => f64::INFINITY,
            _ if size > float.greatest => f64::NAN,
            0 => rest as f64 * unit(1),
            _ => ((1 << float.mantissa) + rest) as f64 * unit(exponent),
        };
        if code & sign != 0 { -value } else { value }
    }
}

impl Importer<'_> {
    /// The narrow type of a value, if it has one.
    pub fn narrow_of(&self, value: Value) -> Option<&'static Narrow> {
        self.entries[value.0 as usize].narrow
    }

    /// Says that a value is of a narrow type.
    pub fn mark(&mut self, value: Value, narrow: Option<&'static Narrow>) -> Value {
        self.entries[value.0 as usize].narrow = narrow;
        value
    }

    /// The narrow type of a node's operands; an error where the operator would take their bytes for numbers.
    pub(super) fn narrow_operand(&self, node: &Node) -> Result<Option<&'static Narrow>, Fault> {
        let Some(narrow) = node.inputs.iter().flatten().find_map(|&value| self.narrow_of(value)) else {
            return Ok(None);
        };
        let op = node.place.op_type.as_str();
        match MOVES.contains(&op) {
            true => Ok(Some(narrow)),
            false if READS.contains(&op) => Ok(None),
            false => Err(Fault::unsupported(format!(
                "a tensor of {}, which is only converted and moved,",
                narrow.name
            ))),
        }
    }

    /// What moves elements gives the type that it takes. A value that is only passed on has it already.
    pub(super) fn mark_moved(&mut self, results: &[Value], narrow: &'static Narrow) {
        for &value in results {
            if self.dtype(value).is_ok_and(|dtype| dtype == narrow.dtype) {
                self.mark(value, Some(narrow));
            }
        }
    }

    /// The numbers of a narrow type: f32, or the integers as they are.
    pub fn numbers(&mut self, x: Value, narrow: &Narrow) -> Made {
        if narrow.is_int() {
            return Ok(x);
        }
        let codes = 1usize << narrow.bits;
        let table: Vec<f64> = (0..codes as i64).map(|code| narrow.number(code)).collect();
        let table = self.floats(DType::F32, &[codes], &table)?;
        let places = self.cast(x, DType::I32)?;
        self.gather(table, places, 0)
    }

    /// Numbers as a narrow type.
    pub fn narrowed(&mut self, x: Value, narrow: &'static Narrow, rounding: Rounding) -> Made {
        let code = match &narrow.form {
            Form::Integer => self.lowest_bits(x, narrow)?,
            Form::Float(float) => {
                let x = self.cast(x, DType::F32)?;
                self.code(x, narrow.bits, float, rounding.saturates)?
            }
            Form::Exponent => {
                let x = self.cast(x, DType::F32)?;
                self.exponent(x, rounding)?
            }
        };
        let value = self.cast(code, narrow.dtype)?;
        Ok(self.mark(value, Some(narrow)))
    }

    /// Integers without the bits that a narrow type has not.
    fn lowest_bits(&mut self, x: Value, narrow: &Narrow) -> Made {
        let x = self.cast(x, DType::I32)?;
        if narrow.dtype == DType::U8 {
            let mask = self.like(x, narrow.range().1)?;
            return self.bin(&ew::BITWISE_AND, x, mask);
        }
        let spare = self.like(x, f64::from(32 - narrow.bits))?;
        let top = self.bin(&ew::SHIFT_LEFT, x, spare)?;
        self.bin(&ew::SHIFT_RIGHT, top, spare)
    }

    fn bits_of(&mut self, x: Value) -> Made {
        self.op(&ew::BITCAST, &[x], Attrs::new().with("dtype", DType::I32))
    }

    /// The codes of a float type for numbers of f32.
    fn code(&mut self, x: Value, bits: u32, float: &Float, saturates: bool) -> Made {
        let m = float.mantissa as i32;
        let size = self.un(&ew::ABS, x)?;
        let word = self.bits_of(size)?;
        // Normal numbers: what is cut off decides, and of a half the last bit that is kept.
        let cut = f64::from(23 - m);
        let kept = self.shifted(word, cut)?;
        let one = self.like(word, 1.0)?;
        let odd = self.bin(&ew::BITWISE_AND, kept, one)?;
        let almost_half = self.add_f(word, f64::from((1 << (22 - m)) - 1))?;
        let raised = self.add(almost_half, odd)?;
        let rounded = self.shifted(raised, cut)?;
        let normal = self.add_f(rounded, -f64::from((127 - float.bias) << m))?;
        // Below the least normal number codes are multiples of the least positive one.
        let scaled = self.mul_f(size, 2f64.powi(float.bias + m - 1))?;
        let multiple = self.un(&ew::ROUND, scaled)?;
        let multiple = self.cast(multiple, DType::I32)?;
        let is_small = self.less_f(size, 2f64.powi(1 - float.bias))?;
        let code = self.select(is_small, multiple, normal)?;
        let most = self.like(code, float.greatest as f64)?;
        let over = if saturates { most } else { self.like(code, float.beyond as f64)? };
        let is_over = self.less(most, code)?;
        let code = self.select(is_over, over, code)?;
        let is_nan = self.un(&ew::IS_NAN, x)?;
        let nan = self.like(code, float.nan as f64)?;
        let code = self.select(is_nan, nan, code)?;
        // The sign, but not of what has none.
        let word = self.bits_of(x)?;
        let mut is_negative = self.less_f(word, 0.0)?;
        let sign = f64::from(1 << (bits - 1));
        let sign_of_nan = float.nan < sign as i64;
        if !float.signed {
            let zero = self.like(code, 0.0)?;
            let is_more = self.less(zero, code)?;
            is_negative = self.and(is_negative, is_more)?;
        }
        let with_sign = self.like(code, sign)?;
        let with_sign = self.bin(&ew::BITWISE_OR, code, with_sign)?;
        let signed = self.select(is_negative, with_sign, code)?;
        if sign_of_nan { Ok(signed) } else { self.select(is_nan, nan, signed) }
    }

    /// x >> n
    fn shifted(&mut self, x: Value, n: f64) -> Made {
        let n = self.like(x, n)?;
        self.bin(&ew::SHIFT_RIGHT, x, n)
    }

    /// The exponents of numbers of f32, which have the same bias.
    fn exponent(&mut self, x: Value, rounding: Rounding) -> Made {
        let size = self.un(&ew::ABS, x)?;
        let word = self.bits_of(size)?;
        let added = match rounding.mode {
            Mode::Up => f64::from((1 << 23) - 1),
            Mode::Down => 0.0,
            Mode::Nearest => f64::from(1 << 22),
        };
        let raised = self.add_f(word, added)?;
        let normal = self.shifted(raised, 23.0)?;
        // Numbers that f32 holds without the leading one: 2^-127 is half of the least normal one.
        let bound = self
            .like(size, if rounding.mode == Mode::Up { 2f64.powi(-127) } else { 0.75 * 2f64.powi(-126) })?;
        let above = self.less(bound, size)?;
        let above = self.cast(above, DType::I32)?;
        let is_tiny = self.less_f(size, 2f64.powi(-126))?;
        let low = if rounding.mode == Mode::Down { self.like(word, 0.0)? } else { above };
        let code = self.select(is_tiny, low, normal)?;
        let (greatest, nan) = (self.like(code, 254.0)?, self.like(code, 255.0)?);
        let is_over = self.less(greatest, code)?;
        let over = if rounding.saturates { greatest } else { nan };
        let mut code = self.select(is_over, over, code)?;
        if !rounding.saturates {
            let is_zero = self.equal_f(size, 0.0)?;
            code = self.select(is_zero, nan, code)?;
        }
        let is_nan = self.un(&ew::IS_NAN, x)?;
        self.select(is_nan, nan, code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str) -> &'static Narrow {
        ROWS.iter().find(|row| row.name == name).expect("a row")
    }

    #[test]
    fn codes_stand_for_the_numbers_of_their_standard() {
        let cases = [
            ("float8e4m3fn", 0x7e, 448.0),
            ("float8e4m3fn", 0x01, 2f64.powi(-9)),
            ("float8e4m3fn", 0xb8, -1.0),
            ("float8e4m3fnuz", 0x7f, 240.0),
            ("float8e5m2", 0x7b, 57344.0),
            ("float8e5m2", 0xfc, f64::NEG_INFINITY),
            ("float8e5m2fnuz", 0x7f, 57344.0),
            ("float4e2m1", 0x1, 0.5),
            ("float4e2m1", 0xf, -6.0),
            ("float8e8m0", 0x80, 2.0),
        ];
        for (name, code, number) in cases {
            assert_eq!(row(name).number(code), number, "{name} {code:#x}");
        }
        for (name, code) in
            [("float8e4m3fn", 0xff), ("float8e4m3fnuz", 0x80), ("float8e5m2", 0x7e), ("float8e8m0", 0xff)]
        {
            assert!(row(name).number(code).is_nan(), "{name} {code:#x}");
        }
    }

    #[test]
    fn elements_lie_from_the_lowest_bits_on() {
        assert_eq!(row("uint4").unpacked(&[0x21, 0xf3], 3), [1, 2, 3]);
        assert_eq!(row("int4").unpacked(&[0x8f], 2), [0xff, 0xf8]);
        assert_eq!(row("int2").unpacked(&[0b11_10_01_00], 4), [0, 1, 0xfe, 0xff]);
        assert_eq!([1, 2, 3].map(|count| row("uint4").packed_size(count)), [1, 1, 2]);
    }
}
