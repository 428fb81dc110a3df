//! How affine expressions grow from lane to lane.
//!
//!     (d0 * 8 + d1) mod 8,  d1 = the lane, 8 lanes   =>  grows by 1: d0 * 8 is divisible by 8, the lane stays below 8
//!     (d0 + d1) floordiv 4                           =>  nothing one can say

use super::super::divisor::gcd;
use fusion_dialects::Affine;

/// An expression that is `base + growth * lane`, with a base that is divisible by `divisor` (0: the base is 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    /// From lane to lane.
    pub growth: i64,
    /// Divides the value in lane 0.
    pub divisor: i64,
}

/// How an expression grows over that many lanes, given how its inputs do; `None` when it is not linear in the lane.
pub fn linear(e: &Affine, inputs: &[Option<Linear>], lanes: u64) -> Option<Linear> {
    let side = |e: &Affine| linear(e, inputs, lanes);
    match e {
        Affine::Input(i) => inputs.get(*i).copied().flatten(),
        Affine::Constant(c) => Some(Linear { growth: 0, divisor: c.checked_abs()? }),
        Affine::Add(a, b) => {
            let (a, b) = (side(a)?, side(b)?);
            Some(Linear { growth: a.growth.checked_add(b.growth)?, divisor: gcd(a.divisor, b.divisor) })
        }
        Affine::Mul(a, b) => {
            let (x, y) = (side(a)?, side(b)?);
            let (of, by) = match (&**a, &**b) {
                (_, Affine::Constant(c)) => (x, *c),
                (Affine::Constant(c), _) => (y, *c),
                _ if x.growth == 0 && y.growth == 0 => return Some(Linear { growth: 0, divisor: 1 }),
                _ => return None,
            };
            let divisor = of.divisor.checked_mul(by.checked_abs()?)?;
            Some(Linear { growth: of.growth.checked_mul(by)?, divisor })
        }
        Affine::Mod(a, b) => divided(side(a)?, side(b)?, b, lanes).map(|d| d.rest),
        Affine::FloorDiv(a, b) => divided(side(a)?, side(b)?, b, lanes).map(|d| d.quotient),
        Affine::CeilDiv(a, b) => {
            let (x, y) = (side(a)?, side(b)?);
            (x.growth == 0 && y.growth == 0).then_some(Linear { growth: 0, divisor: 1 })
        }
    }
}

struct Divided {
    quotient: Linear,
    rest: Linear,
}

fn divided(of: Linear, by: Linear, divisor: &Affine, lanes: u64) -> Option<Divided> {
    let same = Linear { growth: 0, divisor: 1 };
    if of.growth == 0 && by.growth == 0 {
        let rest = Linear { growth: 0, divisor: gcd(of.divisor, by.divisor).max(1) };
        return Some(Divided { quotient: same, rest });
    }
    let Affine::Constant(c @ 1..) = *divisor else { return None };
    if of.growth % c == 0 {
        return Some(Divided { quotient: Linear { growth: of.growth / c, divisor: 1 }, rest: same });
    }
    // The base modulo c is a multiple of `unit`, as c is: growing by less than `unit` in all does not reach c.
    let unit = gcd(of.divisor, c);
    let last = i64::try_from(lanes).ok()?.checked_sub(1)?.checked_mul(of.growth)?;
    let stays = of.growth > 0 && last < unit;
    stays.then_some(Divided { quotient: same, rest: Linear { growth: of.growth, divisor: unit } })
}

/// True when an expression is not negative, given which inputs are known not to be.
pub fn not_negative(e: &Affine, inputs: &[bool]) -> bool {
    match e {
        Affine::Input(i) => inputs.get(*i).copied().unwrap_or(false),
        Affine::Constant(c) => *c >= 0,
        Affine::Mod(..) => true,
        Affine::Add(a, b) | Affine::Mul(a, b) | Affine::FloorDiv(a, b) | Affine::CeilDiv(a, b) => {
            not_negative(a, inputs) && not_negative(b, inputs)
        }
    }
}

/// The expression over the inputs it uses only, and which these are.
pub fn compact(e: &Affine) -> (Affine, Vec<usize>) {
    let mut used = Vec::new();
    let renamed = rename(e, &mut used);
    (renamed, used)
}

fn rename(e: &Affine, used: &mut Vec<usize>) -> Affine {
    let mut side = |e: &Affine| Box::new(rename(e, used));
    match e {
        Affine::Constant(c) => Affine::Constant(*c),
        Affine::Add(a, b) => Affine::Add(side(a), side(b)),
        Affine::Mul(a, b) => Affine::Mul(side(a), side(b)),
        Affine::Mod(a, b) => Affine::Mod(side(a), side(b)),
        Affine::FloorDiv(a, b) => Affine::FloorDiv(side(a), side(b)),
        Affine::CeilDiv(a, b) => Affine::CeilDiv(side(a), side(b)),
        Affine::Input(i) => {
            let place = used.iter().position(|u| u == i).unwrap_or_else(|| {
                used.push(*i);
                used.len() - 1
            });
            Affine::Input(place)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(a: Affine, b: Affine) -> Affine {
        Affine::Add(Box::new(a), Box::new(b))
    }

    fn times(a: Affine, c: i64) -> Affine {
        Affine::Mul(Box::new(a), Box::new(Affine::Constant(c)))
    }

    // d0 is any index, d1 the lane.
    fn growth(e: &Affine, lanes: u64) -> Option<i64> {
        let inputs = [Some(Linear { growth: 0, divisor: 1 }), Some(Linear { growth: 1, divisor: 0 })];
        linear(e, &inputs, lanes).map(|l| l.growth)
    }

    #[test]
    fn division_of_aligned_lanes() {
        let aligned = add(times(Affine::Input(0), 8), Affine::Input(1));
        let by = |c| Box::new(Affine::Constant(c));
        let of = || Box::new(aligned.clone());
        assert_eq!(growth(&Affine::Mod(of(), by(8)), 8), Some(1));
        assert_eq!(growth(&Affine::FloorDiv(of(), by(8)), 8), Some(0));
        assert_eq!(growth(&Affine::Mod(of(), by(24)), 8), Some(1));
        assert_eq!(growth(&Affine::Mod(of(), by(12)), 8), None);
        assert_eq!(growth(&Affine::FloorDiv(of(), by(4)), 8), None);
        assert_eq!(growth(&Affine::FloorDiv(Box::new(times(Affine::Input(1), 6)), by(3)), 8), Some(2));
    }

    #[test]
    fn unknown_base() {
        let plain = add(Affine::Input(0), Affine::Input(1));
        assert_eq!(growth(&plain, 8), Some(1));
        assert_eq!(growth(&Affine::Mod(Box::new(plain), Box::new(Affine::Constant(8))), 8), None);
    }

    #[test]
    fn compacts() {
        let (e, used) = compact(&add(Affine::Input(3), times(Affine::Input(1), 2)));
        assert_eq!(used, [3, 1]);
        assert_eq!(e, add(Affine::Input(0), times(Affine::Input(1), 2)));
    }
}
