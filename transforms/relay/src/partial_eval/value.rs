//! Partially static values.
//!
//! ```text
//!   Data Cons [ Dynamic %x, Data Nil [] ]        a list of one element that is known at run time
//! ```
//! A value that is not dynamic gets a value of the program when one is needed (`residual`); it is remembered with the scope it was
//! made in, so that it is made once where it can be seen.

use fusion_dialects::relay::Instance;
use fusion_dialects::{Op, Type, Value, key, op_key};
use fusion_operators::Tensor;
use indexmap::IndexMap;
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

/// A value, of a type.
pub struct Partial<'c> {
    pub ty: Type<'c>,
    pub known: Known<'c>,
    /// The program's value for it, and the scope that is in.
    pub residual: RefCell<Option<(Value<'c>, usize)>>,
}

/// Copies share.
pub type Shared<'c> = Rc<Partial<'c>>;

/// What is known of a value.
#[derive(Clone)]
pub enum Known<'c> {
    /// Nothing: it is the program's value in `residual`.
    Dynamic,
    Tensor(Tensor),
    Tuple(Vec<Shared<'c>>),
    Data {
        data: &'c str,
        name: &'c str,
        fields: Vec<Shared<'c>>,
    },
    Closure(Rc<Closure<'c>>),
    Global(&'c str),
    /// A cell, by its number in the store; its place in the program is in `residual`.
    Cell(usize),
}

/// A `relay.fn` with what it captured.
pub struct Closure<'c> {
    pub op: Op<'c>,
    pub captured: IndexMap<usize, Shared<'c>>,
    /// What type variables and named extents stand for where it was made.
    pub instance: Rc<Instance<'c>>,
}

impl<'c> Partial<'c> {
    /// A value of which that is known.
    pub fn new(ty: Type<'c>, known: Known<'c>) -> Shared<'c> {
        Rc::new(Partial { ty, known, residual: RefCell::new(None) })
    }

    /// A value of the program.
    pub fn dynamic(value: Value<'c>, ty: Type<'c>, scope: usize) -> Shared<'c> {
        Rc::new(Partial { ty, known: Known::Dynamic, residual: RefCell::new(Some((value, scope))) })
    }

    /// True when something is known that a branch could depend on.
    pub fn is_static(&self) -> bool {
        !matches!(self.known, Known::Dynamic | Known::Cell(_))
    }

    /// The boolean that a condition is known to be.
    pub fn truth(&self) -> Option<bool> {
        match &self.known {
            Known::Tensor(tensor) if tensor.len() == 1 => Some(tensor.int_at(0) != 0),
            _ => None,
        }
    }
}

/// What is more than this many parts deep or wide is not looked at for a key.
const MOST_PARTS: usize = 2048;

/// Describes the static parts of a value, and lists the dynamic ones in order. `None` for values that are too large.
pub fn describe<'c>(value: &Shared<'c>, text: &mut String, leaves: &mut Vec<Shared<'c>>) -> Option<()> {
    let mut work = vec![value.clone()];
    let mut parts = 0;
    while let Some(value) = work.pop() {
        parts += 1;
        if parts > MOST_PARTS {
            return None;
        }
        let outcome = match &value.known {
            Known::Dynamic | Known::Cell(_) => {
                leaves.push(value.clone());
                write!(text, "?{};", value.ty)
            }
            Known::Tensor(tensor) => write!(text, "t{}{:?};", tensor.tensor_type(), tensor.bytes()),
            Known::Tuple(elements) => {
                work.extend(elements.iter().rev().cloned());
                write!(text, "({};", elements.len())
            }
            Known::Data { data, name, fields } => {
                work.extend(fields.iter().rev().cloned());
                write!(text, "@{data}::{name}{};", value.ty)
            }
            Known::Closure(closure) => {
                work.extend(closure.captured.values().rev().cloned());
                write!(text, "f{};", op_key(closure.op))
            }
            Known::Global(name) => write!(text, "g{name};"),
        };
        outcome.ok()?;
    }
    Some(())
}

/// The same value with its dynamic parts replaced, in the order [`describe`] lists them.
pub fn rebuild<'c>(value: &Shared<'c>, leaves: &mut std::vec::IntoIter<Shared<'c>>) -> Shared<'c> {
    let known = match &value.known {
        Known::Dynamic | Known::Cell(_) => return leaves.next().unwrap_or_else(|| value.clone()),
        Known::Tensor(tensor) => Known::Tensor(tensor.clone()),
        Known::Tuple(elements) => Known::Tuple(elements.iter().map(|e| rebuild(e, leaves)).collect()),
        Known::Data { data, name, fields } => {
            Known::Data { data, name, fields: fields.iter().map(|f| rebuild(f, leaves)).collect() }
        }
        Known::Closure(closure) => Known::Closure(Rc::new(Closure {
            op: closure.op,
            captured: closure.captured.iter().map(|(k, v)| (*k, rebuild(v, leaves))).collect(),
            instance: closure.instance.clone(),
        })),
        Known::Global(name) => Known::Global(name),
    };
    Partial::new(value.ty, known)
}

/// The values known where an operation is met, by their keys.
#[derive(Clone, Default)]
pub struct Environment<'c> {
    values: std::collections::HashMap<usize, Shared<'c>>,
}

impl<'c> Environment<'c> {
    /// Says what a value is.
    pub fn bind(&mut self, name: Value<'c>, value: Shared<'c>) {
        self.values.insert(key(name), value);
    }

    /// Says what the value of that key is.
    pub fn bind_key(&mut self, key: usize, value: Shared<'c>) {
        self.values.insert(key, value);
    }

    /// What a value is.
    pub fn get(&self, name: Value<'c>) -> Option<Shared<'c>> {
        self.values.get(&key(name)).cloned()
    }
}
