//! Which versions of a tile there are: those that are worth their code and their weights.
//!
//! ```text
//!                  1x56x56    8x28x28               without 8 x 8 no size takes 10 % longer: it goes.
//!   16 x 16        1252 us    2504 us               without 16 patches 8x2x2 takes 17 times as long: it stays.
//!   8 x 8          1488 us    3880 us
//!   16 patches     2912 us    5824 us
//! ```
//! A version stays where it gains more than a tenth at some likely size over those that stay, and at most four do.

use fusion_dialects::tensor_type;
use fusion_relay_to_te::tiles::Tile;
use fusion_relay_to_te::tiles::geometry::prefix;
use fusion_relay_to_te::tiles::versions::{Version, worth_filling};

/// How many times longer a likely size has to take without a version that stays.
const WORTH: f64 = 1.1;
/// Versions of a tile at most.
const MOST_VERSIONS: usize = 4;

/// A tile and what it does at the likely sizes.
pub(crate) struct Work<'t, 'c> {
    tile: &'t Tile<'c>,
    /// The places along the axes of its tiles at each size, and of all together.
    places: Vec<(Vec<u64>, u64)>,
}

impl<'t, 'c> Work<'t, 'c> {
    /// For results of these extents.
    pub(crate) fn of(tile: &'t Tile<'c>, results: &[(String, Vec<u64>)]) -> Work<'t, 'c> {
        let ty = tile.outputs.first().and_then(|v| tensor_type(*v));
        let parts = ty.as_ref().map(|ty| tile.geometry.parts(ty, false)).unwrap_or_default();
        let rows = ty.as_ref().map_or(0, prefix);
        let places = |(_, extents): &(String, Vec<u64>)| {
            let mut along = vec![1; tile.geometry.axes()];
            for part in &parts {
                if let Some(axis) = part.along.map(|along| along.axis) {
                    along[axis] = product(extents[part.dims.clone()].iter().copied().chain([along[axis]]));
                }
            }
            let all = match tile.geometry.windows {
                None => product(extents[..rows].iter().copied()),
                Some(_) => {
                    product(extents.iter().enumerate().filter(|(axis, _)| *axis != 1).map(|(_, n)| *n))
                }
            };
            (along, all)
        };
        Work { tile, places: results.iter().map(places).collect() }
    }

    /// The time that versions take at a size, in nanoseconds, as the loops over tiles choose among them.
    fn time(&self, versions: &[&Version], (along, all): &(Vec<u64>, u64)) -> u64 {
        if self.tile.geometry.windows.is_some() {
            return versions
                .iter()
                .map(|version| tiles(version, along, *all).saturating_mul(version.nanoseconds))
                .min()
                .unwrap_or(u64::MAX);
        }
        let owned: Vec<Version> = versions.iter().map(|version| (*version).clone()).collect();
        let from = worth_filling(&owned);
        let (mut left, mut time) = (*all, 0u64);
        for (version, from) in versions.iter().zip(from) {
            let size = version.sizes[0];
            time = time.saturating_add((left / size).saturating_mul(version.nanoseconds));
            left %= size;
            if left > 0 && left >= from && self.tile.may_be_padded() {
                time = time.saturating_add(version.nanoseconds);
                left = 0;
            }
        }
        if left > 0 { u64::MAX } else { time }
    }

    /// The time of versions at each size.
    pub(crate) fn times(&self, versions: &[&Version]) -> Vec<u64> {
        self.places.iter().map(|places| self.time(versions, places)).collect()
    }

    /// True where versions compute all sizes: any number of rows is made of single ones, or of what is filled up.
    pub(crate) fn serves_all(&self, versions: &[&Version]) -> bool {
        match (&self.tile.geometry.windows, versions.last()) {
            (None, Some(smallest)) => smallest.sizes == [1] || self.tile.may_be_padded(),
            (Some(_), smallest) => smallest.is_some(),
            (None, None) => false,
        }
    }

