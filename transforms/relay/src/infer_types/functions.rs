//! Functions of the module: their types, the order they are taken in, and how they are generalised.

use super::errors::letters;
use super::graph::components;
use super::nodes::{Form, Term};
use super::solver::{Failure, Solver};
use super::written::Scheme;
use fusion_dialects::relay::{DataType, Op as Functional};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, BlockLike, Context, Op, OpExt, OperationLike, Type, TypeParts, Value, ValueLike, arguments,
    function_parts, key, nested_ops, parts_of_type, top_level, type_key, type_of_attr, type_parts,
};
use fusion_operators::Dim;
use indexmap::IndexMap;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// A function of the module.
pub struct Function<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// Its body; `None` for declarations and functions of several blocks.
    pub block: Option<Block<'c>>,
    /// Types of its parameters.
    pub inputs: Vec<Term>,
    /// Types of its results.
    pub results: Vec<Term>,
    /// What each use chooses anew; `None` while the type is still to be found, and all uses share it.
    pub scheme: Option<Rc<Scheme>>,
    /// True when something of the function's type is written as a hole.
    pub open_signature: bool,
    /// True when something in the function is a hole.
    pub open: bool,
    /// Type variables of the functions it was inferred with that its own type does not have.
    pub foreign: BTreeSet<Rc<str>>,
}

/// Where a value with an unknown type stands.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// A result of an operation.
    Result(usize),
    /// A parameter of a function or closure, or what a clause or loop takes.
    Argument(usize),
}

/// A value whose type is to be written.
pub struct OpenValue<'c> {
    /// The value.
    pub value: Value<'c>,
    /// Its type.
    pub term: Term,
    /// The operation that makes it, or whose region takes it.
    pub op: Op<'c>,
    /// Which.
    pub place: Place,
    /// The function it is in.
    pub function: usize,
}

/// The state of the pass.
pub struct Inference<'c> {
    /// The context.
    pub context: &'c Context,
    /// Terms and relations.
    pub solver: Solver<'c>,
    /// Functions by name.
    pub functions: IndexMap<&'c str, Function<'c>>,
    /// Data types by name.
    pub data: HashMap<&'c str, DataType<'c>>,
    /// Types of values.
    pub values: HashMap<usize, Term>,
    /// Values whose types are to be written.
    pub open: Vec<OpenValue<'c>>,
    /// Polymorphic closures.
    pub schemes: HashMap<usize, Rc<Scheme>>,
    /// Type variables and named extents that are fixed here, a list a function around.
    pub scope: Vec<Scheme>,
    /// Names of type variables and extents in the functions that are worked on.
    pub taken: Scheme,
    /// Type variables before this one have names that are taken.
    next_name: usize,
    /// The function that is worked on.
    pub current: usize,
    /// Annotations, which end with the pass.
    pub annotations: Vec<Op<'c>>,
    /// How many uses of polymorphic closures were given a type.
    pub instances: usize,
}

