//! What a pool of devices speaks: gRPC between clients, the tracker and devices.
//!
//! ```text
//!     client  --- Missing, Upload, Submit, Judge --->  tracker  <--- Serve (one stream, both ways) ---  device
//!             <-- Queued, Started, answers, outputs --           --- Assign, objects, Cancel --->
//! ```
//!
//! Only the tracker listens, so that devices may stand behind any router. Nothing here knows what a kernel computes: a job is shared
//! libraries, the bytes of inputs, and how large outputs are.

pub mod access;
pub mod check;
pub mod messages;
pub mod object;
pub mod store;

/// The client's and the server's side of the service.
#[allow(missing_docs)]
mod service {
    include!(concat!(env!("OUT_DIR"), "/fusion.pool.Pool.rs"));
}

pub use service::{pool_client, pool_server};

/// Bytes of an object or of an output that a message has at most.
pub const CHUNK_BYTES: usize = 1 << 20;
/// Bytes of a message at most.
pub const MESSAGE_BYTES: usize = 2 << 20;
