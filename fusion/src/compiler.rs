//! How a model is compiled: a builder over the options of the pipeline.

use crate::compilation::{CompileOptions, strategy_of, unfold_of};
use crate::driver;
use crate::error::Error;
use crate::load::Runnable;
use crate::module::Module;
use crate::package::package;
use crate::passes::{mixed_precision, register_passes};
use crate::shapes;
use crate::source::Source;
use crate::target::Target;
use fusion_conversion::tuned::Choices;
use fusion_dialects::module::{FpMath, Level};
use fusion_dialects::{Pass, register};
use fusion_egraph::rule::Rule;
use fusion_egraph::rules::{self, Family};
use fusion_operators::{DType, Tensor};
use std::path::{Path, PathBuf};

/// Compiles models. What is not said is as for `fusion compile`: this machine's processor, level 3, the arithmetic that the model says.
#[derive(Clone, Debug)]
pub struct Compiler {
    options: CompileOptions,
}

impl Default for Compiler {
    fn default() -> Self {
        Compiler::new()
    }
}

impl Compiler {
    /// A compiler for this machine's processor.
    pub fn new() -> Compiler {
        Compiler { options: CompileOptions::for_target(Target::default()) }
    }

    /// For another target, by its name or as a [`Target`]. `fusion targets` lists the names.
    ///
    /// ```
    /// use fusion::{Compiler, Target};
    ///
    /// Compiler::new().target("cpu:x86-64-v3")?;
    /// let unknown = Compiler::new().target("cpu:x86-64-v9").unwrap_err();
    /// assert!(unknown.to_string().contains("names like it are"));
    ///
    /// // One of one's own: the facts of this machine's processor, with another number of cores.
    /// let facts = Target::default().description().clone();
    /// let file = std::env::temp_dir().join(format!("mine_{}.toml", std::process::id()));
    /// std::fs::write(&file, fusion::extend::Description { cores: 3, ..facts }.to_string()).unwrap();
    /// let mine = Target::from_file(&file)?;
    /// assert_eq!(mine.description().cores, 3);
    /// Compiler::new().target(mine)?;
    /// # std::fs::remove_file(file).unwrap();
    /// # Ok::<(), fusion::Error>(())
    /// ```
    pub fn target<T>(mut self, target: T) -> Result<Compiler, Error>
    where
        T: TryInto<Target>,
        Error: From<T::Error>,
    {
        self.options.target = target.try_into()?;
        Ok(self)
    }

    /// What arithmetic of floats may be taken for: strict, standard or fast.
    pub fn fp_math(mut self, level: Level) -> Compiler {
        self.options.fp_math = Some(FpMath { level, ..self.options.fp_math.unwrap_or_default() });
        self
    }

    /// The largest error, as a part of the largest result, that algorithms such as Strassen's may add up to. Strict arithmetic has none.
    pub fn max_error(mut self, error: f64) -> Compiler {
        self.options.fp_math =
            Some(FpMath { max_error: Some(error), ..self.options.fp_math.unwrap_or_default() });
        self
    }

    /// From 0 (fast to compile) to 3 (fast to run).
    pub fn opt_level(mut self, level: u8) -> Compiler {
        self.options.opt_level = level;
        self
    }

    /// Extents of an input whose shape an ONNX model leaves dynamic.
    pub fn shape(mut self, input: &str, extents: &[u64]) -> Compiler {
        self.options.shapes.insert(input.to_owned(), extents.iter().map(|&n| n.into()).collect());
        self
    }

    /// What is known of the extents of such an input, as `--shape` of `fusion compile` writes it: `batch:1..64,3,32..1024:32,?`. Runs
    /// on other sizes are errors.
    ///
    /// ```
    /// use fusion::Compiler;
    ///
    /// assert!(Compiler::new().extents("x", "batch:1..64,3,224").is_ok());
    /// let why = Compiler::new().extents("x", "64..1").unwrap_err();
    /// assert_eq!(why.to_string(), "the shape of \"x\" is none: there is no size in \"64..1\": it must be from 64 to 1");
    /// ```
    pub fn extents(mut self, input: &str, extents: &str) -> Result<Compiler, Error> {
        let shape = shapes::shape(extents)
            .map_err(|why| Error::Option(format!("the shape of {input:?} is none: {why}")))?;
        self.options.shapes.insert(input.to_owned(), shape);
        Ok(self)
    }

