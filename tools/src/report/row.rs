//! What is known of a call of a kernel.

use super::launch::Launch;
use fusion_egraph::remarks::{KernelEntry, TensorEntry};
use fusion_machine::Factors;
use indexmap::IndexSet;
use serde::Serialize;

/// A call of a kernel.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The kernel's name; kernels that are the same share it.
    pub name: String,
    /// What its functions on a GPU are called, but for their numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Where the remarks have it: the block, and the place in the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<(usize, usize)>,
    /// The operators it is made of.
    pub operators: Vec<String>,
    /// The operations of the source that it stands for.
    pub sources: Vec<String>,
    /// The orders of the images it reads and writes, where one is another than models write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orders: Option<Orders>,
    /// The instruction that adds four of its products of bytes at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dot4: Option<String>,
    /// How often it runs, by the loops of known length that it is in, or 0 where that depends on the sizes; what follows is of one run.
    pub runs: u64,
    /// Arithmetic operations, when known.
    pub flops: Option<u64>,
    /// Bytes read and written, when known.
    pub bytes: Option<u64>,
    /// Seconds predicted on one core.
    pub predicted_s: Option<f64>,
    /// Seconds measured, of the kernel by itself.
    pub measured_s: Option<f64>,
    /// What the roof takes, as a part of what was measured.
    pub roofline: Option<f64>,
    /// What it launches on a GPU.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub launches: Vec<Launch>,
}

impl Row {
    /// What matrix instructions of its multiply, by what is known of its launches.
    pub fn multiplies_matrices(&self) -> Option<Factors> {
        self.launches.iter().find_map(Launch::multiplies_matrices)
    }
}

/// In which orders a kernel reads images and their weights, and in which it writes images, each once.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Orders {
    /// Of what it reads.
    pub reads: Vec<String>,
    /// Of what it writes.
    pub writes: Vec<String>,
}

impl Orders {
    /// None where all lie as models write them.
    pub fn of(entry: &KernelEntry) -> Option<Orders> {
        let each = |tensors: &[TensorEntry]| -> Vec<String> {
            let orders: IndexSet<&String> = tensors.iter().filter_map(|t| t.order.as_ref()).collect();
            orders.into_iter().cloned().collect()
        };
        let otherwise = entry.reads.iter().chain(&entry.writes).any(TensorEntry::lies_otherwise);
        otherwise.then(|| Orders { reads: each(&entry.reads), writes: each(&entry.writes) })
    }

    /// For people: `NHWC, OIHW -> NCHW`.
    pub fn text(&self) -> String {
        format!("{} -> {}", self.reads.join(", "), self.writes.join(", "))
    }
}
