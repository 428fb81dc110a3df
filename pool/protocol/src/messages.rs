//! The messages. Numbers of fields never change their meaning; new fields get new numbers.

use bytes::Bytes;
use prost::{Message, Oneof};

/// What runs on a device.
#[derive(Clone, PartialEq, Message)]
pub struct Work {
    /// Hashes of shared libraries, as `docs/reference/abi.md` describes them. All take the same inputs.
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub libraries: Vec<Bytes>,
    /// Hashes of the bytes of inputs.
    #[prost(bytes = "bytes", repeated, tag = "2")]
    pub inputs: Vec<Bytes>,
    /// How many bytes each output has.
    #[prost(uint64, repeated, tag = "3")]
    pub output_bytes: Vec<u64>,
    /// Threads to run on; 0 for one a processor.
    #[prost(uint32, tag = "4")]
    pub threads: u32,
    /// How runs are timed; without it there is one run, and no time.
    #[prost(message, optional, tag = "5")]
    pub timing: Option<Timing>,
    /// Milliseconds after which the work is taken to hang.
    #[prost(uint64, tag = "6")]
    pub timeout_ms: u64,
    /// Bytes of memory that it may take; 0 for what the device allows.
    #[prost(uint64, tag = "7")]
    pub memory_bytes: u64,
    /// Whether the outputs of the first run of each library are sent back.
    #[prost(bool, tag = "8")]
    pub wants_outputs: bool,
}

/// How runs are timed. A sample is the mean of as many runs as take `least_ns`.
#[derive(Clone, PartialEq, Message)]
pub struct Timing {
    /// Runs before the clock starts.
    #[prost(uint32, tag = "1")]
    pub warm_up: u32,
    /// What a sample takes at least; 0 for samples of one run.
    #[prost(uint64, tag = "2")]
    pub least_ns: u64,
    /// Samples of a turn at most; at least one is taken.
    #[prost(uint32, tag = "3")]
    pub samples: u32,
    /// Begin no sample of a turn after so long; 0 for no such end.
    #[prost(uint64, tag = "4")]
    pub most_ns: u64,
    /// Turns of each library, one after the other.
    #[prost(uint32, tag = "5")]
    pub turns: u32,
}

/// Work for a device of some kind.
#[derive(Clone, PartialEq, Message)]
pub struct Job {
    /// The kind of devices.
    #[prost(string, tag = "1")]
    pub key: String,
    /// The work.
    #[prost(message, optional, tag = "2")]
    pub work: Option<Work>,
    /// Of a client's jobs those of the highest priority come first.
    #[prost(uint32, tag = "3")]
    pub priority: u32,
    /// Devices that it shall not run on.
    #[prost(string, repeated, tag = "4")]
    pub not_on: Vec<String>,
}

/// What became of one library.
#[derive(Clone, PartialEq, Message)]
pub struct Answer {
    /// Its place among the libraries of the work.
    #[prost(uint32, tag = "1")]
    pub library: u32,
    /// Samples, in picoseconds.
    #[prost(uint64, repeated, tag = "2")]
    pub times_ps: Vec<u64>,
    /// Why it did not run; empty where it did.
    #[prost(string, tag = "3")]
    pub error: String,
}

/// A part of an output; parts come in order.
#[derive(Clone, PartialEq, Message)]
pub struct OutputPart {
    /// The place of the library.
    #[prost(uint32, tag = "1")]
    pub library: u32,
    /// The place of the output.
    #[prost(uint32, tag = "2")]
    pub output: u32,
    /// The bytes.
    #[prost(bytes = "bytes", tag = "3")]
    pub bytes: Bytes,
}

/// The work is over.
#[derive(Clone, PartialEq, Message)]
pub struct Done {
    /// Why it ended early, as when its process crashed; empty where all was answered.
    #[prost(string, tag = "1")]
    pub failure: String,
}

/// What work gives, bit by bit.
#[derive(Clone, PartialEq, Oneof)]
pub enum Given {
    /// An answer.
    #[prost(message, tag = "2")]
    Answer(Answer),
    /// A part of an output.
    #[prost(message, tag = "3")]
    Output(OutputPart),
    /// The end.
    #[prost(message, tag = "4")]
    Done(Done),
}

/// What a job gives, from a device; without number between a device and the process that runs the work.
#[derive(Clone, PartialEq, Message)]
pub struct Part {
    /// The job.
    #[prost(uint64, tag = "1")]
    pub job: u64,
    /// What it gives.
    #[prost(oneof = "Given", tags = "2, 3, 4")]
    pub given: Option<Given>,
}

/// A device says what it is.
#[derive(Clone, PartialEq, Message)]
pub struct Register {
    /// Its name, of which there is one in the pool.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its kind.
    #[prost(string, tag = "2")]
    pub key: String,
    /// What is compiled for it, as given to `--target`.
    #[prost(string, tag = "3")]
    pub target: String,
    /// What keeps work from the rest of the device.
    #[prost(string, tag = "4")]
    pub sandbox: String,
}

/// What a device says.
#[derive(Clone, PartialEq, Message)]
pub struct FromDevice {
    /// One of these.
    #[prost(oneof = "DeviceSays", tags = "1, 2, 3")]
    pub says: Option<DeviceSays>,
}

