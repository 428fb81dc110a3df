//! Skeletons of what a contributor adds: they compile, and their test fails with 'write me'.
//!
//! ```text
//!   new-operator cosine_distance   =>   operators/src/ops/cosine_distance.rs                            the row
//!                                       conversion/relay_to_te/src/definitions/cosine_distance.rs       what it computes
//!                                       test/Conversion/RelayToTe/cosine_distance.mlir                  its test
//!                                       a line in the list of each folder
//! ```
//!
//! All edits are made in memory first: where one cannot be made, nothing is written.

pub mod names;
pub mod operator;
pub mod pass;
pub mod primitive;

use std::path::{Path, PathBuf};

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum DevError {
    /// The name is not of the form that is wanted.
    #[error("the name {name:?} of {what} must be {wanted}")]
    Name {
        /// The name.
        name: String,
        /// What it is of.
        what: &'static str,
        /// What it must be, as a sentence goes on.
        wanted: &'static str,
    },
    /// No checkout.
    #[error("{0} is in no checkout of fusion; run this in one, or name it with --root")]
    NoCheckout(PathBuf),
    /// There is such a file.
    #[error("there is {0} already; choose another name, or take it away first")]
    Exists(PathBuf),
    /// A list is not where it was.
    #[error("{file} has no line {line:?} to put a line next to; add {wanted:?} to its list by hand")]
    NoPlace {
        /// The file.
        file: PathBuf,
        /// The line that is looked for.
        line: String,
        /// The line to add.
        wanted: String,
    },
    /// A file cannot be read or written.
    #[error("cannot {what} {path}: {error}")]
    File {
        /// `read` or `write`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

/// Files that are to be written, new ones and changed ones.
pub struct Edits {
    root: PathBuf,
    files: Vec<(PathBuf, String)>,
}

impl Edits {
    /// In the checkout that a folder lies in.
    pub fn in_checkout_of(folder: &Path) -> Result<Edits, DevError> {
        let is_root = |folder: &&Path| {
            folder.join("operators/src/ops/mod.rs").is_file() && folder.join("transforms").is_dir()
        };
        let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let root = absolute.ancestors().find(is_root).map(Path::to_owned);
        let root = root.ok_or_else(|| DevError::NoCheckout(absolute.clone()))?;
        Ok(Edits { root, files: Vec::new() })
    }

    /// A new file.
    pub fn create(&mut self, path: &str, text: String) -> Result<(), DevError> {
        let file = self.root.join(path);
        if file.exists() {
            return Err(DevError::Exists(file));
        }
        self.files.push((PathBuf::from(path), text));
        Ok(())
    }

    /// A line in a list whose lines begin alike: behind the last one that comes before it by the alphabet, or, unless it is `sorted`, behind
    /// the last of all.
    pub fn add_line(
        &mut self,
        path: &str,
        beginning: &str,
        line: &str,
        sorted: bool,
    ) -> Result<(), DevError> {
        let text = self.text(path)?;
        let lines: Vec<&str> = text.lines().collect();
        let list: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].starts_with(beginning)).collect();
        let (Some(first), Some(last)) = (list.first(), list.last()) else {
            let (file, line, wanted) = (self.root.join(path), beginning.to_owned(), line.to_owned());
            return Err(DevError::NoPlace { file, line, wanted });
        };
        let before = list.iter().rfind(|&&i| lines[i] < line);
        let at = match (sorted, before) {
            (false, _) => last + 1,
            (true, Some(before)) => before + 1,
            (true, None) => *first,
        };
        let all: Vec<&str> =
            lines[..at].iter().copied().chain([line]).chain(lines[at..].iter().copied()).collect();
        self.change(path, all.join("\n") + "\n");
        Ok(())
    }

    /// Text at the end of a file.
    pub fn append(&mut self, path: &str, more: &str) -> Result<(), DevError> {
        let text = self.text(path)?;
        self.change(path, format!("{}\n{more}", text.trim_end()));
        Ok(())
    }

    /// Writes all of them; gives their paths from the root.
    pub fn write(self) -> Result<Vec<PathBuf>, DevError> {
        for (path, text) in &self.files {
            let file = self.root.join(path);
            let folder = file.parent().unwrap_or(&self.root);
            std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::write(&file, text))
                .map_err(|error| DevError::File { what: "write", path: file.clone(), error })?;
        }
        Ok(self.files.into_iter().map(|(path, _)| path).collect())
    }

    fn text(&self, path: &str) -> Result<String, DevError> {
        if let Some((_, text)) = self.files.iter().find(|(known, _)| known == Path::new(path)) {
            return Ok(text.clone());
        }
        let file = self.root.join(path);
        std::fs::read_to_string(&file).map_err(|error| DevError::File { what: "read", path: file, error })
    }

    fn change(&mut self, path: &str, text: String) {
        match self.files.iter_mut().find(|(known, _)| known == Path::new(path)) {
            Some((_, old)) => *old = text,
            None => self.files.push((PathBuf::from(path), text)),
        }
    }
}
