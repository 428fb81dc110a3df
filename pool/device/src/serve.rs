//! A device that serves: it connects to its pool, and again when that is lost.

use crate::runner::Runner;
use crate::session::Session;
use fusion_pool_protocol::access::{Access, AccessError, connect, reason};
use fusion_pool_protocol::check;
use fusion_pool_protocol::messages::Register;
use fusion_pool_protocol::store::Store;
use std::time::Duration;
use tokio::time::sleep;
use tonic::{Code, Status};

/// What a device is, and where its pool is.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address of the tracker.
    pub pool: String,
    /// How it is let in.
    pub access: Access,
    /// What it says of itself.
    pub says: Register,
    /// Bytes of objects that it keeps.
    pub store_bytes: usize,
}

/// Why a device does not serve.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum DeviceError {
    #[error("{0}")]
    Options(String),
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error("the pool refuses this device: {0}")]
    Refused(String),
    #[error("cannot run jobs here: {0}")]
    Sandbox(String),
    #[error("cannot serve: {0}")]
    Runtime(std::io::Error),
}

const LEAST_PAUSE: Duration = Duration::from_millis(200);
const MOST_PAUSE: Duration = Duration::from_secs(10);

/// Serves until dropped, or until the pool refuses the device for good. What happens is told in sentences.
pub async fn serve(
    options: &Options,
    runner: &impl Runner,
    mut tell: impl FnMut(String),
) -> Result<(), DeviceError> {
    check::register(&options.says).map_err(DeviceError::Options)?;
    let mut store = Store::new(options.store_bytes);
    let mut pause = LEAST_PAUSE;
    loop {
        let address = &options.pool;
        match connect(address, &options.says.name, &options.access).await {
            Ok(mut connection) => {
                let mut is_in = false;
                let welcome = |set_aside: &str| {
                    is_in = true;
                    tell(match set_aside {
                        "" => format!("{} serves the pool at {address}", options.says.name),
                        why => format!(
                            "{} is in the pool at {address}, and gets no jobs: {why}",
                            options.says.name
                        ),
                    });
                };
                let ended =
                    Session::serve(&mut connection, options.says.clone(), runner, &mut store, welcome).await;
                if is_in {
                    pause = LEAST_PAUSE;
                }
                match ended {
                    Ok(()) => tell(format!("the pool at {address} ended the connection")),
                    Err(status) if is_final(&status) => {
                        return Err(DeviceError::Refused(status.message().to_owned()));
                    }
                    Err(status) => {
                        tell(format!("the connection to the pool at {address} is lost: {}", said(&status)))
                    }
                }
            }
            Err(why @ AccessError::Unreachable { .. }) => tell(why.to_string()),
            Err(why) => return Err(why.into()),
        }
        sleep(pause).await;
        pause = (2 * pause).min(MOST_PAUSE);
    }
}

/// Whether to come again is of no use.
fn is_final(status: &Status) -> bool {
    matches!(status.code(), Code::Unauthenticated | Code::PermissionDenied | Code::Unimplemented)
}

fn said(status: &Status) -> String {
    match std::error::Error::source(status) {
        Some(source) => reason(source),
        None => status.message().to_owned(),
    }
}
