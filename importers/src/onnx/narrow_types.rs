//! The element types of fewer than 8 bits, and floats of 8: a row each, and what their codes stand for.

use fusion_operators::DType;

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
    /// What its bits mean.
    pub form: Form,
}

/// What the bits mean.
#[derive(Debug)]
pub enum Form {
    /// Two's complement, or none.
    Integer,
    /// Sign, exponent and mantissa.
    Float(Float),
    /// An exponent alone, biased by 127; all ones are no number.
    Exponent,
}

#[derive(Debug)]
pub struct Float {
    /// Bits of the mantissa.
    pub mantissa: u32,
    /// What is taken from an exponent.
    pub bias: i32,
    /// The code of the greatest number, of what is beyond it, and of no number.
    pub greatest: i64,
    #[allow(missing_docs)]
    pub beyond: i64,
    #[allow(missing_docs)]
    pub nan: i64,
    /// Whether 0 and NaN have a sign.
    pub signed: bool,
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

impl Narrow {
    /// The type of a number in `TensorProto.DataType`.
    pub fn of(number: i64) -> Option<&'static Narrow> {
        ROWS.iter().find(|row| i64::from(row.number) == number)
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
    pub fn number(&self, code: i64) -> f64 {
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
