//! Running things while collecting diagnostics.

use super::ir::Context;
use melior::diagnostic::DiagnosticSeverity;
use std::cell::RefCell;
use std::rc::Rc;

/// Runs something and collects the errors it emits, each with its location. Warnings are written to the standard error.
pub fn with_diagnostics<T>(context: &Context, run: impl FnOnce() -> T) -> (T, Vec<String>) {
    let found = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&found);
    let id = context.attach_diagnostic_handler(move |diagnostic| {
        let mut text = format!("{}: {}", place(&diagnostic.location().to_string()), diagnostic);
        for i in 0..diagnostic.note_count() {
            if let Ok(note) = diagnostic.note(i) {
                text.push_str(&format!("; note: {note}"));
            }
        }
        match diagnostic.severity() {
            DiagnosticSeverity::Error => sink.borrow_mut().push(text),
            DiagnosticSeverity::Warning => eprintln!("warning: {text}"),
            _ => {}
        }
        true
    });
    let result = run();
    context.detach_diagnostic_handler(id);
    let messages = found.borrow().clone();
    (result, messages)
}

/// `loc("file":1:2)` as compilers write it: `file:1:2`; other locations as MLIR prints them.
fn place(location: &str) -> String {
    let inner = location.strip_prefix("loc(").and_then(|l| l.strip_suffix(')')).unwrap_or(location);
    inner.replace('"', "")
}
