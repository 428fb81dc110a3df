//! `fusion-attach-target`: notes at a module what machine it is for, as the compiler does before all other passes.
//!
//!     module { ... }    =>    module attributes {fusion.target = {name = "x86-64-v3", cores = 4, ...}} { ... }

use super::Processor;
use crate::targets::gpu::{Device, Vendor};
use fusion_dialects::module::attach_target;
use fusion_dialects::{Op, OptionKind, OptionSpec, Pass, PassError, RunContext};

/// The pass.
pub struct AttachTarget;

impl Pass for AttachTarget {
    const NAME: &'static str = "fusion-attach-target";
    const DESCRIPTION: &'static str = "Note at a module what machine it is for";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "name",
        description: "What `fusion targets` lists, of processors behind `cpu:`, or the file of a description",
        kind: OptionKind::Text,
        initial: super::HOST,
    }];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let name = cx.options.text("name");
        if let Some((vendor, gpu)) = name.split_once(':')
            && let Some(vendor) = Vendor::named(vendor)
        {
            let device = Device::named(vendor, gpu)
                .map_err(|why| PassError::at(module, format!("gets no target: {why}")))?;
            attach_target(&device.description, module);
            return Ok(());
        }
        // As `--target` has it, or without what says that it is a processor.
        let name = match name.split_once(':') {
            Some(("cpu", named)) => named,
            _ if name == "cpu" => super::HOST,
            _ => name,
        };
        let processor = if name.ends_with(".toml") {
            Processor::from_file(name.as_ref())
        } else {
            Processor::named(name)
        };
        let processor = processor.map_err(|why| PassError::at(module, format!("gets no target: {why}")))?;
        attach_target(&processor.description, module);
        Ok(())
    }
}
