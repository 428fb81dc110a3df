//! Passes in Rust.
//!
//! A pass is a type with a name, an anchor, typed options, statistics and `run`. [`register`] puts it into
//! MLIR's registry: textual pipelines, `--help`, IR printing, timing and reproducers treat it as any other.
//! A panic inside `run` becomes a diagnostic and fails the pass.

use super::ffi::{FusionOption, FusionPass, FusionStatistic, fusionRegisterPass, fusionRegisterPipeline};
use super::ir::{Location, Op, OperationLike, emit_error};
use super::statistics::{self, StatisticSpec};
use mlir_sys::*;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why a pass failed: an error to show at a location.
#[derive(Debug)]
pub struct PassError<'c> {
    /// Where.
    pub location: Location<'c>,
    /// A full sentence.
    pub message: String,
}

impl<'c> PassError<'c> {
    /// An error at a location.
    pub fn new(location: Location<'c>, message: impl Into<String>) -> Self {
        PassError { location, message: message.into() }
    }

    /// An error at an operation, which the message names first.
    pub fn at(op: Op<'c>, message: impl std::fmt::Display) -> Self {
        use super::ir::OpExt;
        PassError { location: op.location(), message: format!("'{}' op {message}", op.full_name()) }
    }
}

/// The type of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum OptionKind {
    /// true or false
    Flag = 0,
    /// an integer
    Int = 1,
    /// text
    Text = 2,
}

/// An option of a pass, as `--help` shows it.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Name in a pipeline: `pass{name=value}`.
    pub name: &'static str,
    /// One sentence.
    pub description: &'static str,
    /// Type.
    pub kind: OptionKind,
    /// Value when it is not given.
    pub initial: &'static str,
}

/// The values of a pass's options, parsed by MLIR and read by name.
#[derive(Clone, Debug)]
pub struct Options {
    values: Vec<(&'static str, String)>,
}

impl Options {
    /// The defaults of a list of options.
    pub fn defaults(specs: &[OptionSpec]) -> Self {
        Options { values: specs.iter().map(|o| (o.name, o.initial.to_owned())).collect() }
    }

    /// The text of an option; empty when the pass declares none of that name.
    pub fn text(&self, name: &str) -> &str {
        self.values.iter().find(|(n, _)| *n == name).map_or("", |(_, v)| v)
    }

    /// A flag.
    pub fn flag(&self, name: &str) -> bool {
        self.text(name) == "true"
    }

    /// An integer.
    pub fn int(&self, name: &str) -> i64 {
        self.text(name).parse().unwrap_or(0)
    }
}

/// What a running pass may use: its options and statistics.
pub struct RunContext<'a> {
    /// Option values.
    pub options: Options,
    statistics: &'a mut [u64],
}

impl RunContext<'_> {
    /// Of a run that counts nothing.
    pub fn detached(options: Options) -> RunContext<'static> {
        RunContext { options, statistics: &mut [] }
    }

    /// Adds to the statistic of that place in the pass's list.
    pub fn count(&mut self, statistic: usize, by: u64) {
        if let Some(counter) = self.statistics.get_mut(statistic) {
            *counter += by;
        }
    }
}

/// A pass.
pub trait Pass: Sync + 'static {
    /// Name in pipelines and on the command line: dialect first, verb after.
    const NAME: &'static str;
    /// One sentence for `--help`.
    const DESCRIPTION: &'static str;
    /// The operation it runs on; `None` for any.
    const ANCHOR: Option<&'static str>;
    /// Options.
    const OPTIONS: &'static [OptionSpec] = &[];
    /// Statistics.
    const STATISTICS: &'static [StatisticSpec] = &[];
    /// Dialects whose operations it may create, beyond those of its input.
    const DIALECTS: &'static [&'static str] = &[];

    /// Transforms `op`.
    fn run<'c>(op: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>>;
}