    /// A shape that an input is likely to have, for which code is made fast. The first ones of several inputs belong together, and so on.
    pub fn likely(mut self, input: &str, extents: &[u64]) -> Compiler {
        self.options.likely.push((input.to_owned(), extents.to_vec()));
        self
    }

    /// Makes an input a constant.
    pub fn bind(mut self, input: &str, value: Tensor) -> Compiler {
        self.options.bound.insert(input.to_owned(), value);
        self
    }

    /// A file of schedules written by hand, in place of the default ones.
    pub fn schedule(mut self, file: impl Into<PathBuf>) -> Compiler {
        self.options.schedules.push(file.into());
        self
    }

    /// Schedules that were measured, as `fusion tune` writes them into a log: given the target's name there, which the kernels by hash.
    pub fn choices(mut self, choices: impl FnOnce(&str) -> Choices) -> Compiler {
        self.options.choices = choices(&self.options.target.processor().description.processor);
        self
    }

    /// How many kernels are compiled at a time; by default one a processor.
    pub fn jobs(mut self, jobs: usize) -> Compiler {
        self.options.jobs = Some(jobs.max(1));
        self
    }

    /// Runs a pass of one's own on the model, after those that were given before and before all others.
    ///
    /// ```
    /// use fusion::extend::{Kind, Op, OpExt, Pass, PassError, RunContext, kind_of, nested_ops};
    /// use fusion::{Compiler, Source};
    ///
    /// /// Refuses models with operators that round to integers.
    /// struct NoRounding;
    ///
    /// impl Pass for NoRounding {
    ///     const NAME: &'static str = "no-rounding";
    ///     const DESCRIPTION: &'static str = "Refuse operators that round";
    ///     const ANCHOR: Option<&'static str> = Some("func.func");
    ///
    ///     fn run<'c>(function: Op<'c>, _: &mut RunContext) -> Result<(), PassError<'c>> {
    ///         let rounds = |op: &Op| matches!(kind_of(*op), Some(Kind::Operator(o)) if o.name == "round");
    ///         match nested_ops(function).into_iter().find(rounds) {
    ///             Some(op) => Err(PassError::at(op, "rounds, which this program does not allow")),
    ///             None => Ok(()),
    ///         }
    ///     }
    /// }
    ///
    /// let model = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    ///   %y = relay.round %x : (tensor<3xf32>) -> tensor<3xf32>
    ///   return %y : tensor<3xf32>
    /// }";
    /// let error = Compiler::new().pass::<NoRounding>().compile(Source::mlir(model)).err().unwrap();
    /// assert!(error.to_string().contains("which this program does not allow"), "{error}");
    /// ```
    pub fn pass<P: Pass>(mut self) -> Compiler {
        register_passes();
        register::<P>();
        let pass = P::NAME;
        self.options.passes.push(match P::ANCHOR {
            Some(anchor) if anchor != "builtin.module" => format!("builtin.module({anchor}({pass}))"),
            _ => format!("builtin.module({pass})"),
        });
        self
    }

    /// Runs registered passes on the model, as `--pass-pipeline` of `fusion-opt` writes them.
    ///
    /// ```
    /// use fusion::{Compiler, Source};
    ///
    /// let model = Source::mlir("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }");
    /// assert!(Compiler::new().passes("builtin.module(func.func(cse,canonicalize))").compile(model).is_ok());
    /// assert!(Compiler::new().passes("builtin.module(no-such-pass)").compile(model).is_err());
    /// ```
    pub fn passes(mut self, pipeline: &str) -> Compiler {
        self.options.passes.push(pipeline.to_owned());
        self
    }

    /// Computes in a narrow type, f16 or bf16, where operators bear it. Inputs and outputs stay as they are.
    ///
    /// ```
    /// use fusion::{Compiler, DType, Source};
    ///
    /// let model = "func.func @main(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>) -> tensor<2x3xf32> {
    ///   %y = relay.dense %x, %w : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
    ///   return %y : tensor<2x3xf32>
    /// }";
    /// let text = Compiler::new().mixed_precision(DType::BF16).module_text(Source::mlir(model), "relay")?;
    /// assert!(text.contains("tensor<2x4xbf16>"), "{text}");
    /// # Ok::<(), fusion::Error>(())
    /// ```
    pub fn mixed_precision(self, narrow: DType) -> Compiler {
        self.passes(&mixed_precision(&narrow.to_string()))
    }

