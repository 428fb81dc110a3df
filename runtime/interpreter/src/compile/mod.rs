//! From the IR to lines over registers.

mod closures;
mod control;

use crate::InterpretError;
use crate::code::Constructor;
use crate::code::{Code, Expect, Line, Register, Work};
use crate::held::Held;
use crate::value::Value;
use fusion_dialects::relay::DataType;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, Op, OpExt, Type, Value as Name, ValueLike, arguments, function_parts, key, ops_in, read_tensor,
    relay, symbol_path, te as te_ops, tensor_type, top_level, type_of_attr,
};
use fusion_operators::Dim;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Regions inside one another that are read; each takes some of the host's stack.
const MOST_REGIONS: usize = 500;

/// What the functions of a module share.
pub struct Symbols<'c> {
    /// Functions and kernels, by name.
    pub functions: HashMap<&'c str, usize>,
    /// The same, by number.
    pub bodies: Vec<Op<'c>>,
    /// Constructors, by data type and name.
    pub constructors: HashMap<(String, String), Rc<Constructor>>,
}

impl<'c> Symbols<'c> {
    /// Of a module.
    pub fn of(module: Op<'c>) -> Self {
        let callable = |kind| matches!(kind, Kind::Upstream(Upstream::Func) | Kind::Te(te_ops::Op::Kernel));
        let bodies = top_level(module, callable);
        let named = bodies.iter().enumerate().filter_map(|(i, f)| Some((f.text("sym_name")?, i)));
        let functions = named.collect();
        let mut constructors = HashMap::new();
        for data in top_level(module, |kind| matches!(kind, Kind::Relay(relay::Op::Data))) {
            let Some(data) = DataType::of(data) else { continue };
            for (tag, constructor) in data.constructors.iter().enumerate() {
                let (of, name) = (data.name.to_owned(), constructor.name.to_owned());
                let fields = constructor.fields.len();
                constructors
                    .insert((of.clone(), name.clone()), Rc::new(Constructor { data: of, name, tag, fields }));
            }
        }
        Symbols { functions, bodies, constructors }
    }

    fn constructor(&self, op: Op, data: &str, name: &str) -> Result<Rc<Constructor>, InterpretError> {
        let found = self.constructors.get(&(data.to_owned(), name.to_owned())).cloned();
        found.ok_or_else(|| {
            InterpretError::at(op, format!("names @{data}::@{name}, which the module does not declare"))
        })
    }

