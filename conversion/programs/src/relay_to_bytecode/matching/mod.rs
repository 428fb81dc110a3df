//! `relay.match`: its tree of decisions as switches.
//!
//! ```text
//!      switch r0 [a, b]                             what a clause binds is a field of a field of ... the value,
//!   a: drop r0; clause 0                            fetched where its clause is reached; parts that were fetched
//!   b: r1 = field r0 0; drop r0; clause 1           to be looked at are dropped there
//! ```
//!
//! A clause that several leaves reach is lowered once: they put what it binds into its registers and jump there.

mod tree;

use super::function::{Body, To};
use super::known::Known;
use super::liveness::Runs;
use fusion_bytecode::{Instruction, Label, Register};
use fusion_dialects::relay::Pattern;
use fusion_dialects::{Op, OpExt, PassError, Value, arguments, array_elements, key, unused};
use std::collections::{BTreeMap, HashMap};
use tree::{Path, Tree};

/// A clause while its match is lowered.
struct Clause<'c> {
    /// What its region takes and uses, with the part of the value that it is.
    bound: Vec<(Value<'c>, Path)>,
    /// Where it is and the registers it takes, when several leaves reach it.
    shared: Option<(Label, Vec<Register>)>,
}

/// A match while it is lowered.
struct Match<'c> {
    op: Op<'c>,
    clauses: Vec<Clause<'c>>,
    to: To,
    dying: Vec<Value<'c>>,
    join: Label,
}

/// The parts of the value that are in registers.
#[derive(Clone, Default)]
struct Parts {
    /// `true` for those that belong to the match and are dropped at its leaves.
    at: BTreeMap<Path, (Register, bool)>,
}

