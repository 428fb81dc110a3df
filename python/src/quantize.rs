//! Quantizing models.

use crate::raised;
use fusion::Compiler;
use fusion::quantize::{Form, Method, Metric, Precision, Report, Settings, quantize as quantized};
use fusion_tools::report::html;
use fusion_tools::report::quantization::text;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use std::path::PathBuf;

/// The quantized model, and what is told of it: as text, as a page of HTML and as JSON.
type Told<'py> = (Bound<'py, PyBytes>, String, String, String);

fn named<T: Copy>(what: &str, name: &str, all: &[(T, &'static str)]) -> PyResult<T> {
    all.iter().find(|(_, known)| *known == name).map(|(value, _)| *value).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|(_, known)| *known).collect();
        PyValueError::new_err(format!("{what} is {name:?}, and one of {} is expected", known.join(", ")))
    })
}

/// Quantizes the model of a file by the samples of another, for a file of the given ending.
#[pyfunction]
#[pyo3(signature = (model, samples, ending, *, dtype, per_channel, method, percentile, max_loss, metric, labels, target, threads))]
#[allow(clippy::too_many_arguments)]
pub fn quantize<'py>(
    py: Python<'py>,
    model: PathBuf,
    samples: PathBuf,
    ending: &str,
    dtype: &str,
    per_channel: bool,
    method: &str,
    percentile: Option<f64>,
    max_loss: Option<f64>,
    metric: &str,
    labels: Option<Vec<i64>>,
    target: Option<&str>,
    threads: u16,
) -> PyResult<Told<'py>> {
    let mut compiler = Compiler::new();
    if let Some(target) = target {
        compiler = compiler.target(target).map_err(raised)?;
    }
    let method = match (named("method", method, Method::ALL)?, percentile) {
        (Method::Percentile(_), Some(percent)) => Method::Percentile(percent),
        (method, _) => method,
    };
    let settings = Settings {
        compile: compiler.options().map_err(raised)?,
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
        form: named("the ending", ending, &[(Form::Onnx, ".onnx"), (Form::Mlir, ".mlir")])?,
        threads,
    };
    let made = py.detach(|| quantized(&model, &samples, &settings)).map_err(raised)?;
    let title = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let page = html::quantization::page(&title, &made.report, settings.metric);
    let told = text(&made.report, settings.metric, max_loss);
    Ok((PyBytes::new(py, &made.bytes), told, page, data(&made.report).to_string()))
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
