//! Memory aligned to 64 bytes, for workspaces and outputs.

use std::collections::TryReserveError;

/// The alignment, a cache line and the widest vector register.
pub const ALIGNMENT: usize = 64;

/// Zeroed bytes whose first is aligned to [`ALIGNMENT`]. They never move. The default is no bytes, without memory.
#[derive(Default)]
pub struct AlignedBuffer {
    data: Vec<u8>,
    start: usize,
    len: usize,
}

impl AlignedBuffer {
    /// Allocates, or says that there is not so much memory.
    pub fn zeroed(len: usize) -> Result<Self, TryReserveError> {
        let mut data: Vec<u8> = Vec::new();
        data.try_reserve_exact(len.saturating_add(ALIGNMENT))?;
        let start = data.as_ptr().align_offset(ALIGNMENT);
        // Within the capacity just reserved, so the bytes stay where they are.
        data.resize(start + len, 0);
        Ok(AlignedBuffer { data, start, len })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.data[self.start..][..self.len]
    }

    /// The bytes, to write.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.data[self.start..][..self.len]
    }
}
