//! ONNX backend tests: finding cases, running one, and running many in processes of their own.

pub mod case;
pub mod pool;
pub mod worker;

use serde::{Deserialize, Serialize};

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", content = "why", rename_all = "lowercase")]
pub enum Verdict {
    /// The outputs are the ones expected.
    Pass,
    /// They are not, or there were none.
    Fail(String),
    /// The model uses something the compiler does not support.
    Unsupported(String),
}
