//! Quantizes a model: fewer bits for weights and data, chosen by what the outputs lose.
//!
//! ```text
//!   model --annotate--> simulated edges --compile once--> probe --samples--> ranges, histograms
//!                            |                              ^
//!                            +------calibrate: scales-------+--levels of each layer--> loss     until the loss is small enough
//!                            |
//!                            +--> the same file with QuantizeLinear and DequantizeLinear, or realize: relay in MLIR
//! ```
//! The annotated program is the one source of what is quantized how. The probe runs it, the file is made of it.

mod levels;
mod loss;
mod outcome;
mod probe;
mod program;
mod report;
mod samples;
mod statistics;

use crate::compilation::CompileOptions;
use crate::driver::compile;
use crate::error::{Error, failed};
use crate::load::linked;
use crate::source::{Format, Source};
use fusion_dialects::run_passes;
use fusion_operators::Tensor;
pub use fusion_relay::quantize::method::{Method, PERCENTILE};
use fusion_relay::quantize::parameters::Numbers;
pub use levels::{Level, Point, Precision};
use loss::Judge;
pub use loss::Metric;
use probe::{Choice, Probe};
use program::Program;
pub use report::{LayerReport, Report};
use std::path::Path;

/// The form of what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An ONNX file: the model's own, changed.
    Onnx,
    /// Relay in MLIR.
    Mlir,
}

/// How to quantize.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How to compile what is run meanwhile.
    pub compile: CompileOptions,
    /// The numbers that are wanted.
    pub precision: Precision,
    /// Whether each channel of a weight has its own scale.
    pub by_channel: bool,
    /// How ranges are chosen.
    pub method: Method,
    /// The largest loss; layers stay in more bits until it is kept.
    pub max_loss: Option<f64>,
    /// How losses are measured.
    pub metric: Metric,
    /// The right classes of the samples, for [`Metric::Top1`].
    pub labels: Option<Vec<i64>>,
    /// What is written.
    pub form: Form,
    /// Threads that runs use; 0 for one a processor.
    pub threads: u16,
}

/// A quantized model.
pub struct Quantized {
    /// The file.
    pub bytes: Vec<u8>,
    /// What was found on the way.
    pub report: Report,
}

/// Quantizes a model by samples.
pub fn quantize(model: &Path, samples: &Path, settings: &Settings) -> Result<Quantized, Error> {
    let source = &Source::file(model);
    if settings.form == Form::Onnx && source.format() != Format::Onnx {
        return Err(Error::Quantize(format!(
            "{} is no ONNX file, which another is made of; give an output that ends in .mlir",
            model.display()
        )));
    }
    let ports = program::ports(source, &settings.compile)?;
    let samples = samples::read(samples, &ports)?;
    let mut options = settings.compile.clone();
    if source.format() == Format::Onnx {
        for (port, tensor) in ports.iter().zip(&samples[0]).filter(|(port, _)| port.ty.shape().is_none()) {
            let shape = tensor.shape().iter().map(|&n| (n as u64).into()).collect();
            options.shapes.insert(port.name.clone(), shape);
        }
    }
    let context = fusion_dialects::load_context();
    let program = Program::load(&context, source, &options)?;
    let probe = Probe::compile(&context, &program, &options)?;
    probe.set_threads(settings.threads);
    let floats: Vec<Choice> = program.edges.iter().map(|_| Choice::float()).collect();
    let (seen, expected) = statistics::collect(&probe, &samples, &floats)?;
    for ((edge, own), layer) in program.simulated()?.iter().zip(&seen).zip(layers_of(&program)) {
        let Some(own) = own else { continue };
        if !(own.range.0.is_finite() && own.range.1.is_finite()) {
            return Err(Error::Quantize(format!(
                "what {layer} reads goes from {} to {} on these samples, for which there is no scale; give samples on which the model's values \
                 are finite",
                own.range.0, own.range.1
            )));
        }
        edge.set_statistics(own.range, &own.histogram);
    }
    let judge = Judge { metric: settings.metric, expected, labels: settings.labels.clone() };
    judge.check()?;
    let choices = levels::Choices {
        int8: calibrated(&program, settings, 8)?,
        int4: match settings.precision {
            Precision::Int4Weights => calibrated(&program, settings, 4)?,
            Precision::Int8 => Vec::new(),
        },
    };
    let search =
        levels::Search { program: &program, probe: &probe, samples: &samples, judge: &judge, choices };
    let found = search.run(settings.precision, settings.max_loss)?;
    let chosen = search.choices_of(&found.levels);
    for (edge, choice) in program.simulated()?.iter().zip(&chosen) {
        edge.set_numbers(&choice.numbers)
            .and_then(|()| edge.set_parameters(&choice.parameters))
            .map_err(Error::Quantize)?;
    }
    let mut report = report::report(&program, &search, &found, &seen)?;
    let bytes = match settings.form {
        Form::Onnx => outcome::onnx(source, model, &program, &chosen)?,
        Form::Mlir => outcome::mlir(&program)?,
    };
    // What is written is judged, not only what was simulated.
    let written = match settings.form {
        Form::Onnx => Source::onnx(&bytes),
        Form::Mlir => Source::mlir(std::str::from_utf8(&bytes).map_err(failed)?),
    };
    let mut as_written = options.clone();
    as_written.passes.clear();
    if settings.form == Form::Mlir {
        as_written.shapes.clear();
        as_written.bound.clear();
    }
    let module = linked(&compile(written, &as_written)?)?;
    module.set_threads(settings.threads);
    let outputs: Vec<Vec<Tensor>> =
        samples.iter().map(|inputs| module.run(inputs)).collect::<Result<_, _>>()?;
    report.written = judge.loss(&outputs).loss;
    Ok(Quantized { bytes, report })
}

/// The name of the layer of each edge.
fn layers_of<'a>(program: &'a Program) -> impl Iterator<Item = &'a str> {
    program.layers.iter().flat_map(|layer| layer.edges.iter().map(|_| layer.name.as_str()))
}

/// What the pass chooses for each edge, with weights of so many bits.
fn calibrated(program: &Program, settings: &Settings, bits: u32) -> Result<Vec<Choice>, Error> {
    let edges = program.simulated()?;
    for (edge, _) in edges.iter().zip(&program.edges).filter(|(_, facts)| facts.constant) {
        let (least, most) = fusion_operators::quantization::WEIGHT.range(bits);
        edge.set_numbers(&Numbers { least, most }).map_err(Error::Quantize)?;
    }
    let percentile = match settings.method {
        Method::Percentile(percent) => percent,
        _ => PERCENTILE,
    };
    let pass = format!(
        "builtin.module(func.func(relay-quantize-calibrate{{method={} scheme={} percentile={percentile}}}))",
        settings.method.name(),
        if settings.by_channel { "per-channel" } else { "per-tensor" },
    );
    run_passes(&program.module, &pass).map_err(|errors| failed(errors.join("\n")))?;
    let choice = |edge: &fusion_relay::quantize::simulated::Simulated| {
        let numbers = edge.numbers().map_err(Error::Quantize)?;
        let missing = || Error::Quantize("an edge has no scale after calibration".to_owned());
        Ok(Choice { parameters: edge.parameters().ok_or_else(missing)?, numbers })
    };
    edges.iter().map(choice).collect()
}
