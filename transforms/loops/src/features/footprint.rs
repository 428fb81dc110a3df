//! What the loops inside each level of a body touch.
//!
//! ```text
//!   for i 8   for k 100   for j 16 (vectorized)      c[16 i + j] += a[100 i + k] * b[16 k + j]
//!   level     i           k              j           -
//!   bytes     all         64+400+6400    64+4+64     4+4+4         the distinct elements of each buffer, by the loops inside
//! ```
//!
//! A memory of some size keeps what is touched inside the outermost level that fits; what is outside fetches that again.

use super::bodies::{Body, Touch};
use fusion_dialects::loops::LoopKind;

/// Bytes that come from a memory at a time.
const LINE: f64 = 64.0;

/// The footprints of a body, for each level from the outside; the last is that of one iteration.
pub struct Levels {
    /// The extents, in the order in which the loops run.
    extents: Vec<f64>,
    /// Bytes touched by the loops from this level on.
    pub bytes: Vec<f64>,
    /// The same in whole lines, in bytes.
    lines: Vec<f64>,
    /// How many accesses an iteration makes.
    accesses: f64,
}

impl Levels {
    /// Of a body. Unrolled loops run inside of the others, and vectorized ones inside of these, as their iterations are interleaved.
    pub fn of(body: &Body) -> Levels {
        let mut order: Vec<usize> = (0..body.loops.len()).collect();
        order.sort_by_key(|&at| match body.loops[at].kind {
            LoopKind::Vectorized => 2,
            LoopKind::Unrolled => 1,
            _ => 0,
        });
        let of_level = |level: usize, of: fn(&Body, &Touch, &[usize]) -> f64| {
            let mut buffers: Vec<(usize, f64)> = Vec::new();
            for touch in &body.touches {
                let own = of(body, touch, &order[level..]);
                match buffers.iter_mut().find(|(buffer, _)| *buffer == touch.buffer) {
                    Some((_, most)) => *most = most.max(own),
                    None => buffers.push((touch.buffer, own)),
                }
            }
            buffers.iter().map(|(_, bytes)| bytes).sum::<f64>()
        };
        Levels {
            extents: order.iter().map(|&at| body.loops[at].extent).collect(),
            bytes: (0..=order.len()).map(|level| of_level(level, bytes)).collect(),
            lines: (0..=order.len()).map(|level| of_level(level, lines)).collect(),
            accesses: body.touches.len() as f64,
        }
    }

    /// Bytes that come from beyond a memory of that size.
    pub fn traffic(&self, size: f64) -> f64 {
        let last = self.lines.len() - 1;
        let fits = (0..=last).find(|&level| self.lines[level] <= size).unwrap_or(last);
        self.lines[fits] * self.extents[..fits].iter().product::<f64>()
    }

    /// Of a level from the inside: extent, bytes and lines touched, how often each is, and operations a byte.
    pub fn inner(&self, level: usize, flops: f64) -> Option<[f64; 5]> {
        let at = self.extents.len().checked_sub(level + 1)?;
        let runs: f64 = self.extents[at..].iter().product();
        let (bytes, lines) = (self.bytes[at], self.lines[at]);
        let reuse =
            runs * self.accesses * self.bytes[self.extents.len()] / self.accesses.max(1.0) / bytes.max(1.0);
        Some([self.extents[at], bytes, lines / LINE, reuse, runs * flops / bytes.max(1.0)])
    }
}

/// Distinct elements that some loops touch.
fn elements(body: &Body, touch: &Touch, loops: &[usize]) -> f64 {
    let moving = loops.iter().filter(|&&at| touch.steps[at] != Some(0));
    moving.map(|&at| body.loops[at].extent).product::<f64>().min(touch.elements)
}

fn bytes(body: &Body, touch: &Touch, loops: &[usize]) -> f64 {
    elements(body, touch, loops) * touch.width
}

/// The lines of them, in bytes: a run of neighbours shares lines, others have one each.
fn lines(body: &Body, touch: &Touch, loops: &[usize]) -> f64 {
    let all = elements(body, touch, loops);
    let run: f64 =
        loops.iter().filter(|&&at| touch.steps[at] == Some(1)).map(|&at| body.loops[at].extent).product();
    let run = run.min(all).max(1.0);
    let of_run = (run * touch.width / LINE).ceil() * LINE;
    (all / run * of_run).min((touch.elements * touch.width / LINE).ceil() * LINE)
}
