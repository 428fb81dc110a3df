//! Power series with as few terms as an interval takes.
//!
//!     a_0 + a_1 q + ... + a_n q^n,  q in [0, m]      =>      subtract  a_n m^n / 2^(2n - 1)  T*_n(q / m)
//!
//! `T*_n`, Chebyshev's polynomial moved to [0, 1], is `2^(2n - 1) u^n + ...` and nowhere above 1: without its highest power the sum is off by
//! no more than `|a_n| m^n / 2^(2n - 1)`, where leaving the power out alone were off by `2^(2n - 1)` times that (C. Lanczos, "Trigonometric
//! Interpolation of Empirical and Analytical Functions", 1938). That is done as long as the sum of what is lost is allowed. Nothing
//! but additions and multiplications decides: the same series everywhere.

/// The coefficients, that of the constant first, of a polynomial that is off by at most `error` from a power series in `[0, most]`.
pub fn economized(series: &[f64], most: f64, error: f64) -> Vec<f64> {
    let mut scaled: Vec<f64> =
        series.iter().scan(1.0, |power, a| Some(a * std::mem::replace(power, *power * most))).collect();
    let chebyshev = chebyshev(series.len());
    let mut left = error;
    while scaled.len() > 1 {
        let last = &chebyshev[scaled.len() - 1];
        let factor = scaled[scaled.len() - 1] / last[scaled.len() - 1];
        left -= factor.abs();
        if left < 0.0 {
            break;
        }
        scaled.iter_mut().zip(last).for_each(|(a, t)| *a -= factor * t);
        scaled.pop();
    }
    scaled.iter().scan(1.0, |power, a| Some(a / std::mem::replace(power, *power * most))).collect()
}

/// The coefficients of the first polynomials `T*_n(u) = T_n(2u - 1)`.
fn chebyshev(count: usize) -> Vec<Vec<f64>> {
    let mut all = vec![vec![1.0], vec![-1.0, 2.0]];
    for n in 2..count {
        // T_n = 2 (2u - 1) T_(n-1) - T_(n-2)
        let mut next = vec![0.0; n + 1];
        for (i, t) in all[n - 1].iter().enumerate() {
            next[i] -= 2.0 * t;
            next[i + 1] += 4.0 * t;
        }
        next.iter_mut().zip(&all[n - 2]).for_each(|(a, t)| *a -= t);
        all.push(next);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_terms_are_off_by_no_more_than_is_allowed() {
        let series: Vec<f64> =
            (0..12).scan(1.0, |a, n| Some(std::mem::replace(a, *a / f64::from(n + 1)))).collect();
        let [most, error] = [0.5, 1e-7];
        let short = economized(&series, most, error);
        assert!(short.len() < 7, "{} terms", short.len());
        for i in 0..=100 {
            let q = most * f64::from(i) / 100.0;
            let value = short.iter().rev().fold(0.0, |sum, a| sum * q + a);
            assert!((value - q.exp()).abs() <= error * 1.001, "at {q}: {value}");
        }
    }

    #[test]
    fn a_series_that_must_be_exact_stays() {
        assert_eq!(economized(&[1.0, 0.5, 0.25], 1.0, 0.0), [1.0, 0.5, 0.25]);
    }
}
