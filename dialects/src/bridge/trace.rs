//! What took how long: spans of time, from which the reports of `--time-trace` and `--mlir-timing` are made.
//!
//! A span lasts as long as its value; those that begin meanwhile on the same thread are within it. Passes are spans that the
//! shim tells of. Nothing is kept unless [`record`] was called.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// A span that has ended.
#[derive(Clone, Debug)]
pub struct TraceEvent {
    /// The names of the spans that it is in, outermost first, and its own.
    pub path: Vec<String>,
    /// What it was done to, such as a kernel; may be empty.
    pub detail: String,
    /// When it began, since recording did.
    pub start: Duration,
    /// How long it took.
    pub length: Duration,
    /// The thread, counted from 0 in the order in which their first spans ended.
    pub thread: usize,
}

struct Recorded {
    since: Instant,
    threads: HashMap<ThreadId, usize>,
    events: Vec<TraceEvent>,
}

static ON: AtomicBool = AtomicBool::new(false);

fn recorded() -> MutexGuard<'static, Option<Recorded>> {
    static RECORDED: Mutex<Option<Recorded>> = Mutex::new(None);
    RECORDED.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    /// The spans that are open on this thread: name, detail, and when they began.
    static OPEN: RefCell<Vec<(String, String, Instant)>> = const { RefCell::new(Vec::new()) };
}

/// Keeps spans from now on.
pub fn record() {
    *recorded() = Some(Recorded { since: Instant::now(), threads: HashMap::new(), events: Vec::new() });
    ON.store(true, Ordering::Release);
}

/// The spans that have ended since [`record`], in the order of their ends.
pub fn take_recorded() -> Vec<TraceEvent> {
    ON.store(false, Ordering::Release);
    recorded().take().map(|recorded| recorded.events).unwrap_or_default()
}

/// Whether spans are kept.
pub fn records() -> bool {
    ON.load(Ordering::Acquire)
}

/// Ends when it is dropped.
#[must_use]
pub struct Span(bool);

impl Drop for Span {
    fn drop(&mut self) {
        if self.0 {
            end();
        }
    }
}

/// Begins a span.
pub fn span(name: &str) -> Span {
    span_of(name, "")
}

/// Begins a span that something is done to.
pub fn span_of(name: &str, detail: &str) -> Span {
    let on = records();
    if on {
        begin(name, detail);
    }
    Span(on)
}

pub(super) fn begin(name: &str, detail: &str) {
    OPEN.with_borrow_mut(|open| open.push((name.to_owned(), detail.to_owned(), Instant::now())));
}

pub(super) fn end() {
    let (path, detail, start) = {
        let path = OPEN.with_borrow(|open| open.iter().map(|(name, ..)| name.clone()).collect());
        let Some((_, detail, start)) = OPEN.with_borrow_mut(Vec::pop) else { return };
        (path, detail, start)
    };
    let length = start.elapsed();
    if let Some(recorded) = recorded().as_mut() {
        let count = recorded.threads.len();
        let thread = *recorded.threads.entry(std::thread::current().id()).or_insert(count);
        let start = start.saturating_duration_since(recorded.since);
        recorded.events.push(TraceEvent { path, detail, start, length, thread });
    }
}

#[unsafe(no_mangle)]
extern "C" fn fusionPassBegins(name: *const u8, length: usize) {
    // SAFETY: the shim passes the name of a pass, which outlives the call.
    let name = unsafe { std::slice::from_raw_parts(name, length) };
    begin(&String::from_utf8_lossy(name), "");
}

#[unsafe(no_mangle)]
extern "C" fn fusionPassEnds() {
    end();
}
