//! What is in a shared library: the parts of memory that it wants, the words in it that are addresses, and its names. All is checked before
//! anything is done; the bytes may be any.
//!
//! The ELF specification (System V ABI) has the numbers, and the supplements for x86-64, AArch64 and RISC-V those of relocations.

use std::collections::HashMap;
use std::ops::Range;

/// Memory that a library spans at most.
const MOST_SPAN: u64 = 4 << 30;
const PAGE: u64 = 1 << 16;

/// A part of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where it lies.
    pub at: Range<u64>,
    /// The bytes that it begins with; the rest is zeros.
    pub file: Range<usize>,
    /// Whether it is executed.
    pub executes: bool,
    /// Whether it is written to.
    pub writes: bool,
}

/// What an address is that the library needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A place in the library.
    Own(u64),
    /// Something outside of it, and a distance.
    Other(String, u64),
}

/// A shared library.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// Bytes of memory.
    pub span: u64,
    /// The parts.
    pub segments: Vec<Segment>,
    /// Words that are addresses: where each lies.
    pub words: Vec<(u64, Value)>,
    /// Where its functions and constants lie.
    pub names: HashMap<String, u64>,
    /// Where words lie that are addresses of functions to call first.
    pub first: Vec<u64>,
    /// Where a function lies that is called before these.
    pub init: Option<u64>,
}

/// Kinds of relocations of a machine: an address of one's own, and that of a symbol.
struct Machine {
    name: &'static str,
    number: u16,
    own: u32,
    symbols: &'static [u32],
}

const MACHINES: [Machine; 3] = [
    Machine { name: "x86_64", number: 62, own: 8, symbols: &[1, 6, 7] },
    Machine { name: "aarch64", number: 183, own: 1027, symbols: &[257, 1025, 1026] },
    Machine { name: "riscv64", number: 243, own: 3, symbols: &[2, 5] },
];

struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn at(&self, place: u64, length: u64) -> Result<&'b [u8], String> {
        let range = usize::try_from(place)
            .ok()
            .zip(place.checked_add(length).and_then(|end| usize::try_from(end).ok()));
        let bytes = range.and_then(|(start, end)| self.0.get(start..end));
        bytes.ok_or_else(|| format!("the library ends before byte {place} and the {length} from there"))
    }

    fn number(&self, place: u64, size: u64) -> Result<u64, String> {
        let bytes = self.at(place, size)?;
        Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn u16(&self, place: u64) -> Result<u16, String> {
        self.number(place, 2).map(|number| number as u16)
    }

    fn u32(&self, place: u64) -> Result<u32, String> {
        self.number(place, 4).map(|number| number as u32)
    }

    fn u64(&self, place: u64) -> Result<u64, String> {
        self.number(place, 8)
    }

    fn text(&self, place: u64) -> Result<String, String> {
        let start = usize::try_from(place).ok().and_then(|start| self.0.get(start..));
        let start = start.ok_or("a name lies outside of the library")?;
        let end = start.iter().take(4096).position(|byte| *byte == 0).ok_or("a name does not end")?;
        Ok(String::from_utf8_lossy(&start[..end]).into_owned())
    }
}

/// Tables of the dynamic section, as places in the file, and their sizes.
#[derive(Default)]
struct Tables {
    strings: u64,
    symbols: u64,
    gnu_hash: Option<u64>,
    hash: Option<u64>,
    relocations: [(u64, u64); 2],
    first: (u64, u64),
    init: Option<u64>,
}

/// A text that a library of any machine has by a name.
pub fn text_of(library: &[u8], name: &str) -> Result<String, String> {
    let number = Bytes(library).u16(18)?;
    let machine = MACHINES.iter().find(|machine| machine.number == number);
    let image = Image::of_machine(library, machine.map_or(std::env::consts::ARCH, |machine| machine.name))?;
    let at = image.names.get(name).ok_or_else(|| format!("it has no {name}, so it is no compiled model"))?;
    let start =
        usize::try_from(image.in_file(*at)?).ok().and_then(|start| library.get(start..)).unwrap_or_default();
    let end = start.iter().position(|byte| *byte == 0).ok_or("its description does not end")?;
    String::from_utf8(start[..end].to_vec()).map_err(|_| "its description is no text".to_owned())
}

