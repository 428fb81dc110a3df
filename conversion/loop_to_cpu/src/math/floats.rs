//! Arithmetic on f32 or f64, a scalar or all lanes of a vector at once: what the functions of this folder are written in.
//!
//!     let s = m.mul(x, x);                  %s = arith.mulf %x, %x : vector<16xf32>
//!     m.fma(s, x, x)                  =>    math.fma %s, %x, %x : vector<16xf32>
//!
//! No operation has fast-math flags: each rounds once, which the functions' error bounds rely on. A function is written once for
//! both types; what differs, coefficients and limits, it chooses by `in_precision` and `Coefficients`.

use fusion_dialects::{
    Attribute, Build, Type, Value, ValueLike, array_attr, int_attr, scalar_type, vector_parts, vector_type,
};
use fusion_operators::DType;

/// `1.5 * 2^23` and `1.5 * 2^52`: what is added to it is rounded to an integer, which stands in the low bits.
const ROUND: (f32, f64) = (12_582_912.0, 6_755_399_441_055_744.0);

/// Lanes of f32 of a register of AVX-512.
const REGISTER: u64 = 16;

/// Coefficients of a polynomial for each of the two types, that of the constant first.
pub struct Coefficients {
    /// Those for f32.
    pub single: &'static [f32],
    /// Those for f64.
    pub double: &'static [f64],
}

/// Relations of floats; false when one is no number.
#[derive(Clone, Copy)]
#[repr(i64)]
pub enum Is {
    /// The same; zeros of both signs are.
    Equal = 1,
    /// The first is larger.
    Above = 2,
    /// The first is smaller.
    Below = 4,
    /// Both are numbers.
    Number = 7,
}

/// Builds operations at a place, for that many lanes.
#[derive(Clone, Copy)]
pub struct Floats<'c> {
    /// The place.
    pub build: Build<'c>,
    /// `None` for scalars.
    pub lanes: Option<u64>,
    /// f32 or f64.
    pub dtype: DType,
    /// The largest absolute value an operand of the function can have.
    pub within: f64,
    /// Whether the first operand of the function is known to be a number.
    pub first_is_number: bool,
    /// Whether there are the instructions of AVX-512, which multiply a whole register by powers of two, or look up in it.
    pub avx512: bool,
    /// Whether no instruction multiplies and adds floats, rounding once.
    pub unfused: bool,
    /// Whether there is an instruction for `2^x` of f32, off by up to 2 units in the last place.
    pub exp2: bool,
}

