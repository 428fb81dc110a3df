//! The blocks of a function, its graph variables, and where they are used.
//!
//! Each block gets a number. A place is the statements one is in, from the function's body inwards: pairs of a block and of a
//! statement's number in it. Definitions are numbered in the order in which they end, so that one uses only earlier ones.

use crate::relay_text::syntax::*;
use std::collections::HashMap;

/// A statement of a block; what a block ends with is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    pub block: u32,
    pub statement: u32,
}

/// A place in a function, from its body inwards.
pub type Place = Vec<Step>;

/// What binds a variable: a block, and which of the variables it binds.
pub type Binder = (u32, u32);

/// What is known of a block.
#[derive(Default)]
pub struct Scope {
    /// Whether it is evaluated at another time than what is around it, or not at all: a branch, a function.
    pub apart: bool,
    /// The variables it binds, by name: from which statement on, and the number of the variable.
    pub binds: HashMap<String, Vec<(u32, u32)>>,
    count: u32,
}

/// A use of a graph variable, or a definition's own place.
pub struct Spot {
    pub place: Place,
    /// The definition in whose value it stands.
    pub within: Option<usize>,
}

/// `%n = value;`.
pub struct Defined {
    pub name: Name,
    pub at: Spot,
    pub uses: Vec<Spot>,
    /// The variables in it that are bound outside.
    pub free: HashMap<String, Option<Binder>>,
    /// How deeply blocks are nested in its value.
    pub height: usize,
}

/// What is known of a function.
#[derive(Default)]
pub struct Survey {
    pub scopes: Vec<Scope>,
    pub definitions: Vec<Defined>,
    /// What each use stands for, in the order of the text.
    pub targets: Vec<Option<usize>>,
    place: Place,
    /// Definitions whose values are being walked.
    open: Vec<Opened>,
    /// Graph variables that are known, innermost block last.
    known: Vec<HashMap<String, usize>>,
    /// The last definition of each name, wherever it is.
    latest: HashMap<String, usize>,
}

#[derive(Default)]
struct Opened {
    depth: usize,
    height: usize,
    free: HashMap<String, Option<Binder>>,
    /// Spots in its value; who they are within is not known before it ends.
    uses: Vec<(usize, usize)>,
    nested: Vec<usize>,
}

impl Survey {
    /// Walks a function and numbers its blocks.
    pub fn of(function: &mut Function) -> Survey {
        let mut survey = Survey::default();
        survey.function(function);
        survey
    }

    fn function(&mut self, function: &mut Function) {
        let names: Vec<String> = function.parameters.iter().map(|(name, _)| name.text.clone()).collect();
        self.block(&mut function.body, true, &names);
    }

    fn block(&mut self, block: &mut Block, apart: bool, names: &[String]) {
        block.id = self.scopes.len() as u32;
        self.scopes.push(Scope { apart, ..Scope::default() });
        self.known.push(HashMap::new());
        self.place.push(Step { block: block.id, statement: 0 });
        names.iter().for_each(|name| self.bind(name, 0));
        for opened in &mut self.open {
            opened.height = opened.height.max(self.place.len() - opened.depth);
        }
        for (i, binding) in block.bindings.iter_mut().enumerate() {
            self.at(i);
            match binding {
                Binding::Let(name, _, value) => {
                    // A function that is bound may call itself by that name.
                    let first = if matches!(value.kind, ExprKind::Function(_)) { i } else { i + 1 };
                    self.bind(&name.text, first as u32);
                    self.expr(value);
                }
                Binding::Graph(name, value) => self.definition(name, value),
                Binding::Effect(value) => self.expr(value),
                Binding::Free(..) | Binding::Moved => {}
            }
        }
        self.at(block.bindings.len());
        self.expr(&mut block.result);
        self.place.pop();
        self.known.pop();
    }

    fn at(&mut self, statement: usize) {
        if let Some(last) = self.place.last_mut() {
            last.statement = statement as u32;
        }
    }

    fn bind(&mut self, name: &str, from: u32) {
        let scope = self.place.last().and_then(|step| self.scopes.get_mut(step.block as usize));
        if let Some(scope) = scope {
            scope.binds.entry(name.to_owned()).or_default().push((from, scope.count));
            scope.count += 1;
        }
    }

    fn definition(&mut self, name: &Name, value: &mut Expr) {
        self.open.push(Opened { depth: self.place.len(), ..Opened::default() });
        self.expr(value);
        let Some(opened) = self.open.pop() else { return };
        let number = self.definitions.len();
        for (definition, place) in opened.uses {
            if let Some(spot) = self.definitions[definition].uses.get_mut(place) {
                spot.within = Some(number);
            }
        }
        for nested in opened.nested {
            self.definitions[nested].at.within = Some(number);
        }
        if let Some(outer) = self.open.last_mut() {
            outer.nested.push(number);
            for (name, binder) in &opened.free {
                let inside = binder.is_some_and(|(block, _)| {
                    self.place.iter().skip(outer.depth).any(|step| step.block == block)
                });
                if !inside {
                    outer.free.insert(name.clone(), *binder);
                }
            }
        }
        self.definitions.push(Defined {
            name: name.clone(),
            at: Spot { place: self.place.clone(), within: None },
            uses: Vec::new(),
            free: opened.free,
            height: opened.height,
        });
        self.latest.insert(name.text.clone(), number);
        if let Some(known) = self.known.last_mut() {
            known.insert(name.text.clone(), number);
        }
    }