/// A run of one of our passes, as who watches passes sees it.
pub struct PassRun<'a> {
    /// The pass.
    pub name: &'static str,
    /// Its options.
    pub options: &'a Options,
    specs: &'static [OptionSpec],
}

impl PassRun<'_> {
    /// The pass as a textual pipeline has it, with the options that are not as they are by default: `name{option=value}`.
    pub fn element(&self) -> String {
        let differs = |spec: &&OptionSpec| self.options.text(spec.name) != spec.initial;
        let given: Vec<String> = self
            .specs
            .iter()
            .filter(differs)
            .map(|spec| format!("{}={}", spec.name, self.options.text(spec.name)))
            .collect();
        if given.is_empty() { self.name.to_owned() } else { format!("{}{{{}}}", self.name, given.join(" ")) }
    }
}

/// Who watches our passes: runs each, and may look at the operation before and after.
///
/// Threads of MLIR run passes at the same time, unless the context is told otherwise.
pub trait Watch: Send + Sync {
    /// Calls `run`, which runs the pass on the operation, once; gives what it gives or an error of its own.
    fn around<'c>(
        &self,
        pass: &PassRun,
        op: Op<'c>,
        run: &mut dyn FnMut() -> Result<(), PassError<'c>>,
    ) -> Result<(), PassError<'c>>;
}

static WATCH: std::sync::OnceLock<Box<dyn Watch>> = std::sync::OnceLock::new();

/// Has all of our passes watched from now on; false where somebody watches already.
pub fn watch_passes(watch: Box<dyn Watch>) -> bool {
    WATCH.set(watch).is_ok()
}

type Run = for<'c> fn(Op<'c>, &mut RunContext) -> Result<(), PassError<'c>>;

/// What the shim hands back to find the Rust side of a pass.
struct Registered {
    name: &'static str,
    options: &'static [OptionSpec],
    dialects: &'static [&'static str],
    statistics: &'static [StatisticSpec],
    run: Run,
}

/// True the first time it is called with a name in this process.
fn first_time(name: &str) -> bool {
    static SEEN: std::sync::Mutex<std::collections::BTreeSet<String>> =
        std::sync::Mutex::new(std::collections::BTreeSet::new());
    SEEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(name.to_owned())
}

/// Puts a pass into MLIR's registry; once, however often it is called.
pub fn register<P: Pass>() {
    if !first_time(P::NAME) {
        return;
    }
    // Registered passes live as long as the process, as MLIR's registry does.
    let text = |s: &str| CString::new(s).expect("names have no NUL").into_raw().cast_const();
    let rust: &'static Registered = Box::leak(Box::new(Registered {
        name: P::NAME,
        options: P::OPTIONS,
        dialects: P::DIALECTS,
        statistics: P::STATISTICS,
        run: P::run,
    }));
    let options: Vec<FusionOption> = P::OPTIONS
        .iter()
        .map(|o| FusionOption {
            name: text(o.name),
            description: text(o.description),
            initial: text(o.initial),
            kind: o.kind as u32,
        })
        .collect();
    let statistics: Vec<FusionStatistic> = P::STATISTICS
        .iter()
        .map(|s| FusionStatistic { name: text(s.name), description: text(s.description) })
        .collect();
    let (options, statistics) = (options.leak(), statistics.leak());
    let pass = Box::leak(Box::new(FusionPass {
        rust: std::ptr::from_ref(rust).cast(),
        name: text(P::NAME),
        description: text(P::DESCRIPTION),
        anchor: P::ANCHOR.map_or(std::ptr::null(), text),
        options: options.as_ptr(),
        option_count: options.len(),
        statistics: statistics.as_ptr(),
        statistic_count: statistics.len(),
    }));
    // SAFETY: everything the description points to was leaked above.
    unsafe { fusionRegisterPass(pass) }
}

