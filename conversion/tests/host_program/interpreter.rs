//! Runs host programs symbolically, before and after memory is planned.
//!
//! An element never has a number: a tensor is a token, a kernel's outputs are tokens made of its name and inputs.
//! Planned programs run on memory that knows which token was last written to which bytes; reading bytes that hold
//! no token, or part of one, is an error. So both runs agree exactly when no buffer is overwritten while it is live.

use fusion_dialects::{Block, Op, OpExt, Value, arguments, buffer_parts, key, ops_in, top_level};
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// What stands for the content of a tensor.
pub type Token = u64;

/// A token made of others.
pub fn token(parts: impl Hash) -> Token {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// Bytes of a piece of memory.
#[derive(Clone, Copy, Debug)]
struct Place {
    base: usize,
    from: u64,
    size: u64,
}

#[derive(Clone, Copy, Debug)]
enum Held {
    Tensor(Token),
    Memory(Place),
    Number(i64),
}

/// A run of a program.
#[derive(Default)]
pub struct Interpreter {
    values: HashMap<usize, Held>,
    /// For each parameter, what was written where: from the first byte, the size and the token.
    memory: Vec<BTreeMap<u64, (u64, Token)>>,
    decisions: u64,
}

impl Interpreter {
    /// Runs @main on tensors; gives the results.
    pub fn run_tensors(module: Op, inputs: &[Token]) -> Vec<Token> {
        let mut run = Interpreter::default();
        let body = main_body(module);
        for (argument, token) in arguments(body).into_iter().zip(inputs) {
            run.values.insert(key(argument), Held::Tensor(*token));
        }
        run.block(body).into_iter().map(|v| run.tensor(v)).collect()
    }

    /// Runs the planned @main on memory; gives the contents of the outputs.
    pub fn run_planned(module: Op, inputs: &[Token], constants: &[Token]) -> Vec<Token> {
        let mut run = Interpreter::default();
        let main = main_of(module);
        let body = main_body(module);
        let outputs = main.int("fusion.outputs").expect("a count") as usize;
        let mut parameters = Vec::new();
        for (base, argument) in arguments(body).into_iter().enumerate() {
            let place = Place { base, from: 0, size: bytes_of(argument) };
            run.memory.push(BTreeMap::new());
            run.values.insert(key(argument), Held::Memory(place));
            parameters.push(place);
        }
        for (place, token) in parameters.iter().zip(inputs) {
            run.write(*place, *token);
        }
        let blob = parameters[parameters.len() - 2];
        let mut offsets = main.ints("fusion.constant_offsets").expect("offsets");
        offsets.push(blob.size as i64);
        for (ends, token) in offsets.windows(2).zip(constants) {
            // The size of each constant is not needed: reads ask for its beginning.
            run.memory[blob.base].insert(ends[0] as u64, (u64::MAX, *token));
        }
        run.block(body);
        parameters[inputs.len()..inputs.len() + outputs].iter().map(|place| run.read(*place)).collect()
    }

    fn block<'c>(&mut self, block: Block<'c>) -> Vec<Value<'c>> {
        let ops = ops_in(block);
        let (last, ops) = ops.split_last().expect("blocks end");
        for op in ops {
            self.op(*op);
        }
        last.operand_values()
    }

    fn op(&mut self, op: Op) {
        let (operands, results) = (op.operand_values(), op.result_values());
        let set = |run: &mut Self, held| {
            run.values.insert(key(results[0]), held);
        };
        match op.full_name().as_str() {
            "te.constant" => {
                let token = constant_token(op.attr("value").expect("a value"));
                set(self, Held::Tensor(token));
            }
            "te.view" => {
                let token = self.tensor(operands[0]);
                set(self, Held::Tensor(token));
            }
            "te.call" => {
                let inputs: Vec<Token> = operands.iter().map(|v| self.tensor(*v)).collect();
                for (i, result) in results.iter().enumerate() {
                    let made = token((op.text("kernel"), i, &inputs));
                    self.values.insert(key(*result), Held::Tensor(made));
                }
            }
            "func.call" => self.kernel(op),
            "memref.view" => {
                let (whole, shift) = (self.place(operands[0]), self.number(operands[1]) as u64);
                let place = Place { from: whole.from + shift, size: bytes_of(results[0]), ..whole };
                assert!(place.from + place.size <= whole.from + whole.size, "{op} leaves its memory");
                assert_eq!(place.from % 64, 0, "{op} is not aligned");
                set(self, Held::Memory(place));
            }
            "memref.copy" => {
                let token = self.read(self.place(operands[0]));
                self.write(self.place(operands[1]), token);
            }
            "memref.load" => {
                let token = self.read(self.place(operands[0]));
                let number = self.decide(token);
                set(self, Held::Number(number));
            }
            "tensor.extract" => {
                let token = self.tensor(operands[0]);
                let number = self.decide(token);
                set(self, Held::Number(number));
            }
            // Only "not equal 0" is built.
            "arith.cmpi" => set(self, self.values[&key(operands[0])]),
            "arith.constant" => {
                let text = op.attr("value").expect("a value").to_string();
                let number = text.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
                set(self, Held::Number(number));
            }
            "scf.if" => {
                let taken = if self.number(operands[0]) != 0 { 0 } else { 1 };
                let Some(body) = op.body(taken) else { return };
                let yielded = self.block(body);
                self.bind(&results, &yielded);
            }
            "scf.while" => {
                let (test, step) = (op.body(0).expect("a test"), op.body(1).expect("a step"));
                self.bind(&arguments(test), &operands);
                loop {
                    let ends = self.block(test);
                    if self.number(ends[0]) == 0 {
                        self.bind(&results, &ends[1..]);
                        break;
                    }
                    self.bind(&arguments(step), &ends[1..]);
                    let next = self.block(step);
                    self.bind(&arguments(test), &next);
                }
            }
            name => panic!("{name} is not interpreted"),
        }
    }

    /// Reads all inputs, spoils the scratch memory and writes the outputs, none of which may overlap; but the output of
    /// one that updates an operand must hold that, and may be its memory.
    fn kernel(&mut self, op: Op) {
        let places: Vec<Place> = op.operand_values().into_iter().map(|v| self.place(v)).collect();
        let name = op.text("callee").expect("a callee");
        // Kernels are called as k_INPUTS_OUTPUTS_..., or u and the operand they update.
        let updated: Option<usize> =
            name.strip_prefix('u').and_then(|rest| rest.split('_').next()).and_then(|n| n.parse().ok());
        let counts: Vec<usize> =
            name.split('_').skip(1).take(2).map(|n| n.parse().expect("a count")).collect();
        let inputs: Vec<Token> = places[..counts[0]].iter().map(|p| self.read(*p)).collect();
        if let Some(updated) = updated {
            assert_eq!(self.read(places[counts[0]]), inputs[updated], "{op} updates something else");
        }
        for (i, a) in places.iter().enumerate().skip(counts[0]) {
            for (j, b) in places[..i].iter().enumerate() {
                let same = a.base == b.base && a.from == b.from;
                let apart = same && i == counts[0] && updated == Some(j)
                    || a.base != b.base
                    || a.from + a.size <= b.from
                    || b.from + b.size <= a.from;
                assert!(apart, "{op} writes where it reads or writes otherwise");
            }
        }
        for (i, place) in places.iter().skip(counts[0]).enumerate() {
            let made = if i < counts[1] { token((Some(name), i, &inputs)) } else { token("garbage") };
            self.write(*place, made);
        }
    }

    /// All at once: the values may be those that are bound.
    fn bind(&mut self, to: &[Value], from: &[Value]) {
        let held: Vec<Held> = from.iter().map(|v| self.values[&key(*v)]).collect();
        for (value, held) in to.iter().zip(held) {
            self.values.insert(key(*value), held);
        }
    }

    /// A condition: the same for the same token at the same time, and false in the end.
    fn decide(&mut self, token: Token) -> i64 {
        self.decisions += 1;
        i64::from(self.decisions < 60 && !self::token((token, self.decisions)).is_multiple_of(4))
    }

    fn write(&mut self, place: Place, token: Token) {
        if place.size == 0 {
            return;
        }
        let memory = &mut self.memory[place.base];
        let end = place.from + place.size;
        let met: Vec<u64> = memory
            .range(..end)
            .filter(|(from, (size, _))| from.saturating_add(*size) > place.from)
            .map(|(from, _)| *from)
            .collect();
        for from in met {
            memory.remove(&from);
        }
        memory.insert(place.from, (place.size, token));
    }

    fn read(&self, place: Place) -> Token {
        match self.memory[place.base].get(&place.from) {
            Some((size, token)) if *size == place.size || *size == u64::MAX => *token,
            found => panic!("{place:?} is read, where {found:?} was written last"),
        }
    }

    fn tensor(&self, value: Value) -> Token {
        match self.values[&key(value)] {
            Held::Tensor(token) => token,
            other => panic!("{other:?} is no tensor"),
        }
    }

    fn place(&self, value: Value) -> Place {
        match self.values[&key(value)] {
            Held::Memory(place) => place,
            other => panic!("{other:?} is no memory"),
        }
    }

    fn number(&self, value: Value) -> i64 {
        match self.values[&key(value)] {
            Held::Number(number) => number,
            other => panic!("{other:?} is no number"),
        }
    }
}

/// The token of a constant.
pub fn constant_token(value: fusion_dialects::Attribute) -> Token {
    token(value.to_string())
}

fn main_of<'c>(module: Op<'c>) -> Op<'c> {
    let named = |op: &Op| op.text("sym_name") == Some("main");
    top_level(module, |_| true).into_iter().find(named).expect("an entry")
}

fn main_body<'c>(module: Op<'c>) -> Block<'c> {
    main_of(module).body(0).expect("a body")
}

fn bytes_of(value: Value) -> u64 {
    use fusion_dialects::ValueLike;
    let (element, count) = buffer_parts(value.r#type()).expect("a flat buffer");
    count * if element.to_string() == "i8" { 1 } else { 4 }
}
