//! Branches, matches and loops that only a run can decide, and loops that are unrolled as long as they are known.
//!
//! ```text
//!   if %c { a } else { b }     both regions, each from the store before;  after them, the store they agree on
//!   match v { .. }             without the clauses that cannot fit;  the first that fits for sure is the last
//!   while c { body }           c known to be true: body, then again;  else the loop, from the state reached
//! ```

use super::eval::{Evaluator, Frame, Outcome, applied, operands, result_types};
use super::matching::{Fits, fits};
use super::store::Store;
use super::value::Shared;
use crate::language::blocks;
use fusion_dialects::relay::{Op as Relay, Pattern};
use fusion_dialects::{
    Block, Build, Op, OpExt, PassError, Type, ValueLike, arguments, array_attr, array_elements, ops_in,
};

impl<'c> Evaluator<'c> {
    /// A branch whose condition only a run can say.
    pub(super) fn branches(
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

    pub(super) fn clauses(
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
    pub(super) fn iteration(
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
}
