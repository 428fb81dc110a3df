//! Mean and variance of sets of numbers. On processors they are sums of one pass, about a pivot that lies among the numbers:
//!
//!     p = mean of the first few x      d = x - p      mean = p + sum d / n      variance = sum d^2 / n - (sum d / n)^2
//!
//! Without a pivot (`E[x^2] - E[x]^2`) the difference cancels where the mean is large. About the mean of a share `f` of the numbers it is
//! bounded: those alone contribute `f (p - mean)^2` to the variance, so that `(sum d / n)^2` is at most `1 / f` times the variance. With
//! one number in [`MOST_CANCELLED`] in the pivot no more than six bits are lost, whatever the numbers are. (Chan, Golub and LeVeque,
//! "Algorithms for Computing the Sample Variance", 1983, who show the bound for a shift by any number.)
//!
//! Sets of few numbers, of unknown extents, and those of GPUs, whose threads keep their numbers in registers, are gone over twice.

use super::TeCall;
use super::mean::mean;
use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Kernel, Scalar, Scalars, neutral};
use fusion_operators::{Dim, TensorType};

/// The numbers of a set to one of the pivot, at most.
const MOST_CANCELLED: u64 = 64;
/// Numbers of a pivot at least: a vector of them.
const LEAST_IN_PIVOT: u64 = 16;
/// Smaller sets are near when they are read again.
const LEAST_NUMBERS: u64 = 256;

/// The mean and the variance of each set: `ty` has an element for each of them, `member` gives the number of a set at
/// reduction indices.
pub fn moments<'c>(
    kernel: &Kernel<'c>,
    call: &TeCall<'c>,
    ty: &TensorType,
    reduce: &[Dim],
    member: impl Fn(&Scalars<'c>, &[Value<'c>], &[Value<'c>]) -> Scalar<'c>,
) -> (Value<'c>, Value<'c>) {
    let extents: Option<Vec<u64>> = reduce.iter().map(Dim::known).collect();
    match extents.filter(|extents| !call.on_gpu() && extents.iter().product::<u64>() >= LEAST_NUMBERS) {
        Some(extents) => in_one_pass(kernel, ty, &extents, member),
        None => in_two_passes(kernel, ty, reduce, member),
    }
}

fn in_two_passes<'c>(
    kernel: &Kernel<'c>,
    ty: &TensorType,
    reduce: &[Dim],
    member: impl Fn(&Scalars<'c>, &[Value<'c>], &[Value<'c>]) -> Scalar<'c>,
) -> (Value<'c>, Value<'c>) {
    let average = mean(kernel, "mean", ty, reduce, &member);
    let variance = mean(kernel, "variance", ty, reduce, |s, set, over| {
        let centred = s.sub(member(s, set, over), s.load(average, set));
        s.mul(centred, centred)
    });
    (average, variance)
}

fn in_one_pass<'c>(
    kernel: &Kernel<'c>,
    ty: &TensorType,
    extents: &[u64],
    member: impl Fn(&Scalars<'c>, &[Value<'c>], &[Value<'c>]) -> Scalar<'c>,
) -> (Value<'c>, Value<'c>) {
    let first: Vec<Dim> = pivots(extents).into_iter().map(Dim::Static).collect();
    let pivot = mean(kernel, "pivot", ty, &first, &member);
    let sums = kernel.stage(
        "sums",
        &[ty.clone(), ty.clone()],
        extents,
        &[neutral(Combine::Sum, ty.dtype); 2],
        |s, set, over| {
            let apart = s.sub(member(s, set, over), s.load(pivot, set));
            vec![apart, s.mul(apart, apart)]
        },
        |s, sums, new| vec![s.add(sums[0], new[0]), s.add(sums[1], new[1])],
    );
    // What follows waits for these, so that they are products and no quotients.
    let share = 1.0 / extents.iter().product::<u64>() as f64;
    let mean_of = |s: &Scalars<'c>, sum: usize, set: &[Value<'c>]| {
        s.mul(s.load(sums[sum], set), s.float(share, ty.dtype))
    };
    let average = kernel.compute("mean", ty, |s, set| s.add(s.load(pivot, set), mean_of(s, 0, set)));
    let variance = kernel.compute("variance", ty, |s, set| {
        let shift = mean_of(s, 0, set);
        s.max(s.sub(mean_of(s, 1, set), s.mul(shift, shift)), s.float(0.0, ty.dtype))
    });
    (average, variance)
}

/// The extents of the first numbers of a set that make the pivot: whole inner axes, and a part of the next.
fn pivots(extents: &[u64]) -> Vec<u64> {
    let mut wanted =
        extents.iter().product::<u64>().div_ceil(MOST_CANCELLED).next_multiple_of(LEAST_IN_PIVOT);
    let mut taken = vec![1; extents.len()];
    for (taken, &extent) in taken.iter_mut().zip(extents).rev() {
        *taken = wanted.min(extent).max(1);
        wanted = wanted.div_ceil(*taken);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::pivots;

    #[test]
    fn a_pivot_is_one_number_in_64_at_least() {
        assert_eq!(pivots(&[768]), [16]);
        assert_eq!(pivots(&[4096]), [64]);
        assert_eq!(pivots(&[4, 56, 56]), [1, 4, 56]);
        assert_eq!(pivots(&[1024, 3, 1]), [16, 3, 1]);
        for extents in [[7, 300, 5], [1, 1, 999], [64, 64, 64], [2000, 2, 2]] {
            let share = pivots(&extents).iter().product::<u64>() * 64;
            assert!(share >= extents.iter().product(), "{extents:?}");
        }
    }
}
