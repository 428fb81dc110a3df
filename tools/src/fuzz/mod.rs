//! Random graphs, compiled and compared with the reference semantics; what goes wrong is made small.
//!
//!     seed -> graph and inputs -> compiled, run -> beyond what rounding allows?  -> steps are left out for as long as it goes wrong
//!
//! Graphs are of `fusion_interpreter::random_graphs`: floats with few constants, or tensors of dynamic extents at several sizes.

mod shrink;

use fusion::driver::CompileOptions;
use fusion::load::Runnable;
use fusion_interpreter::random_graphs::{Graph, dynamic_graph, dynamic_inputs, graph, inputs};
use fusion_operators::random::Random;
use fusion_operators::{Tensor, ValueTree};
use std::path::Path;

pub use shrink::shrunk;

/// Extents of a graph's inputs: ones, sizes that vectors divide, and sizes that they do not.
pub const SIZES: [[u64; 2]; 5] = [[1, 1], [3, 5], [16, 8], [7, 33], [2, 1]];
/// Samples of inputs for a graph of known extents.
const SAMPLES: u64 = 4;

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

impl Case {
    /// The case of a seed, of dynamic extents or of known ones.
    pub fn of(seed: u64, dynamic: bool) -> Option<Case> {
        if dynamic {
            let graph = dynamic_graph(seed);
            let of_size = |(number, extents): (usize, [u64; 2])| {
                let named = [("n", extents[0]), ("m", extents[1])];
                dynamic_inputs(&graph, &named, seed ^ (number as u64) << 60)
            };
            let inputs = SIZES.into_iter().enumerate().map(of_size).collect();
            return Some(Case { graph, inputs });
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
            let found = run(&program, inputs);
            let how = self.difference(inputs, found)?;
            Some(Wrong { inputs: Some(number), how })
        })
    }

    /// How results differ from the reference; none where they are what rounding allows.
    fn difference(&self, inputs: &[Tensor], found: Result<Vec<Tensor>, String>) -> Option<String> {
        let expected = self.graph.run(inputs);
        let found = match (&expected, found) {
            (Err(_), Err(_)) => return None,
            (Err(why), Ok(_)) => return Some(format!("gives something, where it must fail: {why}")),
            (Ok(_), Err(why)) => return Some(format!("fails: {why}")),
            (Ok(expected), Ok(found)) if expected.len() != found.len() => {
                return Some(format!("gives {} results of {}", found.len(), expected.len()));
            }
            (Ok(_), Ok(found)) => found,
        };
        match self.graph.bounds(inputs) {
            Ok(bounds) => {
                let (number, how) = self.graph.wrong(&bounds, &found)?;
                Some(format!("result {number}: {how}"))
            }
            // Where there is no bound of rounding, results are near.
            Err(_) => expected.ok()?.iter().zip(&found).find_map(|(e, f)| far(f, e)),
        }
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
    let (found, expected) = (found.to_f64s(), expected.to_f64s());
    let most = expected.iter().filter(|x| x.is_finite()).fold(1.0f64, |most, x| most.max(x.abs()));
    let near = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-4 * most;
    let wrong = found.iter().zip(&expected).position(|(&a, &b)| !near(a, b))?;
    Some(format!("element {wrong} is {}, expected {}", found[wrong], expected[wrong]))
}

/// Seeds of cases, from a first one on: the same on every machine.
pub fn seeds(first: u64) -> impl Iterator<Item = u64> {
    let mut random = Random::new(first);
    std::iter::repeat_with(move || random.next_u64())
}
