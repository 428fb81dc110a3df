//! Code generators beside fusion's own, by name.
//!
//! Passes put operators into functions with the attribute `relay.compiler` (docs/how-to/add-a-code-generator.md). Where a generator of that
//! name is known, it compiles them; otherwise fusion does, as any other kernels.

use crate::error::{DriverError, failed};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Module, Op, OpExt, module_op, top_level};
use fusion_relay::external::{COMPILER, GLOBAL_SYMBOL};
use indexmap::IndexMap;
use std::sync::{Mutex, PoisonError};

/// Compiles a function of relay operators to an object file, which defines the function's `relay.global_symbol` as a function of C. Its
/// parameters are pointers to the elements of the arguments and of the results, row by row.
pub type Generate = for<'c> fn(Op<'c>) -> Result<Vec<u8>, String>;

static GENERATORS: Mutex<Vec<(String, Generate)>> = Mutex::new(Vec::new());

/// Makes a code generator known, for the process. One name stands for one: a later one takes the place of an earlier one.
pub fn add(name: &str, generate: Generate) {
    let mut known = GENERATORS.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|(other, _)| other != name);
    known.push((name.to_owned(), generate));
}

fn generator(name: &str) -> Option<Generate> {
    let known = GENERATORS.lock().unwrap_or_else(PoisonError::into_inner);
    known.iter().find(|(other, _)| other == name).map(|(_, generate)| *generate)
}

/// The objects of a module's functions that have a known generator, by name. Kernels of a GPU are fusion's own.
pub(crate) fn compile(module: &Module, on_processor: bool) -> Result<IndexMap<String, Vec<u8>>, DriverError> {
    let mut objects = IndexMap::new();
    for function in top_level(module_op(module), |k| matches!(k, Kind::Upstream(Upstream::Func))) {
        let compiler = function.text(COMPILER).filter(|_| on_processor);
        let Some((name, generate)) = compiler.and_then(|name| Some((name, generator(name)?))) else {
            continue;
        };
        let symbol = function.text("sym_name").unwrap_or_default();
        if function.text(GLOBAL_SYMBOL) != Some(symbol) {
            return Err(failed(format!(
                "the function @{symbol} must have {GLOBAL_SYMBOL} = {symbol:?} for the code generator {name}, found {:?}",
                function.text(GLOBAL_SYMBOL).unwrap_or_default()
            )));
        }
        let object = generate(function);
        let object = object
            .map_err(|why| failed(format!("the code generator {name} cannot compile @{symbol}: {why}")))?;
        objects.insert(symbol.to_owned(), object);
    }
    Ok(objects)
}
