//! Memory aligned to 64 bytes, for tensors and workspaces: vectors that are loaded from two lines of a cache take twice as long.

use memmap2::{Advice, MmapMut};
use std::collections::TryReserveError;

/// The alignment, a cache line and the widest vector register.
pub const ALIGNMENT: usize = 64;

/// From so many bytes on, the system is asked for large pages: to come by memory in pages of 4 KiB takes longer than to fill it.
const LARGE: usize = 2 << 20;

/// Bytes whose first is aligned to [`ALIGNMENT`]. They never move. The default is no bytes, without memory.
pub struct AlignedBuffer {
    data: Memory,
    start: usize,
    len: usize,
}

enum Memory {
    Own(Vec<u8>),
    Pages(MmapMut),
}

impl Default for AlignedBuffer {
    fn default() -> Self {
        AlignedBuffer { data: Memory::Own(Vec::new()), start: 0, len: 0 }
    }
}

impl AlignedBuffer {
    /// Zeros; or says that there is not so much memory.
    pub fn zeroed(len: usize) -> Result<Self, TryReserveError> {
        match AlignedBuffer::pages(len) {
            Some(buffer) => Ok(buffer),
            None => AlignedBuffer::filled(len, |data, end| data.resize(end, 0)),
        }
    }

    /// A copy of bytes; or says that there is not so much memory.
    pub fn of(bytes: &[u8]) -> Result<Self, TryReserveError> {
        match AlignedBuffer::pages(bytes.len()) {
            Some(mut buffer) => {
                buffer.bytes_mut().copy_from_slice(bytes);
                Ok(buffer)
            }
            None => AlignedBuffer::filled(bytes.len(), |data, _| data.extend_from_slice(bytes)),
        }
    }

    /// Zeros in pages of their own, where these are many.
    fn pages(len: usize) -> Option<Self> {
        if len < LARGE {
            return None;
        }
        let pages = MmapMut::map_anon(len).ok()?;
        // Only advice: where there are no large pages, small ones do.
        #[cfg(target_os = "linux")]
        let _ = pages.advise(Advice::HugePage);
        Some(AlignedBuffer { data: Memory::Pages(pages), start: 0, len })
    }

    /// Has bytes be appended to those before the first one, up to an end.
    fn filled(len: usize, fill: impl FnOnce(&mut Vec<u8>, usize)) -> Result<Self, TryReserveError> {
        let mut data: Vec<u8> = Vec::new();
        data.try_reserve_exact(len.saturating_add(ALIGNMENT))?;
        let start = data.as_ptr().align_offset(ALIGNMENT);
        // Within the capacity just reserved, so the bytes stay where they are.
        data.resize(start, 0);
        fill(&mut data, start + len);
        Ok(AlignedBuffer { data: Memory::Own(data), start, len })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        let all = match &self.data {
            Memory::Own(data) => &data[..],
            Memory::Pages(pages) => &pages[..],
        };
        &all[self.start..][..self.len]
    }

    /// The bytes, to write.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let all = match &mut self.data {
            Memory::Own(data) => &mut data[..],
            Memory::Pages(pages) => &mut pages[..],
        };
        &mut all[self.start..][..self.len]
    }
}

/// Panics where there is no memory for a copy, as a vector does.
impl Clone for AlignedBuffer {
    fn clone(&self) -> Self {
        AlignedBuffer::of(self.bytes()).expect("there is memory for a copy")
    }
}

impl PartialEq for AlignedBuffer {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_aligned_as_well() {
        for len in [0, 1, 63, 64, 1000, 1 << 20, (4 << 20) + 5] {
            let bytes: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let buffer = AlignedBuffer::of(&bytes).unwrap();
            let copy = buffer.clone();
            for each in [&buffer, &copy] {
                assert_eq!(each.bytes(), bytes);
                assert_eq!(each.bytes().as_ptr().align_offset(ALIGNMENT), 0);
            }
            assert!(AlignedBuffer::zeroed(len).unwrap().bytes().iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn too_much_is_an_error() {
        assert!(AlignedBuffer::zeroed(usize::MAX).is_err());
        assert!(AlignedBuffer::zeroed(isize::MAX as usize).is_err());
    }
}
