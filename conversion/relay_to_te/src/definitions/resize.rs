//! Sampling at another resolution: `y[i] = sum over neighbours j of w[i, j] x[j]`, the weights a product over the axes
//! (ONNX operator Resize, opset 19).
//!
//! Place i of an axis samples `t(i) = clamp((i + shift) * factor / divisor - back, 0, n - 1)`:
//!
//!     nearest   y[i] = x[round(t(i))]
//!     linear    y[i] = (1 - f) x[floor t(i)] + f x[floor t(i) + 1], f the fraction of t(i)

use super::{Built, Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Compare, Kernel, Scalar, Scalars};
use fusion_operators::ops::shape::RESIZE;
use fusion_operators::reference::resize::CHOICES;
use fusion_operators::{DType, Dim};

pub const TABLE: Table = &[(&RESIZE, resize)];

/// Longer axes are not searched for a rule in whole numbers.
const LONGEST_SEARCHED: u64 = 1 << 16;
/// Greatest offset that is tried in a rule in whole numbers.
const MOST_OFFSET: u64 = 64;

/// A number of an axis: one that is known, or an extent and what is added to it.
#[derive(Clone)]
enum Number {
    Known(f64),
    Extent(Dim, i64),
}

impl Number {
    fn of(dim: &Dim, plus: i64) -> Number {
        match dim.known() {
            Some(known) => Number::Known((known as f64 + plus as f64).max(0.0)),
            None => Number::Extent(dim.clone(), plus),
        }
    }

    fn known(&self) -> Option<f64> {
        match self {
            Number::Known(number) => Some(*number),
            Number::Extent(..) => None,
        }
    }

    fn value<'c>(&self, s: &Scalars<'c>) -> Scalar<'c> {
        match self {
            Number::Known(number) => s.float(*number, DType::F64),
            Number::Extent(dim, plus) => s.from_index(s.index_affine(s.extent(dim), 1, *plus), DType::F64),
        }
    }
}

/// What an axis samples.
struct Sampling {
    /// Extents of the operand and of the result.
    from: Dim,
    to: Dim,
    /// True when place i samples place i.
    same: bool,
    shift: f64,
    factor: Number,
    divisor: Number,
    back: f64,
}

/// True where the places depend on the last place, or on whether there is one only, of an extent that is not known.
pub fn needs_known(coordinates: &str, from: &Dim, to: &Dim) -> bool {
    match coordinates {
        "align_corners" => {
            *to != Dim::Static(1) && from != to && (from.known().is_none() || to.known().is_none())
        }
        "pytorch_half_pixel" => from != to && to.known().is_none(),
        _ => false,
    }
}

impl Sampling {
    /// Without a scale, it is that of the extents.
    fn new(coordinates: &str, from: &Dim, to: &Dim, scale: Option<f64>) -> Result<Sampling, String> {
        let same = from == to && scale.is_none_or(|scale| scale == 1.0);
        let known = from.known().zip(to.known());
        let scale = scale.or(known.map(|(from, to)| to as f64 / from as f64));
        let affine = |shift, factor, divisor, back| {
            Ok(Sampling { from: from.clone(), to: to.clone(), same, shift, factor, divisor, back })
        };
        let one = Number::Known(1.0);
        let zero = || affine(0.0, Number::Known(0.0), one.clone(), 0.0);
        let scaled = |shift, back| match scale {
            Some(scale) => affine(shift, one.clone(), Number::Known(scale), back),
            None => affine(shift, Number::of(from, 0), Number::of(to, 0), back),
        };
        match (coordinates, known) {
            ("asymmetric", _) => scaled(0.0, 0.0),
            ("align_corners", Some((from, to))) => {
                // The length before it is cut to a whole number, when the scale in f32 says so.
                let (whole, length) = (to as f64, scale.unwrap_or(1.0) * from as f64);
                let length = if (length - whole).abs() <= 1e-6 * whole { whole } else { length };
                let last = Number::Known(from.saturating_sub(1) as f64);
                let aligned = || affine(0.0, last, Number::Known(length - 1.0), 0.0);
                if to == 1 || length <= 1.0 { zero() } else { aligned() }
            }
            ("align_corners", None) if same => affine(0.0, one.clone(), one.clone(), 0.0),
            (_, None) if needs_known(coordinates, from, to) => Err(format!(
                "samples {to} of {from} elements with coordinates {coordinates}, which needs known extents"
            )),
            ("pytorch_half_pixel" | "align_corners", _) if *to == Dim::Static(1) => zero(),
            _ => scaled(0.5, 0.5),
        }
    }