impl<'c> Inference<'c> {
    /// Reads the declarations of a module.
    pub fn new(module: Op<'c>) -> Self {
        let mut inference = Inference {
            context: module.context_ref(),
            solver: Solver::new(),
            functions: IndexMap::new(),
            data: HashMap::new(),
            values: HashMap::new(),
            open: Vec::new(),
            schemes: HashMap::new(),
            scope: Vec::new(),
            taken: Scheme::default(),
            next_name: 0,
            current: 0,
            annotations: Vec::new(),
            instances: 0,
        };
        for op in top_level(module, |kind| matches!(kind, Kind::Relay(Functional::Data))) {
            if let Some(data) = DataType::of(op) {
                inference.data.insert(data.name, data);
            }
        }
        inference.solver.level = 1;
        for op in top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func))) {
            inference.declare(op);
        }
        inference
    }

    fn declare(&mut self, op: Op<'c>) {
        let Some(name) = op.text("sym_name") else { return };
        let declared = op.attr("function_type").and_then(type_of_attr);
        let (inputs, results) = declared.and_then(function_parts).unwrap_or_default();
        let block = op.body(0).filter(|block| block.next_in_region().is_none());
        let open_signature = declared.is_some_and(|ty| is_open(ty, &mut HashSet::new()));
        let open = open_signature || block.is_some() && self.has_open_values(op);
        let inputs: Vec<Term> = match block {
            Some(block) if open => {
                let arguments = arguments(block).into_iter().enumerate();
                arguments.map(|(i, v)| self.value(v, op, Place::Argument(i))).collect()
            }
            _ => inputs.into_iter().map(|ty| self.solver.of_type(ty).0).collect(),
        };
        let results: Vec<Term> = results.into_iter().map(|ty| self.solver.of_type(ty).0).collect();
        let scheme = (!open_signature).then(|| Rc::new(self.names_of(&inputs, &results)));
        let foreign = BTreeSet::new();
        let function = Function { op, block, inputs, results, scheme, open_signature, open, foreign };
        self.functions.insert(name, function);
    }

    fn names_of(&mut self, inputs: &[Term], results: &[Term]) -> Scheme {
        let mut scheme = Scheme::default();
        for term in inputs.iter().chain(results) {
            let names = self.solver.names(*term);
            scheme.extend(&names);
        }
        scheme
    }

    /// True where a value in a function is of a type that is not known, or an annotation is left.
    fn has_open_values(&mut self, function: Op<'c>) -> bool {
        let mut known = HashSet::new();
        let mut open = |value: &Value<'c>| is_open(value.r#type(), &mut known);
        nested_ops(function).into_iter().any(|op| {
            matches!(op.kind(), Some(Kind::Relay(Functional::Ascribe)))
                || op.result_values().iter().any(&mut open)
                || (0..op.region_count())
                    .any(|i| op.body(i).is_some_and(|b| arguments(b).iter().any(&mut open)))
        })
    }

    /// The type of a value.
    pub fn value(&mut self, value: Value<'c>, op: Op<'c>, place: Place) -> Term {
        if let Some(term) = self.values.get(&key(value)) {
            return *term;
        }
        let (term, open) = self.solver.of_type(value.r#type());
        self.values.insert(key(value), term);
        if open {
            let function = self.current;
            self.open.push(OpenValue { value, term, op, place, function });
        }
        term
    }

    /// Infers the types of all functions.
    pub fn run(&mut self) -> Result<(), Failure<'c>> {
        let uses: Vec<Vec<usize>> = (0..self.functions.len()).map(|i| self.used_by(i)).collect();
        for component in components(&uses) {
            if component.iter().any(|i| self.functions[*i].open) {
                self.component(&component)?;
            }
        }
        self.solver.extents_from_uses(0)?;
        self.solver.extents_unknown(0)?;
        self.solver.solve()
    }

    /// The functions that a function with unknown types calls or takes as values.
    fn used_by(&self, index: usize) -> Vec<usize> {
        let function = &self.functions[index];
        if !function.open {
            return Vec::new();
        }
        let mut used = Vec::new();
        for op in nested_ops(function.op) {
            let attr = match op.kind() {
                Some(Kind::Relay(Functional::Call) | Kind::Upstream(Upstream::Call)) => "callee",
                Some(Kind::Relay(Functional::Global)) => "function",
                _ => continue,
            };
            let place = op.text(attr).and_then(|name| self.functions.get_index_of(name));
            used.extend(place.filter(|i| self.functions[*i].open_signature));
        }
        used
    }

    /// Functions that use each other: inferred together, then generalised.
    fn component(&mut self, members: &[usize]) -> Result<(), Failure<'c>> {
        let since = self.solver.extent_count();
        self.taken = Scheme::default();
        self.next_name = 0;
        for &index in members {
            self.note_names(self.functions[index].op);
        }
        for &index in members {
            let Some(block) = self.functions[index].block.filter(|_| self.functions[index].open) else {
                continue;
            };
            let (inputs, results) =
                (self.functions[index].inputs.clone(), self.functions[index].results.clone());
            let fixed = self.names_of(&inputs, &results);
            self.scope = vec![fixed];
            self.current = index;
            self.body(block)?;
        }
        self.solver.extents_from_uses(since)?;
        self.solver.solve()?;
        let open: Vec<usize> =
            members.iter().copied().filter(|i| self.functions[*i].open_signature).collect();
        let mut variables = Vec::new();
        for &index in &open {
            let terms = [&self.functions[index].inputs[..], &self.functions[index].results].concat();
            for term in terms {
                variables.extend(self.solver.variables(term));
            }
        }
        // An operator's relation waits for them: only who calls the function can say what they are.
        if variables.iter().any(|v| self.solver.variable_state(*v).1) {
            for variable in variables {
                self.solver.lower(variable, 0);
            }
            return Ok(());
        }
        for &index in &open {
            let inputs = self.functions[index].inputs.clone();
            self.solver.name_extents(&inputs, &mut self.taken.dims)?;
        }
        self.solver.extents_unknown(since)?;
        self.solver.solve()?;
        let before = self.taken.types.clone();
        for &index in &open {
            self.generalise(index);
        }
        for &index in &open {
            let function = &mut self.functions[index];
            let own = function.scheme.clone().unwrap_or_default();
            let new = self.taken.types.difference(&before);
            function.foreign = new.filter(|name| !own.types.contains(*name)).cloned().collect();
        }
        Ok(())
    }

    /// A function's own variables become its type parameters.
    fn generalise(&mut self, index: usize) {
        let (inputs, results) = (self.functions[index].inputs.clone(), self.functions[index].results.clone());
        for term in inputs.iter().chain(&results) {
            for variable in self.solver.variables(*term) {
                if self.solver.variable_state(variable).0 >= 1 {
                    let name = self.fresh_type();
                    self.solver.bind(variable, Form::Rigid(name));
                }
            }
        }
        let left = inputs.iter().chain(&results).any(|t| !self.solver.variables(*t).is_empty());
        if left {
            return;
        }
        let inputs: Vec<Term> = inputs.into_iter().map(|t| self.solver.frozen(t)).collect();
        let results: Vec<Term> = results.into_iter().map(|t| self.solver.frozen(t)).collect();
        let scheme = self.names_of(&inputs, &results);
        let function = &mut self.functions[index];
        (function.inputs, function.results) = (inputs, results);
        function.scheme = Some(Rc::new(scheme));
    }

    /// A name for a type variable that nothing around uses.
    pub fn fresh_type(&mut self) -> Rc<str> {
        while self.taken.types.contains(letters(self.next_name).as_str()) {
            self.next_name += 1;
        }
        let name: Rc<str> = letters(self.next_name).into();
        self.taken.types.insert(name.clone());
        name
    }

    /// Notes the names of type variables and extents in a function.
    fn note_names(&mut self, function: Op<'c>) {
        let mut seen = HashSet::new();
        let mut note = |ty: Type<'c>| note_type(ty, &mut seen, &mut self.taken);
        function.attr("function_type").and_then(type_of_attr).into_iter().for_each(&mut note);
        for op in nested_ops(function) {
            op.result_values().iter().for_each(|v| note(v.r#type()));
            let blocks = (0..op.region_count()).filter_map(|i| op.body(i));
            blocks.flat_map(arguments).for_each(|v| note(v.r#type()));
        }
    }
}

/// True when a type has holes. Types that are known to have none are not looked at again.
fn is_open<'c>(ty: Type<'c>, known: &mut HashSet<usize>) -> bool {
    let mut stack = vec![ty];
    while let Some(ty) = stack.pop() {
        if matches!(type_parts(ty), TypeParts::Hole) {
            return true;
        }
        if known.insert(type_key(ty)) {
            stack.extend(parts_of_type(ty));
        }
    }
    false
}

fn note_type<'c>(ty: Type<'c>, seen: &mut HashSet<usize>, names: &mut Scheme) {
    let mut stack = vec![ty];
    while let Some(ty) = stack.pop() {
        if !seen.insert(type_key(ty)) {
            continue;
        }
        match type_parts(ty) {
            TypeParts::Var(name) => {
                names.types.insert(name.into());
            }
            TypeParts::Tensor(tensor) => {
                let named = tensor.dims.into_iter().filter_map(|dim| match dim {
                    Dim::Symbol(name) => Some(name),
                    _ => None,
                });
                names.dims.extend(named);
            }
            _ => stack.extend(parts_of_type(ty)),
        }
    }
}
