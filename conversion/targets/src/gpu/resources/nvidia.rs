//! Of PTX: its text has the instructions; registers and spills are known to `ptxas`, which is NVIDIA's and may be missing.
//!
//!     .visible .entry k_0(...)                   ptxas info : Compiling entry function 'k_0' for 'sm_80'
//!     { ... mma.sync.aligned... }                    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//!                                                ptxas info : Used 32 registers, ...

use super::{Code, ResourceError, count, run};
use indexmap::IndexMap;
use std::path::{Path, PathBuf};

/// Instructions that matter: of matrices, copies beside the computation, and accesses of 16 bytes.
const PREFIXES: &[&str] = &[
    "mma.sync",
    "wgmma.mma_async",
    "tcgen05.mma",
    "ldmatrix",
    "cp.async",
    "mbarrier.try_wait",
    "setmaxnreg",
    "ld.global.v4",
    "ld.global.nc.v4",
    "st.global.v4",
    "ld.global.v2.b64",
    "st.global.v2.b64",
    "ld.shared.v4",
    "st.shared.v4",
    "ld.local",
    "st.local",
    "shfl.sync",
    "bar.sync",
];

/// `ptxas`: what FUSION_PTXAS names, or what is in PATH.
pub fn assembler() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("FUSION_PTXAS").filter(|path| !path.is_empty()) {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("ptxas")).find(|file| file.is_file())
}

/// The code of all kernels of an image, by name. A cubin has no text.
pub fn codes(
    image: &[u8],
    chip: &str,
    assembler: Option<&Path>,
) -> Result<IndexMap<String, Code>, ResourceError> {
    let mut all = IndexMap::new();
    if image.starts_with(b"\x7fELF") {
        return Ok(all);
    }
    let text = String::from_utf8_lossy(image.strip_suffix(&[0]).unwrap_or(image)).into_owned();
    instructions(&text, &mut all);
    if let Some(tool) = assembler {
        let chip = format!("-arch={chip}");
        let (_, said) = run(tool, &["-v", "-O3", &chip, "-o", "code.cubin"], "code.ptx", text.as_bytes())?;
        registers(&said, &mut all);
    }
    Ok(all)
}

fn instructions(text: &str, all: &mut IndexMap<String, Code>) {
    let mut current = String::new();
    for line in text.lines() {
        let words: Vec<&str> =
            line.split([' ', '\t', '(', ';', ',']).filter(|word| !word.is_empty()).collect();
        if let Some(at) = words.iter().position(|word| *word == ".entry") {
            current = words.get(at + 1).copied().unwrap_or_default().to_owned();
            all.insert(current.clone(), Code::default());
        } else if let Some(code) = all.get_mut(&current) {
            // A predicate stands before the instruction.
            let instruction = words.iter().find(|word| !word.starts_with('@'));
            count(&mut code.instructions, instruction.copied().unwrap_or_default(), PREFIXES);
        }
    }
}

fn registers(said: &str, all: &mut IndexMap<String, Code>) {
    let number_before = |line: &str, what: &str| {
        let before = line.split(what).next()?;
        before.split(|c: char| !c.is_ascii_digit()).rfind(|digits| !digits.is_empty())?.parse::<u64>().ok()
    };
    let mut current = String::new();
    for line in said.lines() {
        if line.contains("Compiling entry function") {
            current = line.split('\'').nth(1).unwrap_or_default().to_owned();
        }
        let Some(code) = all.get_mut(&current) else { continue };
        if line.contains(" bytes spill stores") {
            code.spilled_bytes = number_before(line, " bytes spill stores");
        }
        if line.contains("Used ") && line.contains(" registers") {
            code.registers = number_before(line, " registers");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_and_what_ptxas_says_are_read() {
        let mut all = IndexMap::new();
        let text = ".visible .entry k_0(\n\t.param .u64 .ptr k_0_param_0\n)\n{\n\t@%p1 bra $L1;\n\
                    \tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32\n\t{%f1};\n\t@%p2 ld.global.v4.b32 {%r1}, [%rd1];\n}\n";
        instructions(text, &mut all);
        let counted: Vec<(&str, u64)> =
            all["k_0"].instructions.iter().map(|(k, n)| (k.as_str(), *n)).collect();
        assert_eq!(
            counted,
            [("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 1), ("ld.global.v4.b32", 1)]
        );
        let said = "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function 'k_0' for 'sm_80'\n\
                    ptxas info    : Function properties for k_0\n    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n\
                    ptxas info    : Used 255 registers, used 1 barriers, 372 bytes cmem[0]\n";
        registers(said, &mut all);
        assert_eq!((all["k_0"].registers, all["k_0"].spilled_bytes), (Some(255), Some(12)));
    }
}
