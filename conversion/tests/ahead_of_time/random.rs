//! Random programs give the same in the virtual machine and compiled.
//!
//! A program is made as nested expressions are: each leaves its value in a new register and uses variables by copies, and what
//! is bound is dropped where its scope ends. Functions call only later ones, so all ends.

use super::common::*;
use fusion_bytecode::{Function, Instruction as I, Label, Register, Scalar, ValueType};
use fusion_operators::random::seeds;
use fusion_operators::{DType, ValueTree};
use fusion_runtime::vm::{KernelLibrary, Machine};

/// Writes one of several ways and says where its value is.
type Way<'a, W> = Box<dyn FnOnce(&mut W) -> Register + 'a>;

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Type {
    Int,
    List,
    Tree,
    Cell,
    Pair,
    /// Of an int, gives an int.
    Function,
}

const TYPES: [Type; 6] = [Type::Int, Type::List, Type::Tree, Type::Cell, Type::Pair, Type::Function];

struct Signature {
    takes: Vec<Type>,
    gives: Type,
}

struct Writer<'a> {
    random: &'a mut Random,
    signatures: &'a [Signature],
    id: usize,
    code: Vec<I>,
    registers: u32,
    variables: Vec<(Register, Type)>,
}

impl Writer<'_> {
    fn new_register(&mut self) -> Register {
        self.registers += 1;
        self.registers - 1
    }

    fn push(&mut self, write: impl FnOnce(Register) -> I) -> Register {
        let to = self.new_register();
        self.code.push(write(to));
        to
    }

    fn drop_value(&mut self, value: Register) {
        self.code.push(I::Drop { value });
    }

    fn bind(&mut self, value: Register, ty: Type) {
        self.variables.push((value, ty));
    }

    fn unbind(&mut self, count: usize) {
        for _ in 0..count {
            let (value, _) = self.variables.pop().unwrap();
            self.drop_value(value);
        }
    }

    fn variable(&mut self, ty: Type) -> Option<Register> {
        let all: Vec<Register> = self.variables.iter().filter(|v| v.1 == ty).map(|v| v.0).collect();
        (!all.is_empty()).then(|| all[self.random.below(all.len())])
    }

    fn all(&mut self, types: &[Type], depth: usize) -> Vec<Register> {
        types.iter().map(|ty| self.expression(*ty, depth)).collect()
    }

    fn here(&self) -> Label {
        self.code.len() as Label
    }

    /// Writes the ways behind a jump or switch, which is at `at`; each leaves its value in one register.
    fn ways(&mut self, at: usize, ways: Vec<Way<'_, Self>>) -> Register {
        let to = self.new_register();
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for way in ways {
            starts.push(self.here());
            let from = way(self);
            self.code.push(I::Move { to, from });
            ends.push(self.code.len());
            self.code.push(I::Jump { target: 0 });
        }
        let after = self.here();
        for end in ends {
            self.code[end] = I::Jump { target: after };
        }
        match &mut self.code[at] {
            I::Switch { targets, .. } => *targets = starts,
            I::JumpUnless { target, .. } => *target = starts[1],
            other => panic!("{other:?} goes nowhere"),
        }
        to
    }

    fn expression(&mut self, ty: Type, depth: usize) -> Register {
        if (self.random.below(3) == 0 || depth == 0)
            && let Some(from) = self.variable(ty)
        {
            return self.push(|to| I::Copy { to, from });
        }
        if depth > 0 {
            match self.random.below(7) {
                0 => return self.condition(ty, depth - 1),
                1 => return self.matched(ty, depth - 1),
                2 => {
                    let bound = TYPES[self.random.below(TYPES.len())];
                    let value = self.expression(bound, depth - 1);
                    self.bind(value, bound);
                    let result = self.expression(ty, depth - 1);
                    self.unbind(1);
                    return result;
                }
                3 => {
                    if let Some(result) = self.called(ty, depth - 1) {
                        return result;
                    }
                }
                4 => {
                    if let Some(cell) = self.variable(Type::Cell) {
                        let value = self.expression(Type::Int, depth - 1);
                        self.code.push(I::WriteCell { cell, value });
                    }
                }
                _ => {}
            }
        }
        self.made(ty, depth.saturating_sub(1))
    }

    fn condition(&mut self, ty: Type, depth: usize) -> Register {
        let sides = self.all(&[Type::Int, Type::Int], depth);
        let inputs = sides.clone();
        let condition = match self.random.below(2) {
            0 => self.push(|to| I::Kernel { kernel: LESS, inputs, outputs: vec![to] }),
            _ => {
                let scalar = [Scalar::Less, Scalar::Equal, Scalar::GreaterEqual][self.random.below(3)];
                self.scalar(scalar, DType::I32, DType::Bool, inputs)
            }
        };
        sides.into_iter().for_each(|side| self.drop_value(side));
        let at = self.code.len();
        self.code.push(I::JumpUnless { condition, target: 0 });
        let way = |writer: &mut Self| {
            writer.drop_value(condition);
            writer.expression(ty, depth)
        };
        self.ways(at, vec![Box::new(way), Box::new(way)])
    }

    fn scalar(&mut self, scalar: Scalar, ty: DType, result: DType, inputs: Vec<Register>) -> Register {
        self.push(|to| I::Scalar { to, scalar, ty, result, inputs })
    }

    /// A number that instructions compute, by way of other types at times.
    fn number(&mut self, depth: usize) -> Register {
        let sides = self.all(&[Type::Int, Type::Int], depth);
        let value = match self.random.below(4) {
            0 => {
                let condition = self.scalar(Scalar::LessEqual, DType::I32, DType::Bool, sides.clone());
                let inputs = vec![condition, sides[1], sides[0]];
                let value = self.scalar(Scalar::Where, DType::I32, DType::I32, inputs);
                self.drop_value(condition);
                value
            }
            1 => {
                let narrow = [DType::I8, DType::U8, DType::U16, DType::F32][self.random.below(4)];
                let cast = self.scalar(Scalar::Cast, DType::I32, narrow, vec![sides[0]]);
                let twice = self.scalar(Scalar::Mul, narrow, narrow, vec![cast, cast]);
                let value = self.scalar(Scalar::Cast, narrow, DType::I32, vec![twice]);
                self.drop_value(cast);
                self.drop_value(twice);
                value
            }
            _ => {
                let scalar = [Scalar::Add, Scalar::Sub, Scalar::Mul][self.random.below(3)];
                self.scalar(scalar, DType::I32, DType::I32, sides.clone())
            }
        };
        sides.into_iter().for_each(|side| self.drop_value(side));
        value
    }

    fn matched(&mut self, ty: Type, depth: usize) -> Register {
        let is_list = self.random.below(2) == 0;
        let (matched, fields) = match is_list {
            true => (Type::List, [vec![], vec![Type::Int, Type::List]]),
            false => (Type::Tree, [vec![Type::Int], vec![Type::Tree, Type::Tree]]),
        };
        let value = self.expression(matched, depth);
        let at = self.code.len();
        self.code.push(I::Switch { value, targets: vec![] });
        // The fields in any order, all or some of them, and then the value is dropped.
        let way = |fields: Vec<Type>, writer: &mut Self| {
            let turned = writer.random.below(2) == 0;
            let used = fields.len() - writer.random.below(3).min(fields.len()) / 2;
            let mut order: Vec<usize> = (0..fields.len()).collect();
            if turned {
                order.reverse();
            }
            for &index in &order[..used] {
                let field = writer.push(|to| I::Field { to, from: value, index: index as u32 });
                writer.bind(field, fields[index]);
            }
            writer.drop_value(value);
            let result = writer.expression(ty, depth);
            writer.unbind(used);
            result
        };
        let [first, second] = fields;
        self.ways(
            at,
            vec![Box::new(move |w: &mut Self| way(first, w)), Box::new(move |w: &mut Self| way(second, w))],
        )
    }

    fn called(&mut self, ty: Type, depth: usize) -> Option<Register> {
        if ty == Type::Int && self.random.below(2) == 0 {
            let closure = self.expression(Type::Function, depth);
            let arguments = self.all(&[Type::Int], depth);
            return Some(self.push(|to| I::Apply { to, closure, arguments }));
        }
        let later = self.id + 1..self.signatures.len();
        let fitting: Vec<usize> = later.filter(|&id| self.signatures[id].gives == ty).collect();
        if fitting.is_empty() {
            return None;
        }
        let function = fitting[self.random.below(fitting.len())];
        let arguments = self.all(&self.signatures[function].takes, depth.min(1));
        Some(self.push(|to| I::Call { to, function: function as u32, arguments }))
    }

    fn made(&mut self, ty: Type, depth: usize) -> Register {
        match ty {
            Type::Int => match self.random.below(if depth == 0 { 1 } else { 7 }) {
                5 | 6 => self.number(depth),
                0 => {
                    let constant = self.random.below(10) as u32;
                    self.push(|to| I::Constant { to, constant })
                }
                1 => {
                    let cell = self.expression(Type::Cell, depth);
                    let value = self.push(|to| I::ReadCell { to, cell });
                    self.drop_value(cell);
                    value
                }
                2 => {
                    let pair = self.expression(Type::Pair, depth);
                    let value = self.push(|to| I::Field { to, from: pair, index: 0 });
                    self.drop_value(pair);
                    value
                }
                kind => {
                    let sides = self.all(&[Type::Int, Type::Int], depth);
                    let kernel = if kind == 3 { ADD } else { SUB };
                    let inputs = sides.clone();
                    let value = self.push(|to| I::Kernel { kernel, inputs, outputs: vec![to] });
                    sides.into_iter().for_each(|side| self.drop_value(side));
                    value
                }
            },
            Type::List | Type::Tree => {
                let full = depth > 0 && self.random.below(3) > 0;
                let types: &[Type] = match (ty, full) {
                    (Type::List, false) => &[],
                    (Type::List, true) => &[Type::Int, Type::List],
                    (_, false) => &[Type::Int],
                    (_, true) => &[Type::Tree, Type::Tree],
                };
                let fields = self.all(types, depth);
                let data = u32::from(ty == Type::Tree);
                self.push(|to| I::Construct { to, data, tag: u32::from(full), fields })
            }
            Type::Cell => {
                let value = self.expression(Type::Int, depth);
                self.push(|to| I::NewCell { to, value })
            }
            Type::Pair => {
                let elements = self.all(&[Type::Int, Type::List], depth);
                self.push(|to| I::Tuple { to, elements })
            }
            Type::Function => {
                // The last function takes two ints, the one before it one.
                let two = self.random.below(2) == 0;
                let function = self.signatures.len() as u32 - if two { 1 } else { 2 };
                let captured = if two { self.all(&[Type::Int], depth) } else { vec![] };
                self.push(|to| I::Closure { to, function, captured })
            }
        }
    }

    fn finish(mut self, name: &str, parameters: u32, gives: Type) -> Function {
        let later = self.id + 1..self.signatures.len();
        let fitting: Vec<usize> = later.filter(|&id| self.signatures[id].gives == gives).collect();
        if !fitting.is_empty() && self.random.below(2) == 0 {
            let function = fitting[self.random.below(fitting.len())];
            let arguments = self.all(&self.signatures[function].takes, 2);
            self.unbind(self.variables.len());
            self.code.push(I::TailCall { function: function as u32, arguments });
        } else {
            let value = self.expression(gives, 4);
            self.unbind(self.variables.len());
            self.code.push(I::Return { value });
        }
        Function { registers: self.registers, ..function(name, parameters, self.code) }
    }
}

