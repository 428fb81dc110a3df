//! A shared library in memory. Here, and nowhere else in a device, is code called that others wrote; the process has given up by then what it
//! could do harm with.
#![allow(unsafe_code)]

use super::elf::{Image, Value};
use super::symbols::{address, given};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::ffi::{CStr, c_void};

/// The version of the interface (`docs/reference/abi.md`) that libraries have.
pub const ABI_VERSION: u32 = 1;

const ALIGNMENT: usize = 64;

/// Memory for a workspace or an output, aligned as code wants it.
pub struct Buffer {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl Buffer {
    /// So many zeros.
    pub fn zeros(length: usize) -> Result<Buffer, String> {
        let mut memory: Vec<u8> = Vec::new();
        let whole = length.checked_add(ALIGNMENT).ok_or("an output is larger than all memory")?;
        memory.try_reserve_exact(whole).map_err(|_| format!("there is no memory for {length} bytes"))?;
        memory.resize(whole, 0);
        let start = memory.as_ptr().align_offset(ALIGNMENT);
        Ok(Buffer { memory, start, length })
    }

    /// Some bytes.
    pub fn of(bytes: &[u8]) -> Result<Buffer, String> {
        let mut buffer = Buffer::zeros(bytes.len())?;
        buffer.bytes_mut().copy_from_slice(bytes);
        Ok(buffer)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.length]
    }

    /// The bytes, to be written to.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}

/// A library. Threads that it started sleep in its code, so that its memory stays where it is while the process lives.
pub struct Library {
    base: *mut u8,
    run: given::Run,
    last_error: Option<given::LastError>,
    workspace: Buffer,
}

impl Library {
    /// Loads a library, whose runs use so many threads; 0 for one a processor.
    pub fn load(bytes: &[u8], threads: u16) -> Result<Library, String> {
        let image = Image::read(bytes)?;
        let words = resolved(&image)?;
        let span = usize::try_from(image.span).map_err(|_| "it is larger than all memory")?;
        let flags = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses where new memory lies.
        let base = unsafe { mmap_anonymous(std::ptr::null_mut(), span, flags, MapFlags::PRIVATE) };
        let base = base.map_err(|why| format!("there is no memory for it: {why}"))?.cast::<u8>();
        for segment in &image.segments {
            let part = bytes.get(segment.file.clone()).unwrap_or_default();
            // SAFETY: `Image` has checked that each segment lies within the span, and is as long as its bytes at least.
            unsafe {
                std::ptr::copy_nonoverlapping(part.as_ptr(), base.add(segment.at.start as usize), part.len())
            }
        }
        for (at, value) in words {
            let value = match value {
                Resolved::Own(own) => (base as u64).wrapping_add(own),
                Resolved::Other(other) => other,
            };
            // SAFETY: `Image` has checked that each word lies within a segment.
            unsafe { base.add(at as usize).cast::<u64>().write_unaligned(value) }
        }
        protect(&image, base)?;
        let place = |name: &str| image.names.get(name).map(|at| base.wrapping_add(*at as usize));
        let needed =
            |name: &str| place(name).ok_or_else(|| format!("it has no {name}, so it is no compiled model"));
        let version: *const u32 = needed("fusion_abi_version")?.cast();
        let workspace: *const u64 = needed("fusion_workspace_bytes")?.cast();
        let (run, set_threads) = (needed("fusion_run")?, needed("fusion_set_threads")?);
        let within = |at: *const u8, size: usize| at as usize - base as usize <= span - size;
        if !within(version.cast(), 4) || !within(workspace.cast(), 8) {
            return Err("its constants lie at the very end of its memory".to_owned());
        }
        // SAFETY: both lie in memory of the library.
        let (version, workspace) = unsafe { (version.read_unaligned(), workspace.read_unaligned()) };
        if version != ABI_VERSION {
            return Err(format!(
                "it has version {version} of the interface, and this device knows {ABI_VERSION}"
            ));
        }
        let workspace = usize::try_from(workspace).map_err(|_| "its workspace is larger than all memory")?;
        // SAFETY: a library of this version has a function of this type by each name; one that lies ends its own process.
        let (run, set_threads, last_error) = unsafe {
            (
                std::mem::transmute::<*mut u8, given::Run>(run),
                std::mem::transmute::<*mut u8, given::SetThreads>(set_threads),
                place("fusion_last_error").map(|at| std::mem::transmute::<*mut u8, given::LastError>(at)),
            )
        };
        let library = Library { base, run, last_error, workspace: Buffer::zeros(workspace)? };
        library.initialize(&image);
        // SAFETY: the function takes any number.
        unsafe { set_threads(i32::from(threads)) };
        Ok(library)
    }

