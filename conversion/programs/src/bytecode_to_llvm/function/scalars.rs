//! Numbers by themselves, in machine registers for as long as nothing wants them as values.
//!
//! ```text
//!   %2 = scalar less i32(%0, %1) -> i1       c = icmp slt a, b      no value is made:
//!   jump-unless %2, 7                        br c                   both ways drop %2 first
//!   drop %2!
//! ```
//! A result is *loose*: known as a number, and made a value when its register is read as one. What is loose where ways part stays so
//! on a way that nothing else leads to; elsewhere it is made before.

use super::{Body, FAIL};
use crate::bytecode_to_llvm::layout::FIELDS;
use crate::bytecode_to_llvm::writer::Order;
use fusion_bytecode::{Instruction, Register, Scalar};
use fusion_dialects::{Type, Value, ValueLike, scalar_type, typed_int_attr};
use fusion_operators::dtype::Class;
use fusion_operators::{DType, TensorType};
use indexmap::IndexMap;
use std::collections::{HashMap, HashSet};

/// What is known of registers as numbers.
#[derive(Clone, Default)]
pub struct Numbers<'c> {
    /// Not made a value yet.
    pub loose: IndexMap<Register, (DType, Value<'c>)>,
    /// Also there as values.
    pub read: HashMap<Register, Value<'c>>,
    /// Registers of values that lie in the library, which nobody counts.
    pub fixed: HashSet<Register>,
}

impl<'c> Numbers<'c> {
    /// Nothing is known of a register any more.
    pub fn forget(&mut self, register: Register) {
        self.loose.shift_remove(&register);
        self.read.remove(&register);
        self.fixed.remove(&register);
    }

    /// Two registers hold the same.
    pub fn copy(&mut self, to: Register, from: Register) {
        self.forget(to);
        if let Some(number) = self.loose.get(&from).copied() {
            self.loose.insert(to, number);
        }
        if let Some(number) = self.read.get(&from).copied() {
            self.read.insert(to, number);
        }
        if self.fixed.contains(&from) {
            self.fixed.insert(to);
        }
    }
}