    fn last(&self) -> Number {
        Number::of(&self.from, -1)
    }

    /// `t(i)` now, of a sampling whose extents are known.
    fn at(&self, i: u64) -> Option<f64> {
        let place = (i as f64 + self.shift) * self.factor.known()? / self.divisor.known()? - self.back;
        Some(place.max(0.0).min(self.last().known()?))
    }

    /// `t(i)` as an expression, with the same roundings.
    fn place<'c>(&self, s: &Scalars<'c>, i: Value<'c>) -> Scalar<'c> {
        let number = |v| s.float(v, DType::F64);
        let mut place = s.from_index(i, DType::F64);
        if self.shift != 0.0 {
            place = s.add(place, number(self.shift));
        }
        if self.factor.known() != Some(1.0) {
            place = s.mul(place, self.factor.value(s));
        }
        place = s.div(place, self.divisor.value(s));
        if self.back != 0.0 {
            place = s.sub(place, number(self.back));
        }
        let positive = s.max(place, number(0.0));
        s.min(positive, self.last().value(s))
    }

    /// Place `i` rounded to a place of the operand.
    fn nearest<'c>(&self, s: &Scalars<'c>, rounding: &str, i: Value<'c>) -> Value<'c> {
        if self.same {
            return i;
        }
        if let Some((times, plus, over)) = self.whole_numbers(rounding) {
            return s.index_div(s.index_affine(i, times, plus), over);
        }
        let half = s.float(0.5, DType::F64);
        let place = self.place(s, i);
        let rounded = match rounding {
            "round_prefer_ceil" => s.math("floor", &[s.add(place, half)]),
            "floor" | "ceil" => s.math(rounding, &[place]),
            _ => s.math("ceil", &[s.sub(place, half)]),
        };
        self.whole(s, rounded)
    }

    /// A place that is a whole number, as an index.
    fn whole<'c>(&self, s: &Scalars<'c>, place: Scalar<'c>) -> Value<'c> {
        self.inside(s, s.to_index(s.cast(place, DType::I64)))
    }

    /// The nearest place that the operand has.
    fn inside<'c>(&self, s: &Scalars<'c>, place: Value<'c>) -> Value<'c> {
        match self.from.known() {
            Some(from) => s.index_clamp(place, 0, from.saturating_sub(1) as i64),
            None => s.index_min(s.index_max(place, s.index(0)), s.index_affine(s.extent(&self.from), 1, -1)),
        }
    }

    /// `(i * times + plus) / over` in whole numbers when that is the nearest place of every i.
    fn whole_numbers(&self, rounding: &str) -> Option<(i64, i64, i64)> {
        let (from, to) = self.from.known().zip(self.to.known())?;
        if to > LONGEST_SEARCHED || from > LONGEST_SEARCHED {
            return None;
        }
        let round = |x: f64| match rounding {
            "round_prefer_ceil" => (x + 0.5).floor(),
            "floor" => x.floor(),
            "ceil" => x.ceil(),
            _ => (x - 0.5).ceil(),
        };
        let divisor = common_divisor(from, to);
        let (times, over) = (from / divisor, to / divisor);
        let fits = |plus: &u64| {
            (0..to).all(|i| self.at(i).is_some_and(|at| (i * times + plus) / over == round(at) as u64))
        };
        let plus = (0..(times + over).min(MOST_OFFSET)).find(fits)?;
        Some((times as i64, plus as i64, over as i64))
    }
}

/// Greatest common divisor; of 0 and n, n.
fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { common_divisor(b, a % b) }
}

