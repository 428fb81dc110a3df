//! What `fusion targets` prints: the names of targets, and what is known of each.

use crate::print;
use fusion::target::{HOST, Target, TargetError};
use fusion_machine::{Memory, Target as Description, TargetError as DescriptionError};
use fusion_targets::cpu::{self, Processor, ProcessorError};
use fusion_targets::gpu::{DeviceError, VENDORS};
use std::path::PathBuf;

/// Where a description of this machine is looked for.
pub fn file_of_host() -> Option<PathBuf> {
    Some(cpu::directory()?.join(format!("{}.toml", Processor::host().description.processor)))
}

/// All GPUs that are described, by their names.
pub fn gpus() -> Result<Vec<(String, Description)>, TargetError> {
    let mut all = Vec::new();
    for vendor in VENDORS {
        for description in vendor.descriptions() {
            let description = description.map_err(DeviceError::from)?;
            all.push((format!("{}:{}", vendor.name, description.name), description));
        }
    }
    Ok(all)
}

/// What `fusion targets` lists: a name or a family of them, and what it is.
pub fn targets() -> Result<Vec<(String, String)>, TargetError> {
    let host: Target = HOST.parse()?;
    let cpu = &host.processor().target.resolved().cpu;
    let from =
        host.processor().file.as_ref().map_or(String::new(), |file| format!(", from {}", file.display()));
    let described = |d: &Description, from: &str| format!("{}{from}\n{}", d.about, facts(d));
    let about = format!("this machine's processor, {cpu}: {}", described(host.description(), &from));
    let mut all = vec![(host.name.clone(), about)];
    for file in cpu::descriptions_of_user() {
        let name = format!("{HOST}:{}", file.file_stem().unwrap_or_default().display());
        let from = format!(", from {}", file.display());
        // One that cannot be read takes none of the others away.
        let about = match Target::from_file(&file) {
            Ok(target) => described(target.description(), &from),
            Err(error) => format!("cannot be used: {error}"),
        };
        all.push((name, about));
    }
    for description in cpu::descriptions() {
        let description = description.map_err(|error: DescriptionError| ProcessorError::from(error))?;
        all.push((format!("{HOST}:{}", description.name), described(&description, "")));
    }
    all.extend(gpus()?.into_iter().map(|(name, description)| (name, described(&description, ""))));
    for family in cpu::FAMILIES {
        let names = fusion_dialects::processors(family.triple).join(" ");
        all.push((format!("{HOST}:PROCESSOR"), format!("{}: {names}", family.name)));
    }
    Ok(all)
}

/// What is known of a target, in two lines.
pub fn facts(target: &Description) -> String {
    let level = |name: &str, level: &Memory| {
        let size = if level.bytes > 0 { format!(" {}", size(level.bytes)) } else { String::new() };
        format!("{name}{size} at {:.0} ({:.0}) GB/s", level.bandwidth / 1e9, level.bandwidth_all / 1e9)
    };
    let mut levels = vec![level("L1", &target.l1), level("L2", &target.l2)];
    levels.extend((target.l3.bytes > 0).then(|| level("L3", &target.l3)));
    levels.push(level("memory", &target.memory));
    format!(
        "{} cores of {:.1} GFLOP/s, {} vectors of {} bytes, a kernel call {}, a parallel loop {}, exp as {:.0} multiply-adds\n\
         on one core (on all): {}",
        target.cores,
        target.peak_flops / 1e9,
        target.vector_registers,
        target.vector_bytes,
        print::seconds(target.kernel_call),
        print::seconds(target.parallel_region),
        target.transcendental,
        levels.join(", "),
    )
}

/// Sizes of caches, which are powers of two or nearly.
fn size(bytes: u64) -> String {
    if bytes < 1 << 20 { format!("{} KiB", bytes >> 10) } else { format!("{} MiB", bytes >> 20) }
}
