//! Of a shared object for AMD's GPUs: its note has the registers, `llvm-objdump` the instructions.
//!
//!     .note  "AMDGPU" 32  {"amdhsa.kernels": [{".name": "k_0", ".vgpr_count": 12, ".vgpr_spill_count": 0, ...}]}

use super::message_pack::{self, Value};
use super::{Code, ResourceError, count, run};
use indexmap::IndexMap;
use object::{Object, ObjectSection};
use std::path::Path;

/// The number of the note.
const METADATA: u32 = 32;
/// Instructions that matter: of matrices, and accesses of 16 bytes.
const PREFIXES: &[&str] = &[
    "v_mfma",
    "v_smfma",
    "v_wmma",
    "global_load_dwordx4",
    "global_store_dwordx4",
    "global_load_b128",
    "global_store_b128",
    "ds_read_b128",
    "ds_write_b128",
    "ds_load_b128",
    "ds_store_b128",
    "scratch_",
    "s_barrier",
];

/// The code of all kernels of an object, by name.
pub fn codes(image: &[u8], chip: &str) -> Result<IndexMap<String, Code>, ResourceError> {
    let file = object::File::parse(image)?;
    let section =
        file.section_by_name(".note").ok_or_else(|| ResourceError::Structure(".note".to_owned()))?;
    let note = note(section.data()?).and_then(message_pack::read);
    let kernels = note.as_ref().and_then(|note| note.get("amdhsa.kernels"));
    let Some(Value::List(kernels)) = kernels else {
        return Err(ResourceError::Structure("note of AMDGPU".to_owned()));
    };
    let mut all: IndexMap<String, Code> = IndexMap::new();
    for kernel in kernels {
        let number = |key: &str| kernel.get(key).and_then(Value::int);
        let Some(name) = kernel.get(".name").and_then(Value::text) else { continue };
        // Accumulators are counted with the others where they are the same file of registers, which is so in all GPUs here.
        let spilled = number(".vgpr_spill_count").map(|n| 4 * (n + number(".sgpr_spill_count").unwrap_or(0)));
        let code = Code { registers: number(".vgpr_count"), spilled_bytes: spilled, ..Code::default() };
        all.insert(name.to_owned(), code);
    }
    let tool = Path::new(env!("MLIR_SYS_220_PREFIX")).join("bin/llvm-objdump");
    if tool.exists() {
        let chip = format!("--mcpu={chip}");
        let (text, _) = run(&tool, &["-d", "--no-show-raw-insn", &chip], "code.hsaco", image)?;
        instructions(&text, &mut all);
    }
    Ok(all)
}

/// The content of the note that describes kernels.
fn note(mut rest: &[u8]) -> Option<&[u8]> {
    while let Some(head) = rest.first_chunk::<12>() {
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (name, content) = ((word(0) as usize).next_multiple_of(4), word(4) as usize);
        let begin = 12 + name;
        if word(8) == METADATA {
            return rest.get(begin..begin.checked_add(content)?);
        }
        rest = rest.get(begin.checked_add(content.next_multiple_of(4))?..)?;
    }
    None
}

/// Counts what `llvm-objdump -d` lists: `0000 <name>:` and lines of instructions below it.
fn instructions(text: &str, all: &mut IndexMap<String, Code>) {
    let mut current = None;
    for line in text.lines() {
        if let Some(name) = line.strip_suffix(">:").and_then(|l| l.split_once('<')).map(|(_, name)| name) {
            current = Some(name.to_owned());
        } else if let Some(code) = current.as_ref().and_then(|name| all.get_mut(name)) {
            count(&mut code.instructions, line.split_whitespace().next().unwrap_or_default(), PREFIXES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_counted_by_function() {
        let mut all = IndexMap::from([("k_0".to_owned(), Code::default())]);
        let text = "\n0000000000001900 <k_0>:\n\ts_load_dwordx4 s[0:3], s[0:1], 0x0  // 001\n\tv_mfma_f32_16x16x16_f16 a[0:3], v1\n\
                    \tv_mfma_f32_16x16x16_f16 a[0:3], v2\n\n0000000000001a00 <other>:\n\ts_barrier\n";
        instructions(text, &mut all);
        assert_eq!(all["k_0"].instructions, IndexMap::from([("v_mfma_f32_16x16x16_f16".to_owned(), 2)]));
    }

    #[test]
    fn a_note_that_is_cut_off_is_none() {
        assert_eq!(note(&[7, 0, 0, 0, 255, 255, 255, 255, 32, 0, 0, 0]), None);
        assert_eq!(note(&[]), None);
        let whole = b"\x07\0\0\0\x02\0\0\0\x20\0\0\0AMDGPU\0\0\x91\x01";
        assert_eq!(note(whole), Some(&b"\x91\x01"[..]));
    }
}