    fn initialize(&self, image: &Image) {
        let function = |address: u64| {
            // SAFETY: a library's own table says that a function without arguments is there.
            unsafe { std::mem::transmute::<*const c_void, unsafe extern "C" fn()>(address as *const c_void) }
        };
        let place = |at: u64| self.base.wrapping_add(at as usize);
        let init = image.init.map(|at| place(at) as u64);
        // SAFETY: `Image` has checked that these words lie within its memory.
        let first = image.first.iter().map(|at| unsafe { place(*at).cast::<u64>().read_unaligned() });
        for address in init.into_iter().chain(first).filter(|address| ![0, u64::MAX].contains(address)) {
            // SAFETY: as above; what it does, it does in a process that has given up what it could do harm with.
            unsafe { function(address)() }
        }
    }

    /// Runs it once.
    pub fn run(&mut self, inputs: &[Buffer], outputs: &mut [Buffer]) -> Result<(), String> {
        let inputs: Vec<*const c_void> = inputs.iter().map(|input| input.bytes().as_ptr().cast()).collect();
        let outputs: Vec<*mut c_void> =
            outputs.iter_mut().map(|output| output.bytes_mut().as_mut_ptr().cast()).collect();
        let workspace = self.workspace.bytes_mut().as_mut_ptr().cast();
        // SAFETY: who sent the job says how large inputs and outputs are; where that is wrong, only this process is harmed.
        match unsafe { (self.run)(inputs.as_ptr(), outputs.as_ptr(), workspace) } {
            0 => Ok(()),
            status => Err(self.error(status)),
        }
    }

    fn error(&self, status: i32) -> String {
        // SAFETY: the function takes nothing, and gives a text that ends with a zero, or nothing.
        let text = self.last_error.map(|last_error| unsafe { last_error() }).filter(|text| !text.is_null());
        match text {
            // SAFETY: as above.
            Some(text) => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
            None => format!("it ended with status {status}"),
        }
    }
}

enum Resolved {
    Own(u64),
    Other(u64),
}

/// The words, with the addresses of what the library uses of others.
fn resolved(image: &Image) -> Result<Vec<(u64, Resolved)>, String> {
    let mut missing: Vec<&str> = Vec::new();
    let mut words = Vec::new();
    for (at, value) in &image.words {
        let value = match value {
            Value::Own(own) => Resolved::Own(*own),
            Value::Other(name, addend) if name.is_empty() => Resolved::Other(*addend),
            Value::Other(name, addend) => match address(name) {
                Some(address) => Resolved::Other((address as u64).wrapping_add(*addend)),
                None => {
                    missing.push(name);
                    continue;
                }
            },
        };
        words.push((*at, value));
    }
    missing.sort_unstable();
    missing.dedup();
    match missing.is_empty() {
        true => Ok(words),
        false => Err(format!("it uses {}, which devices of a pool do not have", missing.join(", "))),
    }
}

/// Makes code executable and constants constant.
fn protect(image: &Image, base: *mut u8) -> Result<(), String> {
    let page = rustix::param::page_size() as u64;
    for segment in &image.segments {
        let (start, end) =
            (segment.at.start / page * page, segment.at.end.next_multiple_of(page).min(image.span));
        let shares = |other: &super::elf::Segment| {
            other != segment && other.writes != segment.writes && other.at.start < end && start < other.at.end
        };
        if image.segments.iter().any(shares) {
            return Err(format!("parts of it that are written to and others share a page of {page} bytes"));
        }
        let flags = match (segment.executes, segment.writes) {
            (true, _) => MprotectFlags::READ | MprotectFlags::EXEC,
            (false, true) => MprotectFlags::READ | MprotectFlags::WRITE,
            (false, false) => MprotectFlags::READ,
        };
        // SAFETY: the pages are those of this library, and nothing points into them yet.
        let changed = unsafe { mprotect(base.add(start as usize).cast(), (end - start) as usize, flags) };
        if let Err(why) = changed {
            // SAFETY: as above; nothing points into it.
            let _ = unsafe { munmap(base.cast(), image.span as usize) };
            return Err(format!("its memory cannot be protected: {why}"));
        }
    }
    Ok(())
}
