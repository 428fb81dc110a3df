//! `fusion-c-interface`: the function `docs/reference/abi.md` promises, around the program in the LLVM dialect.
//!
//! ```text
//!   llvm.func @main(ptr x (inputs + outputs + 2))         llvm.mlir.global external constant @fusion_constants
//!                                                  ==>    llvm.func internal @fusion_main(...)
//!                                                         llvm.func @fusion_run(%inputs, %outputs, %workspace) -> i32 {
//!                                                           load each pointer; call @fusion_main; return 0
//!                                                         }
//! ```
//!
//! @main must have been lowered with bare pointers for its buffers. It is renamed and hidden: a library that exported
//! `main` would be taken for a program. The bytes of @fusion_constants are defined by who links or loads the code.
//!
//! Where several such functions share a library, [`RUN_NAME`] says what this one is called.

use super::gpu::host::DEVICE;
use super::gpu::interface::Program;
use super::spelled::Spelled;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, Pass, PassError, Region, RunContext, Value, ValueLike, arguments, int_attr, nested_ops,
    str_attr, symbol_attr, top_level, type_attr, unit_attr,
};
use fusion_te_to_loop::plan_memory::arena::ALIGNMENT;
use fusion_te_to_loop::plan_memory::{CONSTANTS_BYTES, ENTRY, INPUTS, OUTPUTS, WORKSPACE_BYTES};

/// What the program is called inside a library.
const PROGRAM: &str = "fusion_main";
/// The function of the library.
const RUN: &str = "fusion_run";
/// Its weights.
const CONSTANTS: &str = "fusion_constants";

/// On @main: what the function around it is called, when not `fusion_run`.
pub const RUN_NAME: &str = "fusion.run";
/// What it is called where the weights are mapped before the first run, by the `fusion_run` of the run time.
pub const MAPPED: &str = "fusion_run_mapped";
/// On @main: the function around it takes addresses, those of the inputs, the outputs and the workspace, as code of this compiler passes
/// them, not lists.
pub const BY_ADDRESS: &str = "fusion.by_address";

/// The pass.
pub struct CInterface;

impl Pass for CInterface {
    const NAME: &'static str = "fusion-c-interface";
    const DESCRIPTION: &'static str = "Wrap @main in the C function fusion_run";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const DIALECTS: &'static [&'static str] = &["llvm"];

    fn run<'c>(module: Op<'c>, _: &mut RunContext) -> Result<(), PassError<'c>> {
        let functions =
            top_level(module, |k| matches!(k, Kind::Upstream(Upstream::Func | Upstream::LlvmFunc)));
        let named = |name: &str| functions.iter().copied().find(|f| f.text("sym_name") == Some(name));
        let Some(main) = named(ENTRY) else { return Ok(()) };
        if !matches!(main.kind(), Some(Kind::Upstream(Upstream::LlvmFunc))) {
            return Err(PassError::at(main, format!("@{ENTRY} is not in the LLVM dialect yet")));
        }
        let run = main.text(RUN_NAME).unwrap_or(RUN);
        if let Some(taken) = named(PROGRAM).or_else(|| named(run)) {
            return Err(PassError::at(taken, "has a name that the C interface needs"));
        }
        let lib = Spelled::new(main)?;
        let entry = Entry::of(&lib)?;
        hide(module, &lib)?;
        match lib.owner.int(DEVICE) {
            Some(device) => entry.write_for_gpu(&lib, device.max(0) as u64),
            None => entry.write(&lib, run),
        }
    }
}

/// What the planned function takes.
struct Entry {
    inputs: usize,
    outputs: usize,
    constants: usize,
}

