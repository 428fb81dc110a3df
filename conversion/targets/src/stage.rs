//! A stage of the compiler: a pipeline with a name.
//!
//!     simplify    builtin.module(canonicalize,cse)

/// A stage: its name in dumps and timings, and the pipeline it runs.
#[derive(Debug)]
pub struct Stage {
    /// Name.
    pub name: &'static str,
    /// A textual pipeline anchored at `builtin.module`.
    pub pipeline: &'static str,
}

/// A stage of that name.
pub const fn stage(name: &'static str, pipeline: &'static str) -> Stage {
    Stage { name, pipeline }
}

/// What stands in a pipeline for modules.
pub fn inner_of(pipeline: &str) -> &str {
    pipeline.strip_prefix("builtin.module(").and_then(|p| p.strip_suffix(')')).unwrap_or(pipeline)
}
