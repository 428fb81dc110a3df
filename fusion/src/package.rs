//! Compiled models, ready to link.

use crate::compilation::{Code, Compiled};
use fusion_runtime::package::{CodeObject, Package};
use fusion_runtime::weights::Outside;
use std::path::PathBuf;

/// Hands a compiled model, ready to link, to `then`.
pub fn package<T>(compiled: &Compiled, linker: Option<PathBuf>, then: impl FnOnce(&Package) -> T) -> T {
    package_with(compiled, linker, None, then)
}

/// The same of a model whose weights lie in a file.
pub fn package_with<T>(
    compiled: &Compiled,
    linker: Option<PathBuf>,
    outside: Option<&Outside>,
    then: impl FnOnce(&Package) -> T,
) -> T {
    let Code { objects, libraries } = &compiled.code;
    then(&Package {
        description: &compiled.description,
        code: objects.iter().map(|bytes| CodeObject::Bytes(bytes)).collect(),
        constants: compiled.constants.borrow(),
        libraries: libraries.clone(),
        outside,
        linker,
        own_linker: Some(fusion_linker::link),
    })
}
