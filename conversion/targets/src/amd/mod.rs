//! AMD's GPUs: code is an object of the GPU (hsaco), linked by lld.
//!
//! A description in `descriptions/` and its line in `described` are all that a GPU takes: `processor` is what
//! LLVM calls it.

use super::vendor::{Image, Vendor};
use crate::stage::Stage;
use fusion_dialects::Emit;

/// The row of facts.
pub const VENDOR: Vendor = Vendor {
    name: "amd",
    device: "hip",
    number: 2,
    triple: "amdgcn-amd-amdhsa",
    features: "",
    emit: Emit::Object,
    image: Image::Linked,
    stages: STAGES,
    calls: "convert-math-to-rocdl{chipset=CHIP},",
    settings,
    described: &[
        include_str!("descriptions/gfx90a.toml"),
        include_str!("descriptions/gfx942.toml"),
        include_str!("descriptions/gfx950.toml"),
        include_str!("descriptions/gfx1100.toml"),
        include_str!("descriptions/gfx1201.toml"),
    ],
};

/// What ocml reads: numbers as IEEE 754 says, and the version of the instruction set, `gfx90a` being 9010.
fn settings(chip: &str) -> String {
    let digits: Vec<u32> = chip.trim_start_matches("gfx").chars().filter_map(|c| c.to_digit(16)).collect();
    let version = match digits[..] {
        [ref major @ .., minor, stepping] => {
            let major = major.iter().fold(0, |all, digit| 10 * all + digit);
            1000 * major + 100 * minor + stepping
        }
        _ => 0,
    };
    let global = |name: &str, value: u32, ty: &str| {
        format!(
            "llvm.mlir.global linkonce_odr hidden constant @__oclc_{name}({value} : {ty}) {{addr_space = 4 : i32}} : {ty}\n"
        )
    };
    let options =
        [("finite_only_opt", 0), ("unsafe_math_opt", 0), ("daz_opt", 0), ("correctly_rounded_sqrt32", 1)];
    let mut text: String = options.iter().map(|(name, value)| global(name, *value, "i8")).collect();
    text.push_str(&global("ISA_version", version, "i32"));
    text
}

const STAGES: &[Stage] = &[Stage {
    name: "fusion-amd",
    pipeline: "builtin.module(gpu.module(\
               gpu-matrix,convert-vector-to-scf,lower-affine,convert-amdgpu-to-rocdl{chipset=CHIP},convert-scf-to-cf,expand-strided-metadata,\
               lower-affine,convert-gpu-to-rocdl{chipset=CHIP runtime=HIP use-bare-ptr-memref-call-conv=1},\
               convert-vector-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,convert-ub-to-llvm,\
               canonicalize,cse,reconcile-unrealized-casts))",
}];
