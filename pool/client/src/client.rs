//! A client that waits on the caller's thread.

use crate::ask::ClientError;
use crate::checked::{Checked, Judged, checked};
use crate::task::Task;
use fusion_pool_protocol::access::{self, Access, Connection};
use fusion_pool_protocol::messages::{DeviceName, PoolStatus, StatusRequest};
use tokio::runtime::{Builder, Runtime};

/// A client.
pub struct Client {
    runtime: Runtime,
    connection: Connection,
}

impl Client {
    /// Connects to the pool at an address, as someone of this name.
    pub fn connect(address: &str, name: &str, access: &Access) -> Result<Client, ClientError> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(ClientError::Runtime)?;
        let connection = runtime.block_on(access::connect(address, name, access))?;
        Ok(Client { runtime, connection })
    }

    /// What the pool has.
    pub fn status(&self) -> Result<PoolStatus, ClientError> {
        let mut connection = self.connection.clone();
        Ok(self.runtime.block_on(connection.status(StatusRequest {}))?.into_inner())
    }

    /// Has the pool forget what it holds against a device.
    pub fn readmit(&self, name: &str) -> Result<(), ClientError> {
        let mut connection = self.connection.clone();
        self.runtime.block_on(connection.readmit(DeviceName { name: name.to_owned() }))?;
        Ok(())
    }

    /// Has tasks done, at a time as far as there are devices; each with the sentence where its numbers are wrong. The outcomes are in the order of
    /// the tasks.
    pub fn run(&self, tasks: Vec<Task>, how: Checked<'_>) -> Vec<Result<Judged, ClientError>> {
        self.runtime.block_on(async {
            let all = tasks.into_iter().map(|task| {
                let mut connection = self.connection.clone();
                async move { checked(&mut connection, task, how).await }
            });
            together(all).await
        })
    }
}

/// Waits for all futures, on this thread.
async fn together<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        let mut is_done = true;
        for (future, output) in waiting.iter_mut().filter(|(_, output)| output.is_none()) {
            match future.as_mut().poll(context) {
                std::task::Poll::Ready(value) => *output = Some(value),
                std::task::Poll::Pending => is_done = false,
            }
        }
        if is_done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    waiting.into_iter().filter_map(|(_, output)| output).collect()
}
