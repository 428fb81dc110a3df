//! Random graphs, compiled and compared with the reference semantics; what goes wrong is made small.
//!
//!     seed -> graph and inputs -> compiled, run -> beyond what rounding allows?  -> steps are left out for as long as it goes wrong
//!
//! Graphs are of `fusion_interpreter::random_graphs`: floats with few constants, tensors of dynamic extents at several sizes, or operators of all
//! families. Against a peer, a graph is written as a model of ONNX, which both compile and run; both are held to the reference semantics.

mod onnx;
mod peer;
mod shrink;

use crate::failure::Failure;
use fusion::driver::CompileOptions;
use fusion::load::Runnable;
use fusion_importers::onnx::export::has_form;
use fusion_interpreter::random_graphs::{
    Graph, broad_graph, broad_inputs, dynamic_graph, dynamic_inputs, graph, inputs,
};
use fusion_operators::random::Random;
use fusion_operators::rounding::unit_roundoff;
use fusion_operators::{DType, Operator, Tensor, ValueTree, ops};
use fusion_runtime::npz;
use std::path::{Path, PathBuf};

use peer::Answered;
pub use peer::Peer;
pub use shrink::shrunk;

/// Extents of a graph's inputs: ones, sizes that vectors divide, and sizes that they do not.
pub const SIZES: [[u64; 2]; 5] = [[1, 1], [3, 5], [16, 8], [7, 33], [2, 1]];
/// Samples of inputs for a graph of known extents.
const SAMPLES: u64 = 4;

/// Which graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Floats with few constants.
    Floats,
    /// Tensors of dynamic extents.
    Dynamic,
    /// Operators of all families on all element types, of which ONNX has a form.
    Broad,
}

/// A graph, and inputs that it is run on.
#[derive(Clone)]
pub struct Case {
    /// The graph.
    pub graph: Graph,
    /// One or more sets of inputs.
    pub inputs: Vec<Vec<Tensor>>,
}

/// What goes wrong: on which of the inputs, if on any, and how.
pub struct Wrong {
    /// The place of the inputs.
    pub inputs: Option<usize>,
    /// A sentence.
    pub how: String,
}

/// How a graph fares against a peer.
pub enum Verdict {
    /// Both give what they must.
    Right,
    /// One of them does not.
    Wrong(Wrong),
    /// ONNX or the peer has no such operator, or not of these types.
    NotRun(String),
}

impl Case {
    /// The case of a seed; graphs of all families are of these element types.
    pub fn of(seed: u64, kind: Kind, dtypes: &[DType]) -> Option<Case> {
        match kind {
            Kind::Dynamic => {
                let graph = dynamic_graph(seed);
                let of_size = |(number, extents): (usize, [u64; 2])| {
                    let named = [("n", extents[0]), ("m", extents[1])];
                    dynamic_inputs(&graph, &named, seed ^ (number as u64) << 60)
                };
                let inputs = SIZES.into_iter().enumerate().map(of_size).collect();
                return Some(Case { graph, inputs });
            }
            Kind::Broad => {
                let operators: Vec<&'static Operator> = ops::all().filter(|op| has_form(op)).collect();
                let (graph, first) = broad_graph(seed, &operators, dtypes)?;
                let others = (1..SAMPLES).filter_map(|sample| broad_inputs(&graph, seed ^ sample << 60));
                let inputs = std::iter::once(first).chain(others).collect();
                return Some(Case { graph, inputs });
            }
            Kind::Floats => {}
        }
        let graph = graph(seed);
        let sets = (0..SAMPLES).map(|sample| inputs(&graph.inputs(), seed ^ sample << 60));
        let inputs = sets.collect::<Option<_>>()?;
        Some(Case { graph, inputs })
    }

    /// What goes wrong when the graph is compiled and run; its text is written to a file of the folder.
    pub fn wrong(&self, folder: &Path, options: &CompileOptions) -> Option<Wrong> {
        let how = |how: String| Some(Wrong { inputs: None, how });
        let path = folder.join("graph.mlir");
        if let Err(error) = std::fs::write(&path, self.graph.text()) {
            return how(format!("{} cannot be written: {error}", path.display()));
        }
        let program = match Runnable::compile(path.as_path(), options) {
            Ok(program) => program,
            Err(error) => return how(error.to_string()),
        };
        self.inputs.iter().enumerate().find_map(|(number, inputs)| {
            let how = difference(&self.graph, inputs, run(&program, inputs))?;
            Some(Wrong { inputs: Some(number), how })
        })
    }