impl Image {
    /// What is in a library for this machine.
    pub fn read(library: &[u8]) -> Result<Image, String> {
        Image::of_machine(library, std::env::consts::ARCH)
    }

    fn of_machine(library: &[u8], machine: &str) -> Result<Image, String> {
        let bytes = Bytes(library);
        if !library.starts_with(b"\x7fELF\x02\x01") {
            return Err("it is no shared library of 64 bits".to_owned());
        }
        let (kind, number) = (bytes.u16(16)?, bytes.u16(18)?);
        let known = MACHINES.iter().find(|known| known.number == number);
        let own = MACHINES.iter().find(|known| known.name == machine);
        let Some(own) = own.filter(|own| own.number == number) else {
            let found = known.map_or_else(|| format!("machine {number}"), |known| known.name.to_owned());
            return Err(format!("it is for {found}, and this device is {machine}"));
        };
        if kind != 3 {
            return Err("it is no shared library, but another file of the ELF format".to_owned());
        }
        let mut image = Image::default();
        let dynamic = image.segments(&bytes)?;
        let (start, length) = dynamic.ok_or("it has no dynamic section")?;
        let tables = image.tables(&bytes, start, length)?;
        for (start, length) in tables.relocations {
            for place in (start..start.saturating_add(length)).step_by(24) {
                let word = image.word(&bytes, own, &tables, place)?;
                image.words.push(word);
            }
        }
        image.names = image.defined(&bytes, &tables)?;
        let (start, length) = tables.first;
        image.first = (start..start.saturating_add(length)).step_by(8).collect();
        image.first.iter().try_for_each(|place| image.inside(*place, 8))?;
        image.init = tables.init;
        Ok(image)
    }

    /// Takes the parts of memory in; gives the place of the dynamic section.
    fn segments(&mut self, bytes: &Bytes) -> Result<Option<(u64, u64)>, String> {
        let (table, size, count) = (bytes.u64(32)?, bytes.u16(54)?, bytes.u16(56)?);
        if size < 56 {
            return Err("its program headers are too short".to_owned());
        }
        let mut dynamic = None;
        for number in 0..u64::from(count) {
            let header = table.saturating_add(number * u64::from(size));
            let (kind, flags) = (bytes.u32(header)?, bytes.u32(header + 4)?);
            let (file, at) = (bytes.u64(header + 8)?, bytes.u64(header + 16)?);
            let (in_file, in_memory) = (bytes.u64(header + 32)?, bytes.u64(header + 40)?);
            match kind {
                1 => {
                    let end = at.checked_add(in_memory.max(in_file)).filter(|end| *end <= MOST_SPAN);
                    let end = end.ok_or("a part of it lies beyond all memory that it may have")?;
                    let length = bytes.at(file, in_file)?.len();
                    let (executes, writes) = (flags & 1 != 0, flags & 2 != 0);
                    if executes && writes {
                        return Err("a part of it is both written to and executed".to_owned());
                    }
                    self.segments.push(Segment {
                        at: at..end,
                        file: file as usize..file as usize + length,
                        executes,
                        writes,
                    });
                    self.span = self.span.max(end.next_multiple_of(PAGE));
                }
                2 => dynamic = Some((file, in_file)),
                7 => return Err("it has variables of each thread, which are not supported".to_owned()),
                _ => {}
            }
        }
        match self.segments.is_empty() {
            false => Ok(dynamic),
            true => Err("no part of it goes into memory".to_owned()),
        }
    }

    /// The place in the file of what lies somewhere in memory.
    fn in_file(&self, at: u64) -> Result<u64, String> {
        let own = |segment: &&Segment| {
            segment.at.contains(&at) && at - segment.at.start < segment.file.len() as u64
        };
        let segment = self.segments.iter().find(own);
        let segment = segment.ok_or_else(|| format!("nothing in it lies at {at:#x}"))?;
        Ok(segment.file.start as u64 + (at - segment.at.start))
    }

    fn inside(&self, at: u64, size: u64) -> Result<(), String> {
        let end = at.checked_add(size).ok_or("an address lies beyond all memory")?;
        match self.segments.iter().any(|segment| segment.at.start <= at && end <= segment.at.end) {
            true => Ok(()),
            false => Err(format!("the word at {at:#x} lies outside of its memory")),
        }
    }