impl<'c> Body<'_, 'c> {
    /// `relay.match`.
    pub fn matching(&mut self, op: Op<'c>, end: Option<&To>) -> Result<(), PassError<'c>> {
        let patterns = op.attr("patterns").map(array_elements).unwrap_or_default();
        let patterns = patterns.into_iter().map(Pattern::read).collect::<Result<Vec<_>, _>>();
        let patterns = patterns.map_err(|error| PassError::at(op, error))?;
        let mut parts = Parts::default();
        let value = op.operand_values()[0];
        self.parts_of(op, value, &mut Vec::new(), &mut parts)?;
        let dying = self.dying(op);
        let to = self.results(op, end);
        let program = &self.program;
        let constructors = |data: &str| {
            let declared = program.declaration(op, data).ok()?;
            Some(declared.constructors.iter().map(|c| c.name.to_owned()).collect())
        };
        let tree = tree::tree(&patterns, &constructors).map_err(|error| PassError::at(op, error))?;
        let leaves = tree.leaves(patterns.len());
        let mut clauses = Vec::new();
        for (number, pattern) in patterns.iter().enumerate() {
            let taken = op.body(number).map(arguments).unwrap_or_default();
            let bound = taken.into_iter().zip(tree::bound_parts(pattern)).filter(|(v, _)| !unused(*v));
            let bound: Vec<_> = bound.collect();
            let shared = (leaves[number] > 1)
                .then(|| (self.code.label(), bound.iter().map(|_| self.code.fresh()).collect()));
            clauses.push(Clause { bound, shared });
        }
        let join = self.code.label();
        let (mark, before) = (self.code.mark(), self.registers.clone());
        let matched = Match { op, clauses, to, dying, join };
        self.tree(&matched, &tree, &parts)?;
        for (number, clause) in matched.clauses.iter().enumerate() {
            let Some((label, registers)) = &clause.shared else { continue };
            self.code.bind(*label);
            self.code.back_to(&mark);
            self.registers = before.clone();
            self.registers.extend(clause.bound.iter().map(|(v, _)| key(*v)).zip(registers.iter().copied()));
            self.clause(&matched, number)?;
        }
        self.code.bind(join);
        self.code.back_to(&mark);
        self.registers = before;
        let of_match = parts.at.values().filter(|(_, owned)| *owned).map(|(register, _)| *register);
        let of_clauses =
            matched.clauses.iter().filter_map(|clause| clause.shared.as_ref()).flat_map(|(_, r)| r.clone());
        of_match.chain(of_clauses).for_each(|register| self.code.release(register));
        self.join(op, &matched.to, &matched.dying);
        Ok(())
    }

    /// The registers the value is in; of a tuple that is taken apart, those of its elements.
    fn parts_of(
        &mut self,
        op: Op<'c>,
        value: Value<'c>,
        path: &mut Path,
        parts: &mut Parts,
    ) -> Result<(), PassError<'c>> {
        if let Known::Tuple(tuple) = self.program.facts.known(value) {
            for (index, element) in tuple.operand_values().into_iter().enumerate() {
                path.push(index as u32);
                self.parts_of(op, element, path, parts)?;
                path.pop();
            }
            return Ok(());
        }
        let seen = self.look(op, value)?;
        parts.at.insert(path.clone(), seen);
        Ok(())
    }

    fn tree(&mut self, matched: &Match<'c>, tree: &Tree, parts: &Parts) -> Result<(), PassError<'c>> {
        let mut parts = parts.clone();
        let (path, data, cases, others) = match tree {
            Tree::Fail(form) => {
                let place = if self.code.place.is_empty() {
                    String::new()
                } else {
                    format!(" at {}", self.code.place)
                };
                let form = if form.is_empty() { "the value".to_owned() } else { form.clone() };
                let message = format!("No clause of the match{place} fits {form}.");
                self.code.emit(Instruction::Fail { message });
                return Ok(());
            }
            Tree::Clause(clause) => return self.leaf(matched, *clause, parts),
            Tree::Switch { path, data, cases, others } => (path, data, cases, others),
        };
        let count = self.program.declaration(matched.op, data)?.constructors.len();
        if let ([(_, only)], None, 1) = (&cases[..], others, count) {
            return self.tree(matched, only, &parts);
        }
        let value = self.part_at(path, &mut parts);
        let other = self.code.label();
        let targets: Vec<(usize, Label)> = cases.iter().map(|(tag, _)| (*tag, self.code.label())).collect();
        let target = |tag| targets.iter().find(|(of, _)| *of == tag).map_or(other, |(_, label)| *label);
        self.code.emit(Instruction::Switch { value, targets: (0..count).map(target).collect() });
        let (mark, before) = (self.code.mark(), self.registers.clone());
        let labels = targets.iter().map(|(_, label)| *label).chain([other]);
        let trees = cases.iter().map(|(_, tree)| tree).chain(others.as_deref());
        let place = self.code.place.clone();
        for (label, tree) in labels.zip(trees) {
            self.code.bind(label);
            self.code.back_to(&mark);
            self.registers = before.clone();
            self.code.place = place.clone();
            self.tree(matched, tree, &parts)?;
        }
        Ok(())
    }

    /// The register of a part of the value, which is fetched when it is not there yet.
    fn part_at(&mut self, path: &Path, parts: &mut Parts) -> Register {
        if let Some((register, _)) = parts.at.get(path) {
            return *register;
        }
        let Some((index, around)) = path.split_last() else {
            // The value itself is always there, or all its elements are.
            return self.code.fresh();
        };
        let from = self.part_at(&around.to_vec(), parts);
        let to = self.code.fresh();
        self.code.emit(Instruction::Field { to, from, index: *index });
        parts.at.insert(path.clone(), (to, true));
        to
    }

    /// A clause was found: fetches what it binds, lets go of other parts.
    fn leaf(&mut self, matched: &Match<'c>, number: usize, mut parts: Parts) -> Result<(), PassError<'c>> {
        let clause = &matched.clauses[number];
        let mut given: HashMap<Path, Register> = HashMap::new();
        for (_, path) in &clause.bound {
            let from = self.part_at(path, &mut parts);
            given.insert(path.clone(), from);
        }
        let mut taken = Vec::new();
        for (_, path) in &clause.bound {
            let from = given.get(path).copied().unwrap_or_default();
            taken.push(match parts.at.get(path) {
                Some((_, true)) => {
                    parts.at.remove(path);
                    from
                }
                _ => {
                    let to = self.code.fresh();
                    self.code.emit(Instruction::Copy { to, from });
                    to
                }
            });
        }
        for (register, _) in parts.at.into_values().filter(|(_, owned)| *owned) {
            self.code.drop_register(register);
        }
        match &clause.shared {
            None => {
                self.registers.extend(clause.bound.iter().map(|(v, _)| key(*v)).zip(taken));
                self.clause(matched, number)
            }
            Some((label, registers)) => {
                self.move_all(&taken, registers);
                self.code.emit(Instruction::Jump { target: *label });
                Ok(())
            }
        }
    }

    fn clause(&mut self, matched: &Match<'c>, number: usize) -> Result<(), PassError<'c>> {
        let block = matched
            .op
            .body(number)
            .ok_or_else(|| PassError::at(matched.op, "has a clause without a region"))?;
        let bound = matched.clauses[number].bound.iter().map(|(value, _)| *value);
        let dying: Vec<_> = matched.dying.iter().copied().chain(bound).collect();
        self.block(block, &matched.to, &dying, Runs::Once)?;
        if matches!(matched.to, To::Registers(_)) {
            self.code.emit(Instruction::Jump { target: matched.join });
        }
        Ok(())
    }
}
