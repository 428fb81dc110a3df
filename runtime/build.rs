//! Compiles the C code that goes into libraries, once for each machine code can be packaged for: the threads of every library, what
//! programs of the whole language need, what runs kernels of GPUs, and what maps weights.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

const SOURCES: &[&str] = &[
    "threads/threads.c",
    "language/memory.c",
    "language/run.c",
    "language/strings.c",
    "language/text.c",
    "language/decimal.c",
    "language/shapes.c",
    "language/value.c",
    "gpu/block.c",
    "gpu/collective.c",
    "gpu/cuda.c",
    "gpu/dlpack.c",
    "gpu/driver.c",
    "gpu/emulate.c",
    "gpu/entry.c",
    "gpu/hip.c",
    "gpu/maps.c",
    "gpu/matrix.c",
    "gpu/memory.c",
    "gpu/profile.c",
    "gpu/races.c",
    "gpu/run.c",
    "gpu/mbarriers.c",
    "gpu/stream.c",
    "weights/entry.c",
    "weights/weights.c",
];
const HEADERS: &[&str] =
    &["unload.h", "language/language.h", "gpu/device.h", "gpu/driver.h", "gpu/emulate.h", "gpu/gpu.h"];
const MACHINES: &[&str] = &["x86_64", "aarch64"];

fn main() {
    SOURCES.iter().chain(HEADERS).for_each(|file| println!("cargo:rerun-if-changed={file}"));
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    let Some(prefix) = env::var_os("MLIR_SYS_220_PREFIX") else {
        panic!("MLIR_SYS_220_PREFIX must name the LLVM 22 prefix; .cargo/config.toml gives its default");
    };
    // LLVM's compiler and not the system's: it compiles for machines other than this one.
    let clang = PathBuf::from(prefix).join("bin/clang");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for (machine, source) in MACHINES.iter().flat_map(|m| SOURCES.iter().map(move |s| (m, Path::new(s)))) {
        // A file of each folder may have the same name.
        let name = source.with_extension("").display().to_string().replace('/', "-");
        if let Err(why) = compile(&clang, machine, source, &out.join(format!("{name}-{machine}.o"))) {
            let (clang, source) = (clang.display(), source.display());
            panic!("{clang} cannot compile {source} for {machine}: {why}; install clang-22");
        }
    }
}

fn compile(clang: &Path, machine: &str, source: &Path, output: &Path) -> io::Result<()> {
    let status = Command::new(clang)
        .arg(format!("--target={machine}-linux-gnu"))
        .args(["-ffreestanding", "-O2", "-fPIC", "-fno-ident", "-Wall", "-Wextra", "-Werror", "-c"])
        .arg(source)
        .arg("-o")
        .arg(output)
        .status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(status.to_string())) }
}
