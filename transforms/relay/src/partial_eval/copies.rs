//! The copies of functions that were made.

use indexmap::IndexMap;

/// The copies made so far.
#[derive(Default)]
pub struct Copies<'c> {
    /// Names by what they are copies of.
    pub names: IndexMap<String, String>,
    /// Copies whose bodies are being evaluated: the function, and its arguments' static parts.
    pub open: Vec<(usize, Vec<String>)>,
    lifetime: std::marker::PhantomData<&'c ()>,
}

impl Copies<'_> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.names.len()
    }
}
