//! Why nothing can be measured.

use std::path::PathBuf;

/// Why nothing can be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// There is no place for libraries.
    #[error("cannot write to {}: {why}", path.display())]
    Scratch {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        why: std::io::Error,
    },
    /// The process cannot be started.
    #[error("cannot start {} to measure kernels: {why}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The system's reason.
        why: std::io::Error,
    },
    /// The pool refuses, or is gone.
    #[error(transparent)]
    Pool(#[from] fusion_pool_client::ClientError),
    /// What a kernel gives is not known, so that nothing can be compared with it.
    #[error("what the default of kernel {kernel} gives cannot be found out on this machine: {why}")]
    Reference {
        /// The kernel.
        kernel: String,
        /// The reason.
        why: String,
    },
}
