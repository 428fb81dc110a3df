//! Object code of kernels on disk, so that a kernel that was compiled before is not compiled again.
//!
//! An entry is a file named by a hash of all that the code follows from: the kernel's text, the target, the pipelines and the
//! compiler itself. It begins with a hash of the code; what does not match, half a file after a crash for instance, is as good
//! as absent and is written anew. Entries appear complete by being renamed, so any number of processes may share the
//! directory. It has a folder for each first digit of a name, with its part of the bound: where a folder exceeds that, the
//! entries used least recently go, and whoever writes entries looks at their folders only.
//!
//! `FUSION_CACHE` names the directory (0: no cache), `FUSION_CACHE_MB` the bound. A cache that cannot be written is no
//! failure: the kernel is compiled all the same.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What an entry is found by.
pub type Key = blake3::Hash;

/// The bound unless `FUSION_CACHE_MB` says otherwise.
const MOST_MB: u64 = 512;
/// Folders, one for each hexadecimal digit.
const FOLDERS: u64 = 16;
/// How files that are being written begin; other files in the directory are left alone.
const UNFINISHED: &str = ".kernel-";
/// A file that is still unfinished after this long was given up.
const GIVEN_UP: Duration = Duration::from_secs(3600);

/// A directory of compiled kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    directory: PathBuf,
    most_bytes: u64,
}

impl Cache {
    /// The cache in a directory, which is made when first needed.
    pub fn new(directory: &Path, most_bytes: u64) -> Cache {
        Cache { directory: directory.to_owned(), most_bytes }
    }

    /// The cache the environment asks for: in `FUSION_CACHE`, else where caches of users are.
    pub fn from_environment() -> Option<Cache> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let base = match set("FUSION_CACHE") {
            Some(off) if off == "0" => return None,
            Some(directory) => PathBuf::from(directory),
            None => match set("XDG_CACHE_HOME") {
                Some(caches) => PathBuf::from(caches).join("fusion"),
                None => PathBuf::from(set("HOME")?).join(".cache/fusion"),
            },
        };
        let most = set("FUSION_CACHE_MB").and_then(|text| text.to_str()?.parse().ok()).unwrap_or(MOST_MB);
        Some(Cache::new(&base.join("kernels"), most.saturating_mul(1 << 20)))
    }

    /// The code of an entry, when it is there and whole.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.path(key);
        let mut bytes = fs::read(&path).ok()?;
        let (hash, code) = bytes.split_first_chunk::<{ blake3::OUT_LEN }>()?;
        if blake3::hash(code) != *hash {
            return None;
        }
        // What cannot be marked as used is merely dropped sooner.
        let _ = File::options().append(true).open(&path).and_then(|f| f.set_modified(SystemTime::now()));
        bytes.drain(..blake3::OUT_LEN);
        Some(bytes)
    }

    /// Writes an entry.
    pub fn put(&self, key: &Key, code: &[u8]) -> io::Result<()> {
        let path = self.path(key);
        let folder = path.parent().unwrap_or(&self.directory);
        fs::create_dir_all(folder)?;
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
        file.write_all(blake3::hash(code).as_bytes())?;
        file.write_all(code)?;
        file.persist(&path).map_err(|failed| failed.error)?;
        Ok(())
    }

    /// Drops entries where they are too many in the folders of those that were written. Once for all of them: it looks at every file.
    pub fn trim(&self, written: &[Key]) -> io::Result<()> {
        let folders: BTreeSet<_> =
            written.iter().filter_map(|key| self.path(key).parent().map(Path::to_owned)).collect();
        folders.iter().try_for_each(|folder| self.trim_folder(folder))
    }

    fn path(&self, key: &Key) -> PathBuf {
        let name = key.to_hex();
        self.directory.join(&name[..1]).join(name.as_str())
    }

    /// Drops the entries used least recently until the rest is within the folder's part of the bound.
    fn trim_folder(&self, folder: &Path) -> io::Result<()> {
        let now = SystemTime::now();
        let mut entries = Vec::new();
        for file in fs::read_dir(folder)? {
            let file = file?;
            // Another process may have dropped it since.
            let Ok(facts) = file.metadata() else { continue };
            let used = facts.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let name = file.file_name();
            if is_entry(&name) {
                entries.push((used, name, facts.len()));
            } else if name.to_string_lossy().starts_with(UNFINISHED)
                && now.duration_since(used).is_ok_and(|age| age > GIVEN_UP)
            {
                let _ = fs::remove_file(file.path());
            }
        }
        entries.sort();
        let mut total: u64 = entries.iter().map(|(.., size)| size).sum();
        for (_, name, size) in entries {
            if total <= self.most_bytes / FOLDERS {
                break;
            }
            let _ = fs::remove_file(folder.join(name));
            total -= size;
        }
        Ok(())
    }
}

