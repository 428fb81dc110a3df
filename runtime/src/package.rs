//! From object code to a shared library: the code and an object with the model's data, linked in this process or by
//! a C compiler, with a C header beside it.

use crate::description::ModelDescription;
use crate::header::header;
use crate::machine::Machine;
use crate::object_file::{self, Constants};
use crate::weights::{self, Outside};
use crate::{gpu, language, output, system, threads};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The only symbols a library shows, ...
const EXPORTS: &str = "fusion_run; fusion_set_threads; fusion_abi_version; fusion_workspace_bytes; fusion_model_json; \
                       fusion_constants; ";
/// ... and those more of a program of the whole language.
const EXPORTS_OF_PROGRAMS: &str = "fusion_call; fusion_run_tensors; fusion_output_shape; fusion_run_bytes; fusion_last_error; fusion_live_values; fusion_value_release; fusion_value_kind; \
     fusion_value_data_type; fusion_value_tag; fusion_value_count; fusion_value_field; fusion_value_dtype; \
     fusion_value_rank; fusion_value_extent; fusion_value_data; fusion_value_strings; ";
/// ... and those more of a library for a GPU.
const EXPORTS_OF_DEVICES: &str = "fusion_last_error; fusion_run_device; fusion_run_dlpack; fusion_run_stream; fusion_set_device; fusion_set_profiling; fusion_profile; ";

/// Object code: a relocatable ELF object.
#[derive(Clone, Copy, Debug)]
pub enum CodeObject<'a> {
    /// In memory.
    Bytes(&'a [u8]),
    /// In a file.
    File(&'a Path),
}

/// All that goes into a shared library.
#[derive(Clone, Debug)]
pub struct Package<'a> {
    /// What the model says of itself.
    pub description: &'a ModelDescription,
    /// Its code; one of the objects defines `fusion_run`, or `fusion_program_enter` for a program of the whole language, or
    /// `fusion_gpu_program` where its kernels run on a device.
    pub code: Vec<CodeObject<'a>>,
    /// Its weights.
    pub constants: Constants<'a>,
    /// The file they lie in, where that is not the library; then one of the objects defines `fusion_run_mapped` for `fusion_run`.
    pub outside: Option<&'a Outside>,
    /// Libraries to link besides the C and the mathematical one, without `lib` and suffix.
    pub libraries: Vec<String>,
    /// The C compiler that links; by default the linker in this process, or `cc` where there is none, or
    /// `aarch64-linux-gnu-gcc` and the like when the code is for another machine than this one.
    pub linker: Option<PathBuf>,
    /// The linker in this process.
    pub own_linker: Option<OwnLinker>,
}

/// Links ELF files, with arguments of `ld`. The error is what it said.
pub type OwnLinker = fn(&[&OsStr]) -> Result<(), String>;

/// Why there is no library.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// There is nothing to link.
    #[error("the model has no object code to package")]
    NoCode,
    /// The code is not what a linker takes.
    #[error("object {index} of the model's code {why}")]
    Code {
        /// Which one.
        index: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A program of the whole language has values that only the host has.
    #[error(
        "{:?} is a program of the whole language, which runs on the processor only; compile the models it calls for the device",
        .0
    )]
    ProgramOnDevice(String),
    /// Constants overlap or stick out.
    #[error("piece {0} of the model's constants overlaps the one before it or ends after the constants")]
    Constants(usize),
    /// A file cannot be read or written.
    #[error("cannot write {}: {error}", path.display())]
    Io {
        /// The library or the header.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// There is no C compiler.
    #[error(
        "cannot link {}: running `{}` failed ({error}); install a C compiler for {}, or name one with --linker",
        path.display(), linker.display(), machine.name()
    )]
    NoLinker {
        /// The library.
        path: PathBuf,
        /// The compiler looked for.
        linker: PathBuf,
        /// The machine the code is for.
        machine: Machine,
        /// What the system said.
        error: io::Error,
    },
    /// Objects of another machine cannot be put together.
    #[error("cannot put the objects of {} together: {why}", path.display())]
    NoMerger {
        /// The object.
        path: PathBuf,
        /// What the linker or the system said.
        why: String,
    },
    /// The linker in this process refused, and there is no other.
    #[error("cannot link {}: {why}", path.display())]
    Refused {
        /// The library.
        path: PathBuf,
        /// What the linker said.
        why: String,
    },
    /// The C compiler refused.
    #[error("cannot link {}: `{}` failed with {status}: {message}", path.display(), linker.display())]
    Link {
        /// The library.
        path: PathBuf,
        /// The compiler.
        linker: PathBuf,
        /// How it ended.
        status: std::process::ExitStatus,
        /// What it said.
        message: String,
    },
}

