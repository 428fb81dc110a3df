//! Options of every command that compiles.

use crate::failure::Failure;
use crate::print;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fusion::compilation::strategy_of;
use fusion::driver::{self, CompileOptions, Strategy, Target, Unfold};
use fusion::load;
use fusion::mixed_precision;
use fusion::shapes::{self, Axis};
use fusion_conversion::tuned::Choices;
use fusion_dialects::module::{FpMath, Level};
use fusion_operators::Dim;
use fusion_runtime::npz;
use fusion_tuning::{log, target_of};
use indexmap::IndexMap;
use std::path::{Path, PathBuf};

/// How to compile. Ignored where the model is compiled already.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Compiling")]
pub struct Options {
    /// What to compile for: `cpu`, which is this machine's processor (`cpu:host` as well), or another, such as
    /// `cpu:x86-64-v3`; `fusion targets` lists all.
    #[arg(long, default_value = driver::HOST)]
    pub target: String,

    /// Run the kernels of a GPU on this machine's processor, thread by thread, and check what they do with shared memory.
    #[arg(long)]
    pub emulate: bool,

    /// Have ptxas (FUSION_PTXAS, or that in PATH) assemble the code for NVIDIA's GPUs, which else the driver does when it runs.
    #[arg(long, conflicts_with = "emulate")]
    pub cubin: bool,

    /// What arithmetic of floats may be taken for: `strict` (each operator in double precision, in the order of the source, rounded once),
    /// `standard` (fused multiply-adds, sums in any order) or `fast` (Strassen's products, tf32, shorter functions), which docs/explanation/numerics.md
    /// compares [default: what the model says, else standard].
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    pub fp_math: Option<Level>,

    /// The largest error, as a part of the largest result, that algorithms such as Strassen's and Winograd's may add up to.
    #[arg(long, value_name = "ERROR", value_parser = error)]
    pub max_error: Option<f64>,

    /// Link functions of numbers (exponentials and the like) from a GPU vendor's library of bitcode, libdevice or ocml, in place of straight
    /// code.
    #[arg(long = "device-library", value_name = "FILE.bc", conflicts_with = "emulate")]
    pub device_libraries: Vec<PathBuf>,

    /// What to compile for, as a file describes it; `fusion targets cpu` prints one to begin with.
    #[arg(long, value_name = "FILE.toml", conflicts_with = "target")]
    pub target_file: Option<PathBuf>,

    /// From 0 (fast to compile: no rules, and each operator a kernel of its own) to 3 (fast to run).
    #[arg(short = 'O', long, default_value_t = 3, value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=3))]
    pub opt_level: u8,

    /// Extents of an input whose shape the model leaves dynamic, such as `x=1,3,224,224`; a scalar is `x=`. In place of a number, `1..64` are
    /// the sizes that an extent may have, `8..4096:8` multiples of 8 alone, `batch:1..64` gives it a name as well, and `?` leaves it as it is.
    #[arg(long = "shape", value_name = "INPUT=N,N,...", value_parser = shape)]
    pub shapes: Vec<(String, Vec<Axis>)>,

    /// A shape that an input is likely to have, where its extents are dynamic: there the code is to be fast. It may be given several
    /// times, and then the first shapes of several inputs belong together, and so on.
    #[arg(long = "likely", value_name = "INPUT=N,N,...", value_parser = likely)]
    pub likely: Vec<(String, Vec<u64>)>,

    /// A file of schedules (`te.schedule for @KERNEL { ... }`) to use in place of the default ones; `fusion explain` shows
    /// the kernels' names.
    #[arg(long = "schedule", value_name = "FILE.mlir")]
    pub schedules: Vec<PathBuf>,

    /// A log of `fusion tune`, whose best schedules are used for the kernels that it has.
    #[arg(long = "tuning-log", value_name = "LOG.jsonl")]
    pub tuning_logs: Vec<PathBuf>,

    /// Of tuning logs, use what was measured on this many threads [default: for each kernel the least number that it was measured on].
    #[arg(long, value_name = "N", requires = "tuning_logs", value_parser = clap::value_parser!(u16).range(1..))]
    pub tuning_threads: Option<u16>,

    /// How kernels are chosen: `egraph` (rules, layout and fusion in one), `xla` (fusion by gain, no rules), `relay` (groups under
    /// post-dominators) or `none` (each operator by itself) [default: none with -O0, else egraph].
    #[arg(long, value_parser = strategy)]
    pub strategy: Option<Strategy>,

