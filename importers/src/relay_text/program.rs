//! The definitions a program consists of: those of its file, and what they use of files that they import.

use super::syntax::*;
use std::collections::{HashMap, HashSet};

/// Definitions in order.
#[derive(Default)]
pub struct Program<'p> {
    pub data_types: Vec<&'p DataType>,
    pub functions: Vec<&'p Definition>,
}

/// The names that something mentions: functions, constructors and types.
#[derive(Default)]
struct Mentions<'p>(HashSet<&'p str>);

impl<'p> Program<'p> {
    /// Everything of the first file, and what it uses of the others.
    pub fn of(files: &'p [File]) -> Program<'p> {
        let mut found = Mentions::default();
        let mut pending: Vec<&'p str> = Vec::new();
        let mut taken: HashSet<&'p str> = HashSet::new();
        if let Some(first) = files.first() {
            for definition in &first.functions {
                found.function(&definition.function);
            }
            first.data_types.iter().for_each(|data| found.data_type(data));
        }
        pending.extend(found.0.iter());
        let imported = || files.iter().skip(1);
        let functions: HashMap<&str, &Definition> =
            imported().flat_map(|f| &f.functions).map(|d| (d.name.text.as_str(), d)).collect();
        let mut types: HashMap<&str, &DataType> = HashMap::new();
        for data in imported().flat_map(|f| &f.data_types) {
            types.insert(&data.name.text, data);
            types.extend(data.constructors.iter().map(|(name, _)| (name.text.as_str(), data)));
        }
        while let Some(name) = pending.pop() {
            let mut mentions = Mentions::default();
            if let Some(definition) = functions.get(name)
                && taken.insert(&definition.name.text)
            {
                mentions.function(&definition.function);
            }
            if let Some(data) = types.get(name)
                && taken.insert(&data.name.text)
            {
                mentions.data_type(data);
            }
            pending.extend(mentions.0);
        }
        let mut program = Program::default();
        for (number, file) in files.iter().enumerate() {
            let wanted = |name: &Name| number == 0 || taken.contains(name.text.as_str());
            program.data_types.extend(file.data_types.iter().filter(|data| wanted(&data.name)));
            program.functions.extend(file.functions.iter().filter(|definition| wanted(&definition.name)));
        }
        program
    }

    /// The places of the functions, each behind those it mentions where they do not mention each other.
    pub fn callees_first(&self) -> Vec<usize> {
        let places: HashMap<&str, usize> =
            self.functions.iter().enumerate().map(|(i, f)| (f.name.text.as_str(), i)).collect();
        let callees = |index: usize| -> Vec<usize> {
            let mut mentions = Mentions::default();
            mentions.function(&self.functions[index].function);
            let mut found: Vec<usize> =
                mentions.0.iter().filter_map(|name| places.get(name).copied()).collect();
            found.sort_unstable();
            found
        };
        let (mut order, mut seen) = (Vec::new(), vec![false; self.functions.len()]);
        for root in 0..self.functions.len() {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            let mut stack = vec![(root, callees(root).into_iter())];
            while let Some((index, rest)) = stack.last_mut() {
                match rest.next() {
                    Some(next) if std::mem::replace(&mut seen[next], true) => {}
                    Some(next) => stack.push((next, callees(next).into_iter())),
                    None => {
                        order.push(*index);
                        stack.pop();
                    }
                }
            }
        }
        order
    }
}

impl<'p> Mentions<'p> {
    fn data_type(&mut self, data: &'p DataType) {
        data.constructors.iter().flat_map(|(_, fields)| fields).for_each(|ty| self.ty(ty));
    }

    fn function(&mut self, function: &'p Function) {
        function.parameters.iter().filter_map(|(_, ty)| ty.as_ref()).for_each(|ty| self.ty(ty));
        function.result.iter().for_each(|ty| self.ty(ty));
        self.block(&function.body);
    }

    fn ty(&mut self, ty: &'p Type) {
        match ty {
            Type::Named(name, arguments) => {
                self.0.insert(&name.text);
                arguments.iter().for_each(|ty| self.ty(ty));
            }
            Type::Tuple(types) => types.iter().for_each(|ty| self.ty(ty)),
            Type::Function(heads, result) => {
                heads.iter().flat_map(|head| &head.inputs).for_each(|ty| self.ty(ty));
                self.ty(result);
            }
            Type::Ref(value) => self.ty(value),
            Type::Tensor(..) | Type::Unknown => {}
        }
    }

    fn block(&mut self, block: &'p Block) {
        for binding in &block.bindings {
            match binding {
                Binding::Let(_, ty, value) => {
                    ty.iter().for_each(|ty| self.ty(ty));
                    self.expr(value);
                }
                Binding::Graph(_, value) | Binding::Effect(value) => self.expr(value),
                Binding::Moved => {}
                Binding::Free(_, ty) => ty.iter().for_each(|ty| self.ty(ty)),
            }
        }
        self.expr(&block.result);
    }

    fn expr(&mut self, expr: &'p Expr) {
        match &expr.kind {
            ExprKind::Global(name) | ExprKind::Word(name) => {
                self.0.insert(name);
            }
            ExprKind::Tuple(parts) => parts.iter().for_each(|part| self.block(part)),
            ExprKind::Block(block) => self.block(block),
            ExprKind::NewCell(block) | ExprKind::ReadCell(block) => self.block(block),
            ExprKind::WriteCell(blocks) => blocks.iter().for_each(|block| self.block(block)),
            ExprKind::If(blocks) => blocks.iter().for_each(|block| self.block(block)),
            ExprKind::Infix(operands, _) => operands.iter().for_each(|operand| self.expr(operand)),
            ExprKind::Applied(base, suffixes) => {
                self.expr(base);
                for suffix in suffixes {
                    if let Suffix::Call(arguments, _) = suffix {
                        arguments.iter().for_each(|argument| self.block(argument));
                    }
                }
            }
            ExprKind::Function(function) => self.function(function),
            ExprKind::Match(value, clauses, _) => {
                self.expr(value);
                for clause in clauses {
                    self.pattern(&clause.pattern);
                    self.block(&clause.body);
                }
            }
            ExprKind::Local(_) | ExprKind::Graph(_) | ExprKind::Literal(_) | ExprKind::Meta(..) => {}
        }
    }

    fn pattern(&mut self, pattern: &'p Pattern) {
        match &pattern.kind {
            PatternKind::Constructor(name, parts) => {
                self.0.insert(name);
                parts.iter().for_each(|part| self.pattern(part));
            }
            PatternKind::Tuple(parts) => parts.iter().for_each(|part| self.pattern(part)),
            PatternKind::Bind(_, ty) => ty.iter().for_each(|ty| self.ty(ty)),
            PatternKind::Wildcard => {}
        }
    }
}
