//! What operations and functions do besides giving values: which of them are pure.
//!
//! ```text
//!   effect(op)    = its own  +  those of its regions      relay.fn: none, until it is called
//!   effect(call)  = summary(callee)[its parameters := the arguments]
//! ```
//! The summary of a function says whether it makes, reads or writes cells that others can see, and which of its parameters it
//! calls: `map(f, list)` is as pure as `f` is. Summaries are the least fixed point over the module (Lucassen and Gifford,
//! "Polymorphic effect systems", 1988). A cell that is only read and written where it was made is nobody else's business. That
//! a call may not end, or end with an error, is no effect: a pure call whose value is not used may go.

use fusion_dialects::relay::Op as Relay;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Op, OpExt, OperationLike, TypeParts, Value, arguments, defining_op, key, op_key, ops_in, parent_of,
    top_level, type_parts, users,
};
use indexmap::IndexMap;
use std::collections::{BTreeSet, HashSet};

/// What is done besides giving values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Cells are made, whose identity can be told.
    pub makes: bool,
    /// Cells are read.
    pub reads: bool,
    /// Cells are written.
    pub writes: bool,
}

impl Effect {
    /// Everything: what is done is not known.
    pub const ANY: Effect = Effect { makes: true, reads: true, writes: true };

    /// True when nothing is done.
    pub fn is_none(self) -> bool {
        self == Effect::default()
    }

    /// True when an operation whose values are not used may go.
    pub fn may_go(self) -> bool {
        !self.writes
    }

    fn and(self, other: Effect) -> Effect {
        Effect {
            makes: self.makes || other.makes,
            reads: self.reads || other.reads,
            writes: self.writes || other.writes,
        }
    }
}

/// What a function does when it is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Summary {
    effect: Effect,
    /// The parameters that it calls.
    calls: BTreeSet<usize>,
}

/// The effects of the functions of a module.
pub struct Effects<'c> {
    functions: IndexMap<&'c str, (Op<'c>, Summary)>,
}

/// What a function value is known to be.
pub enum Callee<'c> {
    /// A closure, by its `relay.fn`.
    Closure(Op<'c>),
    /// A function of the module.
    Function(&'c str),
    /// A value that is not known.
    Unknown(Value<'c>),
}

/// Looks through annotations and instances for where a function value was made.
pub fn callee_of<'c>(function: Value<'c>) -> Callee<'c> {
    let Some(op) = defining_op(function) else { return Callee::Unknown(function) };
    match op.kind() {
        Some(Kind::Relay(Relay::Fn)) => Callee::Closure(op),
        Some(Kind::Relay(Relay::Global)) => match op.text("function") {
            Some(name) => Callee::Function(name),
            None => Callee::Unknown(function),
        },
        Some(Kind::Relay(Relay::Instantiate | Relay::Ascribe)) => callee_of(op.operand_values()[0]),
        _ => Callee::Unknown(function),
    }
}

/// True when a cell is only read and written, in the function or closure that made it.
pub fn is_local_cell(cell: Value) -> bool {
    let Some(made) = defining_op(cell).filter(|op| is(*op, Relay::RefNew)) else { return false };
    let home = enclosing_function(made).map(op_key);
    users(cell).into_iter().all(|user| {
        let values = user.operand_values();
        let as_cell = match user.kind() {
            Some(Kind::Relay(Relay::RefRead)) => true,
            Some(Kind::Relay(Relay::RefWrite)) => values.get(1).is_none_or(|v| key(*v) != key(cell)),
            _ => false,
        };
        as_cell && enclosing_function(user).map(op_key) == home
    })
}

/// True for that operation of relay's functional side.
pub fn is(op: Op, kind: Relay) -> bool {
    matches!(op.kind(), Some(Kind::Relay(found)) if found == kind)
}

/// The function or closure whose body an operation stands in.
pub fn enclosing_function<'c>(op: Op<'c>) -> Option<Op<'c>> {
    std::iter::successors(parent_of(op), |op| parent_of(*op))
        .find(|op| matches!(op.kind(), Some(Kind::Upstream(Upstream::Func) | Kind::Relay(Relay::Fn))))
}

impl<'c> Effects<'c> {
    /// Of a module.
    pub fn of(module: Op<'c>) -> Self {
        let functions = top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func)));
        let named =
            functions.into_iter().filter_map(|f| Some((f.text("sym_name")?, (f, Summary::default()))));
        let mut effects = Effects { functions: named.collect() };
        loop {
            let mut changed = false;
            for at in 0..effects.functions.len() {
                let function = effects.functions[at].0;
                let summary = effects.summarize(function);
                changed |= effects.functions[at].1 != summary;
                effects.functions[at].1 = summary;
            }
            if !changed {
                return effects;
            }
        }
    }

    fn summarize(&self, function: Op<'c>) -> Summary {
        let Some(body) = function.body(0) else {
            // A declaration: kernels and the like, which compute tensors.
            return Summary::default();
        };
        let mut walk = Walk::new(self, function, Some(function));
        ops_in(body).into_iter().for_each(|op| walk.op(op));
        walk.summary
    }

    /// What an operation does, with its regions and what it calls.
    pub fn of_op(&self, op: Op<'c>) -> Effect {
        let mut walk = Walk::new(self, op, None);
        walk.op(op);
        walk.summary.effect
    }

    /// True when calls of a function do nothing but give values, whatever functions they are given.
    pub fn is_pure(&self, function: &str) -> bool {
        self.functions.get(function).is_some_and(|(_, s)| s.effect.is_none() && s.calls.is_empty())
    }
}

