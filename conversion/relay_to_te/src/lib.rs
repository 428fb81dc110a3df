//! `convert-relay-to-te`: each primitive function becomes a kernel, the program around them calls kernels.
//!
//!     func.func private @fused_add(...) attributes {relay.primitive} { relay.add ... }     te.kernel @fused_add
//!     func.func @main { func.call @fused_add }                                             te.call @fused_add
//!
//! Inside a kernel every operator is replaced by its definition (`definitions/`, one family a file). Outside,
//! constants become `te.constant`, reshapes and slices that lie together in memory `te.view`, `relay.if` and `relay.while` structured control flow.

pub mod definitions;
pub mod dynamic;
mod host;
mod kernel;
pub mod tiles;

use fusion_dialects::rows::{Kind, Upstream, is_relay};
use fusion_dialects::{Op, OpExt, Pass, PassError, RunContext, none_left, top_level};

/// The attribute of functions that are one kernel each.
pub const PRIMITIVE: &str = "relay.primitive";

/// The pass.
pub struct ConvertRelayToTe;

impl Pass for ConvertRelayToTe {
    const NAME: &'static str = "convert-relay-to-te";
    const DESCRIPTION: &'static str =
        "Convert primitive functions to te kernels, and the program around them to calls";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const DIALECTS: &'static [&'static str] = &["te", "loop", "arith", "math", "scf", "tensor"];

    fn run<'c>(module: Op<'c>, _: &mut RunContext) -> Result<(), PassError<'c>> {
        let functions = top_level(module, |k| matches!(k, Kind::Upstream(Upstream::Func)));
        let (kernels, hosts): (Vec<_>, Vec<_>) =
            functions.into_iter().partition(|f| f.attr(PRIMITIVE).is_some());
        for function in &kernels {
            kernel::convert(*function)?;
        }
        let names = kernels.iter().filter_map(|k| k.text("sym_name")).map(str::to_owned).collect();
        for function in hosts {
            host::convert(function, &names)?;
        }
        for function in kernels {
            function.erase();
        }
        none_left(module, Self::NAME, is_relay)
    }
}
