//! Runs directories of ONNX backend tests through the importer and the reference evaluator.
//!
//!     cargo run --example onnx_backend -- [-v] [--unsupported FILE] DIRECTORY...
//!
//! A directory has `model.onnx` and `test_data_set_N/{input,output}_K.pb`, or it has such directories.
//! Prints the failures (with -v every test) and the counts. With a file that names what is not supported, a name a line, it is a failure
//! as well when another test is not supported, or one of those passes.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use fusion_importers::onnx::eager::Computed;
use fusion_importers::onnx::model::{read_sequence, read_tensor};
use fusion_importers::onnx::{LoadError, Model, Options, eager};
use fusion_operators::{Format, Tensor};

enum Verdict {
    Pass(Vec<String>),
    Unsupported(String),
    Fail(String),
}

fn main() {
    let mut verbose = false;
    let mut known: Option<BTreeSet<String>> = None;
    let mut tests = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-v" => verbose = true,
            "--unsupported" => {
                let path = arguments.next().unwrap_or_default();
                let names = fs::read_to_string(&path).unwrap_or_else(|error| {
                    eprintln!("cannot read the names of what is not supported from '{path}': {error}");
                    std::process::exit(2)
                });
                let names = names.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
                known = Some(names.map(str::to_owned).collect());
            }
            path => collect(Path::new(path), &mut tests),
        }
    }
    if tests.is_empty() {
        eprintln!("there are no backend tests in the directories given");
        std::process::exit(2);
    }
    std::panic::set_hook(Box::new(|_| {}));
    let (mut passed, mut unsupported, mut failed) = (0, 0, 0);
    for test in &tests {
        let name = test.file_name().unwrap_or_default().to_string_lossy();
        let verdict = catch_unwind(AssertUnwindSafe(|| run(test))).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            Verdict::Fail(format!("panic: {}", text.unwrap_or_default()))
        });
        let is_listed = known.as_ref().map(|known| known.contains(&*name));
        match verdict {
            Verdict::Pass(_) if is_listed == Some(true) => {
                failed += 1;
                println!("FAIL {name}: it passes, but is listed as not supported");
            }
            Verdict::Unsupported(why) if is_listed == Some(false) => {
                failed += 1;
                println!("FAIL {name}: it is not supported any more: {why}");
            }
            Verdict::Pass(specialized) => {
                passed += 1;
                if verbose {
                    println!("PASS {name} {}", specialized.join(","));
                }
            }
            Verdict::Unsupported(why) => {
                unsupported += 1;
                if verbose {
                    println!("UNSUPPORTED {name}: {why}");
                }
            }
            Verdict::Fail(why) => {
                failed += 1;
                println!("FAIL {name}: {why}");
            }
        }
    }
    println!("{} tests: {passed} passed, {unsupported} unsupported, {failed} failed", tests.len());
    if failed > 0 {
        std::process::exit(1);
    }
}

fn collect(path: &Path, tests: &mut Vec<PathBuf>) {
    if path.join("model.onnx").is_file() {
        tests.push(path.to_owned());
        return;
    }
    let mut inner: Vec<PathBuf> =
        fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect();
    inner.sort();
    for path in inner {
        collect(&path, tests);
    }
}

fn run(test: &Path) -> Verdict {
    let model = match Model::open(test.join("model.onnx")) {
        Ok(model) => model,
        Err(error) => return Verdict::Fail(error.to_string()),
    };
    let mut specialized = Vec::new();
    for set in 0.. {
        let data = test.join(format!("test_data_set_{set}"));
        if !data.is_dir() {
            break;
        }
        let mut options = Options::default();
        let mut values = Vec::new();
        for (i, port) in model.ports().0.iter().enumerate() {
            match input(&data.join(format!("input_{i}.pb")), port.is_tensor) {
                Ok(Some(Computed::Tensor(tensor))) => {
                    options.bound.insert(port.name.clone(), tensor.clone());
                    values.push(Computed::Tensor(tensor));
                }
                Ok(Some(Computed::List(list))) => {
                    // The rank of its elements, which the model need not state.
                    let shape = list.first().map(|t| t.shape().iter().map(|&n| (n as u64).into()).collect());
                    options.shapes.extend(shape.map(|shape| (port.name.clone(), shape)));
                    values.push(Computed::List(list));
                }
                Ok(None) => drop(options.absent.insert(port.name.clone())),
                Err(error) if error.is_unsupported() => return Verdict::Unsupported(error.to_string()),
                Err(error) => return Verdict::Fail(format!("input {i}: {error}")),
            }
        }
        let results = match eager::run_on(&model, &options, &values) {
            Ok(results) => results,
            Err(error) if error.is_unsupported() => return Verdict::Unsupported(error.to_string()),
            Err(error) => return Verdict::Fail(error.to_string()),
        };
        specialized.clear();
        for (i, (name, found)) in results.iter().enumerate() {
            let path = data.join(format!("output_{i}.pb"));
            let expected = match found.len() {
                1 => read_tensor(&path).map(|t| vec![t]).or_else(|_| read_sequence(&path)),
                _ => read_sequence(&path),
            };
            let expected = match expected {
                Ok(expected) => expected,
                Err(error) => return Verdict::Fail(format!("output {i}: {error}")),
            };
            if expected.len() != found.len() {
                return Verdict::Fail(format!(
                    "'{name}': {} elements, expected {}",
                    found.len(),
                    expected.len()
                ));
            }
            for (found, expected) in found.iter().zip(&expected) {
                if let Err(why) = close(found, expected)
                    && !model.freedom().allows(found, expected)
                {
                    return Verdict::Fail(format!("'{name}': {why}"));
                }
            }
        }
    }
    Verdict::Pass(specialized)
}

/// What a file holds; none where it is an optional value that is not there.
fn input(path: &Path, is_tensor: bool) -> Result<Option<Computed>, LoadError> {
    if !is_tensor {
        return Ok(Some(Computed::List(read_sequence(path)?)));
    }
    read_tensor(path).map(|tensor| Some(Computed::Tensor(tensor))).or_else(|error| {
        match read_sequence(path).map_err(|_| error)?.pop() {
            Some(tensor) => Ok(Some(Computed::Tensor(tensor))),
            None => Ok(None),
        }
    })
}

/// ONNX's own tolerances: 1e-3 relative and 1e-7 absolute, the latter of the greatest element where that
/// is above 1. Half types may be two units in the last place off.
fn close(found: &Tensor, expected: &Tensor) -> Result<(), String> {
    if found.tensor_type() != expected.tensor_type() {
        return Err(format!("{}, expected {}", found.tensor_type(), expected.tensor_type()));
    }
    if !found.dtype().is_float() {
        return match found == expected {
            true => Ok(()),
            false => Err(format!("{found:?}, expected {expected:?}")),
        };
    }
    let finite = |v: &f64| v.is_finite();
    let greatest = expected.to_f64s().into_iter().filter(finite).fold(1.0, |m: f64, v| m.max(v.abs()));
    for i in 0..found.len() {
        let (a, b) = (found.f64_at(i), expected.f64_at(i));
        let units = match Format::of(found.dtype()) {
            Some(format) if found.dtype().size() == 2 => 2.0 * format.unit_at(b),
            _ => 0.0,
        };
        let near = units.max(1e-7 * greatest + 1e-3 * b.abs());
        let same = a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= near;
        if !same {
            return Err(format!("element {i} is {a}, expected {b}"));
        }
    }
    Ok(())
}
