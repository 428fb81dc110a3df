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
use super::narrow_types::{Float, Form, Narrow};
use super::node::{Node, Value};

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
const READS: &[&str] = &["Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "GatherBlockQuantized"];

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

/// The narrow type that an attribute names.
pub fn of_attribute(node: &Node, name: &str) -> Result<Option<&'static Narrow>, Fault> {
    Ok(node.opt_int(name)?.and_then(Narrow::of))
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
