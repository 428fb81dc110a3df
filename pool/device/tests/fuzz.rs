//! Messages that are none: whatever comes, nothing panics, nothing hangs, and the pool serves the next one.

use crate::child::library;
use crate::common::*;
use bytes::{Buf, BufMut};
use fusion_pool_client::ask;
use fusion_pool_device::child::{Image, text_of};
use fusion_pool_protocol::messages::*;
use fusion_pool_protocol::object::Hash;
use fusion_pool_tracker::Options;
use prost::Message;
use prost::encoding::{DecodeContext, WireType};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tonic::client::Grpc;
use tonic::transport::Endpoint;
use tonic_prost::ProstCodec;

/// Numbers of Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }

    /// The bytes with some of them changed, cut off, or others put in.
    fn spoil(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut spoiled = bytes.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(spoiled.len());
            match self.below(4) {
                0 => spoiled.truncate(at),
                1 => spoiled.insert(at, self.next() as u8),
                _ if spoiled.is_empty() => spoiled.push(self.next() as u8),
                _ => spoiled[at] = if self.below(2) == 0 { self.next() as u8 } else { 0xff },
            }
        }
        spoiled
    }
}

/// Bytes in the place of a message.
#[derive(Clone, Debug, Default)]
struct Raw(Vec<u8>);

impl Message for Raw {
    fn encode_raw(&self, buffer: &mut impl BufMut) {
        buffer.put_slice(&self.0);
    }

    fn merge_field(
        &mut self,
        _: u32,
        _: WireType,
        _: &mut impl Buf,
        _: DecodeContext,
    ) -> Result<(), prost::DecodeError> {
        Ok(())
    }

    fn encoded_len(&self) -> usize {
        self.0.len()
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// Messages that are some.
fn good(random: &mut Random) -> Vec<FromDevice> {
    let says = |says| FromDevice { says: Some(says) };
    let job = random.next() % 4;
    let part = |given| says(DeviceSays::Part(Part { job, given: Some(given) }));
    let register = Register {
        name: "x".to_owned(),
        key: "k".to_owned(),
        target: "cpu".to_owned(),
        sandbox: String::new(),
    };
    vec![
        says(DeviceSays::Register(register)),
        says(DeviceSays::Want(Hash::of(b"double").bytes())),
        part(Given::Answer(Answer { library: 0, times_ps: vec![1, 2], error: "no".to_owned() })),
        part(Given::Output(OutputPart { library: 0, output: 0, bytes: vec![1; 9].into() })),
        part(Given::Done(Done { failure: String::new() })),
    ]
}

async fn raw(address: &str) -> Grpc<tonic::transport::Channel> {
    let channel = Endpoint::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap();
    let mut grpc = Grpc::new(channel);
    grpc.ready().await.unwrap();
    grpc
}

/// Panics in what is tested; those of the tests' own devices are meant.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn watch_panics() {
    static WATCHES: Once = Once::new();
    WATCHES.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if panic.location().is_some_and(|place| !place.file().contains("tests/common")) {
                PANICS.lock().unwrap_or_else(PoisonError::into_inner).push(panic.to_string());
            }
            usual(panic);
        }));
    });
}

/// A pool with a device that does what it should.
async fn pool() -> String {
    watch_panics();
    let address = tracker(&Options { grace: Duration::from_millis(200), ..Options::on(own()) }).await;
    device(&address, "good", Kind::Good);
    until(&address, |status| status.devices.len() == 1).await;
    address
}

/// Whether the pool still does what it should.
async fn serves(address: &str) {
    let mut connection = client(address, "after").await;
    let mut task = task(&[5]);
    // Devices that say nonsense may have come for good.
    task.job.not_on = (0..8).map(|n| format!("bad{n}")).chain(["x".to_owned()]).collect();
    let outcome = timeout(Duration::from_secs(30), ask(&mut connection, &task)).await.unwrap().unwrap();
    is_doubled(&outcome, &[5]).unwrap();
    let panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(panics.is_empty(), "{panics:?}");
}

#[test]
fn bytes_that_are_no_messages_are_errors() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..20_000 {
        let messages = good(&mut random);
        let whole = messages[random.below(messages.len())].encode_to_vec();
        let bytes = match round % 2 {
            0 => random.spoil(&whole),
            _ => (0..random.below(64)).map(|_| random.next() as u8).collect(),
        };
        if let Ok(FromDevice { says: Some(DeviceSays::Register(says)) }) =
            FromDevice::decode(bytes.as_slice())
        {
            let _ = fusion_pool_protocol::check::register(&says);
        }
        if let Ok(job) = Job::decode(bytes.as_slice()) {
            let _ = fusion_pool_protocol::check::job(&job);
        }
        let _ = (
            ToDevice::decode(bytes.as_slice()),
            Event::decode(bytes.as_slice()),
            Part::decode(bytes.as_slice()),
        );
    }
}

