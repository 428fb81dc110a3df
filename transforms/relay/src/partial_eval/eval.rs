//! Operations, one after another: what is known is kept as such, the rest is emitted.

use super::copies::Copies;
use super::store::Store;
use super::value::{Closure, Environment, Known, Partial, Shared};
use crate::effects::Effects;
use crate::language::Names;
use fusion_dialects::relay::{Instance, Op as Relay};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Attribute, Block, Build, Op, OpExt, OperationLike, PassError, Region, Type, Value, ValueLike, arguments,
    function_parts, ops_in, type_of_attr,
};
use indexmap::IndexMap;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// How much may be done.
#[derive(Clone, Copy)]
pub struct Limits {
    pub fuel: u64,
    pub depth: usize,
    pub specialisations: usize,
    pub strict: bool,
}

/// A run of the pass over a module.
pub struct Evaluator<'c> {
    pub module: Op<'c>,
    pub functions: IndexMap<&'c str, Op<'c>>,
    pub recursive: HashSet<&'c str>,
    pub limits: Limits,
    pub names: Names,
    pub copies: Copies<'c>,
    pub unfolded: u64,
    pub depth: usize,
    /// The scopes whose values can be seen.
    pub scopes: Vec<usize>,
    pub store: Store<'c>,
    /// Functions that stay, and whose own bodies are to be evaluated.
    pub reached: Vec<&'c str>,
    pub(super) effects: Effects<'c>,
    pub(super) fuel: u64,
    next: usize,
    pub(super) deciding: HashMap<usize, BTreeSet<usize>>,
    pub(super) captures: HashMap<usize, Rc<Vec<Value<'c>>>>,
}

/// The values of a function or closure that is being evaluated.
pub struct Frame<'c> {
    pub environment: Environment<'c>,
    pub instance: Rc<Instance<'c>>,
}

pub type Outcome<'c, T> = Result<T, PassError<'c>>;

impl<'c> Evaluator<'c> {
    /// For a module.
    pub fn new(
        module: Op<'c>,
        functions: IndexMap<&'c str, Op<'c>>,
        recursive: HashSet<&'c str>,
        limits: Limits,
    ) -> Self {
        Evaluator {
            module,
            functions,
            recursive,
            limits,
            names: Names::of(module),
            copies: Copies::default(),
            unfolded: 0,
            depth: 0,
            scopes: Vec::new(),
            store: Store::default(),
            reached: Vec::new(),
            effects: Effects::of(module),
            fuel: limits.fuel,
            next: 0,
            deciding: HashMap::new(),
            captures: HashMap::new(),
        }
    }

    /// How many copies of functions were made.
    pub fn specialised(&self) -> usize {
        self.copies.count()
    }

