//! Why a profiler gives nothing.

/// Why a profiler gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// It is not there.
    #[error(
        "{program} is not in PATH; install {package}, or leave --profiler away: --profile times kernels without it"
    )]
    NotInstalled {
        /// The program.
        program: &'static str,
        /// What it comes with.
        package: &'static str,
    },
    /// It is for other devices.
    #[error(
        "--profiler {name} watches kernels of {kind}, and this model is for {target}; leave --profiler away"
    )]
    OtherDevice {
        /// The profiler.
        name: &'static str,
        /// Its devices.
        kind: &'static str,
        /// The model's target.
        target: String,
    },
    /// Kernels of a GPU run on a processor, which it does not see.
    #[error(
        "--profiler {name} watches kernels on a GPU, and with --emulate they run on this machine's processor; leave one of the two away"
    )]
    Emulated {
        /// The profiler.
        name: &'static str,
    },
    /// It did not end.
    #[error(
        "{program} did not end within {seconds} s and was ended; run it by itself on `fusion bench` of the library, or leave \
         --profiler away{}{said}",
        if said.is_empty() { "" } else { ". It said: " }
    )]
    TooLong {
        /// The program.
        program: &'static str,
        /// How long it was waited for.
        seconds: u64,
        /// The end of what it said.
        said: String,
    },
    /// It, or the run it watched, failed.
    #[error("{program} failed ({status}): {said}")]
    Failed {
        /// The program.
        program: &'static str,
        /// How it ended.
        status: String,
        /// The end of what it said.
        said: String,
    },
    /// What it wrote is not understood.
    #[error("what {program} wrote cannot be used: {why}")]
    Output {
        /// The program.
        program: &'static str,
        /// Why.
        why: String,
    },
}
