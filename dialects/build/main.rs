//! Writes the operators' rows as ODS, generates the C++ classes of the dialects with mlir-tblgen, and compiles the shim that
//! registers them.

mod machines;
mod operators;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Dialect, its `.td`, and what mlir-tblgen makes of it: (suffix, generator).
const DIALECTS: &[(&str, &str)] =
    &[("Relay", "td/relay/Relay.td"), ("Te", "td/te/Te.td"), ("Loop", "td/loop/Loop.td")];
const GENERATORS: &[(&str, &str)] = &[
    ("Dialect.h.inc", "-gen-dialect-decls"),
    ("Dialect.cpp.inc", "-gen-dialect-defs"),
    ("Types.h.inc", "-gen-typedef-decls"),
    ("Types.cpp.inc", "-gen-typedef-defs"),
    ("Attrs.h.inc", "-gen-attrdef-decls"),
    ("Attrs.cpp.inc", "-gen-attrdef-defs"),
    ("Enums.h.inc", "-gen-enum-decls"),
    ("Enums.cpp.inc", "-gen-enum-defs"),
    ("Ops.h.inc", "-gen-op-decls"),
    ("Ops.cpp.inc", "-gen-op-defs"),
];
const SHIM: &[&str] = &[
    "Relay.cpp",
    "Te.cpp",
    "Loop.cpp",
    "Rows.cpp",
    "Passes.cpp",
    "Tools.cpp",
    "Codegen.cpp",
    "Broadcasts.cpp",
    "Divisions.cpp",
    "Lookups.cpp",
    "Trace.cpp",
];

fn main() {
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed=td");
    println!("cargo:rerun-if-changed=shim");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    let Ok(prefix) = env::var("MLIR_SYS_220_PREFIX") else {
        panic!("MLIR_SYS_220_PREFIX must name the LLVM 22 prefix; .cargo/config.toml gives its default");
    };
    let prefix = PathBuf::from(prefix);
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("Operators.td"), operators::definitions()).expect("OUT_DIR can be written");
    for (dialect, td) in DIALECTS {
        for (suffix, generator) in GENERATORS {
            generate(
                &prefix,
                td,
                generator,
                &out.join(format!("{dialect}{suffix}")),
                &dialect.to_lowercase(),
            );
        }
    }
    // Lints link nothing, and cargo runs this once more for them.
    let wrapper = env::var_os("RUSTC_WORKSPACE_WRAPPER").map(PathBuf::from);
    if wrapper.is_some_and(|wrapper| wrapper.file_stem().is_some_and(|name| name == "clippy-driver")) {
        return;
    }
    fs::write(out.join("MachinesLeftOut.inc"), machines::left_out(&prefix)).expect("OUT_DIR can be written");
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .files(SHIM.iter().map(|file| Path::new("shim").join(file)))
        .include("shim")
        .include(prefix.join("include"))
        .include(&out)
        .flag("-fno-exceptions")
        .flag("-fno-rtti")
        .flag_if_supported("-Wno-unused-parameter")
        .flag_if_supported("-Wno-comment")
        .warnings(false)
        // What is instantiated here of MLIR's templates is linked in place of MLIR's own, so it must not be slow.
        .opt_level(1)
        .debug(false)
        .compile("fusion-shim");
}

fn generate(prefix: &Path, td: &str, generator: &str, output: &Path, dialect: &str) {
    let folder = Path::new(td).parent().expect("a .td stands in a folder");
    let mut command = Command::new(prefix.join("bin/mlir-tblgen"));
    command.arg(generator).arg(td).arg("-I").arg(prefix.join("include")).arg("-I").arg(folder);
    // What is generated of the rows.
    command.args(output.parent().map(|folder| format!("-I{}", folder.display())));
    // Definitions of included upstream dialects must not be generated again.
    match generator {
        "-gen-typedef-decls" | "-gen-typedef-defs" => command.arg(format!("-typedefs-dialect={dialect}")),
        "-gen-attrdef-decls" | "-gen-attrdef-defs" => command.arg(format!("-attrdefs-dialect={dialect}")),
        "-gen-dialect-decls" | "-gen-dialect-defs" => command.arg(format!("-dialect={dialect}")),
        _ => &mut command,
    };
    let run = command.arg("-o").arg(output).output();
    match run {
        Ok(run) if run.status.success() => {}
        Ok(run) => panic!("mlir-tblgen {generator} {td} failed:\n{}", String::from_utf8_lossy(&run.stderr)),
        Err(error) => {
            panic!("cannot run {}/bin/mlir-tblgen: {error}; install mlir-22-tools", prefix.display())
        }
    }
    if fs::metadata(output).is_err() {
        panic!("mlir-tblgen wrote nothing to {}", output.display());
    }
}