    /// Run what is known of a program first: calls, matches and recursion over known values. A recurrent net of a fixed length
    /// becomes straight code, which is optimised as one. `bounded` does it where a graph of at most 2048 operations is left
    /// [default: bounded for `fusion compile` from -O2 on, else never].
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "always", value_parser = unfolding())]
    pub partial_eval: Option<Unfold>,

    /// Compute in this type where operators bear it (docs/explanation/numerics.md#mixed-precision). Inputs and outputs stay as they are.
    #[arg(long, value_name = "f16|bf16", value_parser = ["f16", "bf16"])]
    pub mixed_precision: Option<String>,

    /// Passes that run on the model before all others, as `--pass-pipeline` of fusion-opt writes them; as often as there are pipelines.
    #[arg(long, value_name = "PIPELINE")]
    pub passes: Vec<String>,

    /// Families of rules that `egraph` leaves out, such as `algebra,winograd`; `joining` is kernels of several results,
    /// `loops` kernels of whole loops.
    #[arg(long, value_name = "FAMILY,...", value_delimiter = ',', value_parser = switch)]
    pub rules_off: Vec<&'static str>,

    /// Make an input a constant, with the value in a .npy file.
    #[arg(long = "bind", value_name = "INPUT=FILE.npy", value_parser = binding)]
    pub bindings: Vec<(String, PathBuf)>,
}

impl Options {
    /// Checks the options against the model that they are given for.
    pub fn fit(&self, model: &Path) -> Result<(), Failure> {
        if self.emulate && load::is_compiled(model).unwrap_or(false) {
            return Err(Failure::CompiledAlready(model.to_owned()));
        }
        let extension = model.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let example = match extension {
            "mlir" => {
                "tensor<2x3xf32>, or a dynamic extent as tensor<?x3xf32, #relay.dims<[\"n\", \"\"]>> and its sizes as the attribute \
                 relay.ranges = {n = {least = 1, most = 64}} of @main,"
            }
            "relay" | "rly" => "Tensor[(2, 3), float32]",
            _ => return Ok(()),
        };
        match self.shapes.is_empty() {
            true => Ok(()),
            false => Err(Failure::ShapesInModel { path: model.to_owned(), example }),
        }
    }

    /// Checks the options and reads the files they name.
    pub fn resolve(&self) -> Result<CompileOptions, Failure> {
        // Loops are kernels with any strategy.
        let rules: Vec<&str> =
            self.rules_off.iter().copied().filter(|family| *family != driver::LOOPS).collect();
        let strategy = self.strategy();
        if !rules.is_empty() && strategy != Strategy::EGraph {
            let (families, strategy) = (rules.join(","), strategy.name());
            return Err(Failure::NoRules { families, strategy });
        }
        let mut bound = IndexMap::new();
        for (name, path) in &self.bindings {
            let tensors = npz::read(path)?;
            let found = tensors.len();
            match tensors.into_values().next() {
                Some(tensor) if found == 1 => bound.insert(name.clone(), tensor),
                _ => return Err(Failure::Bind { name: name.clone(), path: path.clone(), found }),
            };
        }
        let mut options = CompileOptions {
            opt_level: self.opt_level,
            shapes: self.shapes.iter().cloned().collect(),
            likely: self.likely.clone(),
            bound,
            schedules: self.schedules.clone(),
            strategy,
            unfold: self.partial_eval.unwrap_or_default(),
            rules_off: self.rules_off.clone(),
            passes: self
                .mixed_precision
                .iter()
                .map(|ty| mixed_precision(ty))
                .chain(self.passes.clone())
                .collect(),
            fp_math: self.arithmetic()?,
            ..CompileOptions::for_target(self.target()?)
        };
        options.choices = self.measured(&options)?;
        Ok(options)
    }
}

impl Options {
    /// That which was asked for, or goes with the level.
    pub fn strategy(&self) -> Strategy {
        self.strategy.unwrap_or_else(|| strategy_of(self.opt_level))
    }

    /// What the logs say for the processor; of those that say nothing, a note says why.
    fn measured(&self, options: &CompileOptions) -> Result<Choices, Failure> {
        let read = |path: &PathBuf| Ok::<_, Failure>((path.clone(), log::read(path)?));
        let logs: Result<Vec<_>, _> = self.tuning_logs.iter().map(read).collect();
        let mut fit = log::fit(&logs?, &target_of(options), self.tuning_threads);
        if options.target.device().is_some() && !self.tuning_logs.is_empty() {
            let name = &options.target.name;
            fit.notes =
                vec![format!("tuning logs are for processors, and {name} is a GPU; leave --tuning-log away")];
        }
        for note in fit.notes {
            print::aside(format_args!("note: {note}; until then the kernels get their default schedules"));
        }
        Ok(fit.choices)
    }

