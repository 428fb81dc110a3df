//! Programs in files.
//!
//! ```text
//!    0  "FUSIONBC"                      8 bytes
//!    8  version                         u32
//!   12  number of sections              u32
//!   16  BLAKE3 of all other bytes       32 bytes
//!   48  for each section: kind u32, zero u32, offset u64, bytes u64
//!       the sections, each from a multiple of 64 bytes on; between them zeros
//! ```
//! Numbers are little-endian. Section 1 is the program in postcard's format, section 2 the library with its kernels, an ELF image,
//! which is empty when there are none. Offsets, lengths and counts are believed only as far as there are bytes; a program that
//! was read was checked ([`Program::check`]).

use crate::{CheckError, Program};

/// What a file starts with.
pub const MAGIC: [u8; 8] = *b"FUSIONBC";
/// The version of the format, raised whenever it or what [`Program`] consists of changes.
pub const VERSION: u32 = 5;

const PROGRAM: u32 = 1;
const LIBRARY: u32 = 2;
const HEADER: usize = 48;
const ENTRY: usize = 24;
const ALIGNMENT: usize = 64;
/// Sections that a file may have, so that a table that lies does no harm.
const MOST_SECTIONS: usize = 16;

/// What a file holds: a program and the code of its kernels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgramFile {
    /// The program.
    pub program: Program,
    /// An ELF shared library with the kernels' symbols; empty when there are no kernels.
    pub library: Vec<u8>,
}

/// Why bytes are no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// Something else.
    #[error("this is no bytecode: it does not start with {:?}", String::from_utf8_lossy(&MAGIC))]
    Magic,
    /// Written by another version of this program.
    #[error(
        "the bytecode has version {found}, but this program knows version {VERSION}; compile the model again"
    )]
    Version {
        /// Its version.
        found: u32,
    },
    /// There are fewer bytes, or more, than the file says.
    #[error("the bytecode is not complete: it should have {expected} bytes, but has {found}")]
    Length {
        /// Bytes there should be.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// Bytes have changed.
    #[error("the bytecode is damaged: its content does not have the checksum that it was written with")]
    Checksum,
    /// The table of sections makes no sense.
    #[error("the bytecode is malformed: {0}")]
    Sections(String),
    /// The program cannot be read.
    #[error("the bytecode is malformed: its program cannot be read ({0})")]
    Program(String),
    /// The program does not keep the rules.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// There are kernels and no code, or the other way around.
    #[error("the program has {kernels} kernels, but the library with their code has {bytes} bytes")]
    Library {
        /// Kernels of the program.
        kernels: usize,
        /// Bytes of the library.
        bytes: usize,
    },
}

impl ProgramFile {
    /// True when bytes start as those of a file do.
    pub fn is_one(start: &[u8]) -> bool {
        start.starts_with(&MAGIC)
    }

    /// The bytes of a file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FileError> {
        self.check()?;
        let program =
            postcard::to_stdvec(&self.program).map_err(|error| FileError::Program(error.to_string()))?;
        let sections = [(PROGRAM, program.as_slice()), (LIBRARY, self.library.as_slice())];
        let mut bytes = Vec::new();
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((sections.len() as u32).to_le_bytes());
        bytes.extend([0; HEADER - 16]);
        let mut offset = (HEADER + sections.len() * ENTRY).next_multiple_of(ALIGNMENT);
        for (kind, content) in &sections {
            bytes.extend(kind.to_le_bytes());
            bytes.extend([0; 4]);
            bytes.extend((offset as u64).to_le_bytes());
            bytes.extend((content.len() as u64).to_le_bytes());
            offset = (offset + content.len()).next_multiple_of(ALIGNMENT);
        }
        for (_, content) in &sections {
            bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
            bytes.extend(*content);
        }
        let checksum = checksum(&bytes);
        bytes[16..HEADER].copy_from_slice(&checksum);
        Ok(bytes)
    }

    /// Reads the bytes of a file and checks all of it.
    pub fn from_bytes(bytes: &[u8]) -> Result<ProgramFile, FileError> {
        let too_short =
            |expected: usize| FileError::Length { expected: expected as u64, found: bytes.len() as u64 };
        if !ProgramFile::is_one(bytes) {
            return Err(FileError::Magic);
        }
        let number = |at: usize| u32_at(bytes, at).ok_or_else(|| too_short(HEADER));
        let (found, sections) = (number(8)?, number(12)? as usize);
        if found != VERSION {
            return Err(FileError::Version { found });
        }
        if sections > MOST_SECTIONS {
            return Err(FileError::Sections(format!("it has {sections} sections")));
        }
        let table = HEADER + sections * ENTRY;
        if bytes.len() < table {
            return Err(too_short(table));
        }
        let (mut program, mut library, mut end) = (None, None, table);
        for at in (HEADER..table).step_by(ENTRY) {
            let kind = number(at)?;
            let (offset, length) = (u64_at(bytes, at + 8), u64_at(bytes, at + 16));
            let range = offset.zip(length).and_then(|(offset, length)| {
                let (offset, length) = (usize::try_from(offset).ok()?, usize::try_from(length).ok()?);
                Some(offset..offset.checked_add(length)?)
            });
            let Some(range) = range.filter(|range| range.start >= end && range.start % ALIGNMENT == 0) else {
                return Err(FileError::Sections(format!("section {kind} overlaps what comes before it")));
            };
            end = range.end;
            let content = bytes.get(range).ok_or_else(|| too_short(end))?;
            let slot = match kind {
                PROGRAM => &mut program,
                LIBRARY => &mut library,
                _ => return Err(FileError::Sections(format!("section {kind} is of no kind that is known"))),
            };
            if slot.replace(content).is_some() {
                return Err(FileError::Sections(format!("section {kind} is there twice")));
            }
        }
        if bytes.len() != end {
            return Err(too_short(end));
        }
        if bytes[16..HEADER] != checksum(bytes) {
            return Err(FileError::Checksum);
        }
        let (Some(program), Some(library)) = (program, library) else {
            return Err(FileError::Sections("a section is missing".to_owned()));
        };
        let unreadable = |why: &str| FileError::Program(why.to_owned());
        let (program, rest) =
            postcard::take_from_bytes(program).map_err(|error| unreadable(&error.to_string()))?;
        if !rest.is_empty() {
            return Err(unreadable("something follows it"));
        }
        let file = ProgramFile { program, library: library.to_vec() };
        file.check()?;
        Ok(file)
    }

    /// Checks the program, and that there is code for its kernels.
    pub fn check(&self) -> Result<(), FileError> {
        self.program.check()?;
        let (kernels, bytes) = (self.program.kernels.len(), self.library.len());
        match (kernels == 0) == (bytes == 0) {
            true => Ok(()),
            false => Err(FileError::Library { kernels, bytes }),
        }
    }
}

/// Of everything but the place where it stands itself.
fn checksum(bytes: &[u8]) -> [u8; 32] {
    *blake3::Hasher::new().update(&bytes[..16]).update(&bytes[HEADER..]).finalize().as_bytes()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}
