//! `fusion-gpu-image`: the code of GPU functions as bytes.
//!
//!     gpu.module @k_gpu { llvm.func @k_0(...) ... }      =>      gpu.module @k_gpu attributes {fusion.image = "//\n// Generated ..."} {}
//!
//! The functions are in the LLVM dialect already. What the code generator gives is packed as the vendor's run time takes it.

use super::{Image, Vendor, codegen};
use fusion_dialects::loops::SWIZZLED_BYTES;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Attribute, Emit, Op, OpExt, OptionKind, OptionSpec, Pass, PassError, RunContext, Target as Codegen,
    array_attr, array_elements, bytes_attr, emit, nested_ops, ops_in, parse_module, scalar_type,
    typed_int_attr,
};
use fusion_loop_to_gpu::BLOCKS_OF_CORE;
use fusion_loop_to_gpu::maps::MAPS;
use fusion_operators::DType;
use std::ffi::OsStr;
use std::process::Command;

/// What stands between the files of several libraries.
pub const LIST: &str = ":";

/// On a GPU module: its code.
pub const IMAGE: &str = "fusion.image";

/// The pass.
pub struct GpuImage;

impl Pass for GpuImage {
    const NAME: &'static str = "fusion-gpu-image";
    const DESCRIPTION: &'static str = "Make the code of GPU functions";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "vendor",
            description: "Whose GPU: nvidia or amd",
            kind: OptionKind::Text,
            initial: "nvidia",
        },
        OptionSpec {
            name: "chip",
            description: "Which GPU, as LLVM calls it",
            kind: OptionKind::Text,
            initial: "",
        },
        OptionSpec {
            name: "assembler",
            description: "The program (ptxas) that assembles PTX; without one PTX is the image",
            kind: OptionKind::Text,
            initial: "",
        },
        OptionSpec {
            name: "libraries",
            description: "Files of bitcode (libdevice, ocml) that functions are linked from, with `:` between them",
            kind: OptionKind::Text,
            initial: "",
        },
        OptionSpec {
            name: "emit",
            description: "What to make: image, which is linked, or assembly, a text",
            kind: OptionKind::Text,
            initial: "image",
        },
    ];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let (vendor, chip) = (cx.options.text("vendor"), cx.options.text("chip"));
        let (assembler, assembly) = (cx.options.text("assembler"), cx.options.text("emit") == "assembly");
        let libraries = cx.options.text("libraries").replace(LIST, "\n");
        let vendor = Vendor::named(vendor)
            .ok_or_else(|| PassError::at(module, format!("gets no code: there is no vendor {vendor:?}")))?;
        if chip.is_empty() {
            return Err(PassError::at(module, "gets no code: `chip` names no GPU"));
        }
        let inside = module.body(0).map(ops_in).unwrap_or_default();
        let is_gpu = |op: &Op| matches!(op.kind(), Some(Kind::Upstream(Upstream::GpuModule)));
        for gpu in inside.into_iter().filter(is_gpu) {
            let how = How { vendor, chip, assembler, libraries: &libraries, assembly };
            let code = how.code(gpu).map_err(|why| PassError::at(gpu, format!("gets no code: {why}")))?;
            gpu.set_attr(IMAGE, bytes_attr(gpu.context_ref(), &code));
            let functions = gpu.body(0).map(ops_in).unwrap_or_default();
            functions.into_iter().rev().for_each(|op| op.erase());
        }
        Ok(())
    }
}

/// How code is made.
struct How<'a> {
    vendor: &'a Vendor,
    chip: &'a str,
    assembler: &'a str,
    /// A line each.
    libraries: &'a str,
    assembly: bool,
}

impl How<'_> {
    /// The code of all functions of a GPU module.
    fn code(&self, gpu: Op) -> Result<Vec<u8>, String> {
        let functions = gpu.body(0).map(ops_in).unwrap_or_default();
        let strangers: Vec<&str> = functions.iter().filter_map(|op| stranger(*op)).collect();
        if !strangers.is_empty() && self.libraries.is_empty() {
            return Err(format!(
                "it calls {}, and no library for GPUs is linked; compute that by other functions, in f32 where it is of f64, or name one by \
                 --device-library",
                strangers.join(", ")
            ));
        }
        functions.iter().for_each(|op| leave_open(*op));
        functions.iter().for_each(|op| pass_maps(*op));
        functions.iter().for_each(|op| few_blocks(*op));
        let mut texts: Vec<String> =
            functions.iter().map(|op| fusion_dialects::source_of(*op, true)).collect();
        if !self.libraries.is_empty() {
            texts.push((self.vendor.settings)(self.chip));
        }
        let alone = parse_module(gpu.context_ref(), &texts.join("\n")).map_err(|errors| errors.join("; "))?;
        let form = if self.assembly { Emit::Assembly } else { self.vendor.emit };
        let target = Codegen { libraries: self.libraries.to_owned(), ..codegen(self.vendor, self.chip) };
        let code = emit(&alone, &target, form).map_err(|error| error.to_string())?;
        match self.vendor.image {
            _ if self.assembly => Ok(code),
            Image::Text if !self.assembler.is_empty() => assemble(self.assembler, self.chip, &code),
            Image::Text => Ok([code.as_slice(), &[0]].concat()),
            Image::Linked => link(&code),
        }
    }
}

