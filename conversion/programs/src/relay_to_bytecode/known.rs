//! What is known of a value where it is used, and which values stand behind it.
//!
//! ```text
//!   relay.constant                 a constant of the program, made where it is needed
//!   relay.global @f                the function @f
//!   relay.fn that is only called   its body as a function that takes what it captures: no closure is made
//!   relay.tuple that is only taken apart      its elements
//!   anything else                  a register
//! ```

use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Op, OpExt, OperationLike, Value, arguments, array_elements, defining_op, key, kind_of, nested_ops,
    op_key, relay, users,
};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// What is known of a value.
#[derive(Clone, Copy)]
pub enum Known<'c> {
    /// The `relay.constant` that it is.
    Constant(Op<'c>),
    /// The name of the function of the module that it is.
    Function(&'c str),
    /// The `relay.fn` it is, whose captured values are at hand.
    Closure(Op<'c>),
    /// The `relay.tuple` it is, whose elements are at hand.
    Tuple(Op<'c>),
    /// It has a register.
    Value(Value<'c>),
}

/// What is known of the values of a module.
#[derive(Default)]
pub struct Facts<'c> {
    /// The `relay.fn` that a block argument stands for.
    itself: HashMap<usize, Op<'c>>,
    captures: RefCell<HashMap<usize, Rc<[Value<'c>]>>>,
    lifted: RefCell<HashMap<usize, bool>>,
}

impl<'c> Facts<'c> {
    /// Looks at all closures of a module.
    pub fn of(module: Op<'c>) -> Self {
        let recursive = |op: &Op<'c>| is_closure(*op) && op.attr(relay::RECURSIVE).is_some();
        let closures = nested_ops(module).into_iter().filter(recursive);
        let itself = closures.filter_map(|op| Some((key(*arguments(op.body(0)?).first()?), op))).collect();
        Facts { itself, ..Facts::default() }
    }

    /// What is known of a value.
    pub fn known(&self, value: Value<'c>) -> Known<'c> {
        use relay::Op as R;
        let mut value = value;
        loop {
            if let Some(closure) = self.itself.get(&key(value)) {
                return Known::Closure(*closure);
            }
            let Some(op) = defining_op(value) else { return Known::Value(value) };
            let Some(Kind::Relay(kind)) = kind_of(op) else { return Known::Value(value) };
            match kind {
                R::Instantiate | R::Ascribe => value = op.operand_values()[0],
                R::Constant => return Known::Constant(op),
                R::Global => return op.text("function").map_or(Known::Value(value), Known::Function),
                R::Fn if self.is_lifted(op) => return Known::Closure(op),
                R::Tuple if is_taken_apart(value) => return Known::Tuple(op),
                R::Get => match self.element(op) {
                    Some(element) => value = element,
                    None => return Known::Value(value),
                },
                _ => return Known::Value(value),
            }
        }
    }

    /// The value that `relay.get` gives, where the tuple is taken apart.
    fn element(&self, get: Op<'c>) -> Option<Value<'c>> {
        let index = usize::try_from(get.int("index")?).ok()?;
        match self.known(*get.operand_values().first()?) {
            Known::Tuple(tuple) => tuple.operand_values().get(index).copied(),
            _ => None,
        }
    }

    /// The values in registers that stand behind a value.
    pub fn behind(&self, value: Value<'c>) -> Vec<Value<'c>> {
        match self.known(value) {
            Known::Constant(_) | Known::Function(_) => Vec::new(),
            Known::Closure(op) => self.captures(op).to_vec(),
            Known::Tuple(op) => op.operand_values().into_iter().flat_map(|v| self.behind(v)).collect(),
            Known::Value(value) => vec![value],
        }
    }

    /// The values in registers around a closure that it uses.
    pub fn captures(&self, closure: Op<'c>) -> Rc<[Value<'c>]> {
        if let Some(found) = self.captures.borrow().get(&op_key(closure)) {
            return found.clone();
        }
        let inner = nested_ops(closure);
        let mut inside: HashSet<usize> = HashSet::new();
        for op in std::iter::once(&closure).chain(&inner) {
            for block in (0..op.region_count()).filter_map(|i| op.body(i)) {
                inside.extend(arguments(block).into_iter().map(key));
            }
        }
        inside.extend(inner.iter().flat_map(|op| op.result_values()).map(key));
        let (mut seen, mut captured) = (HashSet::new(), Vec::new());
        let mut done = HashSet::new();
        for value in inner.iter().flat_map(|op| op.operand_values()) {
            if inside.contains(&key(value)) || !done.insert(key(value)) {
                continue;
            }
            captured.extend(self.behind(value).into_iter().filter(|v| seen.insert(key(*v))));
        }
        let captured: Rc<[Value<'c>]> = captured.into();
        self.captures.borrow_mut().insert(op_key(closure), captured.clone());
        captured
    }

    /// True for closures that need no value: those that capture nothing or are only called.
    pub fn is_lifted(&self, closure: Op<'c>) -> bool {
        if let Some(known) = self.lifted.borrow().get(&op_key(closure)) {
            return *known;
        }
        let lifted =
            closure.result_values().into_iter().all(is_only_called) || self.captures(closure).is_empty();
        self.lifted.borrow_mut().insert(op_key(closure), lifted);
        lifted
    }
}

/// True for `relay.fn`.
pub fn is_closure(op: Op) -> bool {
    matches!(kind_of(op), Some(Kind::Relay(relay::Op::Fn)))
}

fn is_only_called(value: Value) -> bool {
    users(value).into_iter().all(|user| match kind_of(user) {
        Some(Kind::Relay(relay::Op::Apply)) => {
            user.operand_values()[1..].iter().all(|v| key(*v) != key(value))
        }
        Some(Kind::Relay(relay::Op::Instantiate | relay::Op::Ascribe)) => {
            user.result_values().into_iter().all(is_only_called)
        }
        _ => false,
    })
}

/// True for tuples that are only read element by element.
fn is_taken_apart(tuple: Value) -> bool {
    users(tuple).into_iter().all(|user| match kind_of(user) {
        Some(Kind::Relay(relay::Op::Get)) => true,
        // A name as the whole pattern wants the tuple itself.
        Some(Kind::Relay(relay::Op::Match)) => user
            .attr("patterns")
            .map(array_elements)
            .unwrap_or_default()
            .into_iter()
            .all(|pattern| !matches!(relay::Pattern::read(pattern), Ok(relay::Pattern::Bind(_)) | Err(_))),
        _ => false,
    })
}