/// What a device says.
#[derive(Clone, PartialEq, Oneof)]
pub enum DeviceSays {
    /// Comes first.
    #[prost(message, tag = "1")]
    Register(Register),
    /// The hash of an object of its job that it does not have.
    #[prost(bytes = "bytes", tag = "2")]
    Want(Bytes),
    /// What its job gives.
    #[prost(message, tag = "3")]
    Part(Part),
}

/// A job for a device.
#[derive(Clone, PartialEq, Message)]
pub struct Assign {
    /// Its number.
    #[prost(uint64, tag = "1")]
    pub job: u64,
    /// The work.
    #[prost(message, optional, tag = "2")]
    pub work: Option<Work>,
}

/// A part of an object; parts come in order.
#[derive(Clone, PartialEq, Message)]
pub struct Chunk {
    /// The hash of the object.
    #[prost(bytes = "bytes", tag = "1")]
    pub hash: Bytes,
    /// Bytes of the whole object.
    #[prost(uint64, tag = "2")]
    pub total: u64,
    /// The bytes.
    #[prost(bytes = "bytes", tag = "3")]
    pub bytes: Bytes,
}

/// What the tracker says to a device.
#[derive(Clone, PartialEq, Message)]
pub struct ToDevice {
    /// One of these.
    #[prost(oneof = "TrackerSays", tags = "1, 2, 3, 4")]
    pub says: Option<TrackerSays>,
}

/// What the tracker says to a device.
#[derive(Clone, PartialEq, Oneof)]
pub enum TrackerSays {
    /// The device is in the pool; why it gets no work, or nothing.
    #[prost(string, tag = "1")]
    Welcome(String),
    /// A job.
    #[prost(message, tag = "2")]
    Assign(Assign),
    /// A part of an object that the device wanted.
    #[prost(message, tag = "3")]
    Object(Chunk),
    /// The job of this number is not wanted any more.
    #[prost(uint64, tag = "4")]
    Cancel(u64),
}

/// A job is on a device.
#[derive(Clone, PartialEq, Message)]
pub struct Started {
    /// The device. What came from another one before is void.
    #[prost(string, tag = "1")]
    pub device: String,
}

/// What a client is told of its job.
#[derive(Clone, PartialEq, Message)]
pub struct Event {
    /// The job.
    #[prost(uint64, tag = "1")]
    pub job: u64,
    /// One of these.
    #[prost(oneof = "Happened", tags = "2, 3, 4, 5, 6")]
    pub happened: Option<Happened>,
}

/// What happened to a job.
#[derive(Clone, PartialEq, Oneof)]
pub enum Happened {
    /// Jobs that wait for the same kind of devices, this one among them.
    #[prost(uint64, tag = "2")]
    Queued(u64),
    /// It is on a device.
    #[prost(message, tag = "3")]
    Started(Started),
    /// An answer.
    #[prost(message, tag = "4")]
    Answer(Answer),
    /// A part of an output.
    #[prost(message, tag = "5")]
    Output(OutputPart),
    /// The end.
    #[prost(message, tag = "6")]
    Done(Done),
}

/// Hashes of objects.
#[derive(Clone, PartialEq, Message)]
pub struct Hashes {
    /// The hashes.
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub hashes: Vec<Bytes>,
}

/// An object is with the tracker.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Stored {}

/// A job gave wrong numbers.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Verdict {
    /// The job.
    #[prost(uint64, tag = "1")]
    pub job: u64,
}

/// What became of a verdict.
#[derive(Clone, PartialEq, Message)]
pub struct Judged {
    /// Why the device gets no more work; empty where it does.
    #[prost(string, tag = "1")]
    pub set_aside: String,
}

/// A device.
#[derive(Clone, PartialEq, Message)]
pub struct DeviceName {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
}

/// What is there?
#[derive(Clone, Copy, PartialEq, Message)]
pub struct StatusRequest {}

/// What is there.
#[derive(Clone, PartialEq, Message)]
pub struct PoolStatus {
    /// Devices, by key and name.
    #[prost(message, repeated, tag = "1")]
    pub devices: Vec<DeviceStatus>,
    /// Clients that have jobs, by name.
    #[prost(message, repeated, tag = "2")]
    pub clients: Vec<ClientStatus>,
}

/// A device.
#[derive(Clone, PartialEq, Message)]
pub struct DeviceStatus {
    /// What it says of itself.
    #[prost(message, optional, tag = "1")]
    pub device: Option<Register>,
    /// Whether it runs a job.
    #[prost(bool, tag = "2")]
    pub busy: bool,
    /// Why it gets no jobs; empty where it does.
    #[prost(string, tag = "3")]
    pub set_aside: String,
    /// Jobs that it ended.
    #[prost(uint64, tag = "4")]
    pub done: u64,
    /// Jobs that it gave wrong numbers for.
    #[prost(uint64, tag = "5")]
    pub wrong: u64,
    /// Jobs that it was lost with.
    #[prost(uint64, tag = "6")]
    pub lost: u64,
}

/// A client.
#[derive(Clone, PartialEq, Message)]
pub struct ClientStatus {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Jobs that wait.
    #[prost(uint64, tag = "2")]
    pub waiting: u64,
    /// Jobs on devices.
    #[prost(uint64, tag = "3")]
    pub running: u64,
}
