//! Kernels that another code generator has compiled: the program calls them as it calls its own.
//!
//! ```text
//!   void npu_0(const float *x, const float *w, float *y, char *memory)
//! ```
//! A kernel takes its arguments, then its results, as they lie in memory, row by row. Where its definition has values between, it is also
//! given memory for them, which it may leave alone. What is compiled here of such a kernel is its definition, for its types and memory; its loops go.

use crate::units;
use fusion_dialects::loops::KERNEL;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Build, Op, OpExt, symbol_attr, te, top_level};
use indexmap::IndexMap;

/// Gives such kernels schedules without primitives, as those that are chosen may lay weights out in another way.
pub fn keep_layouts(module: Op, external: &IndexMap<String, Vec<u8>>) {
    for kernel in top_level(module, |k| matches!(k, Kind::Te(te::Op::Kernel))) {
        let Some(name) = kernel.text("sym_name").filter(|name| external.contains_key(*name)) else {
            continue;
        };
        let build = Build::after(kernel);
        let body = build.region(&[], |_, _| {});
        let of = ("kernel", symbol_attr(build.context(), name));
        build.op_with_regions(te::Op::Schedule.name(), &[], &[], &[of], vec![body]);
    }
}

/// Leaves declarations of such kernels.
pub fn declare(module: Op, external: &IndexMap<String, Vec<u8>>) {
    for function in top_level(module, |k| matches!(k, Kind::Upstream(Upstream::Func))) {
        let name = function.text("sym_name").filter(|name| external.contains_key(*name));
        if let Some(name) = name.filter(|_| function.attr(KERNEL).is_some()) {
            units::declare(function, name);
            function.erase();
        }
    }
}