    fn tables(&self, bytes: &Bytes, start: u64, length: u64) -> Result<Tables, String> {
        let mut tables = Tables::default();
        for place in (start..start.saturating_add(length)).step_by(16) {
            let (tag, value) = (bytes.u64(place)?, bytes.u64(place.saturating_add(8))?);
            match tag {
                0 => break,
                2 => tables.relocations[1].1 = value,
                4 => tables.hash = Some(self.in_file(value)?),
                5 => tables.strings = self.in_file(value)?,
                6 => tables.symbols = self.in_file(value)?,
                7 => tables.relocations[0].0 = self.in_file(value)?,
                8 => tables.relocations[0].1 = value,
                12 => tables.init = Some(value),
                23 => tables.relocations[1].0 = self.in_file(value)?,
                25 => tables.first.0 = value,
                27 => tables.first.1 = value,
                17 | 36 => return Err("its relocations are of a form that is not supported".to_owned()),
                0x6fff_fef5 => tables.gnu_hash = Some(self.in_file(value)?),
                _ => {}
            }
        }
        if let Some(init) = tables.init {
            self.inside(init, 1)?;
        }
        if tables.first.1 > bytes.0.len() as u64 {
            return Err("it has more functions to call first than bytes".to_owned());
        }
        Ok(tables)
    }

    fn word(
        &self,
        bytes: &Bytes,
        machine: &Machine,
        tables: &Tables,
        place: u64,
    ) -> Result<(u64, Value), String> {
        let (at, info, addend) = (bytes.u64(place)?, bytes.u64(place + 8)?, bytes.u64(place + 16)?);
        self.inside(at, 8)?;
        let (kind, symbol) = (info as u32, info >> 32);
        if kind == machine.own {
            return Ok((at, Value::Own(addend)));
        }
        if !machine.symbols.contains(&kind) {
            return Err(format!("a relocation is of type {kind}, which is not supported"));
        }
        let entry = tables.symbols.saturating_add(symbol * 24);
        let name = bytes.text(tables.strings.saturating_add(bytes.u32(entry)?.into()))?;
        let (section, value) = (bytes.u16(entry + 6)?, bytes.u64(entry + 8)?);
        let is_weak = bytes.number(entry + 4, 1)? >> 4 == 2;
        Ok(match section {
            // What is weak and not there has the address 0.
            0 if is_weak => (at, Value::Other(String::new(), addend)),
            0 => (at, Value::Other(name, addend)),
            _ => (at, Value::Own(value.wrapping_add(addend))),
        })
    }

    /// How many symbols there are: only the tables of hashes say.
    fn symbols(&self, bytes: &Bytes, tables: &Tables) -> Result<u64, String> {
        if let Some(hash) = tables.hash {
            return bytes.u32(hash + 4).map(u64::from);
        }
        let hash = tables.gnu_hash.ok_or("it has no table of its names")?;
        let [buckets, first, bloom] = [0, 4, 8].map(|place| bytes.u32(hash + place).map(u64::from));
        let (buckets, first) = (buckets?, first?);
        let table = hash + 16 + bloom?.saturating_mul(8);
        let chains = table.saturating_add(4 * buckets);
        let mut last = 0;
        for bucket in 0..buckets {
            last = last.max(u64::from(bytes.u32(table.saturating_add(4 * bucket))?));
        }
        if last < first {
            return Ok(first);
        }
        while bytes.u32(chains.saturating_add(4 * (last - first)))? & 1 == 0 {
            last += 1;
        }
        Ok(last + 1)
    }

    fn defined(&self, bytes: &Bytes, tables: &Tables) -> Result<HashMap<String, u64>, String> {
        let mut names = HashMap::new();
        for number in 0..self.symbols(bytes, tables)? {
            let entry = tables.symbols.saturating_add(number.saturating_mul(24));
            let (name, section, value) =
                (bytes.u32(entry)?, bytes.u16(entry.saturating_add(6))?, bytes.u64(entry.saturating_add(8))?);
            if section != 0 && self.inside(value, 1).is_ok() {
                names.insert(bytes.text(tables.strings.saturating_add(name.into()))?, value);
            }
        }
        Ok(names)
    }
}
