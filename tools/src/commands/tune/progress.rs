//! How far a search is: the best so far beside the default, its share of the roof, and the time that is left.

use crate::print;
use fusion_tuning::kernel::Kernel;
use fusion_tuning::log::{Record, seconds};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::HashMap;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

/// How far a search is.
pub struct Progress {
    bar: ProgressBar,
    trials: usize,
    measured: usize,
    start: Instant,
    time: Option<Duration>,
    /// By the kernels' hashes. Only looked up, never iterated.
    found: HashMap<String, Found>,
}

/// What was found of a kernel, in seconds.
#[derive(Default)]
struct Found {
    default: Option<f64>,
    best: Option<f64>,
}

impl Progress {
    /// Of a search that begins; nothing is shown where nobody looks.
    pub fn of(kernels: &[Kernel], trials: usize, time: Option<Duration>) -> Progress {
        let trials = trials + kernels.len();
        let bar =
            if stderr().is_terminal() { ProgressBar::new(trials as u64) } else { ProgressBar::hidden() };
        let bar = match ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        Progress { bar, trials, measured: 0, start: Instant::now(), time, found: HashMap::new() }
    }

    /// Takes a measurement into account.
    pub fn tell(&mut self, record: &Record) {
        self.measured += usize::from(!record.again);
        let found = self.found.entry(record.kernel.clone()).or_default();
        if let Some(own) = seconds(&record.times_ps) {
            found.best = Some(found.best.map_or(own, |best| best.min(own)));
            if record.default {
                found.default = found.default.or(Some(own));
            }
        }
        let left = left(self.start.elapsed(), self.measured, self.trials, self.time);
        let roof = record.roof_ps.map(|ps| ps as f64 * 1e-12);
        self.bar.inc(u64::from(!record.again));
        self.bar.set_message(format!("{}{}", told(&record.name, found, roof), print_left(left)));
    }

    /// Takes it from the screen.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }
}

/// What is left: of the time that is given, or by the pace so far, whichever is less.
fn left(elapsed: Duration, measured: usize, trials: usize, time: Option<Duration>) -> Duration {
    let pace = elapsed.as_secs_f64() / measured.max(1) as f64;
    let by_pace = Duration::from_secs_f64(pace * trials.saturating_sub(measured) as f64);
    time.map_or(by_pace, |time| by_pace.min(time.saturating_sub(elapsed)))
}

fn print_left(left: Duration) -> String {
    match left.as_secs() {
        0 => String::new(),
        s if s < 60 => format!(", {s} s left"),
        s => format!(", {} min {} s left", s / 60, s % 60),
    }
}

fn told(name: &str, found: &Found, roof: Option<f64>) -> String {
    let Some(best) = found.best else { return format!("{name}: nothing measured yet") };
    let mut text = format!("{name}: best {}", print::seconds(best));
    if let Some(default) = found.default {
        text += &format!(", {:.2} times as fast as the default", default / best);
    }
    if let Some(roof) = roof {
        text += &format!(", {:.0} % of the roof", 100.0 * roof / best);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_and_what_is_left_are_told() {
        let found = Found { default: Some(3e-6), best: Some(2e-6) };
        assert_eq!(
            told("k", &found, Some(1.5e-6)),
            "k: best 2.000 us, 1.50 times as fast as the default, 75 % of the roof"
        );
        assert_eq!(told("k", &Found::default(), None), "k: nothing measured yet");
        let seconds = Duration::from_secs;
        assert_eq!(left(seconds(10), 5, 55, None), seconds(100));
        assert_eq!(left(seconds(10), 5, 55, Some(seconds(30))), seconds(20));
        assert_eq!(print_left(seconds(100)), ", 1 min 40 s left");
    }
}