    /// Adds a rewrite rule to a family. It holds for the process: for other compilers and from now on, as a name stands for one rule.
    ///
    /// ```
    /// use fusion::extend::{Family, Rule, rule};
    /// use fusion::{Compiler, Source, Tensor};
    ///
    /// fn triple_neg() -> Rule {
    ///     rule("triple-neg", "-(-(-x)) = -x", "(neg ?a (neg ?b (neg ?c ?x)))", "(neg ?a ?x)").exact()
    /// }
    ///
    /// let model = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    ///   %a = relay.neg %x : (tensor<2xf32>) -> tensor<2xf32>
    ///   %b = relay.neg %a : (tensor<2xf32>) -> tensor<2xf32>
    ///   %c = relay.neg %b : (tensor<2xf32>) -> tensor<2xf32>
    ///   return %c : tensor<2xf32>
    /// }";
    /// let module = Compiler::new().rule(Family::Algebra, triple_neg).compile(Source::mlir(model))?;
    /// let outputs = module.run(&[Tensor::from_slice(&[2], &[1.0f32, -2.0])?])?;
    /// assert_eq!(outputs[0].to_f64s(), [-1.0, 2.0]);
    /// # Ok::<(), fusion::Error>(())
    /// ```
    pub fn rule(self, family: Family, rule: fn() -> Rule) -> Compiler {
        rules::add(family, rule);
        self
    }

    /// Leaves a family of rules out.
    pub fn without_rules(mut self, family: Family) -> Compiler {
        self.options.rules_off.push(family.name());
        self
    }

    /// Compiles a model and loads it: a path, or a [`Source`] in memory. The system's C compiler links it.
    pub fn compile<'a>(&self, model: impl Into<Source<'a>>) -> Result<Module, Error> {
        let compiled = driver::compile(model, &self.options()?)?;
        let scratch = tempfile::tempdir().map_err(Error::file("write", &std::env::temp_dir()))?;
        let library = scratch.path().join("model.so");
        package(&compiled, None, |package| package.write_library(&library))?;
        Ok(Module::new(Runnable::load(&library)?, library, Some(scratch)))
    }

    /// Compiles a model into a shared library with a C header beside it, whose path it gives. The target may be another machine.
    pub fn compile_to<'a>(&self, model: impl Into<Source<'a>>, library: &Path) -> Result<PathBuf, Error> {
        let compiled = driver::compile(model, &self.options()?)?;
        Ok(package(&compiled, None, |package| package.write(library))?)
    }

    /// The module that a model is behind a stage of the compiler, as text without large constants: `import`, `relay`, `te`, `schedule`,
    /// `loop`, `llvm`, or the name of a stage of `fusion-opt`'s pipelines.
    ///
    /// ```
    /// use fusion::{Compiler, Source};
    ///
    /// let model = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    ///   %y = relay.relu %x : (tensor<3xf32>) -> tensor<3xf32>
    ///   return %y : tensor<3xf32>
    /// }";
    /// assert!(Compiler::new().module_text(Source::mlir(model), "te")?.contains("te.compute"));
    /// # Ok::<(), fusion::Error>(())
    /// ```
    pub fn module_text<'a>(&self, model: impl Into<Source<'a>>, stage: &str) -> Result<String, Error> {
        Ok(crate::stages::text(model, &self.options()?, stage)?)
    }

    /// The options for the layer below, with those that follow from others.
    pub fn options(&self) -> Result<CompileOptions, Error> {
        let CompileOptions { opt_level, fp_math, .. } = &self.options;
        if *opt_level > 3 {
            return Err(Error::Option(format!(
                "the levels of optimisation are 0 to 3, and {opt_level} is none"
            )));
        }
        if let Some(FpMath { level: Level::Strict, max_error: Some(error) }) = fp_math {
            return Err(Error::Option(format!(
                "strict arithmetic has no error to spend, and max_error gives it {error}; leave one of the two away"
            )));
        }
        if let Some(error) = fp_math.and_then(|fp| fp.max_error)
            && !(error > 0.0 && error.is_finite())
        {
            return Err(Error::Option(format!(
                "max_error is a number above 0, such as 1e-4, and {error} is none"
            )));
        }
        let (strategy, unfold) = (strategy_of(*opt_level), unfold_of(*opt_level));
        Ok(CompileOptions { strategy, unfold, ..self.options.clone() })
    }
}
