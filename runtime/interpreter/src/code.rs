//! Functions as lists of lines over numbered registers, made once from the IR.
//!
//! ```text
//!   relay.if %c { A; yield %x } else { B; yield %y }      0: unless %c go to 3
//!                                                         1: A   2: %r := %x, go to 5
//!                                                         3: B   4: %r := %y
//! ```
//! Regions of `relay.if`, `relay.match` and `relay.while` are lines of the function around them; only calls make frames. What
//! the last operation before a terminator gives and the terminator hands on is in tail position: a call there takes the place
//! of its caller, and the regions there return by themselves.

use crate::held::Held;
use fusion_dialects::{Op, Type, TypeParts, te, type_parts};
use fusion_operators::{Attrs, DType, Dim, Operator, Tensor, TensorType};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The number of a register of a frame.
pub type Register = usize;

/// A function, a kernel or a closure's body.
pub struct Code<'c> {
    /// The operation it was made from.
    pub op: Op<'c>,
    /// What a message calls it.
    pub name: String,
    /// How many values it takes, into the first registers.
    pub parameters: usize,
    /// What it takes has these types.
    pub takes: Vec<Expect>,
    /// What it gives has these types.
    pub gives: Vec<Expect>,
    /// Registers of the frame around where the closure is made, whose values come behind the parameters.
    pub captures: Vec<Register>,
    /// True when the first parameter is the closure itself.
    pub recursive: bool,
    /// How many registers a frame has.
    pub registers: usize,
    /// The named extents of its parameters, numbered.
    pub extents: usize,
    /// What it does.
    pub lines: Vec<Line<'c>>,
    /// The registers of values, by their keys.
    pub numbers: HashMap<usize, Register>,
}

/// One step.
pub struct Line<'c> {
    /// The operation it was made from.
    pub op: Op<'c>,
    /// What is done.
    pub work: Work<'c>,
    /// What it reads.
    pub operands: Box<[Register]>,
    /// The first register it writes; others follow.
    pub result: Register,
    /// The types of what it writes.
    pub expects: Box<[Expect]>,
}

/// What a line does.
pub enum Work<'c> {
    Constant(Rc<Held>),
    Operator {
        operator: &'static Operator,
        attrs: Attrs,
        /// The numbers of the named extents that its attributes have.
        names: Box<[(String, usize)]>,
        typed: RefCell<Option<Typed>>,
    },
    Te(te::Op),
    Tuple,
    Get(usize),
    Construct(Rc<Constructor>),
    Function(Rc<Code<'c>>),
    Global(usize),
    /// The operands are the results, all at once.
    Move,
    /// Goes to the line.
    Go(usize),
    /// Goes to the line unless the operand is true.
    Unless(usize),
    /// Goes to the line unless the pattern fits; else writes what it binds.
    Case {
        pattern: Fit,
        otherwise: usize,
    },
    /// No pattern fits.
    Unmatched,
    /// An iteration of a loop begins.
    Iterate,
    /// Calls a function of the module.
    Call {
        callee: usize,
        tail: bool,
    },
    /// Calls a value; the first operand.
    Apply {
        tail: bool,
    },
    Return,
    RefNew,
    RefRead,
    RefWrite,
}

/// A constructor of a data type of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constructor {
    /// The data type.
    pub data: String,
    /// The constructor.
    pub name: String,
    /// Its place in the data type.
    pub tag: usize,
    /// How many fields it has.
    pub fields: usize,
}

/// The result types of a call of an operator, for operands of these types.
pub struct Typed {
    pub operands: Vec<TensorType>,
    pub results: Vec<TensorType>,
}

/// A pattern, with constructors found.
pub enum Fit {
    Any,
    Bind,
    Data(Rc<Constructor>, Vec<Fit>),
    Tuple(Vec<Fit>),
}

/// What is known of the type of a value when it is written.
#[derive(Clone, Debug)]
pub enum Expect {
    Any,
    Tensor { dtype: DType, dims: Box<[Extent]>, ty: TensorType },
    Tuple(usize),
    Function,
    Data(String),
    Cell,
}

/// An extent of a tensor.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    Any,
    Fixed(u64),
    /// A named extent of the function's parameters.
    Named(usize),
}

impl Expect {
    /// What is known of a type, with the function's named extents numbered.
    pub fn of(ty: Type, names: &HashMap<String, usize>) -> Expect {
        match type_parts(ty) {
            TypeParts::Tensor(ty) => {
                let extent = |dim: &Dim| match dim {
                    Dim::Static(n) => Extent::Fixed(*n),
                    Dim::Symbol(name) => names.get(name).map_or(Extent::Any, |n| Extent::Named(*n)),
                    Dim::Expr(_) | Dim::Any => Extent::Any,
                };
                let dims = ty.dims.iter().map(extent).collect();
                Expect::Tensor { dtype: ty.dtype, dims, ty }
            }
            TypeParts::Tuple(elements) => Expect::Tuple(elements.len()),
            TypeParts::Function(..) => Expect::Function,
            TypeParts::Adt(name, _) => Expect::Data(name.to_owned()),
            TypeParts::Ref(_) => Expect::Cell,
            TypeParts::Var(_) | TypeParts::Hole | TypeParts::Other => Expect::Any,
        }
    }
}

impl Typed {
    /// True when tensors have these types.
    pub fn fits(&self, operands: &[Tensor]) -> bool {
        let same = |(ty, tensor): (&TensorType, &Tensor)| {
            ty.dtype == tensor.dtype()
                && ty.dims.len() == tensor.shape().len()
                && ty.dims.iter().zip(tensor.shape()).all(|(dim, n)| dim.known() == Some(*n as u64))
        };
        self.operands.len() == operands.len() && self.operands.iter().zip(operands).all(same)
    }
}
