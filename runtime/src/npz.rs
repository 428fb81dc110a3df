//! Named tensors in `.npz` files: ZIP archives of `.npy` entries, as `numpy.savez` writes them.
//! A lone `.npy` file is read as one tensor of the name numpy would give it, `arr_0`.

use crate::npy::{self, NpyError};
use crate::output::OutputFile;
use fusion_operators::Tensor;
use indexmap::IndexMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive, ZipWriter, write::SimpleFileOptions};

/// Deflate cannot make more than this many bytes of one.
const MOST_INFLATION: u64 = 1032;

/// Tensors by name, in the order of the file.
pub type Tensors = IndexMap<String, Tensor>;

/// Why a file of tensors could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum NpzError {
    /// The file cannot be opened, read or written.
    #[error("cannot {action} {}: {error}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The file is not an archive.
    #[error("{} is not a valid .npz archive: {why}", path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// One tensor of the file.
    #[error("{}, tensor {name:?}: {error}", path.display())]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// What is wrong with it.
        error: NpyError,
    },
    /// A lone tensor.
    #[error("{}: {error}", path.display())]
    Npy {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: NpyError,
    },
}

/// Reads a `.npz` or `.npy` file; which of the two it is shows in its first bytes.
pub fn read(path: &Path) -> Result<Tensors, NpzError> {
    let failed = |error| NpzError::Io { action: "read", path: path.to_owned(), error };
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(failed(io::Error::other("it is not a regular file")));
    }
    let mut start = [0; 2];
    let zipped = file.read_exact(&mut start).is_ok() && &start == b"PK";
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    if zipped {
        return read_archive(path, file, metadata.len());
    }
    let tensor = npy::read(&mut BufReader::new(file), metadata.len())
        .map_err(|error| NpzError::Npy { path: path.to_owned(), error })?;
    Ok(Tensors::from([("arr_0".to_owned(), tensor)]))
}

/// Writes a `.npz` file, or with `.npy` as its extension the lone tensor there is. The file
/// appears complete or not at all.
pub fn write<'a>(
    path: &Path,
    tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>,
) -> Result<(), NpzError> {
    let failed = |error| NpzError::Io { action: "write", path: path.to_owned(), error };
    let mut tensors = tensors.into_iter();
    let mut output = OutputFile::create(path).map_err(failed)?;
    let mut out = BufWriter::new(output.file());
    if path.extension().is_some_and(|e| e == "npy") {
        let (Some((_, tensor)), None) = (tensors.next(), tensors.next()) else {
            return Err(failed(io::Error::other("a .npy file holds exactly one tensor; name it .npz")));
        };
        npy::write(&mut out, tensor)
            .and_then(|()| Ok(out.flush()?))
            .map_err(|error| NpzError::Npy { path: path.to_owned(), error })?;
    } else {
        write_archive(path, tensors, &mut out)?;
    }
    drop(out);
    output.commit().map_err(failed)
}

fn write_archive<'a>(
    path: &Path,
    tensors: impl Iterator<Item = (&'a str, &'a Tensor)>,
    out: impl Write + Seek,
) -> Result<(), NpzError> {
    let broken = |e: ZipError| NpzError::Archive { path: path.to_owned(), why: e.to_string() };
    let mut archive = ZipWriter::new(out);
    for (name, tensor) in tensors {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(tensor.bytes().len() as u64 + (1 << 20) > u32::MAX.into());
        archive.start_file(format!("{name}.npy"), options).map_err(broken)?;
        npy::write(&mut archive, tensor).map_err(|error| NpzError::Tensor {
            path: path.to_owned(),
            name: name.to_owned(),
            error,
        })?;
    }
    archive.finish().and_then(|mut out| Ok(out.flush()?)).map_err(broken)
}

fn read_archive(path: &Path, file: File, length: u64) -> Result<Tensors, NpzError> {
    let invalid = |why: String| NpzError::Archive { path: path.to_owned(), why };
    let broken = |e: ZipError| invalid(e.to_string());
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(broken)?;
    let mut tensors = Tensors::new();
    let mut stored = 0u64;
    for i in 0..archive.len() {
        let entry = archive.by_index(i).map_err(broken)?;
        let entry_name = entry.name().map_err(broken)?.into_owned();
        let Some(name) = entry_name.strip_suffix(".npy") else {
            return Err(invalid(format!("its entry {entry_name:?} is not a .npy tensor")));
        };
        // Entries that share bytes would let a small file claim any size.
        stored = stored.saturating_add(entry.compressed_size());
        if stored > length {
            return Err(invalid("its entries claim more bytes than the file has".to_owned()));
        }
        let limit = match entry.compression() {
            CompressionMethod::Stored => entry.compressed_size(),
            _ => entry.compressed_size().saturating_mul(MOST_INFLATION),
        };
        let tensor = npy::read(&mut BufReader::new(entry), limit).map_err(|error| NpzError::Tensor {
            path: path.to_owned(),
            name: name.to_owned(),
            error,
        })?;
        if tensors.insert(name.to_owned(), tensor).is_some() {
            return Err(invalid(format!("it has two tensors named {name:?}")));
        }
    }
    Ok(tensors)
}