impl Package<'_> {
    /// Writes the library to `path` and its header beside it, whose path it gives. Both appear
    /// complete or not at all.
    pub fn write(&self, path: &Path) -> Result<PathBuf, PackageError> {
        self.write_with_header(path, || self.write_library(path))
    }

    /// The same for one object instead of a library; see [`Package::write_object`].
    pub fn write_relocatable(&self, path: &Path) -> Result<PathBuf, PackageError> {
        self.write_with_header(path, || self.write_object(path))
    }

    /// Whether the code is for another machine than this one.
    pub fn is_foreign(&self) -> Result<bool, PackageError> {
        Ok(Machine::host() != Some(self.machine()?))
    }

    fn write_with_header(
        &self,
        path: &Path,
        write: impl FnOnce() -> Result<(), PackageError>,
    ) -> Result<PathBuf, PackageError> {
        let header_path = path.with_extension("h");
        if header_path == path {
            let error = io::Error::other("a library's name must not end in .h");
            return Err(PackageError::Io { path: path.to_owned(), error });
        }
        let failed = |error| PackageError::Io { path: header_path.clone(), error };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut header_file = output::OutputFile::create(&header_path).map_err(failed)?;
        io::Write::write_all(header_file.file(), header(self.description, &stem).as_bytes())
            .map_err(failed)?;
        write()?;
        header_file.commit().map_err(|error| {
            let _ = fs::remove_file(path);
            failed(error)
        })?;
        Ok(header_path)
    }

    /// Writes the library alone.
    pub fn write_library(&self, path: &Path) -> Result<(), PackageError> {
        let programs = if self.description.program.is_some() { EXPORTS_OF_PROGRAMS } else { "" };
        let devices = if self.description.device.is_some() { EXPORTS_OF_DEVICES } else { "" };
        let weights = if self.outside.is_some() { "fusion_last_error; " } else { "" };
        self.write_exporting(path, &format!("{EXPORTS}{programs}{devices}{weights}"))
    }

    /// Writes a library of kernels alone, which shows their symbols: what a virtual machine calls.
    pub fn write_kernels<'a>(
        &self,
        path: &Path,
        symbols: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), PackageError> {
        let symbols: String = symbols.into_iter().map(|symbol| format!("{symbol}; ")).collect();
        self.write_exporting(path, &format!("fusion_set_threads; {symbols}"))
    }

    fn write_exporting(&self, path: &Path, symbols: &str) -> Result<(), PackageError> {
        let failed = |error| PackageError::Io { path: path.to_owned(), error };
        let machine = self.machine()?;
        let scratch = output::directory_beside(path).map_err(failed)?;
        let objects = self.objects(path, machine, scratch.path())?;
        let library = scratch.path().join("library.so");
        let exports = scratch.path().join("exports");
        fs::write(&exports, format!("{{ global: {symbols}local: *; }};\n")).map_err(failed)?;
        self.link(path, machine, &objects, &exports, &library)?;
        fs::rename(&library, path).map_err(failed)
    }

    /// Writes one object of all that the library is made of, to be linked where there is a C compiler for the machine.
    pub fn write_object(&self, path: &Path) -> Result<(), PackageError> {
        let failed = |error| PackageError::Io { path: path.to_owned(), error };
        let scratch = output::directory_beside(path).map_err(failed)?;
        let objects = self.objects(path, self.machine()?, scratch.path())?;
        let whole = scratch.path().join("whole.o");
        let files = objects.iter().map(|object| object.as_os_str());
        let args: Vec<&OsStr> =
            [OsStr::new("-r"), OsStr::new("-o"), whole.as_os_str()].into_iter().chain(files).collect();
        let why = match self.own_linker.map(|link| link(&args)) {
            Some(Ok(())) => return fs::rename(&whole, path).map_err(failed),
            Some(Err(why)) => why,
            None => "there is no linker in this process".to_owned(),
        };
        Err(PackageError::NoMerger { path: path.to_owned(), why })
    }

    /// All objects as files: the code, the threads, the data.
    fn objects(&self, path: &Path, machine: Machine, scratch: &Path) -> Result<Vec<PathBuf>, PackageError> {
        let failed = |error| PackageError::Io { path: path.to_owned(), error };
        if let Some(index) = self.constants.misplaced() {
            return Err(PackageError::Constants(index));
        }
        if self.description.program.is_some() && self.description.device.is_some() {
            return Err(PackageError::ProgramOnDevice(self.description.name.clone()));
        }
        let mut objects = vec![];
        for (i, code) in self.code.iter().enumerate() {
            objects.push(match code {
                CodeObject::File(file) => fs::canonicalize(file).map_err(failed)?,
                CodeObject::Bytes(bytes) => {
                    let file = scratch.join(format!("code{i}.o"));
                    fs::write(&file, bytes).map_err(failed)?;
                    file
                }
            });
        }
        let mut ours = vec![("threads", threads::object(machine))];
        if self.description.program.is_some() {
            ours.extend(language::objects(machine));
        }
        if self.description.device.is_some() {
            ours.extend(gpu::objects(machine));
        }
        if self.outside.is_some() {
            ours.extend(weights::objects(machine, self.description.device.is_some()));
        }
        for (name, bytes) in ours {
            let file = scratch.join(format!("{name}.o"));
            fs::write(&file, bytes).map_err(failed)?;
            objects.push(file);
        }
        let data = scratch.join("data.o");
        let file = File::create(&data).map_err(failed)?;
        object_file::write(file, machine, self.description, &self.constants, self.outside).map_err(failed)?;
        objects.push(data);
        Ok(objects)
    }

    fn link(
        &self,
        path: &Path,
        machine: Machine,
        objects: &[PathBuf],
        exports: &Path,
        library: &Path,
    ) -> Result<(), PackageError> {
        let mut script = OsString::from("--version-script=");
        script.push(exports);
        // A program with two models in it must not mix up their constants. No build identifier: it is a digest of all weights, and
        // nobody asks for it.
        let flags = ["-Bsymbolic", "-z", "defs", "-z", "noexecstack", "--build-id=none"].map(OsStr::new);
        let flags: Vec<&OsStr> = flags.into_iter().chain([script.as_os_str()]).collect();
        let files: Vec<&OsStr> = [OsStr::new("-o"), library.as_os_str()]
            .into_iter()
            .chain(objects.iter().map(|object| object.as_os_str()))
            .collect();
        let is_plain = self.linker.is_none() && self.libraries.is_empty() && Machine::host() == Some(machine);
        let mut refused = None;
        if let Some(link) = self.own_linker.filter(|_| is_plain)
            && let Some(system) = system::libraries()
        {
            let first = ["-shared", "--eh-frame-hdr", "--hash-style=gnu"].map(OsStr::new);
            let system = system.iter().map(|library| library.as_os_str());
            let args = [&first[..], &flags, &files, &[OsStr::new("--as-needed")]].concat();
            // What the system's libraries lack, as old ones do conversions of f16, a C compiler brings along.
            match link(&args.into_iter().chain(system).collect::<Vec<_>>()) {
                Ok(()) => return Ok(()),
                Err(why) => refused = Some(why),
            }
        }
        let linker = self.linker.clone().unwrap_or_else(|| default_linker(machine));
        let mut command = Command::new(&linker);
        command.arg("-shared");
        // -Xlinker, not -Wl: a path may hold a comma.
        for flag in flags {
            command.arg("-Xlinker").arg(flag);
        }
        command
            .args(files)
            .args(self.libraries.iter().map(|name| format!("-l{name}")))
            .args(["-lm", "-pthread", "-ldl"])
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        let path = path.to_owned();
        let output = match (command.output(), refused) {
            (Ok(output), _) => output,
            (Err(_), Some(why)) => return Err(PackageError::Refused { path, why }),
            (Err(error), None) => return Err(PackageError::NoLinker { path, linker, machine, error }),
        };
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let lines: Vec<&str> =
                said.lines().map(str::trim).filter(|line| !line.is_empty()).take(4).collect();
            let (status, message) = (output.status, lines.join("; "));
            return Err(PackageError::Link { path, linker, status, message });
        }
        Ok(())
    }

    /// The machine the code is for, by its ELF headers.
    fn machine(&self) -> Result<Machine, PackageError> {
        let mut machine = None;
        for (index, code) in self.code.iter().enumerate() {
            let wrong = |why| PackageError::Code { index, why };
            let mut start = [0; 20];
            let read = match code {
                &CodeObject::Bytes(mut bytes) => bytes.read_exact(&mut start),
                CodeObject::File(path) => File::open(path).and_then(|mut file| file.read_exact(&mut start)),
            };
            read.map_err(|_| wrong("cannot be read or is too short to be an object file"))?;
            let half = |at: usize| u16::from_le_bytes([start[at], start[at + 1]]);
            // Magic, 64 bits, little-endian; then the type, where 1 is relocatable.
            if !start.starts_with(b"\x7fELF\x02\x01") || half(16) != 1 {
                return Err(wrong("is not a relocatable 64-bit little-endian ELF object"));
            }
            let this = Machine::from_elf(half(18)).ok_or(wrong("is for neither x86-64 nor AArch64"))?;
            if machine.is_some_and(|other| other != this) {
                return Err(wrong("is for another machine than the ones before it"));
            }
            machine = Some(this);
        }
        machine.ok_or(PackageError::NoCode)
    }
}

fn default_linker(machine: Machine) -> PathBuf {
    if Machine::host() == Some(machine) {
        return "cc".into();
    }
    format!("{}-linux-gnu-gcc", machine.name()).into()
}
