//! Asks a pool for jobs.
//!
//! ```text
//!     task     what is wanted: a job and its objects            outcome   what came of it
//!     ask      objects that are missing go up, then the job     checked   wrong numbers are tried elsewhere, and their device is judged
//! ```
//!
//! [`Client`] waits for all of that on the caller's thread.

mod ask;
mod checked;
mod client;
mod task;

pub use ask::{ClientError, ask};
pub use checked::{Checked, Judged, checked};
pub use client::Client;
pub use task::{Outcome, Task};
