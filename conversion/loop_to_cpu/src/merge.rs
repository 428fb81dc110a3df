//! Parts of parallel loops that are the same are one function.
//!
//! ```text
//!   call @k_parallel_0(64, %x)        @k_part_0 { .. }            call @k_parallel_0(64, %x)
//!   call @k_parallel_1(64, %y)        @k_part_1 { the same }  =>  call @k_parallel_0(64, %y)
//! ```
//!
//! What loops use from outside are parameters, so layers of a network have the same parts. LLVM then compiles them once.

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Op, OpExt, kind_of, nested_ops, source_of, str_attr, symbol_attr, top_level, type_of_attr,
};
use std::collections::{BTreeMap, HashMap};

/// What parts are called while they are compared.
const NAMELESS: &str = "part";

/// A part, and the declared function that runs it on threads.
struct Part<'c> {
    declared: Op<'c>,
    function: Op<'c>,
}

/// Merges the parts of a module, which an attribute of what runs them names.
pub(super) fn merge<'c>(module: Op<'c>, named_by: &str) {
    let functions = top_level(module, |k| matches!(k, Kind::Upstream(Upstream::Func)));
    let by_name: HashMap<&str, Op<'c>> =
        functions.iter().filter_map(|f| Some((f.text("sym_name")?, *f))).collect();
    let part = |declared: &Op<'c>| -> Option<Part<'c>> {
        Some(Part { declared: *declared, function: *by_name.get(declared.text(named_by)?)? })
    };
    // Few are worth a look: those of one size and one type.
    let mut alike: BTreeMap<(usize, String), Vec<Part<'c>>> = BTreeMap::new();
    for part in functions.iter().filter_map(part) {
        let ty = part.function.attr("function_type").and_then(type_of_attr);
        let key = (nested_ops(part.function).len(), ty.map(|ty| ty.to_string()).unwrap_or_default());
        alike.entry(key).or_default().push(part);
    }
    let mut instead: HashMap<String, String> = HashMap::new();
    for parts in alike.into_values().filter(|parts| parts.len() > 1) {
        let mut known: HashMap<String, String> = HashMap::new();
        for Part { declared, function } in parts {
            let name = function.text("sym_name").unwrap_or_default().to_owned();
            function.set_attr("sym_name", str_attr(function.context_ref(), NAMELESS));
            let content = source_of(function, false);
            function.set_attr("sym_name", str_attr(function.context_ref(), &name));
            let called = declared.text("sym_name").unwrap_or_default().to_owned();
            match known.get(&content) {
                Some(same) => {
                    instead.insert(called, same.clone());
                    declared.erase();
                    function.erase();
                }
                None => {
                    known.insert(content, called);
                }
            }
        }
    }
    if instead.is_empty() {
        return;
    }
    for call in nested_ops(module) {
        let callee =
            call.text("callee").filter(|_| matches!(kind_of(call), Some(Kind::Upstream(Upstream::Call))));
        if let Some(same) = callee.and_then(|callee| instead.get(callee)) {
            call.set_attr("callee", symbol_attr(call.context_ref(), same));
        }
    }
}