    /// A number that no scope and no cell has.
    pub fn fresh(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// A function with unknown arguments: a new one beside it, of the same name.
    pub fn entry(&mut self, function: Op<'c>) -> Outcome<'c, Op<'c>> {
        let Some(body) = function.body(0) else { return Ok(function) };
        let types: Vec<Type> = arguments(body).iter().map(|v| v.r#type()).collect();
        let declared = function.attr("function_type").and_then(type_of_attr).and_then(function_parts);
        let (_, results) = declared.unwrap_or_default();
        let build = Build::before(function);
        let region = self.isolated(&build, &types, |this, inner, parameters| {
            let mut frame = Frame { environment: Environment::default(), instance: Rc::default() };
            for (name, value) in arguments(body).into_iter().zip(parameters) {
                frame.environment.bind(name, value);
            }
            let values = this.block(&inner, body, &mut frame)?;
            this.give(&inner, &values, &results)
        })?;
        let attrs = attributes(function);
        let named: Vec<(&str, Attribute)> = attrs.iter().map(|(n, a)| (n.as_str(), *a)).collect();
        Ok(build.op_with_regions(Upstream::Func.name(), &[], &[], &named, vec![region]))
    }

    /// A region in which nothing from around can be seen.
    pub fn isolated(
        &mut self,
        build: &Build<'c>,
        types: &[Type<'c>],
        body: impl FnOnce(&mut Self, Build<'c>, Vec<Shared<'c>>) -> Outcome<'c, ()>,
    ) -> Outcome<'c, Region<'c>> {
        let scopes = std::mem::take(&mut self.scopes);
        let region = self.region(build, types, Store::default(), body);
        self.scopes = scopes;
        region.map(|(region, _)| region)
    }

    /// A region with a store to begin with; gives the store it ends with. The evaluator's own stays.
    pub(super) fn region(
        &mut self,
        build: &Build<'c>,
        types: &[Type<'c>],
        store: Store<'c>,
        body: impl FnOnce(&mut Self, Build<'c>, Vec<Shared<'c>>) -> Outcome<'c, ()>,
    ) -> Outcome<'c, (Region<'c>, Store<'c>)> {
        let scope = self.fresh();
        self.scopes.push(scope);
        let around = std::mem::replace(&mut self.store, store);
        let mut outcome = Ok(());
        let region = build.region(types, |inner, values| {
            let dynamic = |(value, ty): (&Value<'c>, &Type<'c>)| Partial::dynamic(*value, *ty, scope);
            outcome = body(self, inner, values.iter().zip(types).map(dynamic).collect());
        });
        let store = std::mem::replace(&mut self.store, around);
        self.scopes.pop();
        outcome.map(|()| (region, store))
    }

    /// The operations of a block; gives the terminator's operands.
    pub fn block(
        &mut self,
        build: &Build<'c>,
        block: Block<'c>,
        frame: &mut Frame<'c>,
    ) -> Outcome<'c, Vec<Shared<'c>>> {
        let ops = ops_in(block);
        let Some((last, rest)) = ops.split_last() else { return Ok(Vec::new()) };
        for op in rest {
            let results = match self.folded(*op, frame) {
                Some(results) => results,
                None => self.op(&build.at(op.location()), *op, frame)?,
            };
            for (name, value) in op.result_values().into_iter().zip(results) {
                frame.environment.bind(name, value);
            }
        }
        operands(*last, frame)
    }

    fn op(&mut self, build: &Build<'c>, op: Op<'c>, frame: &mut Frame<'c>) -> Outcome<'c, Vec<Shared<'c>>> {
        let given = operands(op, frame)?;
        match op.kind() {
            Some(Kind::Relay(Relay::RefNew)) => {
                let made = self.emit(build, op, &given, frame)?;
                let cell = self.fresh();
                self.store.write(cell, given[0].clone());
                let residual = made[0].residual.borrow().as_ref().copied();
                let known = Partial::new(made[0].ty, Known::Cell(cell));
                *known.residual.borrow_mut() = residual;
                Ok(vec![known])
            }
            Some(Kind::Relay(Relay::RefRead)) => {
                let read = self.emit(build, op, &given, frame)?;
                if let Known::Cell(cell) = given[0].known {
                    self.store.write(cell, read[0].clone());
                }
                Ok(read)
            }
            Some(Kind::Relay(Relay::RefWrite)) => {
                let none = self.emit(build, op, &given, frame)?;
                match given[0].known {
                    Known::Cell(cell) => self.store.write(cell, given[1].clone()),
                    _ => self.store.forget(),
                }
                Ok(none)
            }
            Some(Kind::Relay(Relay::If)) => match given[0].truth() {
                Some(taken) => {
                    let branch = op.body(usize::from(!taken));
                    let branch = branch.ok_or_else(|| PassError::at(op, "has an empty region"))?;
                    self.block(build, branch, frame)
                }
                None => self.branches(build, op, &given[0], frame),
            },
            Some(Kind::Relay(Relay::Match)) => self.clauses(build, op, &given[0], frame),
            Some(Kind::Relay(Relay::While)) => self.iteration(build, op, given, frame),
            Some(Kind::Relay(Relay::Call) | Kind::Upstream(Upstream::Call)) => {
                let name = op.text("callee").unwrap_or_default();
                self.call(build, op, name, given, frame)
            }
            Some(Kind::Relay(Relay::Apply)) => match &given[0].known {
                Known::Global(name) => {
                    let name = *name;
                    self.call(build, op, name, given[1..].to_vec(), frame)
                }
                Known::Closure(closure) => {
                    let closure = closure.clone();
                    self.apply(build, op, &closure, given, frame)
                }
                _ => self.stays(build, op, &given, frame),
            },
            _ if op.region_count() == 0 => self.emit(build, op, &given, frame),
            _ => Err(PassError::at(op, "is not evaluated when compiling: its regions are not relay's")),
        }
    }
}

/// The values of a closure's body that come from around it.
pub fn frame_of<'c>(closure: &Rc<Closure<'c>>, instance: Instance<'c>) -> Frame<'c> {
    let mut environment = Environment::default();
    for (key, value) in &closure.captured {
        environment.bind_key(*key, value.clone());
    }
    Frame { environment, instance: Rc::new(instance) }
}

pub(super) fn operands<'c>(op: Op<'c>, frame: &Frame<'c>) -> Outcome<'c, Vec<Shared<'c>>> {
    let value = |v: Value<'c>| frame.environment.get(v);
    let values: Option<Vec<_>> = op.operand_values().into_iter().map(value).collect();
    values.ok_or_else(|| PassError::at(op, "uses a value that was not evaluated"))
}

/// A type where type variables and named extents stand for what they do here.
pub(super) fn applied<'c>(ty: Type<'c>, frame: &Frame<'c>, op: Op<'c>) -> Type<'c> {
    if frame.instance.types.is_empty() && frame.instance.dims.is_empty() {
        return ty;
    }
    frame.instance.apply(op.context_ref(), ty)
}

/// The types of an operation's results here.
pub fn result_types<'c>(op: Op<'c>, frame: &Frame<'c>) -> Vec<Type<'c>> {
    op.result_values().into_iter().map(|v| applied(v.r#type(), frame, op)).collect()
}

/// All attributes of an operation.
pub fn attributes<'c>(op: Op<'c>) -> Vec<(String, Attribute<'c>)> {
    let attributes = op.attributes();
    attributes
        .map(|(name, attr)| (name.as_string_ref().as_str().unwrap_or_default().to_owned(), attr))
        .collect()
}