    /// Which of some versions, the largest first, stay: what each gains, and the number of the size where it gains most.
    pub(crate) fn choose(&self, versions: &[Version]) -> Vec<Option<Gain>> {
        let these = |left: &[usize]| -> Vec<&Version> { left.iter().map(|at| &versions[*at]).collect() };
        stay(versions.len(), &|left| self.serves_all(&these(left)), &|left| self.times(&these(left)))
    }
}

/// How many times longer a likely size takes without a version, and the number of that size; infinite where the others do not serve all.
pub type Gain = (f64, usize);

/// Which of so many versions stay: the one that gains least goes first. `serves` says whether some serve all sizes, `times` what they take
/// at each likely size.
fn stay(
    count: usize,
    serves: &dyn Fn(&[usize]) -> bool,
    times: &dyn Fn(&[usize]) -> Vec<u64>,
) -> Vec<Option<Gain>> {
    let gain = |left: &[usize], without: usize| -> Gain {
        let others: Vec<usize> = left.iter().copied().filter(|at| *at != without).collect();
        if others.is_empty() || !serves(&others) {
            return (f64::INFINITY, 0);
        }
        let pairs = times(left).into_iter().zip(times(&others));
        let gains = pairs.map(|(with, without)| without as f64 / with.max(1) as f64).enumerate();
        gains.max_by(|(_, a), (_, b)| a.total_cmp(b)).map_or((1.0, 0), |(at, gain)| (gain, at))
    };
    let mut left: Vec<usize> = (0..count).collect();
    loop {
        let gains: Vec<Gain> = left.iter().map(|at| gain(&left, *at)).collect();
        match gains.iter().enumerate().min_by(|(_, a), (_, b)| a.0.total_cmp(&b.0)) {
            Some((at, (gain, _))) if gain.is_finite() && (*gain <= WORTH || left.len() > MOST_VERSIONS) => {
                left.remove(at);
            }
            _ => {
                let mut all = vec![None; count];
                left.iter().zip(gains).for_each(|(at, gain)| all[*at] = Some(gain));
                return all;
            }
        }
    }
}

/// A product of numbers that a caller may have said, or the largest number there is.
fn product(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(1, u64::saturating_mul)
}

/// How many tiles a version has, of so many places along the axes and in all.
fn tiles(version: &Version, along: &[u64], all: u64) -> u64 {
    match version.sizes[..] {
        // Patches are of places of any images.
        [size] => all.div_ceil(size),
        _ => product(along.iter().zip(&version.sizes).map(|(places, size)| places.div_ceil(*size))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What versions alone take at each size; together they take the least.
    fn of(alone: &[&[u64]]) -> Vec<Option<Gain>> {
        let times = |left: &[usize]| -> Vec<u64> {
            (0..alone[0].len())
                .map(|size| left.iter().map(|at| alone[*at][size]).min().unwrap_or(u64::MAX))
                .collect()
        };
        stay(alone.len(), &|_| true, &times)
    }

    #[test]
    fn a_version_stays_where_some_size_takes_a_tenth_longer_without_it() {
        assert_eq!(of(&[&[100, 300], &[109, 100]]), [None, Some((f64::INFINITY, 0))]);
        assert_eq!(of(&[&[100, 300], &[120, 100]]), [Some((1.2, 0)), Some((3.0, 1))]);
    }

    #[test]
    fn what_gains_least_goes_first() {
        // Each of the first two does for the other.
        assert_eq!(of(&[&[100, 300], &[105, 290], &[400, 50]]), [Some((4.0, 0)), None, Some((6.0, 1))]);
    }

    #[test]
    fn at_most_four_stay() {
        let alone: Vec<Vec<u64>> =
            (0..6).map(|at| (0..6).map(|size| if at == size { 100 } else { 1000 + at }).collect()).collect();
        let stays = of(&alone.iter().map(Vec::as_slice).collect::<Vec<_>>());
        assert_eq!(stays.iter().flatten().count(), MOST_VERSIONS);
    }

    #[test]
    fn those_that_serve_all_sizes_stay() {
        let stays = stay(2, &|left| left.contains(&1), &|_| vec![100]);
        assert_eq!(stays, [None, Some((f64::INFINITY, 0))]);
    }
}
