//! Random schedules: primitives on handles that came before, whether they are legal or not.

use crate::common::random::Random;
use std::fmt::Write;

/// The handles that a schedule has so far.
#[derive(Clone)]
pub struct Draft {
    pub text: String,
    stages: Vec<String>,
    inputs: usize,
    /// Loops, those of newer handles last.
    axes: Vec<String>,
    count: usize,
    pub primitives: usize,
}

const FACTORS: &[u64] = &[1, 2, 3, 4, 5, 8, 16];

impl Draft {
    /// Handles of all stages, of their loops, and of all arguments.
    pub fn of(stages: &[(String, usize)], inputs: usize) -> Draft {
        let mut draft = Draft {
            text: String::new(),
            stages: Vec::new(),
            inputs,
            axes: Vec::new(),
            count: 0,
            primitives: 0,
        };
        for input in 0..inputs {
            writeln!(draft.text, "  %in{input} = te.input {input}").unwrap();
        }
        for (name, axes) in stages {
            let stage = draft.fresh("s");
            writeln!(draft.text, "  {stage} = te.stage \"{name}\"").unwrap();
            draft.take_axes(&stage, *axes);
            draft.stages.push(stage);
        }
        draft
    }

    fn fresh(&mut self, what: &str) -> String {
        self.count += 1;
        format!("%{what}{}", self.count)
    }

    fn take_axes(&mut self, stage: &str, axes: usize) {
        let names: Vec<String> = (0..axes).map(|_| self.fresh("a")).collect();
        let types = vec!["!te.axis"; axes].join(", ");
        writeln!(self.text, "  {} = te.axes {stage} : {types}", names.join(", ")).unwrap();
        self.axes.extend(names);
    }

    fn axis(&self, random: &mut Random) -> String {
        // Newer handles name loops that are still there.
        let n = self.axes.len() as u64;
        let back = random.below(n).min(random.below(n));
        self.axes[(n - 1 - back) as usize].clone()
    }

    fn stage(&self, random: &mut Random) -> String {
        self.stages[random.below(self.stages.len() as u64) as usize].clone()
    }

    fn source(&self, random: &mut Random) -> String {
        let which = random.below((self.stages.len() + self.inputs) as u64) as usize;
        self.stages.get(which).cloned().unwrap_or_else(|| format!("%in{}", which - self.stages.len()))
    }

    fn say(&mut self, line: &str) {
        writeln!(self.text, "  {line}").unwrap();
    }

    fn gives_axes(&mut self, n: usize, line: &str) {
        let names: Vec<String> = (0..n).map(|_| self.fresh("a")).collect();
        writeln!(self.text, "  {} = {line}", names.join(", ")).unwrap();
        self.axes.extend(names);
    }

    /// Two loops whose handles were made one after the other.
    fn neighbours(&self, random: &mut Random) -> [String; 2] {
        let first = random.below(self.axes.len() as u64 - 1) as usize;
        [self.axes[first].clone(), self.axes[first + 1].clone()]
    }

    /// The same with one more primitive. Loops are cut and moved `early`, since later they may be marked.
    pub fn and_another(&self, random: &mut Random, early: bool) -> Draft {
        let mut next = self.clone();
        let (a, b) = (next.axis(random), next.axis(random));
        let (factor, stage) = (random.of(FACTORS), next.stage(random));
        let source = next.source(random);
        next.primitives += 1;
        let last = 41;
        match if early { (random.below(27) + last - 6) % last } else { random.below(last) } {
            0..=2 => {
                let tail = random.of(&["", "", " tail guard", " tail peel", " tail pad"]);
                next.gives_axes(2, &format!("te.split {a} by {factor}{tail}"));
            }
            3 => next.gives_axes(2, &format!("te.split {a} parts {factor}")),
            4 => next.gives_axes(4, &format!("te.tile {a}, {b} by [{factor}, {}]", random.of(FACTORS))),
            5 | 6 => {
                let [a, b] = next.neighbours(random);
                next.gives_axes(1, &format!("te.fuse {a}, {b}"));
            }
            7 | 8 => {
                let c = next.axis(random);
                let third = if random.flag() { format!(", {c}") } else { String::new() };
                next.say(&format!("te.reorder {a}, {b}{third}"));
            }
            9 => next.say(&format!("te.compute_inline {stage}")),
            10..=12 => next.say(&format!("te.compute_at {stage}, {a}")),
            13 | 14 => next.say(&format!("te.reverse_compute_at {stage}, {a}")),
            15 => {
                let (copy, name) = (next.fresh("s"), next.count);
                next.say(&format!("{copy} = te.cache_read {source} as \"c{name}\""));
                next.stages.push(copy.clone());
                next.take_axes(&copy, 1 + random.below(4) as usize);
            }
            16 => {
                let (made, name) = (next.fresh("s"), next.count);
                next.say(&format!("{made} = te.cache_write {stage} as \"c{name}\""));
                next.stages.push(made.clone());
                next.take_axes(&made, 1 + random.below(6) as usize);
            }
            17 => {
                let n = random.of(&[2, 3, 4]);
                let maps = [
                    format!("(d0, d1) -> (d1 floordiv {n}, d0, d1 mod {n})"),
                    format!("(d0, d1) -> (d0 floordiv {n}, d1, d0 mod {n})"),
                    "(d0, d1, d2) -> (d2, d0, d1)".to_owned(),
                    "(d0, d1) -> (d1, d0)".to_owned(),
                ];
                let map = &maps[random.below(4) as usize];
                next.say(&format!("te.transform_layout {stage} by affine_map<{map}>"));
            }
            35 | 36 => {
                // A loop that the others of its stage are left to reduce over.
                next.gives_axes(2, &format!("te.split {a} by {factor}"));
                let a = next.axes.last().cloned().unwrap_or(a);
                let (made, name) = (next.fresh("s"), next.count);
                next.say(&format!("{made} = te.rfactor {a} as \"r{name}\""));
                next.stages.push(made.clone());
                next.take_axes(&made, random.of(&[3, 4]));
            }
            37 | 38 => {
                let producer = next.stage(random);
                next.say(&format!("te.reverse_reindex {stage}, {producer}"));
            }
            33 => next.say(&format!("te.stream {stage}")),
            34 | 39 => next.say(&format!("te.pipeline {a}")),
            40 => next.say(&format!("te.skip_padding {a}")),
            18 => next.say(&format!("te.store_at {stage}")),
            19 => next.say(&format!("te.store_at {stage}, {a}")),
            20 => next.say(&format!(
                "te.storage_align {stage} dim {} by {factor} offset {}",
                random.below(2),
                random.below(factor)
            )),
            21..=23 => next.say(&format!("te.vectorize {a}")),
            24 | 25 => next.say(&format!("te.unroll {a}")),
            26 => next.say(&format!("te.parallel {a}")),
            27 => next.say(&format!("te.set_scope {stage} to {}", random.of(&["local", "global"]))),
            28 => next.say(&format!("te.double_buffer {stage}")),
            29 => next.say(&format!("te.double_buffer {stage} by 3")),
            30 => next.say(&format!("te.prefetch {source}, {a} ahead {}", 1 + random.below(3))),
            31 => next.say(&format!("te.bind {a} to virtual_thread")),
            32 => next.say(&format!("te.annotate {a} \"note\" = {factor} : i64")),
            _ => next.say(&format!("te.tensorize {a} with {}", random.of(&["@tile", "@row"]))),
        }
        next
    }
}
