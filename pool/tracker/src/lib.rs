//! The tracker of a pool: devices register with it, and clients ask it for jobs.
//!
//! ```text
//!     listen      where, and who may come: certificates, tokens        gate     who it is that calls
//!     service     the calls                                             state    what they change: devices, jobs, objects
//!     scheduler   which job runs where
//! ```

pub mod gate;
pub mod listen;
pub mod scheduler;
mod service;
mod state;
pub mod tokens;

pub use listen::{Options, Tracker, TrackerError};
