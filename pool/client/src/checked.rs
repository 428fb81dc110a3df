//! A task whose numbers are compared with what they should be. Where they are wrong, either the library is wrong or the device: another device of
//! the key tells.
//!
//! ```text
//!     wrong here, right there                    the device here gave wrong numbers, and is judged
//!     wrong here, wrong there, or no other       the library gives wrong numbers
//!     of a library that is known to be right     the device gave wrong numbers, and is judged
//! ```

use crate::ask::{ClientError, ask};
use crate::task::{Outcome, Task};
use fusion_pool_protocol::access::Connection;
use fusion_pool_protocol::messages::Verdict;

/// How numbers are judged.
#[derive(Clone, Copy)]
pub struct Checked<'a> {
    /// Why the numbers of an outcome are wrong.
    pub check: &'a (dyn Fn(&Outcome) -> Result<(), String> + Sync),
    /// Whether the libraries are known to be right.
    pub is_known: bool,
}

/// What came of a task, and the sentence where its numbers are wrong.
pub type Judged = (Outcome, Result<(), String>);

/// Has a task done; with the sentence where its numbers are wrong wherever it was tried.
pub async fn checked(
    connection: &mut Connection,
    mut task: Task,
    how: Checked<'_>,
) -> Result<Judged, ClientError> {
    let mut suspects: Vec<(Outcome, String)> = Vec::new();
    loop {
        let outcome = match ask(connection, &task).await {
            Ok(outcome) => outcome,
            Err(why) if why.is_without_device() && !suspects.is_empty() => {
                let (outcome, wrong) = suspects.swap_remove(0);
                return Ok((outcome, Err(wrong)));
            }
            Err(why) => return Err(why),
        };
        match (how.check)(&outcome) {
            Ok(()) => {
                for (suspect, _) in suspects.iter().filter(|_| !how.is_known) {
                    judge(connection, suspect.job).await?;
                }
                return Ok((outcome, Ok(())));
            }
            Err(wrong) => {
                if how.is_known {
                    judge(connection, outcome.job).await?;
                } else if !suspects.is_empty() {
                    return Ok((outcome, Err(wrong)));
                }
                task.job.not_on.push(outcome.device.clone());
                // Until it is known who is wrong, the device may go on giving wrong numbers.
                task.job.priority = task.job.priority.saturating_add(1);
                suspects.push((outcome, wrong));
            }
        }
    }
}

async fn judge(connection: &mut Connection, job: u64) -> Result<(), ClientError> {
    connection.judge(Verdict { job }).await?;
    Ok(())
}
