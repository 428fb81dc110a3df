//! LLVM's linker (lld) in this process, so that a compiler without a C compiler or a linker beside it makes libraries.
//!
//! lld keeps what it knows in global variables: one call waits for another.

use std::ffi::{CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, PoisonError};

// LLVM's libraries, which lld is made of.
use mlir_sys as _;

/// Whether lld may run: a crash leaves it in no order.
static MAY_RUN: Mutex<bool> = Mutex::new(true);

#[allow(unsafe_code)]
mod ffi {
    use super::{c_char, c_int, c_void};

    unsafe extern "C" {
        pub fn fusionLink(
            args: *const *const c_char,
            count: usize,
            tell: extern "C" fn(*const c_char, usize, *mut c_void),
            to: *mut c_void,
            can_run_again: *mut bool,
        ) -> c_int;
    }
}

/// Links ELF files, with the arguments of `ld.lld`. The error is what lld said.
pub fn link(args: &[&OsStr]) -> Result<(), String> {
    let mut may_run = MAY_RUN.lock().unwrap_or_else(PoisonError::into_inner);
    if !*may_run {
        return Err("lld crashed before in this process".to_owned());
    }
    let args: Result<Vec<CString>, _> =
        [OsStr::new("ld.lld")].iter().chain(args).map(|arg| CString::new(arg.as_bytes())).collect();
    let args = args.map_err(|_| "an argument of the linker has a zero byte".to_owned())?;
    let (status, said) = run(&args, &mut may_run);
    match status {
        0 => Ok(()),
        _ => Err(said.trim().to_owned()),
    }
}

#[allow(unsafe_code)]
fn run(args: &[CString], can_run_again: &mut bool) -> (c_int, String) {
    extern "C" fn tell(text: *const c_char, size: usize, to: *mut c_void) {
        // SAFETY: the caller passes a text of so many bytes, and the string that `run` gave it.
        let (text, to) =
            unsafe { (std::slice::from_raw_parts(text.cast::<u8>(), size), &mut *to.cast::<String>()) };
        to.push_str(&String::from_utf8_lossy(text));
    }
    let pointers: Vec<*const c_char> = args.iter().map(|arg| arg.as_ptr()).collect();
    let mut said = String::new();
    // SAFETY: the arguments end in zero bytes and live until the call returns, as does the string; nobody else calls lld meanwhile.
    let status = unsafe {
        ffi::fusionLink(pointers.as_ptr(), pointers.len(), tell, (&raw mut said).cast(), can_run_again)
    };
    (status, said)
}

#[cfg(test)]
mod tests {
    use super::link;
    use std::ffi::OsStr;

    #[test]
    fn what_is_no_object_is_refused_and_lld_runs_again() {
        let folder = std::env::temp_dir().join(format!("fusion-linker-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (wrong, to) = (folder.join("wrong.o"), folder.join("library.so"));
        std::fs::write(&wrong, b"\x7fELF").unwrap();
        for _ in 0..2 {
            let args = [OsStr::new("-shared"), wrong.as_os_str(), OsStr::new("-o"), to.as_os_str()];
            let error = link(&args).unwrap_err();
            assert!(error.contains("wrong.o"), "{error}");
            assert!(!to.exists());
        }
        // Without any file lld has nothing to do.
        assert!(link(&[]).unwrap_err().contains("no input files"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
