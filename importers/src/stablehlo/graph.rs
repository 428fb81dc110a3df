//! A StableHLO program as a typed graph: what the text reader and the bytecode reader give, and the emitter takes.
//!
//! ```text
//!   Program -> functions -> Block -> operations -> regions (Blocks)
//! ```
//! Names of operations are those of the text (`stablehlo.add`, `func.call`). Attributes have the flat names of VHLO, in
//! whichever form they were written: `lhs_contracting_dimensions`, not a `#stablehlo.dot<...>`. Values are numbered, and
//! each has one type in its function.

use super::types::Type;
use crate::sources::{Fault, Outcome, Span};
use fusion_operators::Tensor;
use indexmap::IndexMap;
use std::rc::Rc;

/// A value, by its number in the function.
pub type ValueId = u32;

/// A program.
#[derive(Debug, Default)]
pub struct Program {
    /// Its functions, by name.
    pub functions: IndexMap<String, Function>,
}

/// A function.
#[derive(Debug)]
pub struct Function {
    /// The name.
    pub name: String,
    /// What the arguments are called.
    pub argument_names: Vec<String>,
    /// What the results are called; empty where nothing says.
    pub result_names: Vec<String>,
    /// Whether it can be called from outside.
    pub public: bool,
    /// Its only block.
    pub body: Block,
    /// The types of all values.
    pub types: Vec<Type>,
    /// Where it is.
    pub span: Span,
}

/// A block: arguments, and operations of which the last one gives the results.
#[derive(Debug, Default)]
pub struct Block {
    /// Its arguments.
    pub arguments: Vec<ValueId>,
    /// Its operations in order.
    pub operations: Vec<Operation>,
}

/// An operation.
#[derive(Debug)]
pub struct Operation {
    /// Its name with the dialect.
    pub name: String,
    /// What it takes.
    pub operands: Vec<ValueId>,
    /// What it gives.
    pub results: Vec<ValueId>,
    /// The attributes by their names.
    pub attributes: Attributes,
    /// Its regions, of one block each.
    pub regions: Vec<Block>,
    /// Where it is.
    pub span: Span,
}

/// Attributes by name.
pub type Attributes = IndexMap<String, Attr>;

/// An attribute.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Attr {
    Unit,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    /// A bare word, such as `LT` or `DEFAULT`.
    Word(String),
    /// The name of a function.
    Symbol(String),
    List(Vec<Attr>),
    Map(Attributes),
    Dense(Rc<Dense>),
    /// Something that no operator asks for.
    Opaque,
}

/// A constant: a tensor, or both parts of a complex one. A splat has one element, and the type says how many times.
#[derive(Clone, Debug)]
pub struct Dense {
    /// The type.
    pub ty: Type,
    /// The elements: one part, or the real and the imaginary one.
    pub parts: Vec<Tensor>,
    /// Whether one element stands for all.
    pub splat: bool,
}

impl Attr {
    /// The integers it holds, in order, whatever form they have.
    pub fn integers(&self) -> Option<Vec<i64>> {
        let mut all = Vec::new();
        self.collect(&mut all).then_some(all)
    }

    fn collect(&self, all: &mut Vec<i64>) -> bool {
        let mut push = |n: i128| i64::try_from(n).map(|n| all.push(n)).is_ok();
        match self {
            Attr::Int(n) => push(*n),
            Attr::Bool(b) => push((*b).into()),
            Attr::List(list) => list.iter().all(|one| one.collect(all)),
            Attr::Dense(dense) => {
                let [part] = &dense.parts[..] else { return false };
                let count = if dense.splat {
                    dense.ty.elements().unwrap_or(1).min(1 << 16)
                } else {
                    part.len() as u64
                };
                !part.dtype().is_float()
                    && (0..count as usize).all(|i| push(part.int_at(if dense.splat { 0 } else { i })))
            }
            _ => false,
        }
    }
}

