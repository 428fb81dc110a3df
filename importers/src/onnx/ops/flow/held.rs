//! Values as the program holds them between iterations and branches: tensors, and lists of tensors.
//!
//! A sequence that is known at import becomes a list where it meets one whose length is not. What is held in one place has one type,
//! so tensors of several extents are held as tensors of `?`:
//!
//! ```text
//!   [tensor<2x4xf32>, tensor<3x4xf32>]   =>   List[tensor<?x4xf32>]
//! ```

use fusion_operators::{Dim, TensorType};

use crate::onnx::build::{Converted, Made};
use crate::onnx::definitions::Def;
use crate::onnx::emit::{Held, Id, ListOp};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::lists::without_names;
use crate::onnx::node::Value;

impl Importer<'_> {
    /// What a value is held as; nothing is known of an empty sequence.
    pub fn held(&self, v: Value) -> Result<Option<Held>, Fault> {
        match &self.entries[v.0 as usize].def {
            Def::List(element) => Ok(Some(Held::List(element.clone()))),
            Def::Sequence(values) => {
                let mut all = None;
                for &value in values {
                    let own = Held::List(without_names(self.ty(value)?));
                    all = both(all.as_ref(), Some(&own))?;
                }
                Ok(all)
            }
            _ => Ok(Some(Held::Tensor(self.ty(v)?.clone()))),
        }
    }

    /// The value, held so.
    pub fn hold(&mut self, v: Value, held: &Held) -> Made {
        match (&self.entries[v.0 as usize].def, held) {
            (Def::Sequence(values), Held::List(element)) => {
                let values = values.clone();
                let mut list = self.on_list(ListOp::Empty, element, &[])?;
                for value in values {
                    let value = self.hold(value, &Held::Tensor(element.clone()))?;
                    list = self.on_list(ListOp::Push, element, &[list, value])?;
                }
                Ok(list)
            }
            _ if self.held(v)?.as_ref() == Some(held) => Ok(v),
            _ => {
                let id = self.emit.held_as(self.entries[v.0 as usize].id, held);
                Ok(self.holding(id, held))
            }
        }
    }

    /// A value of the program that is held so.
    pub fn holding(&mut self, id: Id, held: &Held) -> Value {
        match held {
            Held::Tensor(_) => self.opaque(id),
            Held::List(element) => self.push(Def::List(element.clone()), id, None),
        }
    }

    /// Does something with a list.
    pub fn on_list(&mut self, op: ListOp, element: &TensorType, operands: &[Value]) -> Made {
        let ids: Vec<Id> = operands.iter().map(|v| self.entries[v.0 as usize].id).collect();
        let id = self.emit.list(op, element, &ids).map_err(|error| Fault::value(error.to_string()))?;
        Ok(self.holding(id, &op.result(element)))
    }

    /// A sequence as a list whose elements may be of this type too.
    pub fn as_list(&mut self, v: Value, other: Option<&TensorType>) -> Result<(Value, TensorType), Fault> {
        let other = other.map(|ty| Held::List(without_names(ty)));
        match both(self.held(v)?.as_ref(), other.as_ref())? {
            Some(Held::List(element)) => Ok((self.hold(v, &Held::List(element.clone()))?, element)),
            Some(Held::Tensor(ty)) => {
                Err(Fault::value(format!("{ty} is given where a sequence is expected")))
            }
            None => Err(Fault::value("the sequence is empty, and nothing says of what its elements are")),
        }
    }

    /// A list with its first element at the head.
    pub fn forward(&mut self, list: Value) -> Made {
        let (list, element) = self.as_list(list, None)?;
        self.on_list(ListOp::Forward, &element, &[list])
    }

    /// Values held as wanted.
    pub fn hold_all(&mut self, values: &[Value], wanted: &[Held]) -> Converted {
        values.iter().zip(wanted).map(|(&v, held)| self.hold(v, held)).collect()
    }
}

/// What holds both: extents that differ are `?`.
pub fn both(a: Option<&Held>, b: Option<&Held>) -> Result<Option<Held>, Fault> {
    let (a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        (one, other) => return Ok(one.or(other).cloned()),
    };
    let wider = |a: &TensorType, b: &TensorType| {
        let dim = |(a, b): (&Dim, &Dim)| if a == b { a.clone() } else { Dim::Any };
        (a.dtype == b.dtype && a.rank() == b.rank())
            .then(|| TensorType::new(a.dims.iter().zip(&b.dims).map(dim).collect(), a.dtype))
    };
    let held = match (a, b) {
        (Held::Tensor(a), Held::Tensor(b)) => wider(a, b).map(Held::Tensor),
        (Held::List(a), Held::List(b)) => wider(a, b).map(Held::List),
        _ => None,
    };
    held.map(Some).ok_or_else(|| Fault::unsupported(format!("a value that is {} or {}", name(a), name(b))))
}

/// A type in a sentence.
pub fn name(held: &Held) -> String {
    match held {
        Held::Tensor(ty) => ty.to_string(),
        Held::List(ty) => format!("a sequence of {ty}"),
    }
}
