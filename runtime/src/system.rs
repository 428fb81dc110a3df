//! The system's libraries that this process has loaded: what a library that is linked here needs, found without a C compiler.

use std::fs;
use std::path::PathBuf;

/// What libraries of models call: numbers, threads, memory, and conversions of types that the processor has no instructions for. Before
/// glibc 2.34 threads and `dlopen` were libraries of their own.
const NAMES: [&str; 5] = ["libm.so.6", "libpthread.so.0", "libdl.so.2", "libgcc_s.so.1", "libc.so.6"];

/// The files of the libraries, the C library last, and the loader; none where this process has no glibc.
pub fn libraries() -> Option<Vec<PathBuf>> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let loaded: Vec<PathBuf> =
        maps.lines().filter_map(|line| Some(PathBuf::from(&line[line.find('/')?..]))).collect();
    let named = |begins: &str| {
        let is =
            |path: &&PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begins));
        loaded.iter().find(is).cloned()
    };
    // Old ones are files like libc-2.28.so, beside links with the names above.
    let folder = named("libc.so.6").or_else(|| named("libc-"))?.parent()?.to_owned();
    let found = NAMES.iter().map(|name| folder.join(name)).filter(|path| path.exists());
    Some(found.chain(named("ld-")).collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_process_has_a_c_library_and_a_loader() {
        let found = super::libraries().unwrap();
        let has = |begins: &str| {
            found.iter().any(|path| path.file_name().unwrap().to_string_lossy().starts_with(begins))
        };
        assert!(has("libc.so") && has("libm.so") && has("ld-"), "{found:?}");
    }
}
