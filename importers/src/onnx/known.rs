//! Values known at import.
//!
//! The importer remembers how each value was made. Where a value is needed, what it was made from is
//! evaluated with the reference semantics; nothing is evaluated that nobody asks for. A graph input
//! takes part only when its value was bound, and is then recorded as specialized.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use fusion_operators::ops::named;
use fusion_operators::reference::evaluate;
use fusion_operators::{Dim, Tensor};

use super::definitions::{Def, Known};
use super::error::Fault;
use super::importer::Importer;
use super::node::Value;

/// What a value that is not known depends on.
#[derive(Default)]
pub(super) struct Unknown {
    /// Graph inputs that are not bound.
    pub inputs: BTreeSet<usize>,
    /// Something else: a result of control flow, or a tensor too large to evaluate here.
    pub other: bool,
}

/// One element of a value that is an expression over extents.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Extent {
    Known(i64),
    Dim(Dim),
}

/// No intermediate result larger than this is evaluated.
const MOST_ELEMENTS: u64 = 1 << 18;

impl Importer<'_> {
    /// The value, if it follows from constants and, unless `strict`, the given values of graph inputs.
    pub(super) fn evaluate(&mut self, value: Value, strict: bool) -> Result<Known, Unknown> {
        let mut needed = BTreeSet::new();
        let mut unknown = Unknown::default();
        let mut stack = vec![value];
        while let Some(v) = stack.pop() {
            if let Some(known) = self.memo.get(&v) {
                if strict && !known.inputs.is_empty() {
                    return Err(Unknown { other: true, ..unknown });
                }
                continue;
            }
            if !needed.insert(v) {
                continue;
            }
            match &self.entries[v.0 as usize].def {
                Def::Constant(_) => {}
                Def::Input(i) if !strict && self.bound(*i).is_some() => {}
                Def::Input(i) => {
                    unknown.inputs.insert(*i);
                }
                Def::Call { op, operands, .. } => {
                    let small = self.entries[v.0 as usize].ty.as_ref().and_then(|t| t.elements());
                    match small {
                        _ if op.name == "shape_of" && self.static_shape_of(operands[0]).is_some() => {}
                        Some(n) if n <= MOST_ELEMENTS => stack.extend(operands.iter()),
                        _ => unknown.other = true,
                    }
                }
                Def::Opaque | Def::Sequence(_) | Def::List(_) | Def::Absent => unknown.other = true,
            }
            if strict && (unknown.other || !unknown.inputs.is_empty()) {
                return Err(unknown);
            }
        }
        if unknown.other || !unknown.inputs.is_empty() {
            return Err(unknown);
        }
        // Operands are older than results, so that ascending order defines before it uses.
        for v in needed {
            let known = self.evaluate_one(v).ok_or(Unknown { other: true, ..Unknown::default() })?;
            self.memo.insert(v, known);
        }
        self.memo.get(&value).cloned().ok_or_else(Unknown::default)
    }

    fn evaluate_one(&self, v: Value) -> Option<Known> {
        let none = BTreeSet::new();
        Some(match &self.entries[v.0 as usize].def {
            Def::Constant(tensor) => Known { tensor: tensor.clone(), inputs: none },
            Def::Input(i) => Known { tensor: Rc::new(self.bound(*i)?.clone()), inputs: [*i].into() },
            Def::Call { op, operands, .. } if op.name == "shape_of" => {
                let shape: Vec<i64> = self.static_shape_of(operands[0])?.iter().map(|&n| n as i64).collect();
                let tensor = Tensor::from_slice(&[shape.len()], &shape).ok()?;
                Known { tensor: Rc::new(tensor), inputs: none }
            }
            Def::Call { op, operands, attrs, result } => {
                let known: Vec<&Known> = operands.iter().filter_map(|o| self.memo.get(o)).collect();
                if known.len() != operands.len() {
                    return None;
                }
                let tensors: Vec<Tensor> = known.iter().map(|k| (*k.tensor).clone()).collect();
                let tensor = evaluate(op, attrs, &tensors).ok()?.into_iter().nth(*result)?;
                let inputs = known.iter().flat_map(|k| k.inputs.iter().copied()).collect();
                Known { tensor: Rc::new(tensor), inputs }
            }
            Def::Opaque | Def::Sequence(_) | Def::List(_) | Def::Absent => return None,
        })
    }

    fn static_shape_of(&self, value: Value) -> Option<Vec<u64>> {
        self.entries[value.0 as usize].ty.as_ref()?.shape()
    }

    /// The value when it does not depend on any graph input.
    pub fn constant_of(&mut self, value: Value) -> Option<Rc<Tensor>> {
        self.evaluate(value, true).ok().map(|known| known.tensor)
    }

    /// The elements of a small integer tensor as expressions over extents, so that a shape computed
    /// from a shape is understood although an extent of it is not known.
    pub(super) fn extents(&mut self, value: Value) -> Option<Vec<Extent>> {
        let mut memo = HashMap::new();
        self.extents_within(value, 64, &mut memo)
    }

    fn extents_within(
        &mut self,
        value: Value,
        depth: usize,
        memo: &mut HashMap<Value, Option<Vec<Extent>>>,
    ) -> Option<Vec<Extent>> {
        if let Some(found) = memo.get(&value) {
            return found.clone();
        }
        let found = match self.constant_of(value) {
            Some(t) if t.dtype().is_int() && t.len() <= 64 => {
                t.to_ints().into_iter().map(|n| i64::try_from(n).ok().map(Extent::Known)).collect()
            }
            Some(_) => None,
            None => self.extents_of_call(value, depth.checked_sub(1)?, memo),
        };
        memo.insert(value, found.clone());
        found
    }

    fn extents_of_call(
        &mut self,
        value: Value,
        depth: usize,
        memo: &mut HashMap<Value, Option<Vec<Extent>>>,
    ) -> Option<Vec<Extent>> {
        let entry = &self.entries[value.0 as usize];
        let Def::Call { op, operands, attrs, result } = &entry.def else { return None };
        let (name, operands, attrs, result) = (op.name, operands.clone(), attrs.clone(), *result);
        let rank = entry.ty.as_ref()?.rank();
        let mut of = |me: &mut Self, v: Value| me.extents_within(v, depth, memo);
        let first = *operands.first()?;
        match name {
            "shape_of" => {
                let dims = self.entries[first.0 as usize].ty.as_ref()?.dims.clone();
                Some(
                    dims.into_iter()
                        .map(|d| d.known().map_or(Extent::Dim(d), |n| Extent::Known(n as i64)))
                        .collect(),
                )
            }
            "cast" if attrs.dtype("dtype").is_some_and(|t| t.is_int()) => of(self, first),
            "expand_dims" | "squeeze" | "reshape" if rank <= 1 => of(self, first),
            "concat" => {
                let mut all = Vec::new();
                for &operand in operands.iter() {
                    all.extend(of(self, operand)?);
                }
                Some(all)
            }
            "gather" => {
                let data = of(self, first)?;
                let indices = self.constant_of(operands[1])?.to_ints();
                let at = |i: i128| usize::try_from(if i < 0 { i + data.len() as i128 } else { i }).ok();
                indices.into_iter().map(|i| data.get(at(i)?).cloned()).collect()
            }
            "slice" | "split" => {
                let data = of(self, first)?;
                let mut known = Vec::with_capacity(data.len());
                // The operator itself says which elements are taken.
                for i in 0..data.len() {
                    known.push(i as i64);
                }
                let places = Tensor::from_slice(&[data.len()], &known).ok()?;
                let taken = evaluate(named(name)?, &attrs, &[places]).ok()?.into_iter().nth(result)?;
                taken.to_ints().into_iter().map(|i| data.get(i as usize).cloned()).collect()
            }
            "mul" | "add" | "sub" | "div" => {
                let (a, b) = (of(self, first)?, of(self, operands[1])?);
                let len = a.len().max(b.len());
                let at = |s: &[Extent], i: usize| s.get(if s.len() == 1 { 0 } else { i }).cloned();
                (0..len).map(|i| arithmetic(name, at(&a, i)?, at(&b, i)?)).collect()
            }
            _ => None,
        }
    }

    /// The given value of a graph input.
    pub(super) fn bound(&self, input: usize) -> Option<&Tensor> {
        self.options.bound.get(&self.inputs.get(input)?.name)
    }

    /// The value of an operand that must be known; graph inputs it depends on are then specialized.
    pub fn value_of(&mut self, value: Value, what: &str) -> Result<Rc<Tensor>, Fault> {
        match self.evaluate(value, false) {
            Ok(known) => {
                self.specialized.extend(&known.inputs);
                Ok(known.tensor)
            }
            Err(unknown) => {
                let names: Vec<_> =
                    unknown.inputs.iter().map(|&i| format!("'{}'", self.inputs[i].name)).collect();
                let text = match names.len() {
                    0 => format!(
                        "{what} must be known when the model is imported, but it is computed at run time"
                    ),
                    _ => format!(
                        "{what} must be known when the model is imported, but it depends on graph input {}; \
                         give its value",
                        names.join(" and ")
                    ),
                };
                Err(match unknown.inputs.first() {
                    Some(&input) => Fault::NeedsInput { input: self.inputs[input].name.clone(), text },
                    None => Fault::NeedsValue(text),
                })
            }
        }
    }
}

fn arithmetic(name: &str, a: Extent, b: Extent) -> Option<Extent> {
    use Extent::{Dim as Unknown, Known};
    Some(match (name, a, b) {
        ("mul", Known(a), Known(b)) => Known(a.checked_mul(b)?),
        ("add", Known(a), Known(b)) => Known(a.checked_add(b)?),
        ("sub", Known(a), Known(b)) => Known(a.checked_sub(b)?),
        ("div", Known(a), Known(b)) => Known(a.checked_div(b)?),
        ("mul" | "div", a, Known(1)) | ("add" | "sub", a, Known(0)) => a,
        ("mul", Known(1), b) | ("add", Known(0), b) => b,
        (_, Unknown(_), _) | (_, _, Unknown(_)) => Unknown(Dim::Any),
        _ => return None,
    })
}
