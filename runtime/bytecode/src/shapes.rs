//! Shape functions: what a kernel whose tensors have dynamic extents computes before it runs.
//!
//! ```text
//!   kernel @add(tensor<n0x64xf32>, tensor<n1x64xf32>) -> (tensor<n2x64xf32>)
//!     n0 = extent 0 of input 0
//!     n1 = extent 0 of input 1
//!     n2 = broadcast(n0, n1), an error where they are neither equal nor one
//! ```
//!
//! A step gives a number; the kernel gets the numbers of all steps behind its inputs. The virtual machine runs the steps, compiled
//! programs have code for them.

use crate::Place;
use fusion_operators::{DType, Dim, TensorType};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// A number: known, or that of a step before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Extent {
    /// Known.
    Known(u64),
    /// The number of a step.
    Step(u32),
}

/// What a check says when it fails: the sentence, to which the two numbers are added.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Said {
    /// Where in the source; empty when it is not known.
    pub place: Place,
    /// The sentence up to the numbers.
    pub text: String,
}

impl Said {
    /// The sentence with its numbers.
    pub fn with(&self, left: u64, right: u64) -> String {
        format!("{}, found {left} and {right}", self.text)
    }
}

/// A step of a shape function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Step {
    /// An extent of an input.
    Input {
        /// Which input.
        input: u32,
        /// Which of its extents.
        axis: u32,
    },
    /// The number that an input holds, one of i64. A negative one is an error.
    Value {
        /// Which input.
        input: u32,
        /// What is said of a negative number.
        said: Said,
    },
    /// A sum.
    Plus(Extent, Extent),
    /// A difference, 0 at least.
    Minus(Extent, Extent),
    /// A product.
    Times(Extent, Extent),
    /// A quotient, rounded down; 0 of nothing.
    Over(Extent, Extent),
    /// The smaller.
    Least(Extent, Extent),
    /// Two numbers that must be equal.
    Equal(Extent, Extent, Said),
    /// The extent to which two broadcast: one of them is 1, or they are equal.
    Broadcast(Extent, Extent, Said),
}

impl Step {
    /// The numbers it looks at.
    pub fn operands(&self) -> Option<(Extent, Extent)> {
        match self {
            Step::Input { .. } | Step::Value { .. } => None,
            Step::Plus(a, b)
            | Step::Minus(a, b)
            | Step::Times(a, b)
            | Step::Over(a, b)
            | Step::Least(a, b)
            | Step::Equal(a, b, _)
            | Step::Broadcast(a, b, _) => Some((*a, *b)),
        }
    }
}

/// The shape function of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shapes {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Tensors that the kernel needs on its way: it gets them behind its outputs, and nobody sees them afterwards.
    pub temporaries: Vec<TensorType>,
}

impl Shapes {
    /// What the number of a step is called in types.
    pub fn name(step: u32) -> String {
        format!("n{step}")
    }

    /// The step that a name in types is called after.
    pub fn number(name: &str) -> Option<u32> {
        name.strip_prefix('n')?.parse().ok()
    }

    /// The extents of a type whose names are those of steps; `None` where one is not.
    pub fn extents(&self, ty: &TensorType) -> Option<Vec<Extent>> {
        let extent = |dim: &Dim| match dim {
            Dim::Static(known) => Some(Extent::Known(*known)),
            Dim::Symbol(name) => {
                let step = Shapes::number(name)?;
                ((step as usize) < self.steps.len()).then_some(Extent::Step(step))
            }
            Dim::Expr(_) | Dim::Any => None,
        };
        ty.dims.iter().map(extent).collect()
    }

