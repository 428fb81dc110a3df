//! Running `fusion`, and numbers for it.

pub mod processor;

use fusion::driver::Target;
use fusion_machine::Gpu;
use fusion_operators::Tensor;
use fusion_targets::gpu::VENDORS;
use std::fmt::Debug;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;

/// All GPUs that are described, by the names of their targets.
pub static GPUS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let of = |vendor: &str, name: &str| -> &'static str { format!("{vendor}:{name}").leak() };
    let all =
        VENDORS.iter().flat_map(|vendor| vendor.descriptions().map(|d| of(vendor.name, &d.unwrap().name)));
    all.collect()
});

/// What a GPU has besides what a processor has.
pub fn facts(gpu: &str) -> Gpu {
    gpu.parse::<Target>().unwrap().description().gpu.clone()
}

/// Those of all GPUs that have something.
pub fn gpus_with(has: impl Fn(&Gpu) -> bool) -> impl Iterator<Item = &'static str> {
    GPUS.iter().copied().filter(move |gpu| has(&facts(gpu)))
}

/// The program, in a directory and without the cache of kernels: tests do not depend on what ran before.
pub fn command(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fusion"));
    command.args(args).current_dir(directory).env("FUSION_CACHE", "0");
    command
}

/// What it prints where it succeeds.
pub fn succeed(directory: &Path, args: &[&str]) -> String {
    printed(args, command(directory, args).output().unwrap())
}

/// What it says where it refuses.
pub fn complaint(directory: &Path, args: &[&str]) -> String {
    complained(args, command(directory, args).output().unwrap())
}

pub fn printed(args: &[&str], output: Output) -> String {
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

pub fn complained(args: &[&str], output: Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{args:?}: {output:?}");
    assert!(output.stdout.is_empty(), "{args:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Runs a test in a process of its own: it measures the memory of a process, or changes what holds for all of it.
pub fn alone(test: &str, run: impl FnOnce()) {
    const ALONE: &str = "FUSION_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return run();
    }
    let this = std::env::current_exe().unwrap();
    let output = Command::new(this).args(["--exact", test]).env(ALONE, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// A sequence of numbers that look random.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub fn among(&mut self, choices: &[u64]) -> u64 {
        choices[self.next() as usize % choices.len()]
    }

    /// Numbers between -1 and 1.
    pub fn tensor<N: Copy + TryInto<usize, Error: Debug>>(&mut self, shape: &[N]) -> Tensor {
        let shape: Vec<usize> = shape.iter().map(|n| (*n).try_into().unwrap()).collect();
        let one = |_| (self.next() % 2001) as f32 / 1000.0 - 1.0;
        let values: Vec<f32> = (0..shape.iter().product()).map(one).collect();
        Tensor::from_slice(&shape, &values).unwrap()
    }
}
