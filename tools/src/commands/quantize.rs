//! `fusion quantize`: a model of fewer bits, chosen by what its outputs lose.

use super::options::Options;
use super::output::can_be_written;
use crate::failure::Failure;
use crate::print;
use crate::report::html;
use crate::report::quantization::text;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use fusion::quantize::{Form, Method, Metric, PERCENTILE, Precision, Settings, quantize};
use fusion_runtime::{npz, output};
use std::path::{Path, PathBuf};

/// Quantize a model to 8 bits, or its weights to 4, by samples of its inputs.
///
/// An ONNX model stays its own file, with QuantizeLinear and DequantizeLinear where a layer is quantized; ONNX Runtime and others run it. Ranges are those
/// that the model has on the samples (see docs/how-to/quantize.md).
#[derive(Debug, Args)]
pub struct Quantize {
    /// The model: .onnx, .relay or .mlir.
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Samples of the inputs: a .npz or .npy file whose arrays count samples along their first axis, or a folder with a file for each run.
    #[arg(long, value_name = "FILE.npz|DIR")]
    data: PathBuf,

    /// Where to write the quantized model: .onnx, or .mlir for relay.
    #[arg(short, long, value_name = "FILE.onnx|FILE.mlir")]
    output: PathBuf,

    /// The numbers: data and weights of 8 bits, or weights of 4 bits and data in floats.
    #[arg(long, value_name = "NUMBERS", value_enum, default_value = "int8")]
    dtype: Numbers,

    /// One scale for a weight, or one for each channel of its results.
    #[arg(long, value_name = "SCHEME", value_enum, default_value = "per-channel")]
    scheme: Scheme,

    /// How ranges are chosen from what was seen.
    #[arg(long, value_name = "METHOD", default_value = "max", value_parser = named(Method::ALL))]
    method: Method,

    /// Per cent of the elements that --method percentile keeps in range.
    #[arg(long, value_name = "PER CENT", value_parser = percentile)]
    percentile: Option<f64>,

    /// The largest loss, such as 1% or 0.01: layers get more bits, up to floats, until it is kept.
    #[arg(long, value_name = "LOSS", value_parser = loss)]
    max_loss: Option<f64>,

    /// How the loss is measured: 1 less the cosine of the outputs with those in floats, the square of the difference as a part of that of the outputs, or
    /// the part of the samples whose largest output is another one (with --labels: how much less is right).
    #[arg(long, value_name = "METRIC", default_value = "cosine", value_parser = named(Metric::ALL))]
    metric: Metric,

    /// The right classes of the samples in order, for --metric top1.
    #[arg(long, value_name = "FILE.npy")]
    labels: Option<PathBuf>,

    /// Write the report as a page for the browser as well.
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,

    /// Threads to run on; 0 for one a processor.
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: u16,

    #[command(flatten)]
    options: Options,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Numbers {
    /// Data and weights of 8 bits.
    Int8,
    /// Weights of 4 bits, data in floats.
    #[value(name = "int4-weights")]
    Int4Weights,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Scheme {
    /// One scale.
    PerTensor,
    /// A scale for each channel.
    PerChannel,
}

fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [(T, &'static str)],
) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(all.iter().map(|(_, name)| *name));
    names.map(|name| all.iter().find(|(_, known)| *known == name).map_or(all[0].0, |(value, _)| *value))
}

fn loss(text: &str) -> Result<f64, String> {
    let (digits, unit) = match text.strip_suffix('%') {
        Some(digits) => (digits, 100.0),
        None => (text, 1.0),
    };
    let number = digits.trim().parse().ok().filter(|loss: &f64| *loss >= 0.0 && loss.is_finite());
    number
        .map(|loss| loss / unit)
        .ok_or_else(|| format!("a loss is a number from 0 on, such as 1% or 0.01, and {text:?} is none"))
}

fn percentile(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|percent: &f64| *percent > 0.0 && *percent <= 100.0);
    number.ok_or_else(|| format!("it is a number above 0 and up to 100, such as 99.99, and {text:?} is none"))
}

impl Quantize {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        self.options.fit(&self.model)?;
        let compile = self.options.resolve()?;
        if compile.target.device().is_some() {
            return Err(Failure::QuantizesOnProcessors(compile.target.name.clone()));
        }
        let form = match self.output.extension().and_then(|e| e.to_str()) {
            Some("onnx") => Form::Onnx,
            Some("mlir") => Form::Mlir,
            _ => return Err(Failure::QuantizedForm(self.output.clone())),
        };
        // Before all the work, not after it.
        can_be_written(&self.output)?;
        self.html.as_deref().map(can_be_written).transpose()?;
        if self.labels.is_some() && self.metric != Metric::Top1 {
            return Err(Failure::Labels(self.metric.name()));
        }
        let method = match (self.method, self.percentile) {
            (Method::Percentile(_), percent) => Method::Percentile(percent.unwrap_or(PERCENTILE)),
            (method, None) => method,
            (method, Some(_)) => return Err(Failure::Percentile(method.name())),
        };
        let settings = Settings {
            compile,
            precision: match self.dtype {
                Numbers::Int8 => Precision::Int8,
                Numbers::Int4Weights => Precision::Int4Weights,
            },
            by_channel: self.scheme == Scheme::PerChannel,
            method,
            max_loss: self.max_loss,
            metric: self.metric,
            labels: self.labels.as_deref().map(labels).transpose()?,
            form,
            threads: self.threads,
        };
        let quantized = quantize(&self.model, &self.data, &settings)?;
        output::write(&self.output, &quantized.bytes).map_err(Failure::file("write", &self.output))?;
        let title = self.model.display().to_string();
        if let Some(path) = &self.html {
            let page = html::quantization::page(&title, &quantized.report, self.metric);
            output::write(path, page.as_bytes()).map_err(Failure::file("write", path))?;
        }
        print::line(text(&quantized.report, self.metric, self.max_loss))
    }
}

/// Classes from a file.
fn labels(path: &Path) -> Result<Vec<i64>, Failure> {
    let tensors = npz::read(path)?;
    let found = tensors.len();
    match tensors.into_values().next().filter(|tensor| found == 1 && tensor.dtype().is_int()) {
        Some(tensor) => Ok(tensor.to_ints().into_iter().map(|n| n as i64).collect()),
        None => Err(Failure::Inputs(format!(
            "{} holds no single array of integers, which labels are",
            path.display()
        ))),
    }
}