    /// Whether numbers follow from more than the types of the inputs.
    pub fn reads_values(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Value { .. }))
    }

    /// The numbers of all steps for inputs of these types, of which `value` reads the number that one holds, or the check that fails with its sentence. Products and sums that are too large for
    /// a number become the largest one, of which there is no tensor.
    pub fn run(
        &self,
        inputs: &[&TensorType],
        value: &dyn Fn(usize) -> i64,
    ) -> Result<Vec<u64>, (Place, String)> {
        let mut numbers: Vec<u64> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let of = |extent: Extent| match extent {
                Extent::Known(known) => known,
                Extent::Step(step) => numbers.get(step as usize).copied().unwrap_or(0),
            };
            let (a, b) = step.operands().map_or((0, 0), |(a, b)| (of(a), of(b)));
            let number = match step {
                Step::Input { input, axis } => {
                    let dim = inputs.get(*input as usize).and_then(|ty| ty.dims.get(*axis as usize));
                    dim.and_then(Dim::known).unwrap_or(0)
                }
                Step::Value { input, said } => {
                    let number = value(*input as usize);
                    let wrong = |_| (said.place.clone(), format!("{}, found {number}", said.text));
                    u64::try_from(number).map_err(wrong)?
                }
                Step::Plus(..) => a.saturating_add(b),
                Step::Minus(..) => a.saturating_sub(b),
                Step::Times(..) => a.saturating_mul(b),
                Step::Over(..) => a.checked_div(b).unwrap_or(0),
                Step::Least(..) => a.min(b),
                Step::Equal(.., said) if a != b => return Err((said.place.clone(), said.with(a, b))),
                Step::Broadcast(.., said) if a != b && a != 1 && b != 1 => {
                    return Err((said.place.clone(), said.with(a, b)));
                }
                Step::Equal(..) => a,
                Step::Broadcast(..) => {
                    if a == 1 {
                        b
                    } else {
                        a
                    }
                }
            };
            numbers.push(number);
        }
        Ok(numbers)
    }

    /// A type with the numbers of steps in place of their names.
    pub fn known(&self, ty: &TensorType, numbers: &[u64]) -> TensorType {
        let extents = self.extents(ty).unwrap_or_default();
        let known = |extent: Extent| match extent {
            Extent::Known(known) => known,
            Extent::Step(step) => numbers.get(step as usize).copied().unwrap_or(0),
        };
        TensorType::fixed(&extents.into_iter().map(known).collect::<Vec<_>>(), ty.dtype)
    }

    /// Why this is no shape function of a kernel that takes and gives that.
    pub(crate) fn check(&self, inputs: &[TensorType], outputs: &[TensorType]) -> Result<(), String> {
        for (at, step) in self.steps.iter().enumerate() {
            let before = |extent: Extent| !matches!(extent, Extent::Step(step) if step as usize >= at);
            if step.operands().is_some_and(|(a, b)| !before(a) || !before(b)) {
                return Err(format!("step {at} of its shape function looks at a later one"));
            }
            if let Step::Input { input, axis } = step {
                let rank = inputs.get(*input as usize).map(TensorType::rank);
                if rank.is_none_or(|rank| *axis as usize >= rank) {
                    return Err(format!(
                        "step {at} of its shape function takes extent {axis} of input {input}"
                    ));
                }
            }
        }
        for (at, step) in self.steps.iter().enumerate() {
            let Step::Value { input, .. } = step else { continue };
            let holds_one = |ty: &TensorType| ty.rank() == 0 && ty.dtype == DType::I64;
            if !inputs.get(*input as usize).is_some_and(holds_one) {
                return Err(format!(
                    "step {at} of its shape function reads input {input}, which is no number of i64"
                ));
            }
        }
        let tensors = outputs.iter().chain(&self.temporaries);
        match tensors.into_iter().find(|ty| self.extents(ty).is_none()) {
            Some(ty) => Err(format!("its shape function does not give the extents of a {ty}")),
            None => Ok(()),
        }
    }
}

impl Display for Extent {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Extent::Known(known) => write!(f, "{known}"),
            Extent::Step(step) => f.write_str(&Shapes::name(*step)),
        }
    }
}

impl Display for Step {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Step::Input { input, axis } => write!(f, "extent {axis} of input {input}"),
            Step::Value { input, said } => write!(f, "number of input {input} else {:?}", said.text),
            Step::Plus(a, b) => write!(f, "{a} + {b}"),
            Step::Minus(a, b) => write!(f, "{a} - {b}"),
            Step::Times(a, b) => write!(f, "{a} * {b}"),
            Step::Over(a, b) => write!(f, "{a} / {b}"),
            Step::Least(a, b) => write!(f, "least({a}, {b})"),
            Step::Equal(a, b, said) => write!(f, "equal({a}, {b}) else {:?}", said.text),
            Step::Broadcast(a, b, said) => write!(f, "broadcast({a}, {b}) else {:?}", said.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said() -> Said {
        Said { place: "a.relay:1:1".to_owned(), text: "relay.add needs equal extents".to_owned() }
    }

    fn of(rows: u64) -> TensorType {
        TensorType::fixed(&[rows, 3], DType::F32)
    }

    #[test]
    fn extents_broadcast_when_one_is_one() {
        let (a, b) = (Step::Input { input: 0, axis: 0 }, Step::Input { input: 1, axis: 0 });
        let both = Step::Broadcast(Extent::Step(0), Extent::Step(1), said());
        let shapes = Shapes { steps: vec![a, b, both], temporaries: Vec::new() };
        let third = |a, b| shapes.run(&[&of(a), &of(b)], &|_| 0).map(|numbers| numbers[2]);
        assert_eq!(third(5, 5), Ok(5));
        assert_eq!(third(1, 7), Ok(7));
        assert_eq!(third(7, 1), Ok(7));
        assert_eq!(third(1, 0), Ok(0));
        let (place, text) = third(3, 5).unwrap_err();
        assert_eq!(
            (place.as_str(), text.as_str()),
            ("a.relay:1:1", "relay.add needs equal extents, found 3 and 5")
        );
    }

    #[test]
    fn arithmetic_stays_in_range() {
        let n = Extent::Step(0);
        let steps = vec![
            Step::Input { input: 0, axis: 0 },
            Step::Times(n, Extent::Known(u64::MAX)),
            Step::Minus(n, Extent::Known(9)),
            Step::Over(n, Extent::Known(0)),
            Step::Least(n, Extent::Known(2)),
        ];
        let shapes = Shapes { steps, temporaries: Vec::new() };
        assert_eq!(shapes.run(&[&of(4)], &|_| 0), Ok(vec![4, u64::MAX, 0, 0, 2]));
    }
}
