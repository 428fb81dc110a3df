//! Compiles the call of lld, and has lld's libraries be linked.

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=shim");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    let Ok(prefix) = env::var("MLIR_SYS_220_PREFIX") else {
        panic!("MLIR_SYS_220_PREFIX must name the LLVM 22 prefix; .cargo/config.toml gives its default");
    };
    let prefix = PathBuf::from(prefix);
    // Lints link nothing.
    let wrapper = env::var_os("RUSTC_WORKSPACE_WRAPPER").map(PathBuf::from);
    if wrapper.is_some_and(|wrapper| wrapper.file_stem().is_some_and(|name| name == "clippy-driver")) {
        return;
    }
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .file("shim/Lld.cpp")
        .include(prefix.join("include"))
        .flag("-fno-exceptions")
        .flag("-fno-rtti")
        .warnings(false)
        .opt_level(1)
        .debug(false)
        .compile("fusion-lld");
    println!("cargo:rustc-link-search={}", prefix.join("lib").display());
    for library in ["lldELF", "lldCommon"] {
        println!("cargo:rustc-link-lib=static={library}");
    }
}