    fn graph(&mut self, name: &str) {
        let visible = self.known.iter().rev().find_map(|known| known.get(name));
        let target = visible.or_else(|| self.latest.get(name)).copied();
        self.targets.push(target);
        let Some(target) = target else { return };
        let uses = &mut self.definitions[target].uses;
        uses.push(Spot { place: self.place.clone(), within: None });
        if let Some(opened) = self.open.last_mut() {
            opened.uses.push((target, uses.len() - 1));
        }
    }

    fn local(&mut self, name: &str) {
        if self.open.is_empty() {
            return;
        }
        let binder = self.binder(&self.place, name);
        if let Some(opened) = self.open.last_mut() {
            let inside = binder.is_some_and(|(block, _)| {
                self.place.iter().skip(opened.depth).any(|step| step.block == block)
            });
            if !inside {
                opened.free.insert(name.to_owned(), binder);
            }
        }
    }

    /// What binds a variable at a place.
    pub fn binder(&self, place: &[Step], name: &str) -> Option<Binder> {
        place.iter().rev().find_map(|step| {
            let bound = self.scopes[step.block as usize].binds.get(name)?;
            let last = bound.iter().rev().find(|(from, _)| *from <= step.statement)?;
            Some((step.block, last.1))
        })
    }

    fn expr(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Local(name) => {
                let name = std::mem::take(name);
                self.local(&name);
                expr.kind = ExprKind::Local(name);
            }
            ExprKind::Graph(name) => {
                let name = std::mem::take(name);
                self.graph(&name);
                expr.kind = ExprKind::Graph(name);
            }
            other => each_part(other, &mut |part| match part {
                Part::Expr(expr) => self.expr(expr),
                Part::Block(block, apart, names) => self.block(block, apart, &names),
            }),
        }
    }
}

/// A part of an expression.
pub enum Part<'e> {
    Expr(&'e mut Expr),
    /// A block, whether it is evaluated apart from what is around it, and the variables that come with it.
    Block(&'e mut Block, bool, Vec<String>),
}

/// The parts of an expression in the order of the text.
pub fn each_part(kind: &mut ExprKind, visit: &mut dyn FnMut(Part)) {
    let plain = |block| Part::Block(block, false, Vec::new());
    match kind {
        ExprKind::Tuple(blocks) => blocks.iter_mut().for_each(|block| visit(plain(block))),
        ExprKind::Block(block) => visit(plain(block)),
        ExprKind::NewCell(block) | ExprKind::ReadCell(block) => visit(plain(block)),
        ExprKind::WriteCell(blocks) => blocks.iter_mut().for_each(|block| visit(plain(block))),
        ExprKind::If(blocks) => {
            let [condition, branches @ ..] = &mut **blocks;
            visit(plain(condition));
            branches.iter_mut().for_each(|branch| visit(Part::Block(branch, true, Vec::new())));
        }
        ExprKind::Infix(operands, _) => operands.iter_mut().for_each(|operand| visit(Part::Expr(operand))),
        ExprKind::Applied(base, suffixes) => {
            visit(Part::Expr(base));
            for suffix in suffixes {
                if let Suffix::Call(arguments, _) = suffix {
                    arguments.iter_mut().for_each(|argument| visit(plain(argument)));
                }
            }
        }
        ExprKind::Function(function) => {
            // Nothing else holds a function while its file is read.
            if let Some(function) = std::rc::Rc::get_mut(function) {
                let names = function.parameters.iter().map(|(name, _)| name.text.clone()).collect();
                visit(Part::Block(&mut function.body, true, names));
            }
        }
        ExprKind::Match(value, clauses, _) => {
            visit(Part::Expr(value));
            for clause in clauses {
                let mut names = Vec::new();
                variables(&clause.pattern, &mut names);
                visit(Part::Block(&mut clause.body, true, names));
            }
        }
        ExprKind::Local(_)
        | ExprKind::Graph(_)
        | ExprKind::Global(_)
        | ExprKind::Word(_)
        | ExprKind::Literal(_)
        | ExprKind::Meta(..) => {}
    }
}

fn variables(pattern: &Pattern, names: &mut Vec<String>) {
    match &pattern.kind {
        PatternKind::Bind(name, _) => names.push(name.clone()),
        PatternKind::Constructor(_, parts) | PatternKind::Tuple(parts) => {
            parts.iter().for_each(|part| variables(part, names));
        }
        PatternKind::Wildcard => {}
    }
}