    /// What was asked for of arithmetic.
    fn arithmetic(&self) -> Result<Option<FpMath>, Failure> {
        match (self.fp_math, self.max_error) {
            (None, None) => Ok(None),
            (Some(Level::Strict), Some(_)) => Err(Failure::NoBudget),
            (level, max_error) => Ok(Some(FpMath { level: level.unwrap_or_default(), max_error })),
        }
    }

    fn target(&self) -> Result<Target, Failure> {
        let mut target: Target = match &self.target_file {
            Some(file) => Target::from_file(file)?,
            None => self.target.parse()?,
        };
        if self.cubin {
            target = target.assembled()?;
        }
        for file in &self.device_libraries {
            target = target.linked(file.clone())?;
        }
        match (self.emulate, target.device()) {
            (false, _) => Ok(target),
            (true, Some(_)) => Ok(target.emulated()),
            (true, None) => Err(Failure::NothingToEmulate(target.name)),
        }
    }
}

fn strategy(text: &str) -> Result<Strategy, String> {
    let found = Strategy::ALL.iter().find(|(_, name)| *name == text);
    let known = || Strategy::ALL.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ");
    found.map(|(strategy, _)| *strategy).ok_or_else(|| format!("the strategies are {}", known()))
}

fn unfolding() -> impl TypedValueParser<Value = Unfold> {
    let named = [
        PossibleValue::new("always").help("All of it that ends within the fuel"),
        PossibleValue::new("bounded")
            .help("All of it, where that leaves a graph of operators that is not large"),
        PossibleValue::new("never").help("Nothing"),
    ];
    PossibleValuesParser::new(named).map(|name| match name.as_str() {
        "always" => Unfold::Always,
        "bounded" => Unfold::Bounded,
        _ => Unfold::Never,
    })
}

fn level(text: &str) -> Result<Level, String> {
    Level::named(text).ok_or_else(|| "the levels are strict, standard, fast".to_owned())
}

fn error(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|error: &f64| *error > 0.0 && error.is_finite());
    number.ok_or_else(|| format!("an error is a number above 0, such as 1e-4, and {text:?} is none"))
}

fn switch(text: &str) -> Result<&'static str, String> {
    let known = || driver::switches().collect::<Vec<_>>().join(", ");
    driver::switches().find(|name| *name == text).ok_or_else(|| format!("the families are {}", known()))
}

fn shape(text: &str) -> Result<(String, Vec<Axis>), String> {
    let (name, extents) = pair(text)?;
    Ok((name, shapes::shape(extents)?))
}

fn likely(text: &str) -> Result<(String, Vec<u64>), String> {
    let (name, extents) = shape(text)?;
    let known = |extent: Axis| match extent.dim {
        Dim::Static(n) => Ok(n),
        _ => Err(format!("a likely shape has numbers alone, and {extent} is none")),
    };
    Ok((name, extents.into_iter().map(known).collect::<Result<_, _>>()?))
}

fn binding(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = pair(text)?;
    Ok((name, path.into()))
}

fn pair(text: &str) -> Result<(String, &str), String> {
    // The last '=', since names of inputs may hold one.
    let (name, value) = text.rsplit_once('=').ok_or("there is no '=' after the input's name")?;
    if name.is_empty() { Err("the input's name is empty".to_owned()) } else { Ok((name.to_owned(), value)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_parsed() {
        assert_eq!(likely("x=1, 3,224"), Ok(("x".to_owned(), vec![1, 3, 224])));
        assert_eq!(likely("x=1..4").unwrap_err(), "a likely shape has numbers alone, and 1..4 is none");
        assert_eq!(shape("scalar="), Ok(("scalar".to_owned(), vec![])));
        assert_eq!(shape("x=1,-2").unwrap_err(), "\"-2\" is not an extent");
        assert!(shape("x").is_err() && shape("=1").is_err());
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        assert_eq!(strategy("xla"), Ok(Strategy::Xla));
        assert_eq!(strategy("tvm").unwrap_err(), "the strategies are none, relay, xla, egraph");
        assert_eq!(switch("joining"), Ok("joining"));
        let said = switch("magic").unwrap_err();
        assert!(
            said.starts_with("the families are algebra, axes, ") && said.ends_with(", joining, loops"),
            "{said}"
        );
    }
}
