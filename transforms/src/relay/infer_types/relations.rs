//! Type relations of operators, solved to a fixed point.
//!
//! ```text
//!     %c = relay.add %a, %b        relation  ──operands──►  ?a, ?b
//!     %d = relay.relu %c           relation  ──operand───►  ?c  ◄──result── the first
//! ```
//! A relation runs when element type and extents of all its operands are known; until then one of the variables or extents
//! that it lacks has it in its list. What becomes known puts its relations into the queue, and so does an extent that changes
//! (5 to `?`). Extents change at most twice, so the queue runs empty; each relation is tried once for each operand.

use super::errors::{Origin, Role};
use super::extents::Extent;
use super::solver::{Failure, Solver};
use super::terms::{Form, Term};
use fusion_dialects::{Op, PassError};
use fusion_operators::{Attrs, Operator, TensorType};

/// A call of an operator whose types are to be related.
pub struct RelationCall<'c> {
    op: Op<'c>,
    operator: &'static Operator,
    attrs: Attrs,
    operands: Vec<Term>,
    results: Vec<Term>,
    origin: usize,
    /// The extents of operands were given the relation to watch.
    watched: bool,
}

impl<'c> Solver<'c> {
    /// Adds a call of an operator and tries it.
    pub fn relation(
        &mut self,
        op: Op<'c>,
        operator: &'static Operator,
        attrs: Attrs,
        operands: Vec<Term>,
        results: Vec<Term>,
    ) -> Result<(), Failure<'c>> {
        let index = self.relations.len();
        let role = Role::Relation;
        let term = results.first().copied().unwrap_or(Term(0));
        self.origins.push(Origin { op, role, found: term, expected: term });
        let origin = self.origins.len() - 1;
        for term in operands.iter().chain(&results) {
            if self.form(*term).is_none() {
                self.pin(*term);
            }
        }
        self.relations.push(RelationCall { op, operator, attrs, operands, results, origin, watched: false });
        self.ready.push_back(index);
        self.solve()
    }

    /// Runs relations until none is ready.
    pub(super) fn solve(&mut self) -> Result<(), Failure<'c>> {
        while let Some(relation) = self.ready.pop_front() {
            self.try_relation(relation)?;
        }
        Ok(())
    }

    fn try_relation(&mut self, index: usize) -> Result<(), Failure<'c>> {
        let (op, operator, origin) = {
            let call = &self.relations[index];
            (call.op, call.operator, call.origin)
        };
        let mut tensors: Vec<(fusion_operators::DType, std::rc::Rc<[Extent]>)> = Vec::new();
        for i in 0..self.relations[index].operands.len() {
            let term = self.relations[index].operands[i];
            let term = self.find(term);
            match self.form(term) {
                None => {
                    self.watch(term, index);
                    return Ok(());
                }
                Some(Form::Tensor(dtype, extents)) => tensors.push((*dtype, extents.clone())),
                Some(_) => {
                    let found = self.shown(term);
                    return Err(PassError::at(op, format!("operand {i} must be a tensor, found {found}")));
                }
            }
        }
        if !std::mem::replace(&mut self.relations[index].watched, true) {
            for extent in tensors.iter().flat_map(|(_, extents)| extents.iter()) {
                self.watch_extent(*extent, index);
            }
        }
        let known = |(dtype, extents): &(_, std::rc::Rc<[Extent]>)| {
            let dims = extents.iter().map(|e| self.extent(*e).cloned()).collect::<Option<Vec<_>>>()?;
            Some(TensorType::new(dims, *dtype))
        };
        let Some(types) = tensors.iter().map(known).collect::<Option<Vec<_>>>() else { return Ok(()) };
        let call = &self.relations[index];
        let related =
            operator.infer(&types, &call.attrs).map_err(|violation| PassError::at(op, violation))?;
        let results = call.results.clone();
        if related.len() != results.len() {
            let (has, gives) = (results.len(), related.len());
            return Err(PassError::at(op, format!("has {has} results, its type relation gives {gives}")));
        }
        for (i, (term, related)) in results.into_iter().zip(related).enumerate() {
            let term = self.find(term);
            let extents = match self.form(term) {
                None => {
                    let extents: Vec<Extent> = related.dims.iter().map(|_| self.open_extent()).collect();
                    self.bind(term, Form::Tensor(related.dtype, extents.as_slice().into()));
                    extents
                }
                Some(Form::Tensor(dtype, extents))
                    if *dtype == related.dtype && extents.len() == related.rank() =>
                {
                    extents.to_vec()
                }
                Some(_) => {
                    let found = self.shown(term);
                    let message = format!("result {i} is used as {found}, its type relation gives {related}");
                    return Err(PassError::at(op, message));
                }
            };
            for (dim, extent) in related.dims.into_iter().zip(extents) {
                self.send(dim, extent, origin)?;
            }
        }
        Ok(())
    }
}