#[tokio::test]
async fn a_pool_outlives_devices_that_say_nonsense() {
    let address = pool().await;
    let mut random = Random(7);
    for round in 0..60 {
        let mut messages = good(&mut random);
        let says = Register {
            name: format!("bad{}", round % 8),
            key: "k".to_owned(),
            target: "cpu".to_owned(),
            sandbox: String::new(),
        };
        messages[0] = FromDevice { says: Some(DeviceSays::Register(says)) };
        let count = random.below(6);
        let mut said = vec![Raw(messages[0].encode_to_vec())];
        for _ in 0..count {
            let bytes = messages[random.below(messages.len())].encode_to_vec();
            said.push(Raw(if random.below(2) == 0 { bytes } else { random.spoil(&bytes) }));
        }
        if round % 3 == 0 {
            said[0].0 = random.spoil(&said[0].0);
        }
        let mut grpc = raw(&address).await;
        let path = "/fusion.pool.Pool/Serve".parse().unwrap();
        let codec = ProstCodec::<Raw, ToDevice>::default();
        let talk = async {
            if let Ok(answer) =
                grpc.streaming(tonic::Request::new(tokio_stream::iter(said)), path, codec).await
            {
                let mut answer = answer.into_inner();
                while let Ok(Some(_)) = answer.message().await {}
            }
        };
        assert!(timeout(Duration::from_secs(30), talk).await.is_ok(), "round {round} hangs");
    }
    serves(&address).await;
}

#[tokio::test]
async fn a_pool_outlives_clients_that_say_nonsense() {
    let address = pool().await;
    let mut random = Random(11);
    let task = task(&[1, 2, 3]);
    let chunk = Chunk { hash: Hash::of(b"double").bytes(), total: 6, bytes: b"double".as_slice().into() };
    for round in 0..150 {
        let (method, good) = match round % 5 {
            0 => ("Submit", task.job.encode_to_vec()),
            1 => ("Upload", chunk.encode_to_vec()),
            2 => ("Missing", Hashes { hashes: vec![chunk.hash.clone()] }.encode_to_vec()),
            3 => ("Judge", Verdict { job: random.next() % 9 }.encode_to_vec()),
            _ => ("Nothing", b"hello".to_vec()),
        };
        let mut grpc = raw(&address).await;
        let path = format!("/fusion.pool.Pool/{method}").parse().unwrap();
        let request = tonic::Request::new(tokio_stream::iter([Raw(random.spoil(&good))]));
        let talk = async {
            if let Ok(answer) = grpc.streaming(request, path, ProstCodec::<Raw, Raw>::default()).await {
                let mut answer = answer.into_inner();
                while let Ok(Some(_)) = answer.message().await {}
            }
        };
        assert!(timeout(Duration::from_secs(30), talk).await.is_ok(), "round {round} hangs");
    }
    serves(&address).await;
}

#[tokio::test]
async fn a_pool_outlives_bytes_that_are_no_calls() {
    let address = pool().await;
    let mut random = Random(13);
    let hello = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";
    for round in 0..100 {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let mut bytes = if round % 2 == 0 { hello.to_vec() } else { Vec::new() };
        bytes.extend((0..random.below(300)).map(|_| random.next() as u8));
        if round % 4 == 0 {
            bytes = random.spoil(&bytes);
        }
        let _ = stream.write_all(&bytes).await;
        if round % 5 == 0 {
            // It is read until the pool ends it, which it does for what is no call.
            let _ = stream.shutdown().await;
            let _ = timeout(Duration::from_secs(30), stream.read_to_end(&mut Vec::new()))
                .await
                .expect("it hangs");
        }
    }
    serves(&address).await;
}

#[test]
fn libraries_that_are_none_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let whole = library(directory.path(), "for (int i = 0; i < 4; i++) y[i] = 2 * x[i]; return 0;");
    Image::read(&whole).unwrap();
    assert_eq!(text_of(&whole, "fusion_model_json").as_deref(), Ok("{}"));
    assert!(text_of(&whole, "nothing").unwrap_err().contains("it has no nothing"));
    let mut random = Random(17);
    for length in 0..whole.len().min(4096) {
        let _ = Image::read(&whole[..length]);
    }
    let mut refused = 0;
    for round in 0..5_000 {
        let mut bytes = whole.to_vec();
        // Headers and tables are at the beginning and in the last pages.
        let within = if round % 2 == 0 { 1024.min(bytes.len()) } else { bytes.len() };
        for _ in 0..=random.below(6) {
            let at = random.below(within);
            bytes[at] = [0, 0xff, 0x7f, random.next() as u8][random.below(4)];
        }
        refused += u32::from(Image::read(&bytes).is_err());
        let _ = text_of(&bytes, "fusion_model_json");
    }
    assert!(refused > 500, "{refused}");
}
