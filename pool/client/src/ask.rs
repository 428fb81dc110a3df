//! One task: the objects that the pool misses go up, then the job, and what it gives is put together.

use crate::task::{Outcome, Task};
use fusion_pool_protocol::access::{AccessError, Connection, reason};
use fusion_pool_protocol::messages::{Happened, Hashes};
use fusion_pool_protocol::object::{Hash, chunks};
use tonic::{Code, Status};

/// How often objects are sent again that the pool had no room for.
const TRIES: usize = 4;

/// Why a task has no outcome.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ClientError {
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error("the pool refuses: {}", .0.message())]
    Refused(Box<Status>),
    #[error("the connection to the pool is lost: {0}")]
    Lost(String),
    #[error("the pool ended a job without a word")]
    Silent,
    #[error("the pool cannot be talked to: {0}")]
    Runtime(std::io::Error),
}

impl ClientError {
    /// Whether there is no device for the job.
    pub fn is_without_device(&self) -> bool {
        matches!(self, ClientError::Refused(status) if matches!(status.code(), Code::NotFound | Code::Unavailable))
    }
}

impl From<Status> for ClientError {
    fn from(status: Status) -> ClientError {
        // What the transport says has a source; what the pool says has none.
        match std::error::Error::source(&status) {
            Some(source) => ClientError::Lost(reason(source)),
            None if status.message().is_empty() => ClientError::Lost(status.to_string()),
            None => ClientError::Refused(Box::new(status)),
        }
    }
}

/// Has a task done.
pub async fn ask(connection: &mut Connection, task: &Task) -> Result<Outcome, ClientError> {
    let work = task.job.work.clone().unwrap_or_default();
    for attempt in 1.. {
        send_missing(connection, task).await?;
        let mut events = match connection.submit(task.job.clone()).await {
            Ok(events) => events.into_inner(),
            Err(status) if status.code() == Code::FailedPrecondition && attempt < TRIES => continue,
            Err(status) => return Err(status.into()),
        };
        let mut outcome = Outcome::begin(0, String::new(), &work);
        while let Some(event) = events.message().await? {
            match event.happened {
                // What came from another device is void.
                Some(Happened::Started(started)) => {
                    outcome = Outcome::begin(event.job, started.device, &work)
                }
                Some(Happened::Answer(answer)) => outcome.answer(answer),
                Some(Happened::Output(part)) => outcome.output(&part),
                Some(Happened::Done(done)) => {
                    outcome.end(done, &work.output_bytes);
                    return Ok(outcome);
                }
                Some(Happened::Queued(_)) | None => {}
            }
        }
        return Err(ClientError::Silent);
    }
    Err(ClientError::Silent)
}

async fn send_missing(connection: &mut Connection, task: &Task) -> Result<(), ClientError> {
    let hashes = task.objects.keys().map(Hash::bytes).collect();
    let missing = connection.missing(Hashes { hashes }).await?.into_inner();
    for bytes in missing.hashes {
        let hash = Hash::read(&bytes).map_err(|why| ClientError::Lost(format!("it says nonsense: {why}")))?;
        if let Some(object) = task.objects.get(&hash) {
            connection.upload(tokio_stream::iter(chunks(hash, object.clone()).collect::<Vec<_>>())).await?;
        }
    }
    Ok(())
}
