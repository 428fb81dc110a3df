//! Features of loops, for models that learn how long they take: numbers of one length for any kernel, so that what was learned of one serves others.
//!
//! ```text
//!   a lowered kernel  --bodies-->  the statements of each innermost block, with the loops around them    (bodies)
//!                                        |  footprints of the loops inside each level                    (footprint)
//!                                        +-->  sums over bodies, traffic beyond memories of several sizes, and the levels of the hottest body
//! ```
//!
//! (Chen et al., "Learning to Optimize Tensor Programs", 2018, appendix A.2: touched memory and reuse of each loop, and curves of them; Zheng et al.,
//! "Ansor", 2020, appendix B: vectors, unrolling, parallelism, intensity.) Amounts are log2(1 + x); shares are from 0 to 1.

mod bodies;
mod footprint;

pub use bodies::{Body, Loop, Touch, bodies};

use footprint::Levels;
use fusion_dialects::Op;
use fusion_dialects::loops::LoopKind;

/// Levels of the hottest body that are told, from the inside.
const LEVELS: usize = 6;
/// Sizes of memories, in bytes, beyond which traffic is told.
const SIZES: [f64; 8] = [1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6, 16e6];
/// What is told of each level.
const OF_LEVEL: [&str; 5] = ["extent", "touched bytes", "touched lines", "reuse", "intensity"];
/// What is told of all bodies together.
const OF_ALL: [&str; 19] = [
    "bodies",
    "operations",
    "transcendental operations",
    "loads",
    "stores",
    "vectorized operations, share",
    "contiguous accesses, share",
    "repeated accesses, share",
    "scattered accesses, share",
    "guarded iterations, share",
    "vector extent",
    "unrolled extent",
    "parallel extent",
    "innermost serial extent",
    "loops around",
    "statements unrolled",
    "touched bytes",
    "intensity",
    "iterations",
];

/// The names of the features, in their order.
pub fn names() -> Vec<String> {
    let traffic = SIZES.iter().map(|size| format!("traffic beyond {:.0} kB", size / 1e3));
    let levels =
        (0..LEVELS).flat_map(|level| OF_LEVEL.iter().map(move |what| format!("level {level}: {what}")));
    OF_ALL.iter().map(|&name| name.to_owned()).chain(traffic).chain(levels).collect()
}

/// The features of all loops inside an operation.
pub fn features(root: Op) -> Vec<f32> {
    of_bodies(&bodies(root))
}

/// The features of some bodies.
pub fn of_bodies(all: &[Body]) -> Vec<f32> {
    let sum = |of: &dyn Fn(&Body) -> f64| all.iter().map(|body| body.runs() * of(body)).sum::<f64>();
    let flops = sum(&|body| body.flops + body.special);
    let touches = |wanted: &dyn Fn(&Body, &Touch) -> bool| {
        sum(&|body| body.touches.iter().filter(|touch| wanted(body, touch)).count() as f64)
    };
    let accesses = touches(&|_, _| true);
    // Along the vectorized loop; what is in none of them is told by the share of operations.
    let along = |body: &Body, touch: &Touch| body.vectorized().map(|at| touch.steps[at]);
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let work = |body: &&Body| body.runs() * (body.flops + body.special + body.touches.len() as f64);
    let hottest = all.iter().max_by(|a, b| work(a).total_cmp(&work(b)));
    let extent = |kind: LoopKind| hottest.map_or(1.0, |body| body.extent_of(kind));
    let levels: Vec<Levels> = all.iter().map(Levels::of).collect();
    let touched: f64 = levels.iter().map(|levels| levels.bytes[0]).sum();
    let amounts = |x: f64| (1.0 + x.max(0.0)).log2();
    let mut features = vec![
        all.len() as f64,
        amounts(flops),
        amounts(sum(&|body| body.special)),
        amounts(touches(&|_, touch| !touch.writes)),
        amounts(touches(&|_, touch| touch.writes)),
        share(sum(&|b| if b.vectorized().is_some() { b.flops + b.special } else { 0.0 }), flops),
        share(touches(&|body, touch| along(body, touch) == Some(Some(1))), accesses),
        share(touches(&|body, touch| along(body, touch) == Some(Some(0))), accesses),
        share(
            touches(&|body, touch| along(body, touch).is_some_and(|s| !matches!(s, Some(0 | 1)))),
            accesses,
        ),
        share(sum(&|body| f64::from(u8::from(body.share < 1.0))), sum(&|_| 1.0)),
        amounts(extent(LoopKind::Vectorized)),
        amounts(extent(LoopKind::Unrolled)),
        amounts(extent(LoopKind::Parallel)),
        amounts(hottest.map_or(1.0, Body::innermost_serial)),
        hottest.map_or(0.0, |body| body.loops.len() as f64),
        amounts(all.iter().map(|b| b.extent_of(LoopKind::Unrolled) * b.statements).sum()),
        amounts(touched),
        amounts(flops / touched.max(1.0)),
        amounts(sum(&|_| 1.0)),
    ];
    let traffic =
        |size: &f64| all.iter().zip(&levels).map(|(body, levels)| body.share * levels.traffic(*size)).sum();
    features.extend(SIZES.iter().map(|size| amounts(traffic(size))));
    let of_hottest = hottest.map(|body| (body, Levels::of(body)));
    for level in 0..LEVELS {
        let told =
            of_hottest.as_ref().and_then(|(body, levels)| levels.inner(level, body.flops + body.special));
        features.extend(told.unwrap_or_default().map(amounts));
    }
    features.into_iter().map(|x| x as f32).collect()
}

#[cfg(test)]
mod tests;