impl Operation {
    /// The name without the dialect.
    pub fn short_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }

    /// A sentence about this operation.
    pub fn fault<T>(&self, message: impl AsRef<str>) -> Outcome<T> {
        Err(self.boxed(message))
    }

    /// As [`Self::fault`].
    pub fn boxed(&self, message: impl AsRef<str>) -> Box<Fault> {
        Fault::boxed(self.span, format!("{}: {}", self.name, message.as_ref()))
    }

    /// A list of integers, or nothing where the attribute is absent.
    pub fn opt_ints(&self, name: &str) -> Outcome<Option<Vec<i64>>> {
        let Some(attr) = self.attributes.get(name) else { return Ok(None) };
        match attr.integers() {
            Some(list) => Ok(Some(list)),
            None => self.fault(format!("the attribute {name} must be a list of integers")),
        }
    }

    /// A list of integers.
    pub fn ints(&self, name: &str) -> Outcome<Vec<i64>> {
        let list = self.opt_ints(name)?;
        list.ok_or_else(|| self.boxed(format!("the attribute {name} is missing; write a list of integers")))
    }

    /// A list of integers that count something, or nothing when it is absent.
    pub fn sizes_or(&self, name: &str, absent: &[usize]) -> Outcome<Vec<usize>> {
        let Some(list) = self.opt_ints(name)? else { return Ok(absent.to_vec()) };
        let size = |&n: &i64| {
            let fits = usize::try_from(n).ok().filter(|&n| n <= u32::MAX as usize);
            fits.ok_or_else(|| {
                self.boxed(format!("{n} in {name} is out of range; write an integer from 0 to 4294967295"))
            })
        };
        list.iter().map(size).collect()
    }

    /// A list of integers that count something.
    pub fn sizes(&self, name: &str) -> Outcome<Vec<usize>> {
        self.ints(name)?;
        self.sizes_or(name, &[])
    }

    /// A list of axes of a tensor of that rank.
    pub fn axes(&self, name: &str, rank: usize) -> Outcome<Vec<usize>> {
        let axes = self.sizes_or(name, &[])?;
        for (i, &axis) in axes.iter().enumerate() {
            if axis >= rank {
                return self
                    .fault(format!("axis {axis} in {name} is out of range for a tensor of rank {rank}"));
            }
            if axes[..i].contains(&axis) {
                return self.fault(format!("axis {axis} stands twice in {name}"));
            }
        }
        Ok(axes)
    }

    /// An integer.
    pub fn int(&self, name: &str) -> Outcome<i64> {
        match self.ints(name)?[..] {
            [n] => Ok(n),
            ref list => self.fault(format!("the attribute {name} must be one integer, found {}", list.len())),
        }
    }

    /// An integer, or what holds when it is absent.
    pub fn int_or(&self, name: &str, absent: i64) -> Outcome<i64> {
        if self.attributes.contains_key(name) { self.int(name) } else { Ok(absent) }
    }

    /// An axis of a tensor of that rank.
    pub fn axis(&self, name: &str, rank: usize) -> Outcome<usize> {
        let axis = self.int(name)?;
        let within = usize::try_from(axis).ok().filter(|&a| a < rank);
        within.ok_or_else(|| {
            self.boxed(format!("{name} is {axis}, which is no axis of a tensor of rank {rank}"))
        })
    }

    /// A flag; false when it is absent.
    pub fn flag(&self, name: &str) -> Outcome<bool> {
        match self.attributes.get(name) {
            None => Ok(false),
            Some(Attr::Unit) => Ok(true),
            Some(Attr::Bool(value)) => Ok(*value),
            Some(Attr::Int(n)) => Ok(*n != 0),
            Some(Attr::Word(word)) => Ok(word == "true"),
            Some(_) => self.fault(format!("the attribute {name} must be true or false")),
        }
    }

    /// A float.
    pub fn float(&self, name: &str) -> Outcome<f64> {
        match self.attributes.get(name) {
            Some(Attr::Float(value)) => Ok(*value),
            Some(Attr::Int(n)) => Ok(*n as f64),
            _ => self.fault(format!("the attribute {name} must be a float")),
        }
    }

    /// A word, or nothing where the attribute is absent.
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.attributes.get(name)? {
            Attr::Word(text) | Attr::Text(text) | Attr::Symbol(text) => Some(text),
            _ => None,
        }
    }

    /// The region at a place.
    pub fn region(&self, index: usize) -> Outcome<&Block> {
        self.regions.get(index).ok_or_else(|| self.boxed(format!("region {index} is missing")))
    }
}
