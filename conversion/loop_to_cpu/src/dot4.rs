//! Dot products of integers of 8 bits by what the processor has for them.
//!
//! ```text
//!     vpdpbusd    u8 x i8        of i8 x i8    a xor 128 is a + 128 as u8:    c + (a + 128) b - 128 b
//!                                of u8 x u8    b xor 128 is b - 128 as i8:    c + a (b - 128) + 128 a
//!     sdot        i8 x i8        of u8 x i8    a xor 128 is a - 128 as i8:    c + (a - 128) b + 128 b
//!     vpmaddwd    i16 x i16      of bytes with even numbers and of those with odd ones
//!     others                     each byte widened to 32 bits
//! ```
//!
//! All wrap around alike. What is added for a sign depends on one operand alone, so that LLVM computes it once for all rows, or columns, of a tile.

use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Attribute, Build, Op, OpExt, Type, Value, ValueLike, attr_to_mlir, ints_attr, scalar_type, segments_attr,
    vector_parts, vector_type,
};
use fusion_machine::Dot4;
use fusion_operators::{Attr, DType};

/// Replaces the four elements from an index on, as integers of 32 bits.
pub fn load_packed(op: Op) {
    let build = Build::before(op);
    let (result, context) = (op.result_values()[0].r#type(), build.context());
    let lanes = vector_parts(result).map(|(_, n)| n);
    let bytes = vector_type(scalar_type(context, DType::I8), 4 * lanes.unwrap_or(1));
    let loaded = build.value("vector.load", &op.operand_values(), bytes, &[]);
    let words = vector_type(scalar_type(context, DType::I32), lanes.unwrap_or(1));
    let mut value = build.value("vector.bitcast", &[loaded], words, &[]);
    if lanes.is_none() {
        let first = [("static_position", ints_attr(context, &[0]))];
        value = build.value("vector.extract", &[value], result, &first);
    }
    op.replace_all_uses(&[value]);
    op.erase();
}

/// What a processor has for dot products.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dots {
    /// The instruction; without one, they are made of others.
    pub dot4: Option<Dot4>,
    /// Bytes of the widest vectors that it is for.
    pub vector_bytes: u64,
}

/// Replaces a dot product.
pub fn add(op: Op, dots: &Dots) {
    let [c, a, b] = op.operand_values()[..] else { return };
    let unsigned = ["unsigned_a", "unsigned_b"].map(|name| op.attr(name).is_some());
    let lanes = vector_parts(c.r#type()).map_or(0, |(_, n)| n);
    // Vectors of as many bytes as registers have, or a half or a quarter of it.
    let wide = lanes.next_power_of_two().max(4);
    let one = Numbers { build: Build::before(op), lanes: wide };
    let result = match dots.dot4 {
        Some(dot) if lanes >= 4 && 4 * wide <= dots.vector_bytes => {
            let [c, a, b] = [c, a, b].map(|v| one.widened(v, lanes));
            let sum = one.by(dot, [c, a, b], unsigned);
            one.narrowed(sum, lanes)
        }
        _ => by_bytes(&Build::before(op), [c, a, b], unsigned),
    };
    op.replace_all_uses(&[result]);
    op.erase();
}

/// Each byte of both operands by itself.
fn by_bytes<'c>(build: &Build<'c>, [c, a, b]: [Value<'c>; 3], unsigned: [bool; 2]) -> Value<'c> {
    let ty = c.r#type();
    let number = |n: i64| splat(build, ty, n);
    let byte = |v: Value<'c>, place: i64, unsigned: bool| {
        let up = build.value("arith.shli", &[v, number(24 - 8 * place)], ty, &[]);
        let down = if unsigned { "arith.shrui" } else { "arith.shrsi" };
        build.value(down, &[up, number(24)], ty, &[])
    };
    (0..4).fold(c, |sum, place| {
        let factors = [byte(a, place, unsigned[0]), byte(b, place, unsigned[1])];
        let product = build.value("arith.muli", &factors, ty, &[]);
        build.value("arith.addi", &[sum, product], ty, &[])
    })
}

/// An integer of 32 bits, or a vector of such.
fn splat<'c>(build: &Build<'c>, ty: Type<'c>, n: i64) -> Value<'c> {
    let one = Scalars { build: *build }.int(n, DType::I32).value;
    if one.r#type() == ty { one } else { build.value("vector.broadcast", &[one], ty, &[]) }
}

/// Builds what vectors of so many lanes of 32 bits are multiplied by.
struct Numbers<'c> {
    build: Build<'c>,
    lanes: u64,
}

