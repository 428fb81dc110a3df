//! Weights in a file of their own: safetensors, from which the library maps them (`weights/weights.c`).
//!
//! ```text
//!   8 bytes   {"__metadata__": {"fusion": "<fingerprint>"}, "constants": {"dtype": "U8", ...}}   spaces   weights
//!   length                                                                                       |
//!                                                                                                a multiple of 64 KiB
//! ```
//!
//! They lie there as kernels want them, so that nothing is computed when the model is loaded; the fingerprint is that of their bytes.

use crate::embedded::embedded;
use crate::machine::Machine;
use crate::output::OutputFile;
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// What the weights begin at in the file, and in the library: pages of any machine.
pub const ALIGNMENT: u64 = 1 << 16;
/// The tensor of all of them.
const TENSOR: &str = "constants";
/// The entry of the metadata with the fingerprint.
const ENTRY: &str = "fusion";

/// The weights of a model: pieces of one block of bytes. What no piece covers is zero.
#[derive(Clone, Debug, Default)]
pub struct Constants<'a> {
    /// Bytes of the block.
    pub size: u64,
    /// Offsets and contents, in ascending order.
    pub pieces: Vec<(u64, &'a [u8])>,
}

impl<'a> Constants<'a> {
    /// Appends a piece at the next multiple of `alignment` (a power of two) and gives its offset.
    pub fn push(&mut self, bytes: &'a [u8], alignment: u64) -> u64 {
        let offset = self.size.next_multiple_of(alignment.max(1));
        self.size = offset + bytes.len() as u64;
        self.pieces.push((offset, bytes));
        offset
    }

    /// The first piece that overlaps the one before it or sticks out of the block.
    pub fn misplaced(&self) -> Option<usize> {
        let mut end = 0;
        self.pieces.iter().position(|&(offset, bytes)| {
            let after = offset.checked_add(bytes.len() as u64).filter(|&e| offset >= end && e <= self.size);
            end = after.unwrap_or(end);
            after.is_none()
        })
    }
}

/// What a library knows of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    /// Its name, without a folder: it lies beside the library.
    pub name: String,
    /// Bytes of weights.
    pub bytes: u64,
    /// Of the weights, 64 digits.
    pub fingerprint: String,
}

/// Writes the file, complete or not at all.
pub fn write(path: &Path, constants: &Constants) -> io::Result<Outside> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| io::Error::other("the name of a file of weights must be UTF-8"))?;
    let fingerprint = fingerprint(constants);
    let mut file = OutputFile::create(path)?;
    let mut out = BufWriter::new(file.file());
    out.write_all(&header(constants.size, &fingerprint)?)?;
    each_part(constants, |bytes| out.write_all(bytes))?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.commit()?;
    Ok(Outside { name: name.to_owned(), bytes: constants.size, fingerprint })
}

fn header(size: u64, fingerprint: &str) -> io::Result<Vec<u8>> {
    let size = usize::try_from(size).map_err(io::Error::other)?;
    let metadata = HashMap::from([(ENTRY.to_owned(), fingerprint.to_owned())]);
    let tensor = TensorInfo { dtype: Dtype::U8, shape: vec![size], data_offsets: (0, size) };
    let metadata =
        Metadata::new(Some(metadata), vec![(TENSOR.to_owned(), tensor)]).map_err(io::Error::other)?;
    let mut text = serde_json::to_vec(&metadata)?;
    let whole = (8 + text.len() as u64).next_multiple_of(ALIGNMENT);
    text.resize(whole as usize - 8, b' ');
    Ok([&(text.len() as u64).to_le_bytes(), text.as_slice()].concat())
}

fn fingerprint(constants: &Constants) -> String {
    let mut hasher = blake3::Hasher::new();
    let hashed: Result<(), std::convert::Infallible> = each_part(constants, |bytes| {
        hasher.update(bytes);
        Ok(())
    });
    match hashed {
        Ok(()) => hasher.finalize().to_hex().to_string(),
    }
}

/// All bytes in order: pieces, and the zeros between them.
fn each_part<E>(constants: &Constants, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    const ZEROS: [u8; 4096] = [0; 4096];
    let mut at = 0;
    let end = [(constants.size, &[][..])];
    for &(offset, bytes) in constants.pieces.iter().chain(&end) {
        while at < offset {
            let count = (offset - at).min(ZEROS.len() as u64);
            take(&ZEROS[..count as usize])?;
            at += count;
        }
        take(bytes)?;
        at += bytes.len() as u64;
    }
    Ok(())
}

/// The object files for a machine, by name: what maps the weights, and for models of processors `fusion_run` in front of
/// `fusion_run_mapped`.
pub fn objects(machine: Machine, on_device: bool) -> Vec<(&'static str, &'static [u8])> {
    let mut all = vec![("weights", embedded!(machine, "weights-weights"))];
    if !on_device {
        all.push(("weights_entry", embedded!(machine, "weights-entry")));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_read_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("w.safetensors");
        let constants = Constants { size: 12, pieces: vec![(2, b"weights"), (10, b"s")] };
        let outside = write(&path, &constants).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let read = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(read.tensor(TENSOR).unwrap().data(), b"\0\0weights\0s\0");
        assert_eq!(bytes.len() as u64, ALIGNMENT + 12);
        assert_eq!((outside.name.as_str(), outside.bytes), ("w.safetensors", 12));
        assert_eq!(outside.fingerprint, blake3::hash(b"\0\0weights\0s\0").to_hex().as_str());
    }
}
