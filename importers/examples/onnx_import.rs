//! Prints the relay module of an ONNX model, or imports and verifies many.
//!
//!     cargo run --example onnx_import -- MODEL.onnx
//!     cargo run --example onnx_import -- --check DIRECTORY...

use std::fs;
use std::path::{Path, PathBuf};

use fusion_dialects::{OperationLike, load_context, with_diagnostics};
use fusion_importers::onnx::model::read_tensor;
use fusion_importers::onnx::{Model, Options, import_module};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|a| a == "--check") {
        std::process::exit(check(&arguments[1..]));
    }
    let context = load_context();
    for path in &arguments {
        let imported = Model::open(path)
            .map_err(|e| e.to_string())
            .and_then(|m| import_module(&context, &m, &Options::default()).map_err(|e| e.to_string()));
        match imported {
            Ok(program) => println!("{}", program.module.as_operation()),
            Err(error) => {
                eprintln!("{path}: {error}");
                std::process::exit(1);
            }
        }
    }
}

/// Imports every `model.onnx` below the directories with the values of its first test data set.
fn check(directories: &[String]) -> i32 {
    let mut models = Vec::new();
    directories.iter().for_each(|d| collect(Path::new(d), &mut models));
    let (mut good, mut unsupported, mut bad) = (0, 0, 0);
    for path in &models {
        let context = load_context();
        let outcome =
            Model::open(path.join("model.onnx")).map_err(|e| (false, e.to_string())).and_then(|model| {
                let mut options = Options::default();
                let inputs = model.graph().input.iter();
                let given: Vec<_> = model.graph().initializer.iter().map(|t| t.name.as_str()).collect();
                for (i, input) in inputs.filter(|i| !given.contains(&i.name.as_str())).enumerate() {
                    if let Ok(tensor) = read_tensor(&path.join(format!("test_data_set_0/input_{i}.pb"))) {
                        options.bound.insert(input.name.clone(), tensor);
                    }
                }
                let (valid, diagnostics) = with_diagnostics(&context, || {
                    let program = import_module(&context, &model, &options)?;
                    Ok(program.module.as_operation().verify())
                });
                match valid {
                    Ok(true) => Ok(()),
                    Ok(false) => Err((false, format!("does not verify: {}", diagnostics.join("; ")))),
                    Err(error) => {
                        let error: fusion_importers::onnx::ImportError = error;
                        Err((error.is_unsupported(), error.to_string()))
                    }
                }
            });
        match outcome {
            Ok(()) => good += 1,
            Err((true, _)) => unsupported += 1,
            Err((false, why)) => {
                bad += 1;
                println!("FAIL {}: {why}", path.display());
            }
        }
    }
    println!("{} models: {good} verify, {unsupported} unsupported, {bad} failed", models.len());
    i32::from(bad > 0)
}

fn collect(path: &Path, models: &mut Vec<PathBuf>) {
    if path.join("model.onnx").is_file() {
        models.push(path.to_owned());
        return;
    }
    let mut inner: Vec<PathBuf> =
        fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path()).collect();
    inner.retain(|p| p.is_dir());
    inner.sort();
    inner.iter().for_each(|p| collect(p, models));
}