/// Names a textual pipeline, so that `--name` and `name` in pipelines stand for it.
pub fn register_pipeline(name: &str, description: &str, pipeline: &str) {
    if !first_time(name) {
        return;
    }
    let text = |s: &str| CString::new(s).expect("pipelines have no NUL").into_raw().cast_const();
    // SAFETY: the texts are leaked: MLIR keeps them.
    unsafe { fusionRegisterPipeline(text(name), text(description), text(pipeline)) }
}

#[unsafe(no_mangle)]
extern "C" fn fusionRustPassDialects(rust: *const c_void, registry: MlirDialectRegistry) {
    // SAFETY: the pointer is a `Registered` that `register` leaked; the registry outlives the call and is not ours to free.
    unsafe {
        let registered = &*rust.cast::<Registered>();
        for handle in registered.dialects.iter().filter_map(|name| dialect_handle(name)) {
            mlirDialectHandleInsertDialect(handle, registry);
        }
    }
}

fn dialect_handle(name: &str) -> Option<MlirDialectHandle> {
    // SAFETY: handles are constants.
    unsafe {
        Some(match name {
            "relay" => super::ffi::mlirGetDialectHandle__relay__(),
            "te" => super::ffi::mlirGetDialectHandle__te__(),
            "loop" => super::ffi::mlirGetDialectHandle__loop__(),
            "arith" => mlirGetDialectHandle__arith__(),
            "math" => mlirGetDialectHandle__math__(),
            "affine" => mlirGetDialectHandle__affine__(),
            "scf" => mlirGetDialectHandle__scf__(),
            "memref" => mlirGetDialectHandle__memref__(),
            "vector" => mlirGetDialectHandle__vector__(),
            "func" => mlirGetDialectHandle__func__(),
            "llvm" => mlirGetDialectHandle__llvm__(),
            "tensor" => mlirGetDialectHandle__tensor__(),
            "gpu" => mlirGetDialectHandle__gpu__(),
            "nvgpu" => mlirGetDialectHandle__nvgpu__(),
            "nvvm" => mlirGetDialectHandle__nvvm__(),
            "amdgpu" => mlirGetDialectHandle__amdgpu__(),
            "x86vector" => mlirGetDialectHandle__x86vector__(),
            _ => return None,
        })
    }
}

#[unsafe(no_mangle)]
extern "C" fn fusionRustPassRun(
    rust: *const c_void,
    op: MlirOperation,
    values: *const *const c_char,
    count: usize,
    statistics: *mut u64,
) -> bool {
    // SAFETY: the shim passes a leaked `Registered`, a live operation, `count` texts and one counter a statistic.
    let (registered, op, values) = unsafe {
        let registered = &*rust.cast::<Registered>();
        let values: Vec<String> =
            (0..count).map(|i| CStr::from_ptr(*values.add(i)).to_string_lossy().into_owned()).collect();
        (registered, Op::from_raw(op), values)
    };
    let mut counted = vec![0u64; registered.statistics.len()];
    let options = Options { values: registered.options.iter().map(|o| o.name).zip(values).collect() };
    let mut cx = RunContext { options: options.clone(), statistics: &mut counted };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut run = || (registered.run)(op, &mut cx);
        match WATCH.get() {
            None => run(),
            Some(watch) => {
                let pass = PassRun { name: registered.name, options: &options, specs: registered.options };
                watch.around(&pass, op, &mut run)
            }
        }
    }));
    statistics::add(registered.name, registered.statistics, &counted);
    if !statistics.is_null() {
        for (i, n) in counted.iter().enumerate().filter(|(_, n)| **n > 0) {
            // SAFETY: there is one counter a statistic the pass declares.
            unsafe { *statistics.add(i) = *n };
        }
    }
    match outcome {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            emit_error(error.location, &error.message);
            false
        }
        Err(panic) => {
            let why = panic.downcast_ref::<String>().cloned();
            let why =
                why.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default();
            emit_error(op.location(), &format!("internal error in pass {}: {why}", registered.name));
            false
        }
    }
}