/// The file that this compiler was loaded from: a program, or a library of another one, such as Python's.
pub fn compiler() -> Option<PathBuf> {
    mapped_at(compiler as fn() -> Option<PathBuf> as usize).or_else(|| std::env::current_exe().ok())
}

/// The file that is mapped at an address, where the system tells.
fn mapped_at(address: usize) -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let holds = |line: &str| {
        let (start, end) = line.split_once(' ')?.0.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        Some((number(start)?..number(end)?).contains(&address))
    };
    let line = maps.lines().find(|line| holds(line) == Some(true))?;
    Some(PathBuf::from(&line[line.find('/')?..]))
}

fn is_entry(name: &OsStr) -> bool {
    name.to_str().is_some_and(|n| n.len() == 2 * blake3::OUT_LEN && n.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of the same folder.
    fn key(i: u8) -> Key {
        Key::from_bytes([0xa0 + i; blake3::OUT_LEN])
    }

    #[test]
    fn the_compiler_is_the_file_that_its_code_is_in() {
        let own = std::env::current_exe().unwrap().canonicalize().unwrap();
        assert_eq!(mapped_at(compiler as fn() -> Option<PathBuf> as usize), Some(own));
    }

    #[test]
    fn damaged_entries_are_absent_until_written_again() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(&directory.path().join("deep/er"), 1 << 20);
        assert_eq!(cache.get(&key(0)), None);
        cache.put(&key(0), b"code").unwrap();
        assert_eq!(cache.get(&key(0)).unwrap(), b"code");
        let whole = fs::read(cache.path(&key(0))).unwrap();
        for damaged in [&b""[..], &whole[..10], &whole[..whole.len() - 1], &[&whole[..], b"x"].concat()] {
            fs::write(cache.path(&key(0)), damaged).unwrap();
            assert_eq!(cache.get(&key(0)), None);
        }
        cache.put(&key(0), b"code").unwrap();
        assert_eq!(cache.get(&key(0)).unwrap(), b"code");
    }

    #[test]
    fn the_least_recently_used_go_first_and_other_files_stay() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(directory.path(), FOLDERS * 3 * 132);
        let folder = directory.path().join("a");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("thesis.txt"), [0; 1000]).unwrap();
        fs::write(folder.join(".kernel-old"), [0; 1000]).unwrap();
        let age = |path: &Path, seconds| {
            let file = File::options().append(true).open(path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
        };
        age(&folder.join(".kernel-old"), 7200);
        for i in 0..3 {
            cache.put(&key(i), &[0; 100]).unwrap();
            age(&cache.path(&key(i)), 100 - u64::from(i));
        }
        assert!(cache.get(&key(0)).is_some());
        cache.put(&key(3), &[0; 100]).unwrap();
        cache.put(&blake3::Hash::from_bytes([0xb0; 32]), &[0; 100]).unwrap();
        cache.trim(&[key(3)]).unwrap();
        let left: Vec<u8> = (0..4).filter(|i| cache.path(&key(*i)).exists()).collect();
        assert_eq!(left, [0, 2, 3]);
        assert!(folder.join("thesis.txt").exists());
        assert!(!folder.join(".kernel-old").exists());
    }

    #[test]
    fn writers_at_the_same_time_leave_one_whole_entry() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(directory.path(), 1 << 24);
        let code = vec![7; 100_000];
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        cache.put(&key(1), &code).unwrap();
                        assert_eq!(cache.get(&key(1)).as_deref(), Some(code.as_slice()));
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(directory.path().join("a")).unwrap().count(), 1);
    }
}
