//! Quantizing models.

use crate::{named, raised};
use fusion::Compiler;
use fusion::quantize::{Form, Method, Metric, Precision, Report, Settings, quantize as quantized};
use fusion_runtime::output::write;
use fusion_tools::commands::output::can_be_written;
use fusion_tools::failure::Failure;
use fusion_tools::report::html;
use fusion_tools::report::quantization::text;
use pyo3::prelude::*;
use serde_json::json;
use std::path::PathBuf;

/// Quantizes the model of a file by the samples of another. What is told of it: as text, as a page of HTML and as JSON.
#[pyfunction]
#[pyo3(signature = (model, samples, output, *, dtype, per_channel, method, percentile, max_loss, metric, labels, target, threads))]
#[allow(clippy::too_many_arguments)]
pub fn quantize(
    py: Python<'_>,
    model: PathBuf,
    samples: PathBuf,
    output: PathBuf,
    dtype: &str,
    per_channel: bool,
    method: &str,
    percentile: Option<f64>,
    max_loss: Option<f64>,
    metric: &str,
    labels: Option<Vec<i64>>,
    target: Option<&str>,
    threads: u16,
) -> PyResult<(String, String, String)> {
    let mut compiler = Compiler::new();
    if let Some(target) = target {
        compiler = compiler.target(target).map_err(raised)?;
    }
    let method = match (named("method", method, Method::ALL)?, percentile) {
        (Method::Percentile(_), Some(percent)) => Method::Percentile(percent),
        (method, _) => method,
    };
    let compile = compiler.options().map_err(raised)?;
    if compile.target.device().is_some() {
        return Err(raised(Failure::QuantizesOnProcessors(compile.target.name)));
    }
    can_be_written(&output).map_err(raised)?;
    let ending = output.extension().unwrap_or_default().to_string_lossy();
    let settings = Settings {
        compile,
        precision: named(
            "dtype",
            dtype,
            &[(Precision::Int8, "int8"), (Precision::Int4Weights, "int4-weights")],
        )?,
        by_channel: per_channel,
        method,
        max_loss,
        metric: named("metric", metric, Metric::ALL)?,
        labels,
        form: named("the ending of output", &ending, &[(Form::Onnx, "onnx"), (Form::Mlir, "mlir")])?,
        threads,
    };
    let made = py.detach(|| quantized(&model, &samples, &settings)).map_err(raised)?;
    write(&output, &made.bytes).map_err(|error| raised(Failure::file("write", &output)(error)))?;
    let title = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let page = html::quantization::page(&title, &made.report, settings.metric);
    let told = text(&made.report, settings.metric, max_loss);
    Ok((told, page, data(&made.report).to_string()))
}

fn data(report: &Report) -> serde_json::Value {
    let layers: Vec<_> = report
        .layers
        .iter()
        .map(|layer| {
            json!({
                "name": layer.name, "operator": layer.operator, "range": layer.range, "share": layer.share,
                "signal_to_noise_db": layer.signal_to_noise, "weights": layer.weights, "bytes": layer.bytes,
            })
        })
        .collect();
    json!({
        "loss": report.written, "simulated_loss": report.simulated, "bytes": report.bytes,
        "bytes_before": report.bytes_before, "layers": layers, "in_floats": report.left,
    })
}
