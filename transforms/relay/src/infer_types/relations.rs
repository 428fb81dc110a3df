//! Type relations of operators, solved to a fixed point.
//!
//! ```text
//!     %c = relay.add %a, %b        relation  ──operands──►  ?a, ?b
//!     %d = relay.relu %c           relation  ──operand───►  ?c  ◄──result── the first
//! ```
//! The element of a tuple that is not known yet (`relay.get` of a closure's parameter) waits in the same way.
//! A relation runs when element type and extents of all its operands are known; until then one of the variables or extents
//! that it lacks has it in its list. What becomes known puts its relations into the queue, and so does an extent that changes
//! (5 to `?`). Extents change at most twice, so the queue runs empty; each relation is tried once for each operand.

use super::nodes::{Extent, Form, Origin, RelationCall, Role, Rule, Term};
use super::solver::{Failure, Solver};
use fusion_dialects::{Op, PassError};
use fusion_operators::{Attrs, Operator, TensorType};

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
        self.relate_by(op, Rule::Operator(operator, attrs), operands, results)
    }

    /// The second is an element of the first, a tuple.
    pub fn element_of(
        &mut self,
        op: Op<'c>,
        tuple: Term,
        index: usize,
        element: Term,
    ) -> Result<(), Failure<'c>> {
        self.relate_by(op, Rule::Element(index), vec![tuple], vec![element])
    }

    fn relate_by(
        &mut self,
        op: Op<'c>,
        rule: Rule,
        operands: Vec<Term>,
        results: Vec<Term>,
    ) -> Result<(), Failure<'c>> {
        let index = self.relations.len();
        let term = results.first().copied().unwrap_or(Term(0));
        self.origins.push(Origin { op, role: Role::Relation, found: term, expected: term });
        let origin = self.origins.len() - 1;
        for term in operands.iter().chain(&results) {
            if self.form(*term).is_none() {
                self.pin(*term);
            }
        }
        self.relations.push(RelationCall { op, rule, operands, results, origin, watched: false });
        self.ready.push_back(index);
        self.solve()
    }

    /// Runs relations until none is ready.
    pub(super) fn solve(&mut self) -> Result<(), Failure<'c>> {
        while let Some(relation) = self.ready.pop_front() {
            match self.relations[relation].rule {
                Rule::Operator(operator, _) => self.try_operator(relation, operator)?,
                Rule::Element(index) => self.try_element(relation, index)?,
            }
        }
        Ok(())
    }

    fn try_element(&mut self, relation: usize, index: usize) -> Result<(), Failure<'c>> {
        let call = &self.relations[relation];
        let (op, tuple, result) = (call.op, call.operands[0], call.results[0]);
        let tuple = self.find(tuple);
        let Some(form) = self.form(tuple) else {
            self.watch(tuple, relation);
            return Ok(());
        };
        match form {
            Form::Tuple(elements) => match elements.get(index).copied() {
                Some(element) => {
                    self.origins.push(Origin { op, role: Role::Result(0), found: element, expected: result });
                    self.define_later(element, result)
                }
                None => {
                    let found = self.shown(tuple);
                    let message =
                        format!("violates constraint C1: index {index} is out of range for {found}");
                    Err(PassError::at(op, message))
                }
            },
            _ => {
                let found = self.shown(tuple);
                Err(PassError::at(op, format!("takes an element of a tuple, found {found}")))
            }
        }
    }

    fn try_operator(&mut self, index: usize, operator: &'static Operator) -> Result<(), Failure<'c>> {
        let (op, origin) = (self.relations[index].op, self.relations[index].origin);
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
        let Rule::Operator(_, attrs) = &call.rule else { return Ok(()) };
        let related = operator.infer(&types, attrs).map_err(|violation| PassError::at(op, violation))?;
        let results = call.results.clone();
        if related.len() != results.len() {
            let (has, gives) = (results.len(), related.len());
            return Err(PassError::at(op, format!("has {has} results, its type relation gives {gives}")));
        }
        for (i, (term, related)) in results.into_iter().zip(related).enumerate() {
            let term = self.find(term);
            let extents = match self.form(term) {
                None => {
                    let extents: Vec<Extent> = related.dims.iter().map(|_| self.dynamic_extent()).collect();
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
