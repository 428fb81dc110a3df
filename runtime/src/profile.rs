//! What a run of a library for a GPU did on the device, and when: `fusion_set_profiling` and `fusion_profile` of `docs/reference/abi.md`.
#![allow(unsafe_code)]

use libloading::Library;
use std::ffi::{CStr, c_char};

/// `struct fusion_gpu_event` of `gpu/gpu.h`.
#[repr(C)]
struct RawEvent {
    what: u32,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    kernel: *const c_char,
    bytes: u64,
    begin_s: f64,
    seconds: f64,
}

type Set = unsafe extern "C" fn(i32);
type Read = unsafe extern "C" fn(*mut *const RawEvent, *mut f64) -> i64;

/// What a library times its runs by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profiler {
    set: Set,
    read: Read,
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunProfile {
    /// In order.
    pub events: Vec<Event>,
    /// Seconds that timing itself takes of each.
    pub empty_s: f64,
}

/// A part of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What.
    pub work: Work,
    /// Seconds since the run began.
    pub begin_s: f64,
    /// Seconds it took.
    pub seconds: f64,
}

/// What a device does.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Runs a kernel.
    Launch(Launch),
    /// Copies so many bytes from the host.
    Upload(u64),
    /// Copies so many bytes to the host.
    Download(u64),
    /// Copies so many bytes of its own.
    Copy(u64),
}

/// A launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// The function of the GPU.
    pub function: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes that a block shares.
    pub shared_bytes: u32,
}

impl Profiler {
    /// That of a library; none of libraries that were made before there was one.
    pub(crate) fn of(library: &Library) -> Option<Profiler> {
        // SAFETY: a library for a device that has a function of this name has it with this type.
        let set = unsafe { library.get::<Set>(b"fusion_set_profiling\0") }.ok()?;
        // SAFETY: as above.
        let read = unsafe { library.get::<Read>(b"fusion_profile\0") }.ok()?;
        Some(Profiler { set: *set, read: *read })
    }

    /// Whether runs are timed from now on. The library is loaded.
    pub(crate) fn set(&self, on: bool) {
        // SAFETY: the function takes any number, and the caller keeps the library.
        unsafe { (self.set)(i32::from(on)) }
    }

    /// What the last run did. The library is loaded, and nobody else runs it.
    pub(crate) fn read(&self) -> RunProfile {
        let (mut events, mut empty_s) = (std::ptr::null(), 0.0);
        // SAFETY: the function writes to both.
        let count = unsafe { (self.read)(&mut events, &mut empty_s) };
        let events = match usize::try_from(count) {
            // SAFETY: there are as many, which stay until the next run.
            Ok(count) if count > 0 && !events.is_null() => unsafe {
                std::slice::from_raw_parts(events, count)
            },
            _ => &[],
        };
        RunProfile { events: events.iter().map(Event::of).collect(), empty_s }
    }
}

impl Event {
    fn of(raw: &RawEvent) -> Event {
        let work = match raw.what {
            1 => Work::Upload(raw.bytes),
            2 => Work::Download(raw.bytes),
            3 => Work::Copy(raw.bytes),
            _ => Work::Launch(Launch {
                function: text(raw.kernel),
                grid: raw.grid,
                block: raw.block,
                shared_bytes: raw.shared_bytes,
            }),
        };
        Event { work, begin_s: raw.begin_s, seconds: raw.seconds }
    }
}

fn text(name: *const c_char) -> String {
    if name.is_null() {
        return String::new();
    }
    // SAFETY: names of kernels are constants of the library that end with NUL.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}