struct Walk<'a, 'c> {
    effects: &'a Effects<'c>,
    /// What is looked at.
    root: Op<'c>,
    /// The function whose parameters stay open; none where an operation is looked at by itself.
    function: Option<Op<'c>>,
    summary: Summary,
    /// Closures whose bodies were looked at, and their arguments.
    inside: HashSet<usize>,
    taken: HashSet<usize>,
}

impl<'a, 'c> Walk<'a, 'c> {
    fn new(effects: &'a Effects<'c>, root: Op<'c>, function: Option<Op<'c>>) -> Self {
        let (inside, taken) = (HashSet::new(), HashSet::new());
        Walk { effects, root, function, summary: Summary::default(), inside, taken }
    }
}

impl<'c> Walk<'_, 'c> {
    fn op(&mut self, op: Op<'c>) {
        let operands = op.operand_values();
        let seen = |walk: &Self| operands.first().is_none_or(|cell| !walk.is_own(*cell));
        match op.kind() {
            Some(Kind::Relay(Relay::Fn)) => {}
            Some(Kind::Relay(Relay::RefNew)) => {
                self.does(Effect { makes: !self.is_own(op.result_values()[0]), ..Effect::default() });
            }
            Some(Kind::Relay(Relay::RefRead)) => {
                self.does(Effect { reads: seen(self), ..Effect::default() });
            }
            Some(Kind::Relay(Relay::RefWrite)) => {
                self.does(Effect { writes: seen(self), ..Effect::default() });
            }
            Some(Kind::Relay(Relay::Apply)) => match operands.split_first() {
                Some((callee, given)) => self.calls(*callee, given),
                None => self.does(Effect::ANY),
            },
            Some(Kind::Relay(Relay::Call) | Kind::Upstream(Upstream::Call)) => {
                match op.text("callee") {
                    Some(name) => self.calls_function(name, &operands),
                    None => self.does(Effect::ANY),
                };
            }
            Some(Kind::Relay(Relay::If | Relay::Match | Relay::While)) => {
                for block in (0..op.region_count()).filter_map(|r| op.body(r)) {
                    ops_in(block).into_iter().for_each(|inner| self.op(inner));
                }
            }
            Some(_) => {}
            None if fusion_dialects::is_pure(op) => {}
            None => self.does(Effect::ANY),
        }
    }

    /// True when nobody outside of what is looked at can see a cell.
    fn is_own(&self, cell: Value<'c>) -> bool {
        let inside = |op: Op<'c>| op_key(op) == op_key(self.root) || self.inside.contains(&op_key(op));
        let made = defining_op(cell).filter(|_| is_local_cell(cell));
        made.is_some_and(|made| std::iter::successors(parent_of(made), |op| parent_of(*op)).any(inside))
    }

    fn does(&mut self, effect: Effect) {
        self.summary.effect = self.summary.effect.and(effect);
    }

    /// A function value is called; the arguments may be called in turn.
    fn calls(&mut self, callee: Value<'c>, given: &[Value<'c>]) {
        match callee_of(callee) {
            Callee::Function(name) => self.calls_function(name, given),
            Callee::Closure(closure) => {
                // What a closure does with its arguments is not followed: those that are functions may be called.
                let functions: Vec<_> = given.iter().copied().filter(|v| is_function(*v)).collect();
                functions.into_iter().for_each(|function| self.calls(function, &[]));
                if self.inside.insert(op_key(closure))
                    && let Some(body) = closure.body(0)
                {
                    self.taken.extend(arguments(body).into_iter().map(key));
                    ops_in(body).into_iter().for_each(|op| self.op(op));
                }
            }
            Callee::Unknown(value) => self.calls_unknown(value),
        }
    }

    fn calls_unknown(&mut self, value: Value<'c>) {
        let body = self.function.and_then(|f| f.body(0));
        let parameter = body.and_then(|b| arguments(b).into_iter().position(|a| key(a) == key(value)));
        if let Some(parameter) = parameter {
            self.summary.calls.insert(parameter);
            return;
        }
        // An argument of a closure that is looked at: what it is given was looked at where it is called.
        if !self.taken.contains(&key(value)) {
            self.does(Effect::ANY);
        }
    }

    fn calls_function(&mut self, name: &str, given: &[Value<'c>]) {
        let Some((_, summary)) = self.effects.functions.get(name) else {
            return self.does(Effect::ANY);
        };
        self.does(summary.effect);
        for parameter in summary.calls.clone() {
            match given.get(parameter) {
                Some(function) => self.calls(*function, &[]),
                None => self.does(Effect::ANY),
            }
        }
    }
}

fn is_function(value: Value) -> bool {
    use fusion_dialects::ValueLike;
    matches!(type_parts(value.r#type()), TypeParts::Function(..) | TypeParts::Hole | TypeParts::Var(_))
}
