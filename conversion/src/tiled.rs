//! Tiles of programs of dynamic extents, compiled for known extents.
//!
//! ```text
//!   relay.dense {relay.tile = 0}      =>      relay.dense {relay.tile = 0, relay.tile_versions = [{sizes = [64], symbol = "..."}, ...]}
//!                                             fusion_kernel_3_tile_0_64, ... : functions of addresses, as units beside the program
//! ```
//!
//! Each version of a tile goes the way of a model, as far as the plan of memory; its weights join those of the program. See
//! [`fusion_relay_to_te::tiles`].

use crate::block::{Block, unit};
use crate::compile::{Kernel, Planned, Settings, plan};
use crate::error::CompileError;
use crate::runner::Runner;
use crate::units::Unit;
use fusion_dialects::rows::Upstream;
use fusion_dialects::{
    Build, Module, OpExt, OperationLike, Region, function_type, index_type, module_op, ops_in, str_attr,
    type_attr, unit_attr,
};
use fusion_relay_to_te::tiles::versions::{MOST_PARTS, VERSIONS, Version, bytes, flops, sizes, weights_of};
use fusion_relay_to_te::tiles::{Tile, instance, marked};
use fusion_targets::c_interface::BY_ADDRESS;
use fusion_te_to_loop::plan_memory::entry_of;

/// Units by their symbols.
type Units = Vec<(String, Unit)>;

/// The marked tiles of the `@main` of a module, as units by their symbols, and notes on their operations how to call them. Gives as
/// well what is told of each version: how often it runs depends on the sizes.
pub(crate) fn compile(
    part: &Module,
    settings: &Settings,
    stages: &mut Runner,
    (kernel, symbol): (&str, &str),
    block: &mut Block,
) -> Result<(Units, Vec<Kernel>), CompileError> {
    let (mut units, mut told) = (Vec::new(), Vec::new());
    let Some(body) = entry_of(module_op(part)).and_then(|main| main.body(0)) else {
        return Ok((units, told));
    };
    let tiles = marked(&ops_in(body));
    let weights = tiles.iter().map(weights_of).sum();
    for (number, tile) in tiles.into_iter().enumerate() {
        let mut versions = Vec::new();
        for sizes in sizes(&tile, settings.description()) {
            let text: Vec<String> = sizes.iter().map(u64::to_string).collect();
            let name = format!("{symbol}_tile_{number}_{}", text.join("x"));
            let Some((version, made)) = version(&tile, sizes, weights, settings, stages, (&name, block))?
            else {
                continue;
            };
            units.extend(made);
            told.push(Kernel {
                name: format!("{kernel}_tile_{number}_{}", text.join("x")),
                operators: tile.operators().map(str::to_owned).collect(),
                flops: flops(&tile, &version.sizes) as u64,
                bytes: bytes(&tile, &version.sizes),
                seconds: version.nanoseconds as f64 * 1e-9,
                runs: 0,
            });
            versions.push(version);
        }
        versions.iter().for_each(|version| declare(part, &version.symbol, &tile));
        // Any number of rows can be made of one at a time.
        let serves_all = match (&tile.geometry.windows, versions.last()) {
            (None, Some(smallest)) => smallest.sizes == [1],
            (Some(_), smallest) => smallest.is_some(),
            (None, None) => false,
        };
        if let Some(first) = tile.members.first().filter(|_| serves_all) {
            first.set_attr(VERSIONS, Version::attribute(first.context_ref(), &versions));
        }
    }
    Ok((units, told))
}

/// Says that there is such a function.
fn declare(part: &Module, symbol: &str, tile: &Tile) {
    let root = module_op(part);
    let (context, Some(body)) = (root.context_ref(), root.body(0)) else { return };
    let takes = vec![index_type(context); tile.inputs.len() + tile.outputs.len() + 1];
    let attrs = [
        ("sym_name", str_attr(context, symbol)),
        ("sym_visibility", str_attr(context, "private")),
        ("function_type", type_attr(function_type(context, &takes, &[]))),
    ];
    let build = Build::at_end(context, body, root.location());
    build.op_with_regions(Upstream::Func.name(), &[], &[], &attrs, vec![Region::new()]);
}

/// A tile for some sizes; none where it has no types.
fn version(
    tile: &Tile,
    sizes: Vec<u64>,
    weights: u64,
    settings: &Settings,
    stages: &mut Runner,
    (symbol, block): (&str, &mut Block),
) -> Result<Option<(Version, Units)>, CompileError> {
    let Some(module) = instance::of_tile(tile, &sizes) else { return Ok(None) };
    let mut own = Runner::of_segment(&settings.planning, symbol);
    let planned = plan(&module, settings, &mut own)?;
    stages.add(own);
    let Planned { workspace_bytes, constants, kernels, units, .. } = planned;
    // Between two runs of a tile the program reads all of its weights.
    let own = constants.size as u64;
    let reading = own as f64 / settings.description().bandwidth_of(weights.max(own), 1);
    let offset = block.add(constants.to_bytes());
    let mut made: Units = units.into_iter().map(|unit| (unit.symbol.clone(), unit)).collect();
    if let Some(main) = entry_of(module_op(&module)) {
        main.set_attr(BY_ADDRESS, unit_attr(main.context_ref()));
    }
    made.push((symbol.to_owned(), unit(&module, symbol, symbol, offset)));
    let target = settings.description();
    let computing: f64 = kernels.iter().map(|kernel| kernel.seconds * kernel.runs as f64).sum();
    // Read and written once more where it is copied.
    let copied = 2 * bytes(tile, &sizes);
    let copying =
        if tile.geometry.windows.is_some() { copied as f64 / target.bandwidth_of(copied, 1) } else { 0.0 };
    // Rows are computed where they lie, and by all threads together.
    let parts = if tile.geometry.windows.is_some() { target.cores.clamp(1, MOST_PARTS) } else { 1 };
    let nanoseconds = ((computing.max(reading) + copying) * 1e9).ceil() as u64;
    Ok(Some((
        Version { sizes, symbol: symbol.to_owned(), workspace: workspace_bytes, parts, nanoseconds },
        made,
    )))
}
