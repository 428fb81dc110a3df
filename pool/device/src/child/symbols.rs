//! What a library may use of the C library: memory, numbers, threads. Files and the network are not among it.

use std::ffi::{c_char, c_int, c_long, c_void};

/// Does nothing: what is registered to happen at the end of a library does not, as its process ends first.
extern "C" fn nothing() -> c_int {
    0
}

/// Says that the environment has no such variable.
extern "C" fn no_variable(_: *const c_char) -> *mut c_char {
    std::ptr::null_mut()
}

/// What libraries of numbers call, by the C library's own declarations.
mod numbers {
    macro_rules! declared {
        ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {
            #[allow(unsafe_code)]
            unsafe extern "C" {
                $(pub fn $name($(_: $argument),*) -> $result;)*
            }
            /// Names and addresses.
            pub fn all() -> &'static [(&'static str, usize)] {
                static ALL: std::sync::OnceLock<Vec<(&str, usize)>> = std::sync::OnceLock::new();
                ALL.get_or_init(|| vec![$((stringify!($name), $name as *const () as usize)),*])
            }
        };
    }
    declared! {
        acos(f64) -> f64; acosf(f32) -> f32; acosh(f64) -> f64; acoshf(f32) -> f32;
        asin(f64) -> f64; asinf(f32) -> f32; asinh(f64) -> f64; asinhf(f32) -> f32;
        atan(f64) -> f64; atanf(f32) -> f32; atanh(f64) -> f64; atanhf(f32) -> f32;
        atan2(f64, f64) -> f64; atan2f(f32, f32) -> f32;
        cbrt(f64) -> f64; cbrtf(f32) -> f32; ceil(f64) -> f64; ceilf(f32) -> f32;
        cos(f64) -> f64; cosf(f32) -> f32; cosh(f64) -> f64; coshf(f32) -> f32;
        erf(f64) -> f64; erff(f32) -> f32; erfc(f64) -> f64; erfcf(f32) -> f32;
        exp(f64) -> f64; expf(f32) -> f32; exp2(f64) -> f64; exp2f(f32) -> f32; expm1(f64) -> f64; expm1f(f32) -> f32;
        floor(f64) -> f64; floorf(f32) -> f32; fma(f64, f64, f64) -> f64; fmaf(f32, f32, f32) -> f32;
        fmax(f64, f64) -> f64; fmaxf(f32, f32) -> f32; fmin(f64, f64) -> f64; fminf(f32, f32) -> f32;
        fmod(f64, f64) -> f64; fmodf(f32, f32) -> f32; hypot(f64, f64) -> f64; hypotf(f32, f32) -> f32;
        ldexp(f64, i32) -> f64; ldexpf(f32, i32) -> f32; lgamma(f64) -> f64; lgammaf(f32) -> f32;
        log(f64) -> f64; logf(f32) -> f32; log1p(f64) -> f64; log1pf(f32) -> f32;
        log2(f64) -> f64; log2f(f32) -> f32; log10(f64) -> f64; log10f(f32) -> f32;
        nearbyint(f64) -> f64; nearbyintf(f32) -> f32; pow(f64, f64) -> f64; powf(f32, f32) -> f32;
        rint(f64) -> f64; rintf(f32) -> f32; round(f64) -> f64; roundf(f32) -> f32;
        sin(f64) -> f64; sinf(f32) -> f32; sinh(f64) -> f64; sinhf(f32) -> f32;
        sqrt(f64) -> f64; sqrtf(f32) -> f32; tan(f64) -> f64; tanf(f32) -> f32; tanh(f64) -> f64; tanhf(f32) -> f32;
        tgamma(f64) -> f64; tgammaf(f32) -> f32; trunc(f64) -> f64; truncf(f32) -> f32;
    }
}

/// The address of something of the C library.
pub fn address(name: &str) -> Option<usize> {
    let function = match name {
        "__cxa_finalize" | "__cxa_atexit" | "__register_atfork" | "pthread_atfork" | "atexit" => {
            nothing as *const () as usize
        }
        "getenv" => no_variable as *const () as usize,
        "abort" => libc::abort as *const () as usize,
        "aligned_alloc" => libc::aligned_alloc as *const () as usize,
        "calloc" => libc::calloc as *const () as usize,
        "clock_gettime" => libc::clock_gettime as *const () as usize,
        "free" => libc::free as *const () as usize,
        "getauxval" | "__getauxval" => libc::getauxval as *const () as usize,
        "malloc" => libc::malloc as *const () as usize,
        "memchr" => libc::memchr as *const () as usize,
        "memcmp" => libc::memcmp as *const () as usize,
        "memcpy" => libc::memcpy as *const () as usize,
        "memmove" => libc::memmove as *const () as usize,
        "memset" => libc::memset as *const () as usize,
        "posix_memalign" => libc::posix_memalign as *const () as usize,
        "pthread_create" => libc::pthread_create as *const () as usize,
        "pthread_join" => libc::pthread_join as *const () as usize,
        "pthread_mutex_lock" => libc::pthread_mutex_lock as *const () as usize,
        "pthread_mutex_unlock" => libc::pthread_mutex_unlock as *const () as usize,
        "pthread_self" => libc::pthread_self as *const () as usize,
        "pthread_sigmask" => libc::pthread_sigmask as *const () as usize,
        "realloc" => libc::realloc as *const () as usize,
        "sched_getaffinity" => libc::sched_getaffinity as *const () as usize,
        "sched_yield" => libc::sched_yield as *const () as usize,
        "snprintf" => libc::snprintf as *const () as usize,
        "strcmp" => libc::strcmp as *const () as usize,
        "strlen" => libc::strlen as *const () as usize,
        "strtod" => libc::strtod as *const () as usize,
        "strtol" => libc::strtol as *const () as usize,
        "syscall" => libc::syscall as *const () as usize,
        "sysconf" => libc::sysconf as *const () as usize,
        other => numbers::all().iter().find(|(name, _)| *name == other)?.1,
    };
    Some(function)
}

/// What a library gives, as `docs/reference/abi.md` says.
pub mod given {
    use super::{c_char, c_int, c_void};

    /// `fusion_run`.
    pub type Run = unsafe extern "C" fn(*const *const c_void, *const *mut c_void, *mut c_void) -> i32;
    /// `fusion_set_threads`.
    pub type SetThreads = unsafe extern "C" fn(c_int);
    /// `fusion_last_error`.
    pub type LastError = unsafe extern "C" fn() -> *const c_char;
}

const _: () = assert!(size_of::<c_long>() == size_of::<usize>());