fn random_program(random: &mut Random) -> fusion_bytecode::Program {
    let one_of = |random: &mut Random| TYPES[random.below(TYPES.len())];
    let mut signatures = vec![Signature { takes: vec![Type::Int], gives: Type::Pair }];
    for _ in 0..random.below(4) {
        let takes = (0..random.below(9)).map(|_| one_of(random)).collect();
        signatures.push(Signature { takes, gives: one_of(random) });
    }
    signatures.push(Signature { takes: vec![Type::Int], gives: Type::Int });
    signatures.push(Signature { takes: vec![Type::Int, Type::Int], gives: Type::Int });
    let count = signatures.len();
    let mut functions = Vec::new();
    for (id, signature) in signatures.iter().enumerate() {
        // A function value must not lead back to an earlier function, so the last two make none.
        let known = if id + 2 >= count { &signatures[..0] } else { &signatures[..] };
        let mut writer =
            Writer { random, signatures: known, id, code: vec![], registers: 0, variables: vec![] };
        for ty in &signature.takes {
            let register = writer.new_register();
            writer.bind(register, *ty);
        }
        let parameters = signature.takes.len() as u32;
        if known.is_empty() {
            let inputs = if parameters == 2 { vec![0, 1] } else { vec![0, 0] };
            let value = writer.push(|to| I::Kernel { kernel: SUB, inputs, outputs: vec![to] });
            writer.unbind(signature.takes.len());
            writer.code.push(I::Return { value });
            functions
                .push(Function { registers: writer.registers, ..function("last", parameters, writer.code) });
            continue;
        }
        functions.push(writer.finish(&format!("f{id}"), parameters, signature.gives));
    }
    let list = ValueType::Data(0, vec![tensor()]);
    program(&[("n", tensor())], ValueType::Tuple(vec![tensor(), list]), functions)
}

#[test]
fn compiled_programs_give_what_the_machine_gives() {
    let kernels = kernels_image();
    for seed in seeds(40) {
        // The first numbers of neighbouring seeds are alike.
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed.wrapping_mul(1_000_003));
        let program = random_program(&mut random);
        let library = KernelLibrary::from_image(&kernels).unwrap();
        let mut machine =
            Machine::new(program.clone(), library).unwrap_or_else(|error| panic!("{error}\n{program}"));
        let compiled = native(&program);
        for n in [0, 3] {
            let wanted: ValueTree = machine.run(&[value(n)]).unwrap();
            assert_eq!(machine.leaked(), 0, "seed {seed}\n{program}");
            let found = compiled.call(&[value(n)]).unwrap();
            assert_eq!(found, wanted, "seed {seed}\n{program}");
            assert_eq!(compiled.live_values(), 0, "seed {seed}\n{program}");
        }
    }
}
