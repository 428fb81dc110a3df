//! Values known at import.
//!
//! The importer remembers how each value was made. Where a value is needed, what it was made from is
//! evaluated with the reference semantics; nothing is evaluated that nobody asks for. A graph input
//! takes part only when its value was bound, and is then recorded as specialized.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use fusion_operators::dims::Polynomial;
use fusion_operators::ops::named;
use fusion_operators::reference::evaluate;
use fusion_operators::{DType, Dim, Tensor};

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
                Def::Opaque | Def::Sequence(_) | Def::List(_) | Def::Parts(..) | Def::Absent => {
                    unknown.other = true
                }
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
            Def::Opaque | Def::Sequence(_) | Def::List(_) | Def::Parts(..) | Def::Absent => return None,
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
            Some(t) if (t.dtype().is_int() || t.dtype() == DType::Bool) && t.len() <= 64 => {
                t.to_ints().into_iter().map(|n| i64::try_from(n).ok().map(Extent::Known)).collect()
            }
            Some(t) if t.dtype().is_float() && t.len() <= 64 => {
                let whole = |x: f64| (x.fract() == 0.0 && x.abs() < 1e15).then_some(Extent::Known(x as i64));
                t.to_f64s().into_iter().map(whole).collect()
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
        let float = entry.ty.as_ref()?.dtype.is_float();
        let entry_is_one = entry.ty.as_ref()?.elements() == Some(1);
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
            // As long as they are whole, and below 2^24, such floats are what integers are.
            "cast"
                if attrs
                    .dtype("dtype")
                    .is_some_and(|t| t.is_int() || matches!(t, DType::F32 | DType::F64)) =>
            {
                of(self, first)
            }
            "div" if float => None,
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
            "mul" | "add" | "sub" | "div" | "maximum" | "minimum" | "equal" | "less" | "greater" => {
                let (a, b) = (of(self, first)?, of(self, operands[1])?);
                let len = a.len().max(b.len());
                (0..len).map(|i| arithmetic(name, &element(&a, i)?, &element(&b, i)?)).collect()
            }
            "neg" => {
                let zero = Extent::Known(0);
                of(self, first)?.iter().map(|a| arithmetic("sub", &zero, a)).collect()
            }
            "where" => {
                let [which, a, b] = [operands[0], operands[1], operands[2]].map(|v| of(self, v));
                let (which, a, b) = (which?, a?, b?);
                let len = which.len().max(a.len()).max(b.len());
                let chosen = |i: usize| match element(&which, i)? {
                    Extent::Known(0) => element(&b, i),
                    Extent::Known(_) => element(&a, i),
                    Extent::Dim(_) => None,
                };
                (0..len).map(chosen).collect()
            }
            "reduce_prod" | "reduce_sum" if rank == 0 || entry_is_one => {
                let (name, start) = if name == "reduce_prod" { ("mul", 1) } else { ("add", 0) };
                let parts = of(self, first)?;
                let all =
                    parts.iter().try_fold(Extent::Known(start), |all, part| arithmetic(name, &all, part));
                Some(vec![all?])
            }
            "broadcast_to" if rank <= 1 => {
                let data = of(self, first)?;
                let count = self.entries[value.0 as usize].ty.as_ref()?.elements()? as usize;
                (data.len() == 1 && count <= 64).then(|| vec![data[0].clone(); count]).or(Some(data))
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

/// An element of a list, or of one that is broadcast.
fn element(list: &[Extent], i: usize) -> Option<Extent> {
    list.get(if list.len() == 1 { 0 } else { i }).cloned()
}

impl Extent {
    fn expression(&self) -> Option<Polynomial> {
        match self {
            Extent::Known(n) => Some(Polynomial::number(*n)),
            Extent::Dim(dim) => dim.expression(),
        }
    }

    fn of(expression: Option<Polynomial>) -> Extent {
        let known = expression.as_ref().and_then(Polynomial::as_number);
        known.map_or_else(|| Extent::Dim(expression.map_or(Dim::Any, Dim::of)), Extent::Known)
    }

    /// As the extent of a tensor; `?` of a number below 0.
    pub(super) fn dim(self) -> Dim {
        match self {
            Extent::Known(n) => u64::try_from(n).map_or(Dim::Any, Dim::Static),
            Extent::Dim(dim) => dim,
        }
    }
}

fn arithmetic(name: &str, a: &Extent, b: &Extent) -> Option<Extent> {
    if let ("div", Extent::Known(a), Extent::Known(b)) = (name, a, b) {
        return Some(Extent::Known(a.checked_div(*b)?));
    }
    let (a, b) = (a.expression(), b.expression());
    if let "equal" | "less" | "greater" = name {
        // Only what holds for all extents is known.
        let difference = a?.minus(&b?)?;
        let sign = match difference.as_number() {
            Some(n) => n.signum(),
            None if difference.minus(&Polynomial::number(1))?.is_never_negative() => 1,
            None if Polynomial::number(-1).minus(&difference)?.is_never_negative() => -1,
            None => return None,
        };
        let holds = match name {
            "equal" => sign == 0,
            "less" => sign < 0,
            _ => sign > 0,
        };
        return Some(Extent::Known(i64::from(holds)));
    }
    let both = a.zip(b);
    Some(Extent::of(match name {
        "mul" => both.and_then(|(a, b)| a.times(&b)),
        "add" => both.and_then(|(a, b)| a.plus(&b)),
        "sub" => both.and_then(|(a, b)| a.minus(&b)),
        // Of numbers that are not negative, what is rounded towards 0 is rounded down.
        "div" => {
            both.filter(|(a, b)| a.is_never_negative() && b.is_never_negative()).and_then(|(a, b)| a.over(&b))
        }
        "maximum" => both.and_then(|(a, b)| a.greatest(&b)),
        "minimum" => both.and_then(|(a, b)| a.least(&b)),
        _ => return None,
    }))
}
