//! Sampled values of a class, with which each application of a rule is checked where it happens.
//!
//! ```text
//!     x                       1.3    -0.7    ..      all elements of a tensor from outside are one number, a few times
//!     (mul {} x 0.1)          0.13   -0.07   ..      computed in double precision, +- what rounding of its element type may make
//!     (div {} x 10)           0.13   -0.07   ..      a rule says that this is the same value: within the errors it is
//!     (mul {} x 1e-9)         1e-9   -7e-10  ..      a contradiction: the rule is wrong, or was applied where it does not hold
//! ```
//!
//! Errors are those of a running error analysis (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 3.3), by the ends of the
//! intervals of the operands. Where a number is near a step of a function (`round`, comparisons), or beyond what its element type
//! holds, it is not known; what is not known contradicts nothing.
//!
//! A tensor whose elements are one number keeps that number where it is moved, and is an image without edges for windows: what pads and
//! reads padding is known inside (`Inner`), and no longer where elements at the edges take part.

use super::super::contents::Contents;
use super::super::elements::greatest;
use super::super::language::{Constant, Node};
use super::effects::{self, Effect, Scalar};
use fusion_operators::dtype::Class;
use fusion_operators::ops::shape::PAD;
use fusion_operators::random::Random;
use fusion_operators::{Attrs, Call, DType, Format, TensorType, relation};

/// How many numbers are sampled.
const SAMPLES: usize = 4;

/// How much more than the errors of both values may differ.
const SLACK: f64 = 4.0;

/// The numbers that all elements of a value are, one in each of a few samples of the inputs.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// NaN where it is not known.
    values: [f64; SAMPLES],
    /// How far rounding may take them away.
    errors: [f64; SAMPLES],
    /// Whether that holds for elements at the edges too.
    extent: Extent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    Uniform,
    Inner,
}

impl Sample {
    fn exactly(values: [f64; SAMPLES]) -> Sample {
        Sample { values, errors: [0.0; SAMPLES], extent: Extent::Uniform }
    }

    /// Of the value from outside of that number.
    pub fn of_leaf(number: u32, ty: &TensorType) -> Sample {
        Sample::exactly(std::array::from_fn(|sample| drawn(0, number, sample, ty.dtype)))
    }

    /// Of a constant, of whose elements that is known. Matrices are so small that products of many of them stay in range.
    pub fn of_constant(constant: &Constant, contents: &Contents) -> Option<Sample> {
        if let Some(number) = constant.splat() {
            return Some(Sample::exactly([number; SAMPLES]));
        }
        let (ty, is_float) = (constant.ty(), constant.ty().dtype.is_float());
        if contents.picks.is_some() {
            return None;
        }
        match constant {
            Constant::Large { number, .. } => {
                let elements = ty.elements()? as f64;
                let scale = if is_float && ty.rank() > 1 { elements.sqrt().recip() } else { 1.0 };
                let one = |sample| scale * drawn(1, *number, sample, ty.dtype);
                Some(Sample::exactly(std::array::from_fn(one)))
            }
            _ if is_float => {
                let numbers = constant.tensor()?.to_f64s();
                let one = numbers.into_iter().find(|v| v.is_normal())?;
                Some(Sample::exactly([one; SAMPLES]))
            }
            _ => None,
        }
    }

    /// Of a call of one result of that type, by the samples of its operands.
    pub fn of_call(
        node: &Node,
        call: &Call,
        samples: &[Option<Sample>],
        result: &TensorType,
    ) -> Option<Sample> {
        let effect = effects::of(node)?;
        let Call { operands, attrs, .. } = *call;
        let own = samples.iter().copied();
        let sampled: Vec<Sample> = match effect {
            Effect::Moved(place) => own.skip(place).take(1).collect::<Option<_>>()?,
            Effect::Gathered | Effect::Shared(_) => own.take(1).collect::<Option<_>>()?,
            _ => own.collect::<Option<_>>()?,
        };
        let first = *sampled.first()?;
        let widest = sampled.iter().map(|s| s.extent).max()?;
        let extent = if reads_padding(call) { Extent::Inner } else { widest };
        let compute = |f, operands: &[Sample]| Some(computed(f, attrs, operands, result.dtype, extent));
        match effect {
            Effect::Computed(f) => compute(f, &sampled),
            Effect::ComputedOfFloats(f) => result.dtype.is_float().then(|| compute(f, &sampled))?,
            Effect::Compared(f) => {
                let is_exact = sampled.iter().all(|s| s.errors == [0.0; SAMPLES]);
                is_exact.then(|| compute(f, &sampled))?
            }
            Effect::Moved(_) => Some(Sample { extent, ..first }),
            Effect::Joined => {
                sampled[1..].iter().all(|other| first.is_same(other)).then_some(Sample { extent, ..first })
            }
            Effect::Convolved => compute(product, &[sampled[0], sampled[1], products(call, result)?]),
            // Elements at the edges take part in these.
            _ if widest == Extent::Inner => None,
            Effect::Contracted => compute(product, &[sampled[0], sampled[1], products(call, result)?]),
            Effect::Gathered => Some(first),
            Effect::Summed => {
                let count = operands[0].elements()? as f64 / result.elements()? as f64;
                compute(product, &[first, Sample::exactly([count; SAMPLES])])
            }
            Effect::Shared(f) => {
                let axis = relation::normalize_axis(attrs.int_or("axis", -1), result.rank())?;
                Some(Sample::exactly([f(result.dims[axis].known()? as f64); SAMPLES]).rounded(result.dtype))
            }
            Effect::Normalized(shift) => {
                let epsilon = attrs.float_or("epsilon", 1e-5);
                let unit = Format::of(result.dtype)?.unit_roundoff();
                let (scale, shift) = (sampled.get(shift - 1)?, sampled.get(shift)?);
                let error = |k: usize| {
                    let centred = 2.0 * (first.errors[k] + unit * first.values[k].abs());
                    shift.errors[k] + centred * scale.values[k].abs() / epsilon.sqrt()
                };
                let errors = std::array::from_fn(error);
                Some(Sample { values: shift.values, errors, extent }.rounded(result.dtype))
            }
        }
    }

