//! What is wanted, and what came of it.

use bytes::Bytes;
use fusion_pool_protocol::messages::{Answer, Done, Job, OutputPart, Work};
use fusion_pool_protocol::object::Hash;
use std::collections::HashMap;

/// A job, with the objects that it names.
#[derive(Clone, Debug)]
pub struct Task {
    /// The job.
    pub job: Job,
    /// Its objects.
    pub objects: HashMap<Hash, Bytes>,
}

impl Task {
    /// Work on libraries and inputs for a device of this key; the work's own hashes are set here.
    pub fn new(key: &str, libraries: &[Bytes], inputs: &[Bytes], work: Work) -> Task {
        let hashes = |objects: &[Bytes]| objects.iter().map(|object| Hash::of(object).bytes()).collect();
        let work = Work { libraries: hashes(libraries), inputs: hashes(inputs), ..work };
        let objects =
            libraries.iter().chain(inputs).map(|object| (Hash::of(object), object.clone())).collect();
        Task { job: Job { key: key.to_owned(), work: Some(work), ..Job::default() }, objects }
    }
}

/// What came of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The number of the job.
    pub job: u64,
    /// The device that it ran on.
    pub device: String,
    /// Samples of each library in picoseconds, or why there are none.
    pub answers: Vec<Result<Vec<u64>, String>>,
    /// The outputs of each library, where they were wanted and it gave some.
    pub outputs: Vec<Vec<Vec<u8>>>,
}

impl Outcome {
    /// Of a task that begins on a device.
    pub fn begin(job: u64, device: String, work: &Work) -> Outcome {
        let unanswered = || Err("it gave no answer".to_owned());
        let outputs = if work.wants_outputs { work.output_bytes.len() } else { 0 };
        Outcome {
            job,
            device,
            answers: work.libraries.iter().map(|_| unanswered()).collect(),
            outputs: work.libraries.iter().map(|_| vec![Vec::new(); outputs]).collect(),
        }
    }

    /// Takes an answer.
    pub fn answer(&mut self, answer: Answer) {
        if let Some(place) = self.answers.get_mut(answer.library as usize) {
            *place = if answer.error.is_empty() { Ok(answer.times_ps) } else { Err(answer.error) };
        }
    }

    /// Takes a part of an output.
    pub fn output(&mut self, part: &OutputPart) {
        let outputs = self.outputs.get_mut(part.library as usize);
        if let Some(output) = outputs.and_then(|outputs| outputs.get_mut(part.output as usize)) {
            output.extend_from_slice(&part.bytes);
        }
    }

    /// Ends. What was not answered fails with what the whole failed with.
    pub fn end(&mut self, done: Done, output_bytes: &[u64]) {
        for (answer, outputs) in self.answers.iter_mut().zip(&mut self.outputs) {
            let is_whole =
                outputs.iter().zip(output_bytes).all(|(output, bytes)| output.len() as u64 == *bytes);
            if !done.failure.is_empty() && answer.is_err() {
                *answer = Err(done.failure.clone());
            } else if answer.is_ok() && !is_whole {
                *answer = Err("some of its output is missing".to_owned());
            }
        }
    }
}
