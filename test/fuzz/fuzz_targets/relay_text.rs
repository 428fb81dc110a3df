//! Any bytes as Relay text: a module that is written as text and read again as the same, or a refusal; it never panics.

#![no_main]

use fusion_dialects::{OperationLike, load_context, module_op, source_of, with_diagnostics};
use fusion_importers::relay_text::{import, print};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let context = load_context();
    let Ok(module) = import(&context, "fuzz.relay", text.to_owned(), None) else { return };
    let op = module_op(&module);
    // A module that inference would refuse need not come back.
    let (valid, _) = with_diagnostics(&context, || op.verify());
    if !valid {
        return;
    }
    let Ok(written) = print(op) else { return };
    let other = load_context();
    let again = import(&other, "fuzz.relay", written, None).expect("what was written is read");
    assert_eq!(source_of(op, false), source_of(module_op(&again), false));
});
