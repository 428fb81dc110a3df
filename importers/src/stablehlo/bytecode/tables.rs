//! The tables of a bytecode file: strings, names of operations, and where attributes and types are encoded.

use super::MAGIC;
use super::cursor::{Cursor, Read};

/// Numbers of sections.
mod section {
    pub const STRINGS: u8 = 0;
    pub const DIALECTS: u8 = 1;
    pub const ATTRIBUTES: u8 = 2;
    pub const OFFSETS: u8 = 3;
    pub const OPERATIONS: u8 = 4;
    pub const PROPERTIES: u8 = 8;
}

/// Since this version a dialect may have a version.
const DIALECT_VERSIONS: u64 = 1;
/// Since this version the names of operations are counted, and locations of block arguments may be left out.
pub const COUNTED_NAMES: u64 = 4;
/// Since this version names say whether they were registered.
const REGISTERED: u64 = 5;
/// The newest version that is known.
const NEWEST: u64 = 6;

/// An attribute or a type as it is encoded.
#[derive(Clone, Copy)]
pub struct Encoded<'b> {
    /// The dialect whose encoding it is.
    pub dialect: usize,
    /// Whether it has that encoding, or is text.
    pub custom: bool,
    /// The bytes.
    pub bytes: &'b [u8],
}

/// The tables of a file.
pub struct Tables<'b> {
    /// MLIR's version of the format.
    pub version: u64,
    /// All strings.
    pub strings: Vec<&'b str>,
    /// Names of dialects.
    pub dialects: Vec<&'b str>,
    /// Names of operations with their dialects.
    pub operations: Vec<String>,
    /// Attributes by their number.
    pub attributes: Vec<Encoded<'b>>,
    /// Types by their number.
    pub types: Vec<Encoded<'b>>,
    /// The declared attributes of operations, by their number.
    pub properties: Vec<&'b [u8]>,
    /// The operations.
    pub code: Cursor<'b>,
}

impl<'b> Tables<'b> {
    /// Those of a file.
    pub fn read(bytes: &'b [u8]) -> Read<Self> {
        let mut file = Cursor::new(bytes);
        if file.take(MAGIC.len())? != MAGIC {
            return Err("the file is no MLIR bytecode".into());
        }
        let version = file.varint()?;
        if version > NEWEST {
            return Err(format!(
                "MLIR bytecode of version {version} is not known, {NEWEST} is the newest; serialize for an older StableHLO"
            ));
        }
        file.until_zero()?;
        let mut sections: [Option<Cursor>; 9] = [None; 9];
        while !file.is_empty() {
            let (number, content) = file.section()?;
            if let Some(place) = sections.get_mut(usize::from(number)) {
                *place = Some(content);
            }
        }
        let section = |number: u8| {
            sections[usize::from(number)]
                .ok_or_else(|| format!("the file has no section {number}; it is damaged"))
        };
        let strings = strings(section(section::STRINGS)?)?;
        let (dialects, operations) = dialects(section(section::DIALECTS)?, version, &strings)?;
        let (attributes, types) =
            offsets(section(section::OFFSETS)?, section(section::ATTRIBUTES)?, dialects.len())?;
        let code = section(section::OPERATIONS)?;
        let properties =
            sections[usize::from(section::PROPERTIES)].map(properties).transpose()?.unwrap_or_default();
        Ok(Tables { version, properties, strings, dialects, operations, attributes, types, code })
    }
}

/// Sizes from the last string to the first, then the strings, each with a 0 behind.
fn strings(mut cursor: Cursor<'_>) -> Read<Vec<&str>> {
    let count = cursor.count()?;
    let mut sizes = Vec::with_capacity(count);
    for _ in 0..count {
        sizes.push(cursor.count()?);
    }
    let mut all = Vec::with_capacity(count);
    for size in sizes.into_iter().rev() {
        let bytes = cursor.take(size)?;
        let text = bytes.strip_suffix(&[0]).ok_or("a string has no end; the file is damaged")?;
        // Some are bytes for programs, such as options of calls.
        all.push(std::str::from_utf8(text).unwrap_or("?"));
    }
    Ok(all)
}

fn properties(mut cursor: Cursor<'_>) -> Read<Vec<&[u8]>> {
    (0..cursor.count()?)
        .map(|_| {
            let size = cursor.count()?;
            cursor.take(size)
        })
        .collect()
}

fn named<'b>(strings: &[&'b str], index: u64) -> Read<&'b str> {
    let found = usize::try_from(index).ok().and_then(|i| strings.get(i));
    found.copied().ok_or_else(|| format!("string {index} is named, and there are {}", strings.len()))
}

fn dialects<'b>(
    mut cursor: Cursor<'b>,
    version: u64,
    strings: &[&'b str],
) -> Read<(Vec<&'b str>, Vec<String>)> {
    let count = cursor.count()?;
    let mut dialects = Vec::with_capacity(count);
    for _ in 0..count {
        if version < DIALECT_VERSIONS {
            dialects.push(named(strings, cursor.varint()?)?);
            continue;
        }
        let (name, is_versioned) = cursor.flagged()?;
        dialects.push(named(strings, name)?);
        if is_versioned {
            cursor.section()?;
        }
    }
    if version >= COUNTED_NAMES {
        cursor.varint()?;
    }
    let mut operations = Vec::new();
    while !cursor.is_empty() {
        let dialect = dialects[cursor.index(count, "dialect")?];
        for _ in 0..cursor.count()? {
            let name = if version < REGISTERED { cursor.varint()? } else { cursor.flagged()?.0 };
            operations.push(format!("{dialect}.{}", named(strings, name)?));
        }
    }
    Ok((dialects, operations))
}

/// Groups of one dialect: first of attributes, then of types.
fn offsets<'b>(
    mut cursor: Cursor<'b>,
    mut data: Cursor<'b>,
    dialects: usize,
) -> Read<(Vec<Encoded<'b>>, Vec<Encoded<'b>>)> {
    let (attributes, types) = (cursor.count()?, cursor.count()?);
    let mut read = |count: usize| -> Read<Vec<Encoded<'b>>> {
        let mut all = Vec::with_capacity(count);
        while all.len() < count {
            let dialect = cursor.index(dialects, "dialect")?;
            let entries = cursor.count()?;
            if entries == 0 || all.len() + entries > count {
                return Err("attributes or types are counted wrongly; the file is damaged".into());
            }
            for _ in 0..entries {
                let (size, custom) = cursor.flagged()?;
                let bytes = data.take(usize::try_from(size).unwrap_or(usize::MAX))?;
                all.push(Encoded { dialect, custom, bytes });
            }
        }
        Ok(all)
    };
    Ok((read(attributes)?, read(types)?))
}
