//! Faults of fusion itself that a pass sees and can compile around: a contradiction in an e-graph, a default schedule that is refused.
//!
//!     error: MESSAGE                                                                    with FUSION_CONTRADICTION=error, as tests have it
//!     warning: MESSAGE; INSTEAD. This is a bug in fusion: please report it with the program

use crate::{Location, PassError, emit_warning};

/// The environment variable that makes such faults errors, if it is `error`.
pub const ON_CONTRADICTION: &str = "FUSION_CONTRADICTION";

/// Tells a fault, and what is done instead; an error where faults are errors.
pub fn report_fault<'c>(location: Location<'c>, message: &str, instead: &str) -> Result<(), PassError<'c>> {
    if std::env::var(ON_CONTRADICTION).is_ok_and(|wanted| wanted == "error") {
        return Err(PassError::new(location, message));
    }
    emit_warning(
        location,
        &format!("{message}; {instead}. This is a bug in fusion: please report it with the program"),
    );
    Ok(())
}
