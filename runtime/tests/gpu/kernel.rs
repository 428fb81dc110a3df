//! A library of one kernel, which is launched once.

use crate::common;
use fusion_operators::{DType, Tensor};
use fusion_runtime::object_file::Constants;
use fusion_runtime::package::{CodeObject, Package};
use fusion_runtime::{ArgumentDescription, Device, ModelDescription, Module, RunError};
use std::path::{Path, PathBuf};

/// What each kernel finds.
const START: &str = r#"
#include "@DIRECTORY@/gpu/gpu.h"
static inline int64_t block(void) { return fusion_emulated_id(0); }
static inline int64_t thread(void) { return fusion_emulated_id(3); }
static inline float *shared(int64_t i) { return fusion_emulated_shared(4 * i); }
static inline void put(int64_t i, float x) { fusion_emulated_access(shared(i), 4, 1); *shared(i) = x; }
static inline float get(int64_t i) { fusion_emulated_access(shared(i), 4, 0); return *shared(i); }
"#;

/// The launch and the program.
const END: &str = r#"
static struct fusion_gpu_kernel launch = {.name = "kernel", .host = kernel, .grid = {@GRID@}, .block = {@BLOCK@},
    .shared_bytes = @SHARED@, .arguments = @ARGUMENTS@, .warp = @WARP@, .map = @MAP@, .maps = @MAPS@};
static void all(void *const *pointers) { fusion_gpu_launch(&launch, pointers); }
static const uint64_t bytes[] = {@BYTES@};
struct fusion_gpu_program fusion_gpu_program = {.kind = FUSION_EMULATED, .inputs = @INPUTS@, .outputs = @OUTPUTS@,
    .input_bytes = bytes, .output_bytes = bytes + @INPUTS@, .workspace_bytes = 256, .main = all};
"#;

/// A kernel and how it is launched. Its arguments are the inputs, the outputs, no constants and a workspace;
/// its body is the C function `kernel` of `code`.
#[derive(Clone, Debug)]
pub struct Kernel<'a> {
    pub code: &'a str,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared_bytes: u32,
    pub warp: u32,
    /// Tensor maps, which the code calls `map`.
    pub maps: u32,
    /// Bytes of the outputs.
    pub outputs: Vec<usize>,
}

impl Kernel<'_> {
    /// One block of so many threads, a kilobyte of shared memory, and an output of that many floats.
    pub fn new(code: &str, threads: u32, floats: usize) -> Kernel<'_> {
        Kernel {
            code,
            grid: [1; 3],
            block: [threads, 1, 1],
            shared_bytes: 1024,
            warp: 32,
            maps: 0,
            outputs: vec![4 * floats],
        }
    }

    /// Builds the library for inputs of so many bytes.
    pub fn library(&self, directory: &Path, inputs: &[usize]) -> PathBuf {
        let all: Vec<String> = inputs.iter().chain(&self.outputs).map(ToString::to_string).collect();
        let end = END
            .replace("@GRID@", &self.grid.map(|n| n.to_string()).join(", "))
            .replace("@BLOCK@", &self.block.map(|n| n.to_string()).join(", "))
            .replace("@SHARED@", &self.shared_bytes.to_string())
            .replace("@WARP@", &self.warp.to_string())
            .replace("@MAP@", if self.maps > 0 { "map" } else { "0" })
            .replace("@MAPS@", &self.maps.to_string())
            .replace("@ARGUMENTS@", &(all.len() + 2).to_string())
            .replace("@BYTES@", &all.join(", "))
            .replace("@INPUTS@", &inputs.len().to_string())
            .replace("@OUTPUTS@", &self.outputs.len().to_string());
        let start = START.replace("@DIRECTORY@", env!("CARGO_MANIFEST_DIR"));
        let object = common::object(directory, &format!("{start}{}{end}", self.code));
        library(directory, &object, Device::Emulated, inputs, &self.outputs)
    }

    /// Runs it on floats.
    pub fn run(&self, inputs: &[&[f32]]) -> Result<Vec<Vec<f32>>, RunError> {
        let bytes: Vec<Vec<u8>> =
            inputs.iter().map(|floats| floats.iter().flat_map(|x| x.to_ne_bytes()).collect()).collect();
        Ok(self.run_bytes(&bytes)?.iter().map(|bytes| floats(bytes)).collect())
    }

    /// Runs it on tensors of bytes.
    pub fn run_bytes(&self, inputs: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, RunError> {
        let directory = tempfile::tempdir().unwrap();
        let sizes: Vec<usize> = inputs.iter().map(Vec::len).collect();
        let module = Module::load(&self.library(directory.path(), &sizes)).unwrap();
        Ok(module.run(&tensors(inputs))?.iter().map(|tensor| tensor.bytes().to_vec()).collect())
    }

    /// Why it fails on inputs of no bytes.
    pub fn error(&self) -> String {
        match self.run(&[]) {
            Err(RunError::Device(why)) => why,
            other => panic!("{other:?}"),
        }
    }
}

/// Links an object that has the program.
pub fn library(
    directory: &Path,
    object: &Path,
    device: Device,
    inputs: &[usize],
    outputs: &[usize],
) -> PathBuf {
    let argument = |name: String, bytes: usize| ArgumentDescription {
        name,
        dtype: DType::U8,
        shape: vec![bytes],
        value: None,
    };
    let description = ModelDescription {
        name: "kernel".to_owned(),
        target: "test".to_owned(),
        inputs: inputs.iter().enumerate().map(|(i, &bytes)| argument(format!("x{i}"), bytes)).collect(),
        outputs: outputs.iter().enumerate().map(|(i, &bytes)| argument(format!("y{i}"), bytes)).collect(),
        kernels: vec![],
        program: None,
        device: Some(device),
        workspace_bytes: 0,
    };
    let path = directory.join("kernel.so");
    let package = Package {
        description: &description,
        code: vec![CodeObject::File(object)],
        constants: Constants::default(),
        outside: None,
        libraries: vec![],
        linker: None,
        own_linker: None,
    };
    package.write(&path).unwrap();
    path
}

pub fn tensors(inputs: &[Vec<u8>]) -> Vec<Tensor> {
    inputs.iter().map(|bytes| Tensor::from_bytes(DType::U8, &[bytes.len()], bytes).unwrap()).collect()
}

pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_ne_bytes(four.try_into().unwrap())).collect()
}

/// Numbers between -1 and 1 that look random.
pub fn random(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}
