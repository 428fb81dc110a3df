//! Intervals of floats: what is known of a value is that it lies between two numbers, or is no number.
//!
//!     [a, b] + [c, d] = [a + c, b + d]         [a, b] * [c, d] = [min(ac, ad, bc, bd), max(..)]
//!
//! Bounds are those of exact arithmetic (Moore, "Interval Analysis", 1966), moved outwards by more than what one operation rounds.

use std::f64::consts::FRAC_PI_4;

/// Part of a bound that it is moved outwards, well above the 2^-24 that an f32 is off by.
const OUTWARDS: f64 = 1e-6;

/// All numbers from the lower to the upper bound, and what is no number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// Nothing is known.
    pub const ALL: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
    /// Sines and cosines, and what else lies between -1 and 1.
    pub const UNIT: Interval = Interval { low: -1.0, high: 1.0 };
    /// Those that are not negative.
    pub const POSITIVE: Interval = Interval { low: 0.0, high: f64::INFINITY };

    /// One number.
    pub const fn of(number: f64) -> Self {
        if number.is_nan() { Interval::ALL } else { Interval { low: number, high: number } }
    }

    /// The largest absolute value.
    pub const fn magnitude(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// True when angles so small need not be made smaller.
    pub fn is_small_angle(self) -> bool {
        self.magnitude() <= FRAC_PI_4
    }

    /// The smallest interval with both.
    pub const fn hull(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// What both say; what contradicts itself is never computed, so that anything may be said of it.
    pub const fn and(self, other: Interval) -> Interval {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        if low <= high { Interval { low, high } } else { self }
    }

    /// This, with no bound where the next is beyond it: so that a loop's values settle.
    pub const fn widen(self, next: Interval) -> Interval {
        Interval {
            low: if next.low < self.low { f64::NEG_INFINITY } else { self.low },
            high: if next.high > self.high { f64::INFINITY } else { self.high },
        }
    }

    pub fn add(self, other: Interval) -> Interval {
        outwards(self.low + other.low, self.high + other.high)
    }

    pub const fn negate(self) -> Interval {
        Interval { low: -self.high, high: -self.low }
    }

    pub fn multiply(self, other: Interval) -> Interval {
        // Nothing times what has no bound is nothing, as what has none is infinite in no value that is a number.
        let product = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        let [a, b, c, d] = [
            product(self.low, other.low),
            product(self.low, other.high),
            product(self.high, other.low),
            product(self.high, other.high),
        ];
        outwards(a.min(b).min(c.min(d)), a.max(b).max(c.max(d)))
    }

    pub fn divide(self, other: Interval) -> Interval {
        if other.low <= 0.0 && other.high >= 0.0 {
            return Interval::ALL;
        }
        self.multiply(Interval { low: 1.0 / other.high, high: 1.0 / other.low })
    }

    pub fn absolute(self) -> Interval {
        let reaches_zero = self.low <= 0.0 && self.high >= 0.0;
        let low = if reaches_zero { 0.0 } else { self.low.abs().min(self.high.abs()) };
        Interval { low, high: self.magnitude() }
    }

    pub const fn maximum(self, other: Interval) -> Interval {
        Interval { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    pub const fn minimum(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.min(other.high) }
    }
}

fn outwards(low: f64, high: f64) -> Interval {
    if low.is_nan() || high.is_nan() {
        return Interval::ALL;
    }
    // The least numbers of f32 are rounded by more than their part.
    let margin = |bound: f64| bound.abs() * OUTWARDS + f64::from(f32::MIN_POSITIVE);
    // What is beyond the largest f32 may have become infinite.
    let beyond =
        |bound: f64| if bound.abs() > f64::from(f32::MAX) / 2.0 { bound * f64::INFINITY } else { bound };
    Interval { low: beyond(low - margin(low)), high: beyond(high + margin(high)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn interval(low: f64, high: f64) -> Interval {
        Interval { low, high }
    }

    fn holds(found: Interval, low: f64, high: f64) {
        assert!(found.low <= low && found.high >= high, "{found:?} is not around {low}..{high}");
        assert!(found.low >= low - 1e-5 && found.high <= high + 1e-5, "{found:?} is far from {low}..{high}");
    }

    #[test]
    fn arithmetic_holds_all_results() {
        holds(interval(-1.0, 2.0).add(interval(0.5, 3.0)), -0.5, 5.0);
        holds(interval(-1.0, 2.0).multiply(interval(-3.0, 0.5)), -6.0, 3.0);
        holds(interval(1.0, 2.0).divide(interval(-4.0, -0.5)), -4.0, -0.25);
        assert_eq!(interval(1.0, 2.0).divide(interval(-1.0, 1.0)), Interval::ALL);
        assert_eq!(interval(-3.0, 2.0).absolute(), interval(0.0, 3.0));
        assert_eq!(interval(-3.0, -2.0).absolute(), interval(2.0, 3.0));
        assert_eq!(Interval::ALL.multiply(Interval::of(0.0)).magnitude(), f64::from(f32::MIN_POSITIVE));
    }

    #[test]
    fn what_overflows_has_no_bound() {
        let large = Interval::of(3e38);
        assert_eq!(large.add(large).high, f64::INFINITY);
        assert_eq!(Interval::ALL.add(Interval::ALL), Interval::ALL);
    }

    #[test]
    fn loops_settle() {
        let once = interval(0.0, 1.0);
        assert_eq!(once.widen(interval(0.0, 2.0)), interval(0.0, f64::INFINITY));
        assert_eq!(once.widen(interval(0.5, 1.0)), once);
    }
}