    /// The code of a function or kernel; without calls in tail position where all values are to be seen.
    pub fn compile(&self, function: Op<'c>, tails: bool) -> Result<Code<'c>, InterpretError> {
        let name = function.text("sym_name").unwrap_or_default();
        let body = function.body(0).ok_or_else(|| InterpretError::NoFunction(name.to_owned()))?;
        let ty = function.attr("function_type").and_then(type_of_attr).and_then(function_parts);
        let results = ty.map(|(_, results)| results);
        let mut extents = HashMap::new();
        for dim in arguments(body).into_iter().filter_map(tensor_type).flat_map(|ty| ty.dims) {
            if let Dim::Symbol(name) = dim {
                let next = extents.len();
                extents.entry(name).or_insert(next);
            }
        }
        let mut compiler =
            Compiler { symbols: self, tails, extents, code: empty(function, format!("@{name}")) };
        compiler.whole(body, &[], results)?;
        Ok(compiler.code)
    }
}

fn empty(op: Op<'_>, name: String) -> Code<'_> {
    Code {
        op,
        name,
        parameters: 0,
        takes: Vec::new(),
        gives: Vec::new(),
        captures: Vec::new(),
        recursive: false,
        registers: 0,
        extents: 0,
        lines: Vec::new(),
        numbers: HashMap::new(),
    }
}

struct Compiler<'a, 'c> {
    symbols: &'a Symbols<'c>,
    tails: bool,
    extents: HashMap<String, usize>,
    code: Code<'c>,
}

/// Where what a block gives goes.
#[derive(Clone, Copy)]
enum To<'c> {
    /// To the caller.
    Caller,
    /// Into the registers of an operation's results, from the first.
    Results(Op<'c>, Register),
}

impl<'c> Compiler<'_, 'c> {
    /// The body of a function, kernel or closure, with the values that come from around it.
    fn whole(
        &mut self,
        body: Block<'c>,
        around: &[Name<'c>],
        results: Option<Vec<Type<'c>>>,
    ) -> Result<(), InterpretError> {
        let parameters = arguments(body);
        self.code.parameters = parameters.len();
        self.code.extents = self.extents.len();
        for name in parameters.iter().chain(around) {
            self.number(*name);
        }
        self.code.takes = parameters.iter().map(|p| self.expect(*p)).collect();
        self.code.gives =
            results.unwrap_or_default().into_iter().map(|ty| Expect::of(ty, &self.extents)).collect();
        self.block(self.code.op, body, To::Caller, 0)
    }

    fn expect(&self, name: Name<'c>) -> Expect {
        Expect::of(name.r#type(), &self.extents)
    }

    fn fresh(&mut self) -> Register {
        self.code.registers += 1;
        self.code.registers - 1
    }

    fn number(&mut self, name: Name<'c>) -> Register {
        let register = self.fresh();
        self.code.numbers.insert(key(name), register);
        register
    }

    fn register(&self, op: Op<'c>, name: Name<'c>) -> Result<Register, InterpretError> {
        let known = self.code.numbers.get(&key(name)).copied();
        known.ok_or_else(|| InterpretError::at(op, "reads a value that is not known"))
    }

    fn operands(&self, op: Op<'c>) -> Result<Vec<Register>, InterpretError> {
        op.operand_values().into_iter().map(|v| self.register(op, v)).collect()
    }

    /// A line without results.
    fn line(&mut self, op: Op<'c>, work: Work<'c>, operands: Vec<Register>) -> usize {
        self.code.lines.push(Line { op, work, operands: operands.into(), result: 0, expects: [].into() });
        self.code.lines.len() - 1
    }

    /// A line that writes the results of its operation.
    fn writes(&mut self, op: Op<'c>, work: Work<'c>, operands: Vec<Register>) {
        let first = self.results(op);
        let expects = op.result_values().into_iter().map(|r| self.expect(r)).collect();
        self.code.lines.push(Line { op, work, operands: operands.into(), result: first, expects });
    }

    /// Numbers the results of an operation.
    fn results(&mut self, op: Op<'c>) -> Register {
        let first = self.code.registers;
        for result in op.result_values() {
            self.number(result);
        }
        first
    }

    fn here(&self) -> usize {
        self.code.lines.len()
    }

    /// Lets a line go to where the next line will be.
    fn land(&mut self, line: usize) {
        let here = self.here();
        match &mut self.code.lines[line].work {
            Work::Go(to) | Work::Unless(to) | Work::Case { otherwise: to, .. } => *to = here,
            _ => {}
        }
    }

    fn block(
        &mut self,
        of: Op<'c>,
        block: Block<'c>,
        to: To<'c>,
        depth: usize,
    ) -> Result<(), InterpretError> {
        if depth > MOST_REGIONS {
            let message = format!("is inside {MOST_REGIONS} regions, more are not allowed");
            return Err(InterpretError::at(of, message));
        }
        let ops = ops_in(block);
        for (index, op) in ops.iter().enumerate() {
            if is_terminator(*op) {
                let operands = self.operands(*op)?;
                match to {
                    To::Caller => {
                        self.line(*op, Work::Return, operands);
                    }
                    To::Results(of, first) => {
                        let expects = of.result_values().into_iter().map(|r| self.expect(r)).collect();
                        let operands = operands.into();
                        let work = Work::Move;
                        self.code.lines.push(Line { op: of, work, operands, result: first, expects });
                    }
                }
                return Ok(());
            }
            let hands_on = |next: &Op<'c>| {
                let keys = |names: Vec<Name<'c>>| names.into_iter().map(key).collect::<Vec<_>>();
                is_terminator(*next) && keys(next.operand_values()) == keys(op.result_values())
            };
            let tail = self.tails && matches!(to, To::Caller) && ops.get(index + 1).is_some_and(hands_on);
            if self.op(*op, tail, depth)? {
                return Ok(());
            }
        }
        Err(InterpretError::at(of, "has a block without a terminator"))
    }

    fn region(&mut self, op: Op<'c>, index: usize, to: To<'c>, depth: usize) -> Result<(), InterpretError> {
        let block = op.body(index).ok_or_else(|| InterpretError::at(op, "has an empty region"))?;
        self.block(op, block, to, depth + 1)
    }

    /// The lines of an operation; true when they return by themselves.
    fn op(&mut self, op: Op<'c>, tail: bool, depth: usize) -> Result<bool, InterpretError> {
        let operands = self.operands(op)?;
        match op.kind() {
            Some(Kind::Operator(operator)) => {
                let attrs = op.attrs();
                let named = |name: &str| match self.extents.get(name) {
                    Some(number) => Ok((name.to_owned(), *number)),
                    None => {
                        let why = format!("has the extent {name}, which no parameter of its function has");
                        Err(InterpretError::at(op, why))
                    }
                };
                let names = attrs.names().into_iter().map(named).collect::<Result<_, _>>()?;
                let work = Work::Operator { operator, attrs, names, typed: RefCell::new(None) };
                self.writes(op, work, operands);
            }
            Some(Kind::Relay(kind)) => return self.functional(kind, op, operands, tail, depth),
            Some(Kind::Te(te_ops::Op::Call)) => return self.call(op, "kernel", operands, tail),
            Some(Kind::Te(kind)) => self.writes(op, Work::Te(kind), operands),
            Some(Kind::Upstream(Upstream::ArithConstant)) => self.constant(op, "is no tensor")?,
            Some(Kind::Upstream(Upstream::Call)) => return self.call(op, "callee", operands, tail),
            _ => return Err(InterpretError::at(op, "is not interpreted")),
        }
        Ok(false)
    }

    fn constant(&mut self, op: Op<'c>, otherwise: &str) -> Result<(), InterpretError> {
        let tensor = op.attr("value").and_then(read_tensor);
        let tensor: Rc<Held> = match tensor.map(Value::from) {
            Some(Value::Tensor(tensor)) => tensor,
            _ => return Err(InterpretError::at(op, otherwise)),
        };
        self.writes(op, Work::Constant(tensor), Vec::new());
        Ok(())
    }

    fn call(
        &mut self,
        op: Op<'c>,
        attr: &str,
        operands: Vec<Register>,
        tail: bool,
    ) -> Result<bool, InterpretError> {
        let work = Work::Call { callee: self.function(op, attr)?, tail };
        self.writes(op, work, operands);
        Ok(tail)
    }

    fn function(&self, op: Op<'c>, attr: &str) -> Result<usize, InterpretError> {
        let name = op.text(attr).unwrap_or_default();
        let found = self.symbols.functions.get(name).copied();
        found.ok_or_else(|| {
            let error = InterpretError::NoFunction(name.to_owned());
            InterpretError::at(op, format!("cannot call: {error}"))
        })
    }

    fn functional(
        &mut self,
        kind: relay::Op,
        op: Op<'c>,
        operands: Vec<Register>,
        tail: bool,
        depth: usize,
    ) -> Result<bool, InterpretError> {
        match kind {
            relay::Op::Constant => self.constant(op, "has no bytes for its value")?,
            relay::Op::Tuple => self.writes(op, Work::Tuple, operands),
            relay::Op::Get => {
                let index = usize::try_from(op.int("index").unwrap_or(-1));
                let index = index.map_err(|_| InterpretError::at(op, "has an index out of range"))?;
                self.writes(op, Work::Get(index), operands);
            }
            relay::Op::Construct => {
                let path = op.attr("constructor").and_then(symbol_path).unwrap_or_default();
                let [data, name] = path[..] else {
                    return Err(InterpretError::at(op, "names no constructor"));
                };
                let constructor = self.symbols.constructor(op, data, name)?;
                self.writes(op, Work::Construct(constructor), operands);
            }
            relay::Op::Instantiate | relay::Op::Ascribe => self.writes(op, Work::Move, operands),
            relay::Op::Global => {
                let function = self.function(op, "function")?;
                self.writes(op, Work::Global(function), operands);
            }
            relay::Op::Call => return self.call(op, "callee", operands, tail),
            relay::Op::Apply => {
                self.writes(op, Work::Apply { tail }, operands);
                return Ok(tail);
            }
            relay::Op::Fn => {
                let code = self.closure(op)?;
                self.writes(op, Work::Function(Rc::new(code)), operands);
            }
            relay::Op::If => return self.branches(op, operands, tail, depth),
            relay::Op::Match => return self.clauses(op, operands, tail, depth),
            relay::Op::While => self.iteration(op, operands, depth)?,
            relay::Op::RefNew => self.writes(op, Work::RefNew, operands),
            relay::Op::RefRead => self.writes(op, Work::RefRead, operands),
            relay::Op::RefWrite => self.writes(op, Work::RefWrite, operands),
            relay::Op::Yield | relay::Op::Data => return Err(InterpretError::at(op, "is not interpreted")),
        }
        Ok(false)
    }
}

fn is_terminator(op: Op) -> bool {
    matches!(
        op.kind(),
        Some(
            Kind::Upstream(Upstream::Return)
                | Kind::Relay(relay::Op::Yield)
                | Kind::Te(te_ops::Op::Return | te_ops::Op::Yield)
        )
    )
}
