//! Runs stages, times them, and writes what they leave to files.

use crate::planning::Planning;
use fusion_dialects::{Module, run_passes, span};
use fusion_targets::stage::Stage;
use std::path::PathBuf;

/// Runs stages; with `FUSION_DUMP=dir` in the environment, one numbered file a stage is written there, those of a kernel into
/// a folder of its name.
pub struct Runner {
    dump: Option<PathBuf>,
    number: usize,
    last: String,
    /// Pipelines in place of those of some stages, by name; stages without one are left out.
    instead: Vec<(&'static str, Option<String>)>,
    /// Seconds of each stage so far.
    pub timings: Vec<(&'static str, f64)>,
}

impl Default for Runner {
    fn default() -> Self {
        Runner {
            dump: std::env::var_os("FUSION_DUMP").map(PathBuf::from),
            number: 0,
            last: String::new(),
            instead: Vec::new(),
            timings: Vec::new(),
        }
    }
}

impl Runner {
    /// For a program whose kernels are chosen like that.
    pub fn for_plan(planning: &Planning) -> Runner {
        Runner { instead: planning.instead(), ..Runner::default() }
    }

    /// For a kernel by itself.
    pub fn of_kernel(name: &str) -> Runner {
        let mut runner = Runner::default();
        if let Some(dir) = &mut runner.dump {
            dir.push(name);
        }
        runner
    }

    /// For tensor code of a larger program, whose kernels are chosen like that.
    pub fn of_segment(planning: &Planning, name: &str) -> Runner {
        Runner { instead: planning.instead(), ..Runner::of_kernel(name) }
    }

    /// Adds the times of another.
    pub fn add(&mut self, other: Runner) {
        for (stage, seconds) in other.timings {
            match self.timings.iter_mut().find(|(name, _)| *name == stage) {
                Some((_, sum)) => *sum += seconds,
                None => self.timings.push((stage, seconds)),
            }
        }
    }

    /// Another pipeline for a stage.
    pub fn replace(&mut self, stages: Vec<(&'static str, String)>) {
        self.instead.extend(stages.into_iter().map(|(name, pipeline)| (name, Some(pipeline))));
    }

    /// Whether the stages are written to files.
    pub fn dumps(&self) -> bool {
        self.dump.is_some()
    }

    /// Runs stages on a module; the errors have their locations.
    pub fn run(&mut self, module: &Module, stages: &'static [Stage]) -> Result<(), Vec<String>> {
        if self.number == 0 {
            self.write("input", module)?;
        }
        for stage in stages {
            let pipeline = match self.instead.iter().find(|(name, _)| *name == stage.name) {
                Some((_, None)) => continue,
                Some((_, Some(other))) => other,
                None => stage.pipeline,
            };
            let _stage = span(stage.name);
            let start = std::time::Instant::now();
            run_passes(module, pipeline)?;
            self.timings.push((stage.name, start.elapsed().as_secs_f64()));
            self.write(stage.name, module)?;
        }
        Ok(())
    }

    fn write(&mut self, name: &str, module: &Module) -> Result<(), Vec<String>> {
        let Some(dir) = &self.dump else { return Ok(()) };
        let text = module.as_operation().to_string();
        let path = dir.join(format!("{:02}-{name}.mlir", self.number));
        let content = if text == self.last { "// unchanged\n" } else { &text };
        std::fs::create_dir_all(dir)
            .and_then(|()| std::fs::write(&path, content))
            .map_err(|error| vec![format!("cannot write {}: {error}", path.display())])?;
        self.number += 1;
        self.last = text;
        Ok(())
    }
}