    /// What goes wrong when the graph is written as ONNX, and that compiled here and run by a peer.
    pub fn against(
        &self,
        folder: &Path,
        options: &CompileOptions,
        peer: &mut Peer,
    ) -> Result<Verdict, Failure> {
        let path = folder.join("graph.onnx");
        let mut last: Option<(Vec<u8>, Runnable)> = None;
        for (number, inputs) in self.inputs.iter().enumerate() {
            let wrong = |how: String| Ok(Verdict::Wrong(Wrong { inputs: Some(number), how }));
            // At other extents it is another model, and what it fails at is no model.
            let Some(graph) = self.graph.at(inputs).filter(|graph| graph.run(inputs).is_ok()) else {
                continue;
            };
            if graph.types.iter().any(|ty| ty.dtype == DType::BF16) {
                return Ok(Verdict::NotRun("arrays of NumPy have no bf16".to_owned()));
            }
            let model = match onnx::model(&graph) {
                Ok(model) => model,
                Err(why) => return Ok(Verdict::NotRun(why.to_string())),
            };
            std::fs::write(&path, &model).map_err(Failure::file("write", &path))?;
            match peer.run(&path, inputs, folder)? {
                Answered::Unsupported(why) => return Ok(Verdict::NotRun(why)),
                Answered::Failed(why) => return wrong(format!("ONNX Runtime fails: {why}")),
                Answered::Results(found) => {
                    if let Some(how) = difference(&graph, inputs, Ok(found)) {
                        return wrong(format!("ONNX Runtime: {how}"));
                    }
                }
            }
            let program = match last.take().filter(|(same, _)| *same == model) {
                Some((_, program)) => program,
                None => match Runnable::compile(path.as_path(), options) {
                    Ok(program) => program,
                    Err(error) => return wrong(format!("the model is not compiled: {error}")),
                },
            };
            if let Some(how) = difference(&graph, inputs, run(&program, inputs)) {
                return wrong(how);
            }
            last = Some((model, program));
        }
        Ok(Verdict::Right)
    }

    /// Writes the graph and the inputs it goes wrong on: as `NAME.mlir` with `NAME.npz`, and where ONNX has it, as the backend test `NAME`.
    pub fn write(&self, folder: &Path, name: &str, wrong: &Wrong) -> Result<PathBuf, Failure> {
        let file = |ending: &str| folder.join(format!("{name}.{ending}"));
        let path = file("mlir");
        std::fs::create_dir_all(folder).map_err(Failure::file("make", folder))?;
        std::fs::write(&path, self.graph.text()).map_err(Failure::file("write", &path))?;
        let Some(inputs) = wrong.inputs.or(Some(0)).and_then(|number| self.inputs.get(number)) else {
            return Ok(path);
        };
        // Arrays of NumPy have no bf16; the backend test has it.
        if inputs.iter().all(|input| input.dtype() != DType::BF16) {
            let names: Vec<String> = (0..inputs.len()).map(|number| format!("x{number}")).collect();
            npz::write(&file("npz"), names.iter().map(String::as_str).zip(inputs))?;
        }
        let Some(graph) = self.graph.at(inputs) else { return Ok(path) };
        if let (Ok(model), Ok(outputs)) = (onnx::model(&graph), graph.run(inputs)) {
            onnx::write(&folder.join(name), &model, inputs, &outputs)?;
        }
        Ok(path)
    }
}

/// How results differ from the reference; none where they are what rounding allows.
fn difference(graph: &Graph, inputs: &[Tensor], found: Result<Vec<Tensor>, String>) -> Option<String> {
    let expected = graph.run(inputs);
    let found = match (&expected, found) {
        (Err(_), Err(_)) => return None,
        (Err(why), Ok(_)) => return Some(format!("gives something, where it must fail: {why}")),
        (Ok(_), Err(why)) => return Some(format!("fails: {why}")),
        (Ok(expected), Ok(found)) if expected.len() != found.len() => {
            return Some(format!("gives {} results of {}", found.len(), expected.len()));
        }
        (Ok(_), Ok(found)) => found,
    };
    match graph.bounds(inputs) {
        Ok(bounds) => {
            let (number, how) = graph.wrong(&bounds, &found)?;
            Some(format!("result {number}: {how}"))
        }
        // Where there is no bound of rounding, results are near.
        Err(_) => expected.ok()?.iter().zip(&found).find_map(|(e, f)| far(f, e)),
    }
}

fn run(program: &Runnable, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
    match program {
        Runnable::Model(module) => module.run(inputs).map_err(|error| error.to_string()),
        Runnable::Program(program) => {
            let given: Vec<ValueTree> = inputs.iter().cloned().map(ValueTree::tensor).collect();
            let value = program.call(&given).map_err(|error| error.to_string())?;
            let named = fusion::programs::tensors_of(&value).map_err(|error| error.to_string())?;
            Ok(named.into_iter().map(|(_, tensor)| tensor).collect())
        }
    }
}

/// How a result differs; `None` where it is what is expected up to the order of sums.
pub fn far(found: &Tensor, expected: &Tensor) -> Option<String> {
    if found.shape() != expected.shape() {
        return Some(format!("shape {:?}, expected {:?}", found.shape(), expected.shape()));
    }
    if found.dtype() != expected.dtype() {
        return Some(format!("elements of {}, expected {}", found.dtype(), expected.dtype()));
    }
    let tolerance = match expected.dtype().is_float() {
        true => f64::max(1e-4, 16.0 * unit_roundoff(expected.dtype())),
        false => 0.0,
    };
    let (found, expected) = (found.to_f64s(), expected.to_f64s());
    let most = expected.iter().filter(|x| x.is_finite()).fold(1.0f64, |most, x| most.max(x.abs()));
    let near = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance * most;
    let wrong = found.iter().zip(&expected).position(|(&a, &b)| !near(a, b))?;
    Some(format!("element {wrong} is {}, expected {}", found[wrong], expected[wrong]))
}

/// Seeds of cases, from a first one on: the same on every machine.
pub fn seeds(first: u64) -> impl Iterator<Item = u64> {
    let mut random = Random::new(first);
    std::iter::repeat_with(move || random.next_u64())
}
