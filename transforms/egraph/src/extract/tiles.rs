//! How much of a GPU a product keeps busy, whose tiles cores compute in waves.
//!
//!     share = most of  rate(tile) * n / (cores * ceil(n / cores))        n = parts * results / tile
//!
//! Tiles are large, so that operands are read seldom, or small, so that there are enough; where sums are long, a tile is computed in parts. The
//! schedules choose so as well (`auto_schedule/gpu/kinds/matrix/waves`), with what parts cost in memory; here it is enough to know that few
//! results with short sums leave cores idle, and few with long ones do not.

use fusion_machine::Target;

/// The share of the peak that the smallest products reach at least, so that costs stay finite.
const LEAST_SHARE: f64 = 1e-3;
/// Rows, and columns, of a tile.
const TILES: [f64; 3] = [128.0, 64.0, 32.0];
/// Parts of a tile.
const PARTS: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 8.0, 16.0, 32.0, 64.0];
/// Steps of a part, at least.
const FEWEST_STEPS: f64 = 128.0;

/// What decides how fast tiles are; none on a processor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tiles {
    gpu: Option<Core>,
}

/// Rates of one core.
#[derive(Clone, Copy, Debug)]
struct Core {
    cores: f64,
    bandwidth: f64,
}

impl Tiles {
    /// Those of a target.
    pub fn of(target: &Target) -> Self {
        let core = Core { cores: target.cores as f64, bandwidth: target.l3.bandwidth };
        Tiles { gpu: target.is_gpu().then_some(core) }
    }

    /// The share of the cores' rate, of so many operations a second together, that a product reaches of so many results, each of a sum of so many
    /// products of elements of that size.
    pub fn share(&self, (results, depth): (f64, f64), (rate, bytes): (f64, f64)) -> f64 {
        let Some(core) = self.gpu else { return 1.0 };
        // A step multiplies for as long, and copies for as long.
        let speed = |edge: f64| {
            let (multiply, copy) =
                (2.0 * edge * edge * core.cores / rate, 2.0 * edge * bytes / core.bandwidth);
            (multiply / copy).min(1.0)
        };
        let mut most: f64 = 0.0;
        for edge in TILES {
            for parts in PARTS.into_iter().filter(|parts| *parts == 1.0 || depth >= parts * FEWEST_STEPS) {
                let blocks = parts * (results / (edge * edge)).ceil().max(1.0);
                let waves = (blocks / core.cores).ceil();
                let filled = (results / (edge * edge)).min(blocks / parts) * parts / (core.cores * waves);
                most = most.max(speed(edge) / speed(TILES[0]) * filled);
            }
        }
        most.clamp(LEAST_SHARE, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_machine::Gpu;

    #[test]
    fn few_tiles_of_short_sums_leave_cores_idle() {
        let mut target = Target::default();
        assert_eq!(Tiles::of(&target).share((1.0, 1.0), (1e12, 2.0)), 1.0);
        target.cores = 100;
        target.l3.bandwidth = 1e11;
        target.gpu = Gpu { warp: 32, ..target.gpu };
        let tiles = Tiles::of(&target);
        let share =
            |tiles_of_128: f64, depth: f64| tiles.share((tiles_of_128 * 128.0 * 128.0, depth), (1e14, 2.0));
        assert_eq!(share(100.0, 64.0), 1.0);
        // Smaller tiles: a quarter as large, a sixteenth.
        assert_eq!(share(25.0, 64.0), 1.0);
        assert_eq!(share(5.0, 64.0), 0.8);
        // The last wave has one tile of the largest, or 16 of the smallest.
        assert!((0.9..1.0).contains(&share(101.0, 64.0)));
        // Long sums are cut into parts.
        assert!(share(1.0, 64.0) < 0.2 && share(1.0, 1024.0) > 0.6);
    }
}
