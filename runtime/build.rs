//! Compiles the threads that go into every library, once for each machine code can be packaged for.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

const SOURCE: &str = "threads/threads.c";
const MACHINES: &[&str] = &["x86_64", "aarch64"];

fn main() {
    println!("cargo:rerun-if-changed={SOURCE}");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    let Some(prefix) = env::var_os("MLIR_SYS_220_PREFIX") else {
        panic!("MLIR_SYS_220_PREFIX must name the LLVM 22 prefix; .cargo/config.toml gives its default");
    };
    // LLVM's compiler and not the system's: it compiles for machines other than this one.
    let clang = PathBuf::from(prefix).join("bin/clang");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for machine in MACHINES {
        if let Err(why) = compile(&clang, machine, &out.join(format!("threads-{machine}.o"))) {
            panic!("{} cannot compile {SOURCE} for {machine}: {why}; install clang-22", clang.display());
        }
    }
}

fn compile(clang: &Path, machine: &str, output: &Path) -> io::Result<()> {
    let status = Command::new(clang)
        .arg(format!("--target={machine}-linux-gnu"))
        .args(["-ffreestanding", "-O2", "-fPIC", "-fno-ident", "-Wall", "-Wextra", "-Werror", "-c"])
        .arg(SOURCE)
        .arg("-o")
        .arg(output)
        .status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(status.to_string())) }
}
