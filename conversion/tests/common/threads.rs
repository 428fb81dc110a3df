//! Stands for the runtime's threads where code runs in memory: the last indices first, in pieces.

use std::ffi::c_void;

type Body = extern "C" fn(i64, i64, *mut c_void);

extern "C" fn parallel(count: i64, body: Body, context: *mut c_void) {
    let mut end = count;
    while end > 0 {
        let begin = (end - 3).max(0);
        body(begin, end, context);
        end = begin;
    }
}

/// `fusion_parallel` for loaded code.
pub fn threads() -> fusion_dialects::Symbol<'static> {
    fusion_dialects::Symbol { name: "fusion_parallel", address: parallel as *mut c_void }
}
