//! Links the module for size: functions of the same code become one, of which MLIR's and LLVM's templates give many.
//!
//! A wheel shrinks by a tenth. Only LLVM's linker can do so; where it is not beside LLVM, the module is linked as all else.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    let Ok(prefix) = std::env::var("MLIR_SYS_220_PREFIX") else { return };
    let programs = Path::new(&prefix).join("bin");
    if programs.join("ld.lld").exists() {
        println!("cargo::rustc-link-arg-cdylib=-B{}", programs.display());
        for option in ["-fuse-ld=lld", "-Wl,--icf=all"] {
            println!("cargo::rustc-link-arg-cdylib={option}");
        }
    }
}
