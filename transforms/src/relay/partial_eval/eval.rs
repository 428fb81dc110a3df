//! Operations, one after another: what is known is kept as such, the rest is emitted.

use super::matching::{Fits, fits};
use super::special::Copies;
use super::store::Store;
use super::value::{Closure, Environment, Known, Partial, Shared};
use crate::relay::effects::Effects;
use crate::relay::language::{Names, blocks, free_values, is_call, terminator};
use fusion_dialects::relay::fold::MOST_ELEMENTS;
use fusion_dialects::relay::{Builder, Instance, Op as Relay, Pattern, RECURSIVE};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Attribute, Block, Build, Op, OpExt, OperationLike, PassError, Region, Type, Value, ValueLike, arguments,
    array_attr, array_elements, function_parts, key, nested_ops, nested_symbol_attr, op_key, ops_in,
    read_tensor, symbol_attr, symbol_path, tensor_type,
};
use fusion_operators::{Tensor, reference};
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
    effects: Effects<'c>,
    fuel: u64,
    next: usize,
    deciding: HashMap<usize, BTreeSet<usize>>,
    captures: HashMap<usize, Rc<Vec<Value<'c>>>>,
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
        let build = Build::before(function);
        let region = self.isolated(&build, &types, |this, inner, parameters| {
            let mut frame = Frame { environment: Environment::default(), instance: Rc::default() };
            for (name, value) in arguments(body).into_iter().zip(parameters) {
                frame.environment.bind(name, value);
            }
            let values = this.block(&inner, body, &mut frame)?;
            let values = this.residuals(&inner, &values)?;
            inner.op(Upstream::Return.name(), &values, &[], &[]);
            Ok(())
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
    fn region(
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

    /// What an operation is known to give without anything being emitted.
    fn folded(&mut self, op: Op<'c>, frame: &Frame<'c>) -> Option<Vec<Shared<'c>>> {
        let given = operands(op, frame).ok()?;
        let types = || result_types(op, frame);
        let one = |known: Known<'c>| Some(vec![Partial::new(*types().first()?, known)]);
        match op.kind()? {
            Kind::Operator(operator) => {
                let small = |t: &Tensor| t.len() as u64 <= MOST_ELEMENTS;
                let tensors: Option<Vec<Tensor>> = given
                    .iter()
                    .map(|v| match &v.known {
                        Known::Tensor(tensor) if small(tensor) => Some(tensor.clone()),
                        _ => None,
                    })
                    .collect();
                let results = reference::evaluate(operator, &op.attrs(), &tensors?).ok()?;
                if !results.iter().all(small) {
                    return None;
                }
                let types = types();
                let values = results.into_iter().zip(types);
                Some(values.map(|(tensor, ty)| Partial::new(ty, Known::Tensor(tensor))).collect())
            }
            Kind::Relay(Relay::Constant) | Kind::Upstream(Upstream::ArithConstant) => {
                let elements = tensor_type(op.result_values()[0])?.elements()?;
                if elements > MOST_ELEMENTS {
                    return None;
                }
                one(Known::Tensor(op.attr("value").and_then(read_tensor)?))
            }
            Kind::Relay(Relay::Tuple) => one(Known::Tuple(given)),
            Kind::Relay(Relay::Get) => match &given.first()?.known {
                Known::Tuple(elements) => {
                    let index = usize::try_from(op.int("index")?).ok()?;
                    Some(vec![elements.get(index)?.clone()])
                }
                _ => None,
            },
            Kind::Relay(Relay::Construct) => {
                let path = op.attr("constructor").and_then(symbol_path)?;
                let [data, name] = path[..] else { return None };
                one(Known::Data { data, name, fields: given })
            }
            Kind::Relay(Relay::Fn) => {
                let names = self.captures(op);
                let captured = names.iter().map(|v| Some((key(*v), frame.environment.get(*v)?)));
                let captured = captured.collect::<Option<IndexMap<_, _>>>()?;
                one(Known::Closure(Rc::new(Closure { op, captured, instance: frame.instance.clone() })))
            }
            Kind::Relay(Relay::Global) => one(Known::Global(op.text("function")?)),
            Kind::Relay(Relay::Instantiate | Relay::Ascribe) => match &given.first()?.known {
                Known::Dynamic | Known::Cell(_) => None,
                known => one(known.clone()),
            },
            Kind::Relay(Relay::RefRead) => match &given.first()?.known {
                Known::Cell(cell) => Some(vec![self.store.read(*cell)?]),
                _ => None,
            },
            _ => None,
        }
    }

    fn captures(&mut self, closure: Op<'c>) -> Rc<Vec<Value<'c>>> {
        let entry = self.captures.entry(op_key(closure));
        entry.or_insert_with(|| Rc::new(free_values(closure))).clone()
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

    /// A call that stays as it is.
    fn stays(
        &mut self,
        build: &Build<'c>,
        op: Op<'c>,
        given: &[Shared<'c>],
        frame: &Frame<'c>,
    ) -> Outcome<'c, Vec<Shared<'c>>> {
        let results = self.emit(build, op, given, frame)?;
        self.after_call(op);
        Ok(results)
    }

    /// What a call may have done to cells.
    pub fn after_call(&mut self, op: Op<'c>) {
        if self.effects.of_op(op).writes {
            self.store.forget();
        }
    }

    /// The same operation on the program's values.
    fn emit(
        &mut self,
        build: &Build<'c>,
        op: Op<'c>,
        given: &[Shared<'c>],
        frame: &Frame<'c>,
    ) -> Outcome<'c, Vec<Shared<'c>>> {
        let values = self.residuals(build, given)?;
        let attrs = attributes(op);
        let named: Vec<(&str, Attribute)> = attrs.iter().map(|(n, a)| (n.as_str(), *a)).collect();
        let made = build.op(&op.full_name(), &values, &result_types(op, frame), &named);
        Ok(self.made(made))
    }

    /// The results of an operation that was emitted.
    pub fn made(&self, op: Op<'c>) -> Vec<Shared<'c>> {
        let scope = self.scopes.last().copied().unwrap_or(0);
        let results = op.result_values().into_iter();
        results.map(|value| Partial::dynamic(value, value.r#type(), scope)).collect()
    }

    /// Values of the program for values.
    pub fn residuals(&mut self, build: &Build<'c>, values: &[Shared<'c>]) -> Outcome<'c, Vec<Value<'c>>> {
        values.iter().map(|value| self.residual(build, value)).collect()
    }

    /// The program's value for a value; made here when there is none that can be seen.
    pub fn residual(&mut self, build: &Build<'c>, value: &Shared<'c>) -> Outcome<'c, Value<'c>> {
        if let Some((made, scope)) = *value.residual.borrow()
            && (self.scopes.contains(&scope) || matches!(value.known, Known::Dynamic | Known::Cell(_)))
        {
            return Ok(made);
        }
        let context = build.context();
        let made = match &value.known {
            Known::Dynamic | Known::Cell(_) => {
                return Err(PassError::new(
                    build.location,
                    "a value is used where the program has none for it",
                ));
            }
            Known::Tensor(tensor) => Builder::new(*build).constant(tensor),
            Known::Tuple(elements) => {
                let elements = self.residuals(build, elements)?;
                build.value(Relay::Tuple.name(), &elements, value.ty, &[])
            }
            Known::Data { data, name, fields } => {
                let fields = self.residuals(build, fields)?;
                let constructor = nested_symbol_attr(context, data, name);
                build.value(Relay::Construct.name(), &fields, value.ty, &[("constructor", constructor)])
            }
            Known::Global(name) => {
                if !self.reached.contains(name) {
                    self.reached.push(name);
                }
                let function = ("function", symbol_attr(context, name));
                build.value(Relay::Global.name(), &[], value.ty, &[function])
            }
            Known::Closure(closure) => self.residual_closure(build, closure, value.ty)?,
        };
        let scope = self.scopes.last().copied().unwrap_or(0);
        *value.residual.borrow_mut() = Some((made, scope));
        Ok(made)
    }

    /// A closure with its body evaluated on unknown arguments.
    fn residual_closure(
        &mut self,
        build: &Build<'c>,
        closure: &Rc<Closure<'c>>,
        ty: Type<'c>,
    ) -> Outcome<'c, Value<'c>> {
        let op = closure.op;
        let body = op.body(0).ok_or_else(|| PassError::at(op, "has an empty region"))?;
        let own = arguments(body);
        let Some((inputs, _)) = function_parts(ty) else {
            return Err(PassError::at(op, "has a type that is not known; run relay-infer-types before"));
        };
        let recursive = op.attr(RECURSIVE).is_some();
        let takes = if recursive { [vec![ty], inputs].concat() } else { inputs };
        let mut instance = Instance::clone(&closure.instance);
        for (declared, actual) in own.iter().zip(&takes) {
            instance.matches(declared.r#type(), *actual);
        }
        let mut frame = frame_of(closure, instance);
        let (region, _) = self.region(build, &takes, Store::default(), |this, inner, values| {
            for (name, value) in own.iter().zip(values) {
                frame.environment.bind(*name, value);
            }
            let values = this.block(&inner, body, &mut frame)?;
            let values = this.residuals(&inner, &values)?;
            inner.op(Relay::Yield.name(), &values, &[], &[]);
            Ok(())
        })?;
        let attrs = attributes(op);
        let named: Vec<(&str, Attribute)> = attrs.iter().map(|(n, a)| (n.as_str(), *a)).collect();
        let made = build.op_with_regions(Relay::Fn.name(), &[], &[ty], &named, vec![region]);
        Ok(made.result_values()[0])
    }

    /// A branch whose condition only a run can say.
    fn branches(
        &mut self,
        build: &Build<'c>,
        op: Op<'c>,
        condition: &Shared<'c>,
        frame: &mut Frame<'c>,
    ) -> Outcome<'c, Vec<Shared<'c>>> {
        let condition = self.residual(build, condition)?;
        let (mut regions, mut stores) = (Vec::new(), Vec::new());
        for block in blocks(op) {
            let store = self.store.clone();
            let (region, store) =
                self.region(build, &[], store, |this, inner, _| this.yields(&inner, block, frame))?;
            regions.push(region);
            stores.push(store);
        }
        self.store = Store::agreed(stores);
        let types = result_types(op, frame);
        let made = build.op_with_regions(Relay::If.name(), &[condition], &types, &[], regions);
        Ok(self.made(made))
    }

    /// The operations of a block, and a terminator.
    fn yields(&mut self, build: &Build<'c>, block: Block<'c>, frame: &mut Frame<'c>) -> Outcome<'c, ()> {
        let values = self.block(build, block, frame)?;
        let values = self.residuals(build, &values)?;
        build.op(Relay::Yield.name(), &values, &[], &[]);
        Ok(())
    }

    fn clauses(
        &mut self,
        build: &Build<'c>,
        op: Op<'c>,
        value: &Shared<'c>,
        frame: &mut Frame<'c>,
    ) -> Outcome<'c, Vec<Shared<'c>>> {
        let patterns = op.attr("patterns").map(array_elements).unwrap_or_default();
        let mut open = Vec::new();
        for (attr, block) in patterns.iter().zip(blocks(op)) {
            let pattern = Pattern::read(*attr).map_err(|error| PassError::at(op, error))?;
            match fits(&pattern, value) {
                Fits::No => {}
                Fits::Maybe => open.push((*attr, block, None)),
                Fits::Yes(bound) if open.is_empty() => {
                    for (name, value) in arguments(block).into_iter().zip(bound) {
                        frame.environment.bind(name, value);
                    }
                    return self.block(build, block, frame);
                }
                Fits::Yes(bound) => {
                    open.push((*attr, block, Some(bound)));
                    break;
                }
            }
        }
        if open.is_empty() {
            // Nothing fits: the run will say so.
            open = patterns.iter().zip(blocks(op)).map(|(attr, block)| (*attr, block, None)).collect();
        }
        let scrutinee = self.residual(build, value)?;
        let (mut regions, mut stores, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for (attr, block, bound) in open {
            let own = arguments(block);
            let types: Vec<Type> = own.iter().map(|v| applied(v.r#type(), frame, op)).collect();
            let store = self.store.clone();
            let (region, store) = self.region(build, &types, store, |this, inner, values| {
                for (name, value) in own.into_iter().zip(bound.unwrap_or(values)) {
                    frame.environment.bind(name, value);
                }
                this.yields(&inner, block, frame)
            })?;
            regions.push(region);
            stores.push(store);
            kept.push(attr);
        }
        self.store = Store::agreed(stores);
        let types = result_types(op, frame);
        let attrs = [("patterns", array_attr(build.context(), &kept))];
        let made = build.op_with_regions(Relay::Match.name(), &[scrutinee], &types, &attrs, regions);
        Ok(self.made(made))
    }

    /// A loop: unrolled while its condition is known, and left from there on.
    fn iteration(
        &mut self,
        build: &Build<'c>,
        op: Op<'c>,
        mut state: Vec<Shared<'c>>,
        frame: &mut Frame<'c>,
    ) -> Outcome<'c, Vec<Shared<'c>>> {
        let bodies = blocks(op);
        let [condition, body] = bodies[..] else { return Err(PassError::at(op, "has an empty region")) };
        while self.fuel > 0 {
            match self.known_condition(condition, &state, frame) {
                None => break,
                Some(false) => return Ok(state),
                Some(true) => {
                    self.fuel -= 1;
                    self.unfolded += 1;
                    for (name, value) in arguments(body).into_iter().zip(&state) {
                        frame.environment.bind(name, value.clone());
                    }
                    state = self.block(build, body, frame)?;
                }
            }
        }
        let values = self.residuals(build, &state)?;
        let types = result_types(op, frame);
        self.store.forget();
        let mut regions = Vec::new();
        for block in [condition, body] {
            let (region, _) = self.region(build, &types, Store::default(), |this, inner, values| {
                for (name, value) in arguments(block).into_iter().zip(values) {
                    frame.environment.bind(name, value);
                }
                this.yields(&inner, block, frame)
            })?;
            regions.push(region);
        }
        let made = build.op_with_regions(Relay::While.name(), &values, &types, &[], regions);
        Ok(self.made(made))
    }

    /// The condition of a loop, when it follows from what is known of the state without an effect.
    fn known_condition(
        &mut self,
        block: Block<'c>,
        state: &[Shared<'c>],
        frame: &mut Frame<'c>,
    ) -> Option<bool> {
        for (name, value) in arguments(block).into_iter().zip(state) {
            frame.environment.bind(name, value.clone());
        }
        let ops = ops_in(block);
        let (last, rest) = ops.split_last()?;
        for op in rest {
            let results = self.folded(*op, frame)?;
            for (name, value) in op.result_values().into_iter().zip(results) {
                frame.environment.bind(name, value);
            }
        }
        operands(*last, frame).ok()?.first()?.truth()
    }

    fn call(
        &mut self,
        build: &Build<'c>,
        op: Op<'c>,
        name: &'c str,
        given: Vec<Shared<'c>>,
        frame: &Frame<'c>,
    ) -> Outcome<'c, Vec<Shared<'c>>> {
        let function = self.functions.get(name).copied();
        let body = function.filter(|f| f.attr("relay.primitive").is_none()).and_then(|f| f.body(0));
        let (Some(function), Some(_)) = (function, body) else {
            let all = if is_call(op) { given } else { operands(op, frame)? };
            return self.stays(build, op, &all, frame);
        };
        let recursive = self.recursive.contains(name);
        if self.unfolds(op, function, recursive, &given, &format!("@{name}"))? {
            let instance = self.instance(Instance::default(), function, &given, op, frame);
            return self.unfold(build, function, Environment::default(), instance, &given);
        }
        let wanted = super::special::Wanted { function, name, closure: None, given };
        self.specialised_call(build, op, wanted, frame)
    }

    fn apply(
        &mut self,
        build: &Build<'c>,
        op: Op<'c>,
        closure: &Rc<Closure<'c>>,
        given: Vec<Shared<'c>>,
        frame: &Frame<'c>,
    ) -> Outcome<'c, Vec<Shared<'c>>> {
        let recursive = closure.op.attr(RECURSIVE).is_some();
        let arguments = if recursive { given.clone() } else { given[1..].to_vec() };
        if self.unfolds(op, closure.op, recursive, &arguments, "the function value")? {
            let start = Instance::clone(&closure.instance);
            let instance = self.instance(start, closure.op, &arguments, op, frame);
            let environment = frame_of(closure, Instance::default()).environment;
            return self.unfold(build, closure.op, environment, instance, &arguments);
        }
        if recursive {
            let wanted = super::special::Wanted {
                function: closure.op,
                name: "closure",
                closure: Some(closure.clone()),
                given,
            };
            return self.specialised_call(build, op, wanted, frame);
        }
        self.stays(build, op, &given, frame)
    }

    /// Whether a call is replaced by what it does.
    fn unfolds(
        &mut self,
        op: Op<'c>,
        function: Op<'c>,
        recursive: bool,
        given: &[Shared<'c>],
        what: &str,
    ) -> Outcome<'c, bool> {
        let is_decided = !recursive || {
            let deciding = self.deciding(function);
            !deciding.is_empty() && deciding.iter().all(|at| given.get(*at).is_some_and(|v| v.is_static()))
        };
        let may = self.fuel > 0 && self.depth < self.limits.depth;
        if recursive && is_decided && !may && self.limits.strict {
            return Err(PassError::at(
                op,
                format!(
                    "calls {what} again and again on values that are known: the recursion does not end within {} unfolded calls, {} deep; \
                     add a case that ends it, or allow more by the options fuel and depth",
                    self.limits.fuel, self.limits.depth
                ),
            ));
        }
        Ok(is_decided && may)
    }

    fn unfold(
        &mut self,
        build: &Build<'c>,
        function: Op<'c>,
        mut environment: Environment<'c>,
        instance: Instance<'c>,
        given: &[Shared<'c>],
    ) -> Outcome<'c, Vec<Shared<'c>>> {
        self.fuel -= 1;
        self.unfolded += 1;
        self.depth += 1;
        let body = function.body(0).ok_or_else(|| PassError::at(function, "has no body"))?;
        for (name, value) in arguments(body).into_iter().zip(given) {
            environment.bind(name, value.clone());
        }
        let mut frame = Frame { environment, instance: Rc::new(instance) };
        let results = self.block(build, body, &mut frame);
        self.depth -= 1;
        results
    }

    /// What the type variables and named extents of a function stand for in a call.
    pub fn instance(
        &self,
        mut instance: Instance<'c>,
        function: Op<'c>,
        given: &[Shared<'c>],
        op: Op<'c>,
        frame: &Frame<'c>,
    ) -> Instance<'c> {
        let Some(body) = function.body(0) else { return instance };
        for (name, value) in arguments(body).into_iter().zip(given) {
            instance.matches(name.r#type(), value.ty);
        }
        let gives = terminator(body).map(|t| t.operand_values()).unwrap_or_default();
        for (name, ty) in gives.into_iter().zip(result_types(op, frame)) {
            instance.matches(name.r#type(), ty);
        }
        instance
    }

    /// The parameters that the branches around a function's calls depend on.
    fn deciding(&mut self, function: Op<'c>) -> BTreeSet<usize> {
        if let Some(known) = self.deciding.get(&op_key(function)) {
            return known.clone();
        }
        let found = deciding(function);
        self.deciding.insert(op_key(function), found.clone());
        found
    }
}

fn deciding(function: Op) -> BTreeSet<usize> {
    let mut from: HashMap<usize, BTreeSet<usize>> = HashMap::new();
    let parameters = function.body(0).map(arguments).unwrap_or_default();
    for (at, parameter) in parameters.iter().enumerate() {
        from.insert(key(*parameter), BTreeSet::from([at]));
    }
    let inside = nested_ops(function);
    // Values depend on what they are computed from; what a region gives reaches the results of its operation.
    loop {
        let mut changed = false;
        for op in &inside {
            let of = |values: Vec<Value>, from: &HashMap<usize, BTreeSet<usize>>| -> BTreeSet<usize> {
                values.iter().filter_map(|v| from.get(&key(*v))).flatten().copied().collect()
            };
            let mut sources = of(op.operand_values(), &from);
            let entering: Vec<usize> = blocks(*op).into_iter().flat_map(arguments).map(key).collect();
            let yields = blocks(*op).into_iter().filter_map(terminator).flat_map(|t| t.operand_values());
            let entered = sources.clone();
            sources.extend(of(yields.collect(), &from));
            let results = op.result_values().into_iter().map(key).map(|k| (k, &sources));
            for (name, sources) in results.chain(entering.into_iter().map(|k| (k, &entered))) {
                let known = from.entry(name).or_default();
                let before = known.len();
                known.extend(sources);
                changed |= known.len() > before;
            }
        }
        if !changed {
            break;
        }
    }
    let calls = |op: &Op| {
        nested_ops(*op).into_iter().any(|o| is_call(o) || matches!(o.kind(), Some(Kind::Relay(Relay::Apply))))
    };
    let branches = inside
        .iter()
        .filter(|op| matches!(op.kind(), Some(Kind::Relay(Relay::If | Relay::Match))) && calls(op));
    let decided = branches.filter_map(|op| op.operand_values().first().copied());
    decided.filter_map(|value| from.get(&key(value))).flatten().copied().collect()
}

/// The values of a closure's body that come from around it.
pub fn frame_of<'c>(closure: &Rc<Closure<'c>>, instance: Instance<'c>) -> Frame<'c> {
    let mut environment = Environment::default();
    for (key, value) in &closure.captured {
        environment.bind_key(*key, value.clone());
    }
    Frame { environment, instance: Rc::new(instance) }
}

fn operands<'c>(op: Op<'c>, frame: &Frame<'c>) -> Outcome<'c, Vec<Shared<'c>>> {
    let value = |v: Value<'c>| frame.environment.get(v);
    let values: Option<Vec<_>> = op.operand_values().into_iter().map(value).collect();
    values.ok_or_else(|| PassError::at(op, "uses a value that was not evaluated"))
}

/// A type where type variables and named extents stand for what they do here.
fn applied<'c>(ty: Type<'c>, frame: &Frame<'c>, op: Op<'c>) -> Type<'c> {
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