fn resize<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let [method, coordinates, rounding] = CHOICES.map(|(name, known)| call.attrs.str_or(name, known[0]));
    let scales = call.attrs.floats("scales");
    let (from, to) = (call.dims(0), &call.results[0].dims);
    if let Some(scales) = scales.filter(|scales| scales.len() != from.len()) {
        return Err(format!("has {} scales for an operand of rank {}.", scales.len(), from.len()));
    }
    let scale = |axis: usize| scales.map(|scales| scales[axis]);
    let axes = from.iter().zip(to).enumerate();
    let samplings: Vec<Sampling> = axes
        .map(|(axis, (from, to))| Sampling::new(coordinates, from, to, scale(axis)))
        .collect::<Result<_, _>>()?;
    let x = call.operands[0];
    let resized = kernel.compute(call.op.name, &call.results[0], |s, axes| {
        let each = samplings.iter().zip(axes);
        if method == "nearest" {
            let places: Vec<_> = each.map(|(a, &i)| a.nearest(s, rounding, i)).collect();
            return s.load(x, &places);
        }
        let dtype = s.compute_type(call.types[0].dtype);
        let neighbours: Vec<_> = each.map(|(a, &i)| Neighbours::new(s, a, i, dtype)).collect();
        interpolate(s, x, &neighbours, &mut Vec::new())
    });
    Ok(vec![resized])
}

/// The two places that a place lies between.
struct Neighbours<'c> {
    low: Value<'c>,
    /// The upper one, with the weights of both; absent where the place is always whole.
    high: Option<(Value<'c>, [Scalar<'c>; 2])>,
}

impl<'c> Neighbours<'c> {
    fn new(s: &Scalars<'c>, sampling: &Sampling, i: Value<'c>, dtype: DType) -> Self {
        if sampling.same {
            return Neighbours { low: i, high: None };
        }
        let place = sampling.place(s, i);
        let floor = s.math("floor", &[place]);
        let part = s.sub(place, floor);
        let rest = s.sub(s.float(1.0, DType::F64), part);
        let low = sampling.whole(s, floor);
        let high = sampling.inside(s, s.index_affine(low, 1, 1));
        Neighbours { low, high: Some((high, [s.cast(rest, dtype), s.cast(part, dtype)])) }
    }
}

/// The weighted sum over the neighbours on the axes that have no place yet.
fn interpolate<'c>(
    s: &Scalars<'c>,
    x: Value<'c>,
    neighbours: &[Neighbours<'c>],
    places: &mut Vec<Value<'c>>,
) -> Scalar<'c> {
    let Some((first, inner)) = neighbours.split_first() else { return s.load(x, places) };
    let mut at = |place| {
        places.push(place);
        let value = interpolate(s, x, inner, places);
        places.pop();
        value
    };
    let low = at(first.low);
    let Some((high, [rest, part])) = first.high else { return low };
    let high = at(high);
    let sum = s.add(s.mul(low, rest), s.mul(high, part));
    // A neighbour of weight 0 does not count, even when it is infinite.
    s.select(s.compare(Compare::Equal, part, s.float(0.0, part.dtype)), low, sum)
}

#[cfg(test)]
mod tests {
    use super::Sampling;
    use fusion_operators::Dim;

    #[test]
    fn rules_in_whole_numbers() {
        let rule = |coordinates, from, to, rounding| {
            let sampling = Sampling::new(coordinates, &Dim::Static(from), &Dim::Static(to), None);
            sampling.unwrap().whole_numbers(rounding)
        };
        assert_eq!(rule("asymmetric", 4, 8, "floor"), Some((1, 0, 2)));
        assert_eq!(rule("half_pixel", 4, 8, "round_prefer_floor"), Some((1, 0, 2)));
        assert_eq!(rule("half_pixel", 9, 3, "round_prefer_floor"), Some((3, 1, 1)));
        // Clamped early, which no such rule follows.
        let clamped = Sampling::new("asymmetric", &Dim::Static(8), &Dim::Static(3), Some(0.1));
        assert_eq!(clamped.unwrap().whole_numbers("floor"), None);
    }
}