/// Shared memory of no bytes is what the launch asks for: it is not this code that defines it. Swizzled buffers come first in it.
fn leave_open(op: Op) {
    let is_global = matches!(op.kind(), Some(Kind::Upstream(Upstream::LlvmGlobal)));
    let ty = op.attr("global_type").filter(|_| is_global).map(|ty| ty.to_string());
    let linkage = Attribute::parse(op.context_ref(), "#llvm.linkage<external>");
    if let Some(linkage) = linkage.filter(|_| ty.as_deref() == Some("!llvm.array<0 x i8>")) {
        op.set_attr("linkage", linkage);
        let ty = scalar_type(op.context_ref(), DType::I64);
        op.set_attr("alignment", typed_int_attr(ty, SWIZZLED_BYTES as i64));
    }
}

/// Tensor maps are passed by value, and stay where the launch puts them.
fn pass_maps(function: Op) {
    let Some(maps) = function.int(MAPS).and_then(|n| usize::try_from(n).ok()) else { return };
    let context = function.context_ref();
    let mut all = function.attr("arg_attrs").map(array_elements).unwrap_or_default();
    let by_value = Attribute::parse(
        context,
        "{llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}",
    );
    let first = all.len().saturating_sub(maps);
    if let Some(by_value) = by_value {
        all[first..].fill(by_value);
        function.set_attr("arg_attrs", array_attr(context, &all));
    }
}

/// What a launch asks for the assembler of NVIDIA's does not see: where it lets one or two blocks into a core, it is told so, and gives
/// them more registers instead of spilling. Where warps pass registers to each other, all of a core's are one block's.
fn few_blocks(function: Op) {
    let passes = |op: &Op| matches!(op.kind(), Some(Kind::Upstream(Upstream::SetMaxRegister)));
    let fit = match nested_ops(function).iter().any(passes) {
        true => Some(1),
        false => function.int(BLOCKS_OF_CORE).filter(|blocks| (1..=2).contains(blocks)),
    };
    if let Some(blocks) = fit.filter(|_| function.attr("nvvm.kernel").is_some()) {
        let word = scalar_type(function.context_ref(), DType::I32);
        function.set_attr("nvvm.minctasm", typed_int_attr(word, blocks));
    }
}

/// What the vendor's assembler makes of PTX.
fn assemble(assembler: &str, chip: &str, text: &[u8]) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("no folder for its text: {error}"))?;
    let (from, to) = (folder.path().join("code.ptx"), folder.path().join("code.cubin"));
    std::fs::write(&from, text).map_err(|error| format!("its text cannot be written: {error}"))?;
    let output = Command::new(assembler)
        .arg(format!("-arch={chip}"))
        .arg(&from)
        .arg("-o")
        .arg(&to)
        .output()
        .map_err(|error| format!("running {assembler} failed ({error}); name ptxas in FUSION_PTXAS"))?;
    if !output.status.success() {
        return Err(format!("ptxas refused it: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    std::fs::read(&to).map_err(|error| format!("what ptxas made cannot be read: {error}"))
}

/// The name of a function that nobody defines, unless it is an intrinsic of the code generator.
fn stranger<'c>(op: Op<'c>) -> Option<&'c str> {
    let declared = matches!(op.kind(), Some(Kind::Upstream(Upstream::LlvmFunc))) && op.body(0).is_none();
    declared.then(|| op.text("sym_name")).flatten().filter(|name| !name.starts_with("llvm."))
}

/// What lld makes of an object.
fn link(object: &[u8]) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("no folder for its object: {error}"))?;
    let (from, to) = (folder.path().join("code.o"), folder.path().join("code.hsaco"));
    std::fs::write(&from, object).map_err(|error| format!("its object cannot be written: {error}"))?;
    let args = ["-shared", "--no-undefined"].map(OsStr::new);
    let files = [from.as_os_str(), OsStr::new("-o"), to.as_os_str()];
    fusion_linker::link(&[&args[..], &files].concat()).map_err(|why| format!("lld refused it: {why}"))?;
    std::fs::read(&to).map_err(|error| format!("what lld made cannot be read: {error}"))
}
