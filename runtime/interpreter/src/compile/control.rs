//! Branches, matches and loops as jumps between lines.
//!
//! ```text
//!   if                       match                      while
//!     unless c: to L           case p0, else to L0        state := operands
//!     then; to end             clause 0; to end         B: iterate; condition
//!   L: else                  L0: case p1, ...             unless c: to end
//!   end:                     unmatched                    body; state := its values; to B
//! ```

use super::{Compiler, MOST_REGIONS, To, is_terminator};
use crate::InterpretError;
use crate::code::{Code, Expect, Fit, Line, Register, Work};
use fusion_dialects::relay::Pattern;
use fusion_dialects::{Block, Op, OpExt, arguments, array_elements, key, ops_in};

impl<'c> Compiler<'_, 'c> {
    pub(super) fn branches(
        &mut self,
        op: Op<'c>,
        operands: Vec<Register>,
        tail: bool,
        depth: usize,
    ) -> Result<bool, InterpretError> {
        let to = if tail { To::Caller } else { To::Results(op, self.results(op)) };
        let unless = self.line(op, Work::Unless(0), operands);
        self.region(op, 0, to, depth)?;
        let done = (!tail).then(|| self.line(op, Work::Go(0), Vec::new()));
        self.land(unless);
        self.region(op, 1, to, depth)?;
        if let Some(done) = done {
            self.land(done);
        }
        Ok(tail)
    }

    pub(super) fn clauses(
        &mut self,
        op: Op<'c>,
        operands: Vec<Register>,
        tail: bool,
        depth: usize,
    ) -> Result<bool, InterpretError> {
        let to = if tail { To::Caller } else { To::Results(op, self.results(op)) };
        let patterns = op.attr("patterns").map(array_elements).unwrap_or_default();
        let mut done = Vec::new();
        for (index, pattern) in patterns.into_iter().enumerate() {
            let pattern = Pattern::read(pattern).map_err(|error| InterpretError::at(op, error))?;
            let pattern = self.fit(op, &pattern)?;
            let block = op.body(index).ok_or_else(|| InterpretError::at(op, "has an empty region"))?;
            let first = self.code.registers;
            for name in arguments(block) {
                self.number(name);
            }
            let case = self.line(op, Work::Case { pattern, otherwise: 0 }, operands.clone());
            self.code.lines[case].result = first;
            self.region(op, index, to, depth)?;
            if !tail {
                done.push(self.line(op, Work::Go(0), Vec::new()));
            }
            self.land(case);
        }
        self.line(op, Work::Unmatched, operands);
        done.into_iter().for_each(|line| self.land(line));
        Ok(tail)
    }

    fn fit(&self, op: Op<'c>, pattern: &Pattern) -> Result<Fit, InterpretError> {
        let all = |parts: &[Pattern]| parts.iter().map(|p| self.fit(op, p)).collect::<Result<Vec<_>, _>>();
        Ok(match pattern {
            Pattern::Wildcard => Fit::Any,
            Pattern::Bind(_) => Fit::Bind,
            Pattern::Constructor { data, name, fields } => {
                Fit::Data(self.symbols.constructor(op, data, name)?, all(fields)?)
            }
            Pattern::Tuple(parts) => Fit::Tuple(all(parts)?),
        })
    }

    pub(super) fn iteration(
        &mut self,
        op: Op<'c>,
        operands: Vec<Register>,
        depth: usize,
    ) -> Result<(), InterpretError> {
        let count = operands.len();
        let state: Vec<Register> = (0..count).map(|_| self.fresh()).collect();
        let first = state.first().copied().unwrap_or(0);
        for region in 0..2 {
            let block = op.body(region).ok_or_else(|| InterpretError::at(op, "has an empty region"))?;
            let names = arguments(block);
            if names.len() != count {
                return Err(InterpretError::at(op, "has a region that does not take the state"));
            }
            for (name, register) in names.into_iter().zip(&state) {
                self.code.numbers.insert(key(name), *register);
            }
        }
        let into = |code: &mut Code<'c>, operands: Vec<Register>, result| {
            let expects = vec![Expect::Any; operands.len()].into();
            let operands = operands.into();
            code.lines.push(Line { op, work: Work::Move, operands, result, expects });
        };
        into(&mut self.code, operands, first);
        let begin = self.line(op, Work::Iterate, Vec::new());
        let tested = self.inner(op, 0, depth)?;
        let [tested] = tested[..] else {
            return Err(InterpretError::at(op, "has a condition of several values"));
        };
        let unless = self.line(op, Work::Unless(0), vec![tested]);
        let next = self.inner(op, 1, depth)?;
        if next.len() != count {
            return Err(InterpretError::at(op, "has a body that does not give the state"));
        }
        into(&mut self.code, next, first);
        self.line(op, Work::Go(begin), Vec::new());
        self.land(unless);
        self.writes(op, Work::Move, state);
        Ok(())
    }

    /// The lines of a region whose values stay where they are.
    fn inner(&mut self, op: Op<'c>, index: usize, depth: usize) -> Result<Vec<Register>, InterpretError> {
        let block = op.body(index).ok_or_else(|| InterpretError::at(op, "has an empty region"))?;
        let last = ops_in(block).last().copied().filter(|last| is_terminator(*last));
        let last = last.ok_or_else(|| InterpretError::at(op, "has a block without a terminator"))?;
        let first = self.code.registers;
        let count = last.operand_values().len();
        self.code.registers += count;
        self.moves(op, block, first, depth)?;
        Ok((first..first + count).collect())
    }

    fn moves(
        &mut self,
        op: Op<'c>,
        block: Block<'c>,
        first: Register,
        depth: usize,
    ) -> Result<(), InterpretError> {
        if depth > MOST_REGIONS {
            let message = format!("is inside {MOST_REGIONS} regions, more are not allowed");
            return Err(InterpretError::at(op, message));
        }
        for inner in ops_in(block) {
            if is_terminator(inner) {
                let operands = self.operands(inner)?;
                let expects = vec![Expect::Any; operands.len()].into();
                let line = Line { op, work: Work::Move, operands: operands.into(), result: first, expects };
                self.code.lines.push(line);
                return Ok(());
            }
            self.op(inner, false, depth + 1)?;
        }
        Err(InterpretError::at(op, "has a block without a terminator"))
    }
}
