//! The data of a compiled model as a relocatable ELF object: the four constants of `docs/reference/abi.md`.
//!
//! Written front to back, so that gigabytes of weights go from where they are to the file without
//! a copy in memory.

use crate::description::ModelDescription;
pub use crate::machine::Machine;
pub use crate::weights::Constants;
use crate::weights::{self, Outside};
use object::elf;
use object::write::elf::{FileHeader, SectionHeader, SectionIndex, Sym, Writer};
use object::write::{StreamingBuffer, StringId};
use std::io::{self, BufWriter, Write};

/// The version of the interface in `docs/reference/abi.md`.
pub const ABI_VERSION: u32 = 1;
/// From this size on, x86-64 constants go to a section the linker places out of the way, so that
/// code and its tables stay within the two gigabytes they can reach of each other.
const LARGE_CONSTANTS: u64 = 1 << 30;

/// Where the parts of the object lie in its read-only section, before the constants.
const VERSION_AT: u64 = 0;
const WORKSPACE_AT: u64 = 8;
const JSON_AT: u64 = 16;

/// Writes the object. The pieces of `constants` must not be misplaced.
pub fn write(
    out: impl Write,
    machine: Machine,
    description: &ModelDescription,
    constants: &Constants,
    outside: Option<&Outside>,
) -> io::Result<()> {
    // JSON escapes control characters, so the only NUL is the one at the end.
    let mut json = serde_json::to_vec(description)?;
    json.push(0);
    let weights_at = (JSON_AT + json.len() as u64).next_multiple_of(8);
    let weights = outside.map_or(Vec::new(), facts_of_weights);
    let facts_size = weights_at + weights.len() as u64;
    let alignment = if outside.is_some() { weights::ALIGNMENT } else { 64 };
    // Not 0, so that the symbol lies in its own section; nothing else lies on the pages of what is mapped.
    let constants_size = constants.size.max(1);
    let blob_size =
        if outside.is_some() { constants_size.next_multiple_of(alignment) } else { constants_size };
    let large = machine == Machine::X86_64 && constants.size >= LARGE_CONSTANTS;

    let mut buffer = StreamingBuffer::new(BufWriter::new(out));
    let mut w = Writer::new(object::Endianness::Little, true, &mut buffer);
    w.reserve_file_header();
    let facts_offset = w.reserve(facts_size, 64);
    let constants_offset = if outside.is_some() { facts_offset } else { w.reserve(constants_size, 64) };

    let facts = Section::reserve(&mut w, b".rodata.fusion");
    let blob_name: &[u8] = match (outside.is_some(), large) {
        (true, true) => b".lbss.fusion",
        (true, false) => b".bss.fusion.constants",
        (false, true) => b".lrodata.fusion",
        (false, false) => b".rodata.fusion.constants",
    };
    let blob = Section::reserve(&mut w, blob_name);
    // Says that nothing here needs an executable stack.
    let stack = Section::reserve(&mut w, b".note.GNU-stack");
    let mut symbols = vec![
        (&b"fusion_abi_version"[..], facts.index, VERSION_AT, 4),
        (b"fusion_workspace_bytes", facts.index, WORKSPACE_AT, 8),
        (b"fusion_model_json", facts.index, JSON_AT, json.len() as u64),
        (b"fusion_constants", blob.index, 0, constants_size),
    ];
    if outside.is_some() {
        symbols.push((b"fusion_weights_facts", facts.index, weights_at, weights.len() as u64));
    }
    w.reserve_null_symbol_index();
    let names: Vec<StringId> = symbols.iter().map(|(name, ..)| w.add_string(name)).collect();
    for &(_, section, ..) in &symbols {
        w.reserve_symbol_index(Some(SectionIndex(section)));
    }
    w.reserve_symtab();
    w.reserve_strtab().map_err(io::Error::other)?;
    w.reserve_symtab_section_index();
    w.reserve_strtab_section_index();
    w.reserve_shstrtab_section_index();
    w.reserve_shstrtab().map_err(io::Error::other)?;
    w.reserve_section_headers();

    w.write_file_header(&FileHeader {
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        e_type: elf::ET_REL,
        e_machine: match machine {
            Machine::X86_64 => elf::EM_X86_64,
            Machine::AArch64 => elf::EM_AARCH64,
        },
        e_entry: 0,
        e_flags: elf::FileFlags(0),
    })
    .map_err(io::Error::other)?;

    w.pad_until(facts_offset + VERSION_AT);
    w.write(&ABI_VERSION.to_le_bytes());
    w.pad_until(facts_offset + WORKSPACE_AT);
    w.write(&description.workspace_bytes.to_le_bytes());
    w.pad_until(facts_offset + JSON_AT);
    w.write(&json);
    w.pad_until(facts_offset + weights_at);
    w.write(&weights);
    for &(offset, bytes) in constants.pieces.iter().filter(|_| outside.is_none()) {
        w.pad_until(constants_offset + offset);
        w.write(bytes);
    }
    if outside.is_none() {
        w.pad_until(constants_offset + constants_size);
    }

    w.write_null_symbol();
    for (&(_, section, value, size), name) in symbols.iter().zip(names) {
        let symbol = Sym {
            section: Some(section),
            st_name: w.string_offset(Some(name)),
            st_info: elf::SymbolInfo::new(elf::STB_GLOBAL, elf::STT_OBJECT),
            st_other: elf::SymbolOther(0),
            st_shndx: elf::SymbolSection(0),
            st_value: value,
            st_size: size,
        };
        w.write_symbol(&symbol);
    }
    w.write_strtab();
    w.write_shstrtab();

    w.write_null_section_header();
    // SHF_X86_64_LARGE of the x86-64 psABI.
    let large = elf::SectionFlags(if large { 0x1000_0000 } else { 0 });
    facts.write(&mut w, elf::SHT_PROGBITS, elf::SHF_ALLOC, (facts_offset, facts_size), 64);
    let (kind, flags) = match outside {
        Some(_) => (elf::SHT_NOBITS, elf::SHF_ALLOC | elf::SHF_WRITE | large),
        None => (elf::SHT_PROGBITS, elf::SHF_ALLOC | large),
    };
    blob.write(&mut w, kind, flags, (constants_offset, blob_size), alignment);
    stack.write(&mut w, elf::SHT_PROGBITS, elf::SectionFlags(0), (facts_offset, 0), 1);
    w.write_symtab_section_header(1);
    w.write_strtab_section_header();
    w.write_shstrtab_section_header();
    drop(w);
    buffer.flush()
}

/// `fusion_weights_facts` of `weights/weights.c`: bytes, fingerprint, name.
fn facts_of_weights(outside: &Outside) -> Vec<u8> {
    [&outside.bytes.to_le_bytes(), outside.fingerprint.as_bytes(), outside.name.as_bytes(), b"\0"].concat()
}

/// A section whose place in the table is reserved.
struct Section {
    index: u32,
    name: StringId,
}

impl Section {
    fn reserve<'a>(w: &mut Writer<'a>, name: &'a [u8]) -> Section {
        let name = w.add_section_name(name);
        Section { index: w.reserve_section_index().0, name }
    }

    fn write(
        &self,
        w: &mut Writer,
        kind: elf::SectionType,
        flags: elf::SectionFlags,
        (offset, size): (u64, u64),
        alignment: u64,
    ) {
        w.write_section_header(&SectionHeader {
            sh_name: w.section_name_offset(Some(self.name)),
            sh_type: kind,
            sh_flags: flags,
            sh_offset: offset,
            sh_size: size,
            sh_addralign: alignment,
            ..SectionHeader::default()
        });
    }
}