    /// True when both may be one value; also where one is not known.
    pub fn agrees(&self, other: &Sample) -> bool {
        let differs = |k: usize| {
            let allowed = SLACK * (self.errors[k] + other.errors[k]) + f64::EPSILON * self.values[k].abs();
            (self.values[k] - other.values[k]).abs() > allowed
        };
        !(0..SAMPLES).any(differs)
    }

    /// True when both are known, and may be one value.
    fn is_same(&self, other: &Sample) -> bool {
        self.agrees(other) && !self.values.iter().chain(&other.values).any(|value| value.is_nan())
    }

    /// True when no number is certainly below 0.
    pub fn may_be_nonnegative(&self) -> bool {
        !self.values.iter().zip(&self.errors).any(|(value, error)| *value < -SLACK * error)
    }

    /// Where both differ most, in words.
    pub fn difference(&self, other: &Sample) -> String {
        let excess =
            |k: &usize| (self.values[*k] - other.values[*k]).abs() / (self.errors[*k] + other.errors[*k]);
        let most =
            (0..SAMPLES).filter(|k| !excess(k).is_nan()).max_by(|a, b| excess(a).total_cmp(&excess(b)));
        let k = most.unwrap_or(0);
        format!("on a sample one is {:.9e}, the other {:.9e}", self.values[k], other.values[k])
    }

    /// With the error of one more rounding, and without numbers that an element type does not hold.
    fn rounded(mut self, dtype: DType) -> Sample {
        for k in 0..SAMPLES {
            let (value, error) = (self.values[k], self.errors[k]);
            let holds = match Format::of(dtype) {
                Some(format) => {
                    self.errors[k] = error + format.unit_roundoff() * value.abs();
                    value == 0.0 || (format.least_normal()..=format.greatest_number()).contains(&value.abs())
                }
                None => {
                    error == 0.0 && (least(dtype)..=greatest(dtype)).contains(&value) && value.fract() == 0.0
                }
            };
            if !holds {
                self.values[k] = f64::NAN;
            }
        }
        self
    }
}

/// How many products are summed for an element of a contraction: it takes two operations for each.
fn products(call: &Call, result: &TensorType) -> Option<Sample> {
    let operations = (call.op.cost)(call, std::slice::from_ref(result));
    Some(Sample::exactly([operations / 2.0 / result.elements()? as f64; SAMPLES]))
}

fn product(x: &[f64], _: &Attrs) -> f64 {
    x.iter().product()
}

/// A function of numbers that may be anywhere within their errors: the error is how far the corners are away.
fn computed(f: Scalar, attrs: &Attrs, operands: &[Sample], dtype: DType, extent: Extent) -> Sample {
    let mut sample = Sample { extent, ..Sample::exactly([f64::NAN; SAMPLES]) };
    let mut numbers = vec![0.0; operands.len()];
    for k in 0..SAMPLES {
        operands.iter().zip(&mut numbers).for_each(|(operand, number)| *number = operand.values[k]);
        if numbers.iter().any(|number| number.is_nan()) {
            continue;
        }
        let value = f(&numbers, attrs);
        let inexact: Vec<usize> = (0..operands.len()).filter(|&i| operands[i].errors[k] > 0.0).collect();
        let mut error: f64 = 0.0;
        for corner in 0..1u32 << inexact.len().min(5) {
            for (bit, &i) in inexact.iter().enumerate() {
                let sign = if corner >> bit & 1 == 0 { 1.0 } else { -1.0 };
                numbers[i] = operands[i].values[k] + sign * operands[i].errors[k];
            }
            let away = (f(&numbers, attrs) - value).abs();
            error = if away.is_nan() { f64::NAN } else { error.max(away) };
        }
        if !error.is_nan() {
            (sample.values[k], sample.errors[k]) = (value, error);
        }
    }
    // Integers are truncated, which is a step at each of them: what is no integer is not known.
    sample.rounded(dtype)
}

/// True when some elements of the result are computed of padding.
fn reads_padding(call: &Call) -> bool {
    call.op.is(&PAD) || call.attrs.ints("padding").is_some_and(|padding| padding.iter().any(|&n| n != 0))
}

/// The sign in the samples between: each number has both.
fn sign(salt: u64, number: u32, sample: usize) -> f64 {
    let turn = (u64::from(number) + salt) / 2 + u64::from(number) + sample as u64;
    if turn.is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// A number for a value: all are positive in the first sample and small in the last.
fn drawn(salt: u64, number: u32, sample: usize, dtype: DType) -> f64 {
    let mut random = Random::new(u64::from(number) << 8 | (sample as u64) << 1 | salt);
    let share = random.next_f64();
    match dtype.class() {
        Class::Float if sample == 0 => 0.5 + 1.5 * share,
        Class::Float if sample == SAMPLES - 1 => 0.01 + 0.09 * share,
        Class::Float => (0.5 + 1.5 * share).copysign(sign(salt, number, sample)),
        Class::Bool => share.round(),
        _ => (1.0 + 6.0 * share).floor(),
    }
}

fn least(dtype: DType) -> f64 {
    match dtype.class() {
        Class::Signed => -(2f64.powi(8 * dtype.size() as i32 - 1)),
        _ => 0.0,
    }
}