impl<'c> Body<'_, 'c> {
    /// The type that a number has in a machine register: integers have no sign, truths are bytes.
    fn machine_type(&self, ty: DType) -> Type<'c> {
        let context = self.code.writer.build.context();
        let spelled = match (ty.class(), ty.size()) {
            (Class::Float, _) => ty,
            (_, 8) => DType::I64,
            (_, 4) => DType::I32,
            (_, 2) => DType::I16,
            _ => DType::I8,
        };
        scalar_type(context, spelled)
    }

    /// A register's number.
    pub(super) fn number(&mut self, register: Register, ty: DType) -> Value<'c> {
        if let Some((_, number)) = self.numbers.loose.get(&register) {
            return *number;
        }
        if let Some(number) = self.numbers.read.get(&register) {
            return *number;
        }
        let tensor = self.get(register);
        let data = self.code.writer.load(self.code.writer.spelling.pointer, tensor, FIELDS);
        let number = self.code.writer.load(self.machine_type(ty), data, 0);
        self.numbers.read.insert(register, number);
        number
    }

    /// A constant's number, where it is one.
    pub(super) fn constant_number(&self, constant: u32) -> Option<Value<'c>> {
        let tensor = self.program.constants.get(constant as usize).filter(|t| t.shape().is_empty())?;
        let (writer, ty) = (&self.code.writer, tensor.dtype());
        match ty {
            DType::F16 | DType::BF16 => None,
            DType::F32 | DType::F64 => Some(self.float(ty, tensor.f64_at(0))),
            // Of unsigned numbers, the bits.
            _ => Some(writer.int(self.machine_type(ty), tensor.int_at(0) as i64)),
        }
    }

    fn float(&self, ty: DType, value: f64) -> Value<'c> {
        let (integer, bits) = match ty {
            DType::F32 => (DType::I32, i64::from((value as f32).to_bits())),
            _ => (DType::I64, value.to_bits() as i64),
        };
        let bits = self.code.writer.int(self.machine_type(integer), bits);
        self.code.writer.build.value("llvm.bitcast", &[bits], self.machine_type(ty), &[])
    }

    /// Makes a loose number a value.
    pub(super) fn fasten(&mut self, register: Register) {
        let Some((ty, number)) = self.numbers.loose.shift_remove(&register) else { return };
        let tensor = self.new_tensor(&TensorType::fixed(&[], ty));
        let data = self.code.writer.load(self.code.writer.spelling.pointer, tensor, FIELDS);
        self.code.writer.store(number, data, 0);
        self.set(register, tensor);
        self.small.insert(register);
        self.numbers.read.insert(register, number);
    }

    /// Makes all loose numbers values, as where ways meet.
    pub(super) fn fasten_all(&mut self) {
        let loose: Vec<Register> = self.numbers.loose.keys().copied().collect();
        loose.into_iter().for_each(|register| self.fasten(register));
    }

    /// Leaves for labels: what is loose stays so where nothing else leads to them.
    pub(super) fn leave_for(&mut self, targets: &[u32]) {
        let code = &self.function.code;
        let only_way = |label: &u32| {
            let before = label.checked_sub(1).and_then(|before| code.get(before as usize));
            self.jumps.get(label) == Some(&1) && before.is_some_and(|i| !i.falls_through())
        };
        if targets.iter().all(only_way) {
            self.carried.extend(targets.iter().map(|label| (*label, self.numbers.clone())));
        } else {
            self.fasten_all();
        }
    }

    pub(super) fn scalar(&mut self, at: usize, instruction: &Instruction) {
        let Instruction::Scalar { to, scalar, ty, result, inputs } = instruction else { return };
        let x: Vec<Value> = inputs
            .iter()
            .enumerate()
            .map(|(i, register)| self.number(*register, scalar.operand_type(i, *ty)))
            .collect();
        let number = self.computed(at, *scalar, *ty, *result, &x);
        self.small.remove(to);
        self.numbers.forget(*to);
        self.numbers.loose.insert(*to, (*result, number));
    }

    fn computed(
        &mut self,
        at: usize,
        scalar: Scalar,
        ty: DType,
        result: DType,
        x: &[Value<'c>],
    ) -> Value<'c> {
        use Scalar as S;
        let machine = self.machine_type(ty);
        let plain = |body: &Self, float: &str, int: &str| {
            body.code.writer.build.value(if ty.is_float() { float } else { int }, x, machine, &[])
        };
        match scalar {
            S::Add => plain(self, "llvm.fadd", "llvm.add"),
            S::Sub => plain(self, "llvm.fsub", "llvm.sub"),
            S::Mul => plain(self, "llvm.fmul", "llvm.mul"),
            S::Neg if !ty.is_float() => {
                let zero = self.code.writer.int(machine, 0);
                self.code.writer.build.value("llvm.sub", &[zero, x[0]], machine, &[])
            }
            S::Neg => plain(self, "llvm.fneg", "llvm.fneg"),
            S::Div if ty.is_float() => plain(self, "llvm.fdiv", "llvm.fdiv"),
            S::Div | S::Mod => self.divided(at, scalar, ty, x),
            S::And => plain(self, "llvm.and", "llvm.and"),
            S::Or => plain(self, "llvm.or", "llvm.or"),
            S::Xor => plain(self, "llvm.xor", "llvm.xor"),
            S::Not => {
                let one = self.code.writer.int(machine, 1);
                self.code.writer.build.value("llvm.xor", &[x[0], one], machine, &[])
            }
            S::Equal | S::NotEqual | S::Less | S::LessEqual | S::Greater | S::GreaterEqual => {
                let truth = self.compared(scalar, ty, x[0], x[1]);
                self.byte(truth)
            }
            S::Where => {
                let zero = self.code.writer.int(self.machine_type(DType::Bool), 0);
                let chosen = self.code.writer.compare(Order::NotEqual, x[0], zero);
                self.choose(chosen, x[1], x[2])
            }
            S::Cast => self.cast(ty, result, x[0]),
        }
    }

    fn choose(&self, condition: Value<'c>, yes: Value<'c>, no: Value<'c>) -> Value<'c> {
        self.code.writer.build.value("llvm.select", &[condition, yes, no], yes.r#type(), &[])
    }

    /// A truth as a byte.
    fn byte(&self, truth: Value<'c>) -> Value<'c> {
        let writer = &self.code.writer;
        writer.build.value("llvm.zext", &[truth], writer.spelling.int8, &[])
    }

    /// As LLVM numbers the predicates: of floats, ordered but for `not_equal`.
    fn compared(&self, scalar: Scalar, ty: DType, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let (float, signed, unsigned) = match scalar {
            Scalar::Equal => (1, 0, 0),
            Scalar::NotEqual => (13, 1, 1),
            Scalar::Less => (4, 2, 6),
            Scalar::LessEqual => (5, 3, 7),
            Scalar::Greater => (2, 4, 8),
            _ => (3, 5, 9),
        };
        let (name, predicate) = match ty.class() {
            Class::Float => ("llvm.fcmp", float),
            Class::Signed => ("llvm.icmp", signed),
            Class::Unsigned | Class::Bool | Class::String => ("llvm.icmp", unsigned),
        };
        let spelling = self.code.writer.spelling;
        let predicate = ("predicate", typed_int_attr(spelling.int64, predicate));
        self.code.writer.build.value(name, &[a, b], spelling.boolean, &[predicate])
    }

    /// Division of integers: ends the run where the divisor is zero. The least number by -1 is itself, which would trap.
    fn divided(&mut self, at: usize, scalar: Scalar, ty: DType, x: &[Value<'c>]) -> Value<'c> {
        let (machine, signed) = (self.machine_type(ty), ty.class() == Class::Signed);
        let why = if scalar == Scalar::Div { "division" } else { "remainder" };
        let name = scalar.operator().name;
        let text =
            format!("{}in @{}: relay.{name} integer {why} by zero", self.place(at), self.function.name);
        let message = self.globals.message(&text);
        let run = self.code.run;
        let zero = self.code.writer.int(machine, 0);
        let none = self.code.writer.compare(Order::Equal, x[1], zero);
        let (wrong, right) = (self.code.writer.build.new_block(&[]), self.code.writer.build.new_block(&[]));
        self.code.writer.jump_if(none, wrong.block(), right.block(), Some([1, 2000]));
        self.code.writer.build = wrong;
        let message = self.code.writer.address(&message);
        self.code.writer.fail(FAIL, &[run, message]);
        self.code.writer.build = right;
        let value = |body: &Self, name: &str, operands: &[Value<'c>]| {
            body.code.writer.build.value(name, operands, machine, &[])
        };
        if !signed {
            return value(self, if scalar == Scalar::Div { "llvm.udiv" } else { "llvm.urem" }, x);
        }
        let (one, less) = (self.code.writer.int(machine, 1), self.code.writer.int(machine, -1));
        let negates = self.code.writer.compare(Order::Equal, x[1], less);
        let divisor = self.choose(negates, one, x[1]);
        if scalar == Scalar::Div {
            let negated = value(self, "llvm.sub", &[zero, x[0]]);
            let quotient = value(self, "llvm.sdiv", &[x[0], divisor]);
            return self.choose(negates, negated, quotient);
        }
        // With the sign of the divisor.
        let rest = value(self, "llvm.srem", &[x[0], divisor]);
        let signs = value(self, "llvm.xor", &[rest, x[1]]);
        let differ = self.compared(Scalar::Less, ty, signs, zero);
        let some = self.code.writer.compare(Order::NotEqual, rest, zero);
        let boolean = self.code.writer.spelling.boolean;
        let moved = self.code.writer.build.value("llvm.and", &[differ, some], boolean, &[]);
        let sum = value(self, "llvm.add", &[rest, x[1]]);
        self.choose(moved, sum, rest)
    }

    /// Floats to integers saturate, integers wrap, integers become floats by way of f64.
    fn cast(&self, from: DType, to: DType, x: Value<'c>) -> Value<'c> {
        let machine = self.machine_type(to);
        let value =
            |name: &str, x: Value<'c>, ty: Type<'c>| self.code.writer.build.value(name, &[x], ty, &[]);
        if to == DType::Bool {
            let zero = match from.is_float() {
                true => self.float(from, 0.0),
                false => self.code.writer.int(self.machine_type(from), 0),
            };
            return self.byte(self.compared(Scalar::NotEqual, from, x, zero));
        }
        match (from.is_float(), to.is_float()) {
            (true, true) if from == to => x,
            (true, true) => value(if to == DType::F64 { "llvm.fpext" } else { "llvm.fptrunc" }, x, machine),
            (true, false) => {
                let signed = to.class() == Class::Signed;
                let name = if signed { "llvm.fptosi.sat" } else { "llvm.fptoui.sat" };
                self.code.writer.build.intrinsic(name, &[x], machine)
            }
            (false, true) => {
                let double = self.machine_type(DType::F64);
                let signed = from.class() == Class::Signed;
                let wide = value(if signed { "llvm.sitofp" } else { "llvm.uitofp" }, x, double);
                if to == DType::F64 { wide } else { value("llvm.fptrunc", wide, machine) }
            }
            (false, false) if from.size() == to.size() => x,
            (false, false) if from.size() > to.size() => value("llvm.trunc", x, machine),
            (false, false) => {
                value(if from.class() == Class::Signed { "llvm.sext" } else { "llvm.zext" }, x, machine)
            }
        }
    }
}
