//! Leaves out the machine code of processors that nothing is compiled for.
//!
//! LLVM's linker asks for all processors that LLVM was built with, two dozen here, and each is some megabytes of every program. For the
//! others the functions that register them are defined here, and do nothing; so none of their code is linked.

use std::fs;
use std::path::Path;

/// Those that models are compiled for, as LLVM calls them.
const KEPT: &[&str] = &["AArch64", "AMDGPU", "NVPTX", "X86"];
/// The lists of LLVM, and what their functions are called behind the processor's name.
const LISTS: &[(&str, &str, &[&str])] = &[
    ("Targets.def", "LLVM_TARGET", &["TargetInfo", "Target", "TargetMC"]),
    ("AsmPrinters.def", "LLVM_ASM_PRINTER", &["AsmPrinter"]),
    ("AsmParsers.def", "LLVM_ASM_PARSER", &["AsmParser"]),
];

/// The definitions, for an LLVM in that folder.
pub fn left_out(prefix: &Path) -> String {
    let mut text = String::from("extern \"C\" {\n");
    for (file, macro_name, functions) in LISTS {
        let list = prefix.join("include/llvm/Config").join(file);
        // Without the list all are linked, and nothing else is lost.
        let Ok(list) = fs::read_to_string(list) else { continue };
        let name = |line: &str| {
            Some(line.trim().strip_prefix(macro_name)?.strip_prefix('(')?.strip_suffix(')')?.to_owned())
        };
        for target in list.lines().filter_map(name).filter(|target| !KEPT.contains(&target.as_str())) {
            for function in *functions {
                text.push_str(&format!("void LLVMInitialize{target}{function}() {{}}\n"));
            }
        }
    }
    text + "}\n"
}
