//! Output files that appear complete or not at all.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempDir};

/// A file being written beside the place it will take.
pub struct OutputFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl OutputFile {
    /// Starts writing what shall be at `path`.
    pub fn create(path: &Path) -> io::Result<Self> {
        check_replaceable(path)?;
        let file = tempfile::Builder::new()
            .prefix(".fusion-")
            .permissions(fs::Permissions::from_mode(0o666)) // less the umask, as for any new file
            .tempfile_in(directory_of(path))?;
        Ok(OutputFile { file, path: path.to_owned() })
    }

    /// The file to write to.
    pub fn file(&mut self) -> &mut fs::File {
        self.file.as_file_mut()
    }

    /// Puts the file in its place, replacing what was there.
    pub fn commit(self) -> io::Result<()> {
        self.file.persist(&self.path).map(drop).map_err(|e| e.error)
    }
}

/// Writes all of a file at once.
pub fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut output = OutputFile::create(path)?;
    io::Write::write_all(output.file(), contents)?;
    output.commit()
}

/// A directory beside `path`, on the same file system, that vanishes when dropped.
pub fn directory_beside(path: &Path) -> io::Result<TempDir> {
    check_replaceable(path)?;
    tempfile::Builder::new().prefix(".fusion-").tempdir_in(directory_of(path))
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Renaming over a device or a directory is never what was meant.
fn check_replaceable(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => {
            Err(io::Error::other("there is something there that is not a regular file"))
        }
        _ => Ok(()),
    }
}