impl<'c> Floats<'c> {
    /// The type of all lanes.
    pub fn ty(&self, dtype: DType) -> Type<'c> {
        let scalar = scalar_type(self.build.context(), dtype);
        self.lanes.map_or(scalar, |n| vector_type(scalar, n))
    }

    /// An operation on all lanes.
    pub fn make(&self, name: &str, operands: &[Value<'c>], dtype: DType) -> Value<'c> {
        self.build.value(name, operands, self.ty(dtype), &[])
    }

    /// What the text says, in all lanes.
    pub fn literal(&self, text: &str, dtype: DType) -> Value<'c> {
        let ty = self.ty(dtype);
        let text =
            if self.lanes.is_some() { format!("dense<{text}> : {ty}") } else { format!("{text} : {ty}") };
        let value = Attribute::parse(self.build.context(), &text);
        self.build.value(
            "arith.constant",
            &[],
            ty,
            &value.map(|v| ("value", v)).into_iter().collect::<Vec<_>>(),
        )
    }

    /// True for f64.
    pub fn is_double(&self) -> bool {
        self.dtype == DType::F64
    }

    /// One of two numbers, by the type.
    pub fn in_precision(&self, single: f32, double: f64) -> f64 {
        if self.is_double() { double } else { f64::from(single) }
    }

    /// The integer of as many bits.
    pub fn integer(&self) -> DType {
        if self.is_double() { DType::I64 } else { DType::I32 }
    }

    /// Bits behind the exponent.
    pub fn mantissa_bits(&self) -> i64 {
        if self.is_double() { 52 } else { 23 }
    }

    /// The representation of a number.
    pub fn representation(&self, value: f64) -> i64 {
        if self.is_double() { value.to_bits() as i64 } else { i64::from((value as f32).to_bits()) }
    }

    /// A number in all lanes, the nearest one to what is given.
    pub fn float(&self, value: impl Into<f64>) -> Value<'c> {
        let digits = if self.is_double() { 16 } else { 8 };
        let bits = self.representation(value.into());
        self.literal(&format!("0x{bits:0digits$X}"), self.dtype)
    }

    /// An integer in all lanes.
    pub fn int(&self, value: i64) -> Value<'c> {
        self.literal(&value.to_string(), self.integer())
    }

    /// A number of 64 bits in all lanes.
    pub fn double(&self, value: f64) -> Value<'c> {
        self.literal(&format!("0x{:016X}", value.to_bits()), DType::F64)
    }

    /// An integer of 64 bits in all lanes.
    pub fn long(&self, value: i64) -> Value<'c> {
        self.literal(&value.to_string(), DType::I64)
    }

    /// `a + b`.
    pub fn add(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.make("arith.addf", &[a, b], self.dtype)
    }

    /// `a - b`.
    pub fn sub(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.make("arith.subf", &[a, b], self.dtype)
    }

    /// `a * b`.
    pub fn mul(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.make("arith.mulf", &[a, b], self.dtype)
    }

    /// `a / b`.
    pub fn div(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.make("arith.divf", &[a, b], self.dtype)
    }

    /// `-a`.
    pub fn neg(&self, a: Value<'c>) -> Value<'c> {
        self.make("arith.negf", &[a], self.dtype)
    }

    /// `a * b + c`, rounded once. Without an instruction for it, f32 is multiplied as f64, which is exact, and rounded a second time,
    /// where calls of the C library take three times as long.
    pub fn fma(&self, a: Value<'c>, b: Value<'c>, c: Value<'c>) -> Value<'c> {
        if !self.unfused || self.is_double() {
            return self.make("math.fma", &[a, b, c], self.dtype);
        }
        let [a, b, c] = [a, b, c].map(|value| self.make("arith.extf", &[value], DType::F64));
        let product = self.make("arith.mulf", &[a, b], DType::F64);
        let sum = self.make("arith.addf", &[product, c], DType::F64);
        self.make("arith.truncf", &[sum], self.dtype)
    }

    /// `c[0] + c[1] x + c[2] x^2 + ...`: even and odd powers by Horner's rule each. With one multiplication more than a single
    /// chain it takes half of the time from x to the result, which bounds how many vectors are under way at once.
    pub fn polynomial(&self, x: Value<'c>, coefficients: &Coefficients) -> Value<'c> {
        match self.is_double() {
            true => self.polynomial_of(x, coefficients.double),
            false => {
                let single: Vec<f64> = coefficients.single.iter().map(|c| f64::from(*c)).collect();
                self.polynomial_of(x, &single)
            }
        }
    }

    /// The same with coefficients of either type.
    pub fn polynomial_of(&self, x: Value<'c>, coefficients: &[f64]) -> Value<'c> {
        let chain = |of: Value<'c>, terms: &mut dyn Iterator<Item = f64>| {
            let first = self.float(terms.next().unwrap_or(0.0));
            terms.fold(first, |sum, c| self.fma(sum, of, self.float(c)))
        };
        if coefficients.len() < 4 {
            return chain(x, &mut coefficients.iter().rev().copied());
        }
        let square = self.mul(x, x);
        let high_first = |from: usize| {
            let own: Vec<f64> = coefficients.iter().skip(from).step_by(2).copied().collect();
            own.into_iter().rev()
        };
        let (even, odd) = (chain(square, &mut high_first(0)), chain(square, &mut high_first(1)));
        self.fma(odd, x, even)
    }

    /// The magnitude.
    pub fn abs(&self, a: Value<'c>) -> Value<'c> {
        self.make("math.absf", &[a], self.dtype)
    }

    /// The square root.
    pub fn sqrt(&self, a: Value<'c>) -> Value<'c> {
        self.make("math.sqrt", &[a], self.dtype)
    }

    /// Rounded towards 0.
    pub fn trunc(&self, a: Value<'c>) -> Value<'c> {
        self.make("math.trunc", &[a], self.dtype)
    }

    /// The magnitude of `a` with the sign of `b`.
    pub fn copy_sign(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.make("math.copysign", &[a, b], self.dtype)
    }

    /// `max(a, least)`; what is no number stays.
    pub fn at_least(&self, a: Value<'c>, least: impl Into<f64>) -> Value<'c> {
        let least = self.float(least);
        self.select(self.is(Is::Above, least, a), least, a)
    }

    /// `min(a, most)`; what is no number stays.
    pub fn at_most(&self, a: Value<'c>, most: impl Into<f64>) -> Value<'c> {
        let most = self.float(most);
        self.select(self.is(Is::Below, most, a), most, a)
    }

    /// `a * 2^n` for an `n` that is a float, rounded once; `None` where there is no instruction for it.
    pub fn scaled(&self, a: Value<'c>, n: Value<'c>) -> Option<Value<'c>> {
        const CURRENT_ROUNDING: &str = "4";
        if !self.is_register_of_avx512() {
            return None;
        }
        let scalar = Floats { lanes: None, ..*self };
        let (all, rounding) =
            (scalar.literal("-1", DType::I16), scalar.literal(CURRENT_ROUNDING, DType::I32));
        Some(self.by_registers(&[a, n], |m, part| {
            // The intrinsic's order, in which lanes that are left out come third; upstream's names of the operands say another.
            let operands = [part[0], part[1], part[0], all, rounding];
            m.make("x86vector.avx512.mask.scalef", &operands, self.dtype)
        }))
    }

    /// In each lane the number of a table that the lowest four bits of `index` name; `None` where there is no instruction for it.
    pub fn chosen(&self, table: &[f64; 16], index: Value<'c>) -> Option<Value<'c>> {
        if !self.is_register_of_avx512() {
            return None;
        }
        let bits: Vec<String> =
            table.iter().map(|&number| format!("0x{:08X}", self.representation(number))).collect();
        let register = Floats { lanes: Some(REGISTER), ..*self };
        let table = register.literal(&format!("[{}]", bits.join(", ")), self.dtype);
        Some(self.by_registers(&[index], |m, part| {
            m.intrinsic("llvm.x86.avx512.permvar.sf.512", &[table, part[0]], self.dtype)
        }))
    }

    /// The number of a table of `2^(j/16)`, rounded to f32, that the lowest four bits of `index` name, times 2 to the power of its others, where that is
    /// a normal number; `None` where there is no instruction to look it up.
    pub fn power_of_parts(&self, table: &[f64; 16], index: Value<'c>) -> Option<Value<'c>> {
        // Behind the shift the lowest bits stand in front of a mantissa: the table has that taken from it.
        let places = self.mantissa_bits() - 4;
        let number = |j: usize| f32::from_bits((table[j] as f32).to_bits() - ((j as u32) << places));
        let entry = self.chosen(&std::array::from_fn(|j| f64::from(number(j))), index)?;
        Some(self.of_bits(self.int_add(self.bits(entry), self.shift_left(index, places))))
    }

    /// Calls an intrinsic of LLVM.
    pub fn intrinsic(&self, name: &str, operands: &[Value<'c>], dtype: DType) -> Value<'c> {
        self.build.intrinsic(name, operands, self.ty(dtype))
    }

    /// What `f` gives of each register's lanes of some vectors.
    fn by_registers(
        &self,
        operands: &[Value<'c>],
        f: impl Fn(&Floats<'c>, &[Value<'c>]) -> Value<'c>,
    ) -> Value<'c> {
        let register = Floats { lanes: Some(REGISTER), ..*self };
        let lanes = self.lanes.unwrap_or(REGISTER);
        if lanes == REGISTER {
            return f(&register, operands);
        }
        let (build, context) = (self.build, self.build.context());
        let all = |n: u64| array_attr(context, &[int_attr(context, n as i64)]);
        (0..lanes / REGISTER).fold(self.float(0.0), |whole, part| {
            let (offsets, strides) = (("offsets", all(part * REGISTER)), ("strides", all(1)));
            let cut = |of: &Value<'c>| {
                let element = vector_parts(of.r#type()).map_or(of.r#type(), |(element, _)| element);
                let attrs = [offsets, ("sizes", all(REGISTER)), strides];
                build.value("vector.extract_strided_slice", &[*of], vector_type(element, REGISTER), &attrs)
            };
            let parts: Vec<Value> = operands.iter().map(cut).collect();
            let operands = [f(&register, &parts), whole];
            build.value("vector.insert_strided_slice", &operands, whole.r#type(), &[offsets, strides])
        })
    }

    /// True for all lanes of f32 that some registers of AVX-512 have, where there are its instructions.
    pub fn is_register_of_avx512(&self) -> bool {
        self.avx512 && self.lanes.is_some_and(|n| n.is_multiple_of(REGISTER)) && !self.is_double()
    }

    /// The nearest multiple of `1 / parts` to `a * b`, as an integer whose low bits count the parts and as a float. `parts` is a power of two,
    /// and the product is below `2^22 / parts`, or `2^51 / parts`.
    pub fn round_to_parts(&self, a: Value<'c>, b: f64, parts: f64) -> (Value<'c>, Value<'c>) {
        let round = self.float(self.in_precision(ROUND.0, ROUND.1) / parts);
        let sum = self.fma(a, self.float(b), round);
        (self.bits(sum), self.sub(sum, round))
    }

    /// The nearest integer to `a * b`, as the low bits of an integer and as a float. The product is below `2^22`, or `2^51`.
    pub fn round(&self, a: Value<'c>, b: f64) -> (Value<'c>, Value<'c>) {
        self.round_to_parts(a, b, 1.0)
    }

    /// Compares.
    pub fn is(&self, how: Is, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let predicate = int_attr(self.build.context(), how as i64);
        self.build.value("arith.cmpf", &[a, b], self.ty(DType::Bool), &[("predicate", predicate)])
    }

    /// True where an integer is not 0.
    pub fn is_not_zero(&self, a: Value<'c>) -> Value<'c> {
        let not_equal = int_attr(self.build.context(), 1);
        self.build.value("arith.cmpi", &[a, self.int(0)], self.ty(DType::Bool), &[("predicate", not_equal)])
    }

    /// Both hold.
    pub fn both(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.make("arith.andi", &[a, b], DType::Bool)
    }

    /// One of the two holds.
    pub fn either(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.make("arith.ori", &[a, b], DType::Bool)
    }

    /// Just one of the two holds.
    pub fn just_one(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.make("arith.xori", &[a, b], DType::Bool)
    }

    /// `condition ? a : b`.
    pub fn select(&self, condition: Value<'c>, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.make("arith.select", &[condition, a, b], self.dtype)
    }

    /// The representation as an integer.
    pub fn bits(&self, a: Value<'c>) -> Value<'c> {
        self.make("arith.bitcast", &[a], self.integer())
    }

    /// The float of a representation.
    pub fn of_bits(&self, a: Value<'c>) -> Value<'c> {
        self.make("arith.bitcast", &[a], self.dtype)
    }

    /// An integer as a float.
    pub fn as_float(&self, a: Value<'c>) -> Value<'c> {
        self.make("arith.sitofp", &[a], self.dtype)
    }

    /// `a + b` of integers.
    pub fn int_add(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.make("arith.addi", &[a, b], self.integer())
    }

    /// `a - b` of integers.
    pub fn int_sub(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.make("arith.subi", &[a, b], self.integer())
    }

    /// The bits that both have.
    pub fn int_and(&self, a: Value<'c>, b: i64) -> Value<'c> {
        self.make("arith.andi", &[a, self.int(b)], self.integer())
    }

    /// The bits that just one has.
    pub fn int_xor(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.make("arith.xori", &[a, b], self.integer())
    }

    /// `a * 2^by`.
    pub fn shift_left(&self, a: Value<'c>, by: i64) -> Value<'c> {
        self.make("arith.shli", &[a, self.int(by)], self.integer())
    }

    /// `a / 2^by`, of an integer without sign.
    pub fn shift_right(&self, a: Value<'c>, by: i64) -> Value<'c> {
        self.make("arith.shrui", &[a, self.int(by)], self.integer())
    }
}