impl<'c> Numbers<'c> {
    fn ty(&self, dtype: DType) -> Type<'c> {
        let lanes = self.lanes * 4 / dtype.size() as u64;
        vector_type(scalar_type(self.build.context(), dtype), lanes)
    }

    fn places(&self, value: Value<'c>, places: &[i64]) -> Value<'c> {
        let element = vector_parts(value.r#type()).map_or(value.r#type(), |(element, _)| element);
        let ty = vector_type(element, places.len() as u64);
        let mask = [("mask", ints_attr(self.build.context(), places))];
        self.build.value("vector.shuffle", &[value, value], ty, &mask)
    }

    /// The lanes there are, and the last one again.
    fn widened(&self, value: Value<'c>, lanes: u64) -> Value<'c> {
        if lanes == self.lanes {
            return value;
        }
        let last = lanes as i64 - 1;
        self.places(value, &(0..self.lanes as i64).map(|lane| lane.min(last)).collect::<Vec<_>>())
    }

    fn narrowed(&self, value: Value<'c>, lanes: u64) -> Value<'c> {
        if lanes == self.lanes {
            return value;
        }
        self.places(value, &(0..lanes as i64).collect::<Vec<_>>())
    }

    fn by(&self, dot: Dot4, [c, a, b]: [Value<'c>; 3], [unsigned_a, unsigned_b]: [bool; 2]) -> Value<'c> {
        match (dot, unsigned_a, unsigned_b) {
            (Dot4::Vpmaddwd, ..) => {
                let parts = [(a, unsigned_a), (b, unsigned_b)].map(|(v, unsigned)| self.halves(v, unsigned));
                let sum = |c, i: usize| self.add(c, self.madd(parts[0][i], parts[1][i]));
                sum(sum(c, 0), 1)
            }
            (Dot4::Vpdpbusd, true, false) => self.dpbusd(c, a, b),
            (Dot4::Vpdpbusd, false, true) => self.dpbusd(c, b, a),
            (Dot4::Vpdpbusd, false, false) => {
                let more = self.dpbusd(self.int(0), self.bytes(128), b);
                self.sub(self.dpbusd(c, self.flipped(a), b), more)
            }
            (Dot4::Vpdpbusd, true, true) => {
                let less = self.dpbusd(self.int(0), a, self.bytes(1));
                self.add(self.dpbusd(c, a, self.flipped(b)), self.times_128(less))
            }
            (Dot4::Sdot, false, false) => self.dot("llvm.aarch64.neon.sdot", c, a, b),
            (Dot4::Sdot, true, true) => self.dot("llvm.aarch64.neon.udot", c, a, b),
            (Dot4::Sdot, false, true) => self.by(dot, [c, b, a], [true, false]),
            (Dot4::Sdot, true, false) => {
                let sdot = |c, a, b| self.dot("llvm.aarch64.neon.sdot", c, a, b);
                let less = sdot(self.int(0), self.bytes(1), b);
                self.add(sdot(c, self.flipped(a), b), self.times_128(less))
            }
        }
    }

    fn int(&self, n: i64) -> Value<'c> {
        splat(&self.build, self.ty(DType::I32), n)
    }

    /// That byte four times in each lane.
    fn bytes(&self, byte: i64) -> Value<'c> {
        self.int(i64::from((byte as u32 * 0x0101_0101) as i32))
    }

    /// Bytes with the other first bit.
    fn flipped(&self, v: Value<'c>) -> Value<'c> {
        self.build.value("arith.xori", &[v, self.bytes(128)], v.r#type(), &[])
    }

    fn add(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.build.value("arith.addi", &[a, b], a.r#type(), &[])
    }

    fn sub(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.build.value("arith.subi", &[a, b], a.r#type(), &[])
    }

    fn times_128(&self, v: Value<'c>) -> Value<'c> {
        self.build.value("arith.shli", &[v, self.int(7)], v.r#type(), &[])
    }

    fn cast(&self, v: Value<'c>, dtype: DType) -> Value<'c> {
        self.build.value("vector.bitcast", &[v], self.ty(dtype), &[])
    }

    fn call(&self, name: &str, operands: &[Value<'c>]) -> Value<'c> {
        let context = self.build.context();
        let attrs: [(&str, Attribute); 3] = [
            ("intrin", attr_to_mlir(context, &Attr::Str(name.to_owned()))),
            ("operandSegmentSizes", segments_attr(context, &[operands.len() as i32, 0])),
            ("op_bundle_sizes", segments_attr(context, &[])),
        ];
        self.build.value("llvm.call_intrinsic", operands, self.ty(DType::I32), &attrs)
    }

    /// Unsigned numbers by signed ones.
    fn dpbusd(&self, c: Value<'c>, unsigned: Value<'c>, signed: Value<'c>) -> Value<'c> {
        let name = format!("llvm.x86.avx512.vpdpbusd.{}", 32 * self.lanes);
        self.call(&name, &[c, self.cast(unsigned, DType::I8), self.cast(signed, DType::I8)])
    }

    fn dot(&self, name: &str, c: Value<'c>, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let name = format!("{name}.v{}i32.v{}i8", self.lanes, 4 * self.lanes);
        self.call(&name, &[c, self.cast(a, DType::I8), self.cast(b, DType::I8)])
    }

    /// Bytes with even and with odd numbers, of 16 bits each.
    fn halves(&self, v: Value<'c>, unsigned: bool) -> [Value<'c>; 2] {
        let v = self.cast(v, DType::I16);
        let eight = Scalars { build: self.build }.int(8, DType::I16).value;
        let eight = self.build.value("vector.broadcast", &[eight], v.r#type(), &[]);
        let down = if unsigned { "arith.shrui" } else { "arith.shrsi" };
        let shift = |name: &str, v: Value<'c>| self.build.value(name, &[v, eight], v.r#type(), &[]);
        [shift(down, shift("arith.shli", v)), shift(down, v)]
    }

    /// Sums of two products of 16 bits each.
    fn madd(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let name = match self.lanes {
            16 => "llvm.x86.avx512.pmaddw.d.512",
            8 => "llvm.x86.avx2.pmadd.wd",
            _ => "llvm.x86.sse2.pmadd.wd",
        };
        self.call(name, &[a, b])
    }
}