impl Entry {
    fn of<'c>(lib: &Spelled<'c>) -> Result<Self, PassError<'c>> {
        let main = lib.owner;
        let number = |name: &str| {
            let missing =
                || PassError::at(main, format!("@{ENTRY} has no {name}, which te-plan-memory sets"));
            main.int(name).and_then(|n| usize::try_from(n).ok()).ok_or_else(missing)
        };
        let (inputs, outputs, constants) = (number(INPUTS)?, number(OUTPUTS)?, number(CONSTANTS_BYTES)?);
        let entry = Entry { inputs, outputs, constants };
        let Some(body) = main.body(0) else {
            return Err(PassError::at(main, format!("@{ENTRY} is declared, not defined")));
        };
        let takes = arguments(body);
        let expected = entry.inputs.saturating_add(entry.outputs).saturating_add(2);
        if takes.len() != expected || takes.iter().any(|v| v.r#type() != lib.pointer) {
            return Err(PassError::at(
                main,
                format!(
                    "@{ENTRY} must take {expected} pointers: {} inputs, {} outputs, the constants and the workspace; \
                     functions must be lowered with bare pointers",
                    entry.inputs, entry.outputs
                ),
            ));
        }
        Ok(entry)
    }

    /// The constants, whose bytes are defined elsewhere.
    fn write_constants<'c>(&self, lib: &Spelled<'c>) -> Result<(), PassError<'c>> {
        let build = Build::before(lib.owner);
        let context = build.context();
        let external = ("linkage", lib.attribute("#llvm.linkage<external>")?);
        let bytes = lib.ty(&format!("!llvm.array<{} x i8>", self.constants))?;
        let global = [
            ("sym_name", str_attr(context, CONSTANTS)),
            ("global_type", type_attr(bytes)),
            ("constant", unit_attr(context)),
            ("alignment", int_attr(context, ALIGNMENT as i64)),
            external,
        ];
        build.op_with_regions("llvm.mlir.global", &[], &[], &global, vec![Region::new()]);
        Ok(())
    }

    /// What the run time of GPUs runs, which has `fusion_run`.
    fn write_for_gpu<'c>(&self, lib: &Spelled<'c>, device: u64) -> Result<(), PassError<'c>> {
        self.write_constants(lib)?;
        let program = Program {
            function: PROGRAM,
            device,
            inputs: self.inputs,
            outputs: self.outputs,
            constants: CONSTANTS,
            constants_bytes: self.constants,
            workspace_bytes: lib.owner.int(WORKSPACE_BYTES).unwrap_or(0).max(0) as u64,
        };
        program.write(lib)
    }

    fn write<'c>(&self, lib: &Spelled<'c>, run: &str) -> Result<(), PassError<'c>> {
        self.write_constants(lib)?;
        if lib.owner.attr(BY_ADDRESS).is_some() {
            return self.write_by_address(lib, run);
        }
        let build = Build::before(lib.owner);
        let context = build.context();
        let external = ("linkage", lib.attribute("#llvm.linkage<external>")?);
        let mut outcome = Ok(());
        let region = build.region(&[lib.pointer; 3], |inner, arguments| {
            outcome = self.body(lib, &inner, arguments);
        });
        outcome?;
        let signature = type_attr(lib.ty("!llvm.func<i32 (ptr, ptr, ptr)>")?);
        let function = [("sym_name", str_attr(context, run)), ("function_type", signature), external];
        build.op_with_regions(Upstream::LlvmFunc.name(), &[], &[], &function, vec![region]);
        Ok(())
    }

    fn write_by_address<'c>(&self, lib: &Spelled<'c>, run: &str) -> Result<(), PassError<'c>> {
        let build = Build::before(lib.owner);
        let context = build.context();
        let external = ("linkage", lib.attribute("#llvm.linkage<external>")?);
        let count = self.inputs + self.outputs + 1;
        let address = lib.ty("i64")?;
        let mut outcome = Ok(());
        let region = build.region(&vec![address; count], |inner, arguments| {
            let mut passed: Vec<Value> = arguments
                .iter()
                .map(|number| inner.value("llvm.inttoptr", &[*number], lib.pointer, &[]))
                .collect();
            passed.insert(count - 1, lib.address(&inner, CONSTANTS));
            outcome = lib.call(&inner, PROGRAM, &passed);
            inner.op("llvm.return", &[], &[], &[]);
        });
        outcome?;
        let takes = vec!["i64"; count].join(", ");
        let signature = type_attr(lib.ty(&format!("!llvm.func<void ({takes})>"))?);
        let function = [("sym_name", str_attr(context, run)), ("function_type", signature), external];
        build.op_with_regions(Upstream::LlvmFunc.name(), &[], &[], &function, vec![region]);
        Ok(())
    }

    fn body<'c>(
        &self,
        lib: &Spelled<'c>,
        build: &Build<'c>,
        arguments: &[Value<'c>],
    ) -> Result<(), PassError<'c>> {
        let mut passed = Vec::new();
        for (list, count) in arguments.iter().zip([self.inputs, self.outputs]) {
            for i in 0..count {
                let place = if i == 0 { *list } else { lib.element(build, *list, i)? };
                passed.push(build.value("llvm.load", &[place], lib.pointer, &[]));
            }
        }
        passed.push(lib.address(build, CONSTANTS));
        passed.extend(arguments.last());
        lib.call(build, PROGRAM, &passed)?;
        let zero = ("value", lib.attribute("0 : i32")?);
        let zero = build.value("llvm.mlir.constant", &[], lib.ty("i32")?, &[zero]);
        build.op("llvm.return", &[zero], &[], &[]);
        Ok(())
    }
}

/// Renames the program and keeps it inside the library.
fn hide<'c>(module: Op<'c>, lib: &Spelled<'c>) -> Result<(), PassError<'c>> {
    let context = module.context_ref();
    lib.owner.set_attr("sym_name", str_attr(context, PROGRAM));
    // What is called from nowhere else: another program of the library may have functions of the same names.
    let internal = lib.attribute("#llvm.linkage<internal>")?;
    let functions = top_level(module, |k| matches!(k, Kind::Upstream(Upstream::LlvmFunc)));
    functions.into_iter().filter(|f| f.body(0).is_some()).for_each(|f| f.set_attr("linkage", internal));
    let calls = |op: &Op<'c>| matches!(op.kind(), Some(Kind::Upstream(Upstream::LlvmCall)));
    for call in nested_ops(module).into_iter().filter(calls) {
        if call.text("callee") == Some(ENTRY) {
            call.set_attr("callee", symbol_attr(context, PROGRAM));
        }
    }
    Ok(())
}
