//! What may follow a contraction in its kernel: what goes element by element over its result, as it is, or reshaped and transposed.
//!
//! ```text
//!     y = relu(x w + b)                                an epilogue: it is computed where the sums are still in registers
//!     y = transpose(reshape(x w)) + b                  whole vectors of rows or columns stay together, and are stored elsewhere
//!     c = sigmoid(slice(x w)) * tanh(slice(x w))       pieces of the product are computed together (`pieces`)
//! ```
//!
//! What else these read may be cut from other tensors, such as a step's rows of what was computed for all steps.

use super::super::rules::conditions::permutation;
use super::arrangement::Arrangement;
use super::kernel::{Illegal, Members, rearranges};
use super::pieces::cuts;
use super::space::ClassId;
use fusion_operators::Dim;
use fusion_operators::ops::attention::ATTENTION;
use fusion_operators::ops::contraction::{BATCH_MATMUL, DENSE, MATMUL};

impl Members<'_> {
    /// What may be one kernel with a contraction.
    pub(super) fn check_contraction(&self, contraction: ClassId, results: &[ClassId]) -> Result<(), Illegal> {
        let name = self.name(contraction);
        if self.operands(contraction).iter().any(|o| self.members.contains(o)) {
            return Err(Illegal::Prologue(name));
        }
        let after = self.after(&[contraction]);
        let dims = self.dims(contraction);
        let follows = |r: &ClassId| *r == contraction || after.contains(r);
        for &member in self.members.iter().filter(|&&m| m != contraction) {
            let fits = match after.contains(&member) {
                true => self.is_elementwise(member) && self.dims(member) == dims,
                false => self.is_beside(member),
            };
            if !fits {
                if self.is_piece(member) && self.has_pieces(contraction) {
                    return self.check_pieces(contraction, &after, results);
                }
                // What is rearranged is the only result.
                return match results {
                    [result] if follows(result) => self.check_rearranged(contraction, &after),
                    _ => Err(Illegal::Epilogue(name, self.name(member))),
                };
            }
        }
        if results.iter().all(follows) { Ok(()) } else { Err(Illegal::Results) }
    }

    /// What follows a product goes element by element over its result, reshaped and transposed so that whole vectors stay together.
    fn check_rearranged(&self, product: ClassId, after: &[ClassId]) -> Result<(), Illegal> {
        let name = self.name(product);
        let moves = self.is_product(product) || self.operator(product).is_some_and(|o| o.is(&ATTENTION));
        let together = self.space.rates.stored_together.filter(|_| moves);
        for &member in self.members.iter().filter(|&&m| m != product && !after.contains(&m)) {
            if !self.is_beside(member) {
                return Err(Illegal::Epilogue(name, self.name(member)));
            }
        }
        for (member, arrangement) in self.arrangements(product, after) {
            let wrong = || Illegal::Epilogue(name, self.name(member));
            let (Some(together), Some(arrangement)) = (together, arrangement) else { return Err(wrong()) };
            let along_rows =
                self.turned(product, &arrangement).is_some_and(|(n, _)| n.is_multiple_of(together));
            if !arrangement.run().is_multiple_of(together) && !along_rows {
                return Err(Illegal::Apart(name, self.name(member)));
            }
        }
        Ok(())
    }

    /// How each member behind a product has its elements; the last of them is none where that is not known.
    fn arrangements(&self, product: ClassId, after: &[ClassId]) -> Vec<(ClassId, Option<Arrangement>)> {
        let shape = self.dims(product).iter().map(Dim::known).collect::<Option<Vec<u64>>>();
        let mut known: Vec<(ClassId, Arrangement)> = Vec::new();
        known.extend(shape.map(|shape| (product, Arrangement::of(&shape))));
        let mut found = Vec::new();
        for &member in after {
            let arrangement = self.rearranged(member, &known);
            found.push((member, arrangement.clone()));
            let Some(arrangement) = arrangement else { break };
            known.push((member, arrangement));
        }
        found
    }

    /// How many elements of one column of a matrix product lie side by side, and how many of its rows are from one to the next; none where
    /// those of a row do, or of several products.
    fn turned(&self, product: ClassId, arrangement: &Arrangement) -> Option<(u64, u64)> {
        let [.., rows, columns] = self.dims(product) else { return None };
        let (rows, columns) = (rows.known()?, columns.known()?);
        let (elements, apart) = arrangement.side_by_side();
        let by_column = self.is_product(product) && columns > 1 && apart.is_multiple_of(columns);
        // Of one matrix on the right, rows of all products are rows of one.
        let is_one = self.operands(product).get(1).is_some_and(|w| self.dims(*w).len() == 2);
        (by_column && (is_one || apart < rows * columns)).then(|| (elements, apart / columns))
    }

    /// The distance, in rows of a product, of what lies side by side in the last member that follows it; none where columns do.
    pub(super) fn rows_apart(&self, product: ClassId) -> Option<u64> {
        let (_, last) = self.arrangements(product, &self.after(&[product])).pop()?;
        self.turned(product, &last?).map(|(_, rows)| rows)
    }

    /// True for a product of two matrices, or of many.
    pub(super) fn is_product(&self, contraction: ClassId) -> bool {
        let products = [&MATMUL, &BATCH_MATMUL, &DENSE];
        self.operator(contraction).is_some_and(|o| products.iter().any(|p| o.is(p)))
    }

    /// True for what may be computed of other operands where the result of a contraction is used: at each point it reads what lies at one
    /// place, and neighbours of that for neighbours.
    pub(super) fn is_beside(&self, member: ClassId) -> bool {
        let candidate = self.state.candidate(self.space, member);
        let strides = candidate.attrs.attrs.ints("strides");
        self.is_elementwise(member) || cuts(candidate) && strides.is_none_or(|s| s.iter().all(|n| *n == 1))
    }

    /// How a member has the elements of a product, when it has all of them.
    fn rearranged(&self, member: ClassId, known: &[(ClassId, Arrangement)]) -> Option<Arrangement> {
        let candidate = self.state.candidate(self.space, member);
        let of = |class: &ClassId| known.iter().find(|(c, _)| c == class).map(|(_, arrangement)| arrangement);
        let shape = self.dims(member).iter().map(Dim::known).collect::<Option<Vec<u64>>>()?;
        if rearranges(candidate) {
            let source = of(candidate.operands.first()?)?;
            return match candidate.is_view {
                true => source.reshaped(&shape),
                false => source.transposed(&permutation(&candidate.attrs.attrs, shape.len())?),
            };
        }
        let mut read = candidate.operands.iter().filter(|o| of(o).is_some());
        let first = of(read.next()?)?;
        let same = self.is_elementwise(member)
            && candidate
                .operands
                .iter()
                .all(|o| of(o).is_none_or(|a| a == first && self.dims(*o) == self.dims(member)));
        same.then(|| first.clone())
    }
}
