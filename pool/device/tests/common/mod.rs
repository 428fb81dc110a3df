//! A tracker, devices and clients of one process.

use bytes::Bytes;
use fusion_pool_client::{Outcome, Task};
use fusion_pool_device::runner::Runner;
use fusion_pool_device::{Options, serve};
use fusion_pool_protocol::CHUNK_BYTES;
use fusion_pool_protocol::access::{Access, Connection, connect};
use fusion_pool_protocol::messages::{Given, OutputPart, PoolStatus, Register, StatusRequest, Work};
use fusion_pool_tracker::{Options as Listening, Tracker};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// An address of this machine, of any free port.
pub fn own() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

/// A tracker; gives its address.
pub async fn tracker(options: &Listening) -> String {
    let tracker = Tracker::bind(options).await.unwrap();
    let address = tracker.address().to_string();
    tokio::spawn(tracker.serve(std::future::pending()));
    address
}

pub async fn client(address: &str, name: &str) -> Connection {
    connect(address, name, &Access::default()).await.unwrap()
}

pub async fn status(address: &str) -> PoolStatus {
    client(address, "status").await.status(StatusRequest {}).await.unwrap().into_inner()
}

/// Waits until the pool is so.
pub async fn until(address: &str, is_so: impl Fn(&PoolStatus) -> bool) {
    for _ in 0..3000 {
        if is_so(&status(address).await) {
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("the pool never came to be so: {:?}", status(address).await);
}

/// How a device behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Good,
    Hangs,
    Crashes,
    Lies,
    Slow,
}

/// Gives each byte of the input, doubled.
pub struct Doubles(pub Kind);

impl Runner for Doubles {
    async fn run(&self, _: Work, objects: Vec<Bytes>, given: UnboundedSender<Given>) -> String {
        match self.0 {
            Kind::Hangs => std::future::pending().await,
            Kind::Crashes => panic!("a device crashes"),
            Kind::Slow => sleep(Duration::from_millis(15)).await,
            Kind::Good | Kind::Lies => sleep(Duration::from_millis(1)).await,
        }
        let wrong = u8::from(self.0 == Kind::Lies);
        let bytes: Vec<u8> = objects[1].iter().map(|byte| byte.wrapping_mul(2) + wrong).collect();
        for bytes in bytes.chunks(CHUNK_BYTES) {
            let bytes = bytes.to_vec().into();
            let _ = given.send(Given::Output(OutputPart { library: 0, output: 0, bytes }));
        }
        let _ = given.send(Given::Answer(Default::default()));
        String::new()
    }
}

fn options(address: &str, name: &str) -> Options {
    let says = Register {
        name: name.to_owned(),
        key: "k".to_owned(),
        target: "cpu".to_owned(),
        sandbox: String::new(),
    };
    Options { pool: address.to_owned(), access: Access::default(), says, store_bytes: 8 << 20 }
}

/// A device, until the task is aborted.
pub fn device_once(address: &str, name: &str, runner: impl Runner + Send + 'static) -> JoinHandle<()> {
    let options = options(address, name);
    tokio::spawn(async move { drop(serve(&options, &runner, |_| {}).await) })
}

/// A device that comes again whatever happens to it.
pub fn device(address: &str, name: &str, kind: Kind) {
    let (address, name) = (address.to_owned(), name.to_owned());
    tokio::spawn(async move {
        loop {
            let _ = device_once(&address, &name, Doubles(kind)).await;
            sleep(Duration::from_millis(5)).await;
        }
    });
}

/// A task that doubles some bytes.
pub fn task(bytes: &[u8]) -> Task {
    let work = Work {
        output_bytes: vec![bytes.len() as u64],
        timeout_ms: 100,
        wants_outputs: true,
        ..Work::default()
    };
    Task::new("k", &[Bytes::from_static(b"double")], &[Bytes::copy_from_slice(bytes)], work)
}

/// Whether its bytes are doubled.
pub fn is_doubled(outcome: &Outcome, bytes: &[u8]) -> Result<(), String> {
    let doubled: Vec<u8> = bytes.iter().map(|byte| byte.wrapping_mul(2)).collect();
    match outcome.outputs == [[doubled]] && outcome.answers == [Ok(vec![])] {
        true => Ok(()),
        false => Err(format!("{outcome:?}")),
    }
}
