//! Tiles of programs of dynamic extents, compiled for known extents.
//!
//! ```text
//!   relay.dense {relay.tile = 0}      =>      relay.dense {relay.tile = 0, relay.tile_versions = [{sizes = [64], symbol = "..."}, ...]}
//!                                             fusion_kernel_3_tile_0_64, ... : functions of addresses, as units beside the program
//! ```
//!
//! Each version of a tile goes the way of a model, as far as the plan of memory; its weights join those of the program. See
//! [`fusion_relay_to_te::tiles`]. Versions that are not worth it ([`choose`]) go only as far as their estimate.

mod choose;
mod likely;

use crate::block::{Block, share, unit};
use crate::compile::{Decided, Kernel, Planned, Settings, decide, finish};
use crate::error::{CompileError, failed};
use crate::runner::Runner;
use crate::units::Unit;
use choose::Work;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Module, OpExt, OperationLike, Region, function_type, index_type, key, kind_of, module_op,
    nested_ops, ops_in, relay, str_attr, tensor_type, type_attr, unit_attr,
};
use fusion_relay_to_te::tiles::versions::{MOST_PARTS, VERSIONS, Version, bytes, flops, sizes, weights_of};
use fusion_relay_to_te::tiles::{TILE, Tile, instance, marked};
use fusion_targets::c_interface::BY_ADDRESS;
use fusion_te_to_loop::plan_memory::entry_of;
use likely::Likely;
use std::collections::HashMap;
use std::fmt::Write;

/// Units by their symbols.
type Units = Vec<(String, Unit)>;

/// What was decided of the versions of a tile.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The kernel and the tile, as versions are called but for their sizes.
    pub name: String,
    /// The operators, in order.
    pub operators: Vec<String>,
    /// What the likely sizes are called, and how long the versions that stay take at each, in seconds.
    pub likely: Vec<(String, f64)>,
    /// The versions, the largest first.
    pub versions: Vec<Candidate>,
}

/// A version of a tile that was thought of.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its sizes, as in the names of kernels.
    pub sizes: String,
    /// The estimate of one run, in seconds.
    pub seconds: f64,
    /// For one that stays: how many times longer the likely size of that number would take without it; infinite where others do not
    /// serve all sizes.
    pub gain: Option<(f64, usize)>,
    /// What it would take alone at each likely size, in seconds; infinite where it does not serve them.
    pub alone: Vec<f64>,
}

/// What the tiles of a kernel became.
#[derive(Default)]
pub(crate) struct Tiled {
    /// Their code.
    pub units: Units,
    /// What is told of each version: how often it runs depends on the sizes.
    pub kernels: Vec<Kernel>,
    /// What was decided of each tile.
    pub choices: Vec<Choice>,
}

/// A version whose kernels are chosen, or one that takes what another of the same operators takes.
struct Begun<'c> {
    version: Version,
    made: Option<(Module<'c>, Decided, Runner)>,
}

/// The marked tiles of the `@main` of a module, as units by their symbols, and notes on their operations how to call them.
pub(crate) fn compile(
    part: &Module,
    settings: &Settings,
    stages: &mut Runner,
    (kernel, symbol): (&str, &str),
    block: &mut Block,
) -> Result<Tiled, CompileError> {
    let mut all = Tiled::default();
    let Some(main) = entry_of(module_op(part)) else { return Ok(all) };
    let Some(body) = main.body(0) else { return Ok(all) };
    let likely = Likely::of(main).map_err(failed)?;
    let tiles = marked(&ops_in(body));
    let weights = tiles.iter().map(weights_of).sum();
    // Estimates by what is computed: layers of a network are often alike but for their weights.
    let mut known: HashMap<String, u64> = HashMap::new();
    for (number, tile) in tiles.into_iter().enumerate() {
        let results = likely.results(&tile);
        let work = Work::of(&tile, &results);
        let mut begun = Vec::new();
        for sizes in sizes(&tile, settings.description()) {
            let text: Vec<String> = sizes.iter().map(u64::to_string).collect();
            let name = format!("{symbol}_tile_{number}_{}", text.join("x"));
            begun.extend(begin(&tile, (sizes, name), weights, settings, &mut known)?);
        }
        let versions: Vec<Version> = begun.iter().map(|begun| begun.version.clone()).collect();
        let stays = work.choose(&versions);
        let mut kept = Vec::new();
        for (begun, stays) in begun.into_iter().zip(&stays) {
            if stays.is_none() {
                if let Some((_, _, own)) = begun.made {
                    stages.add(own);
                }
                continue;
            }
            let (version, made) = complete(&tile, begun, weights, settings, stages, block)?;
            all.units.extend(made);
            let operators = tile.operators().map(str::to_owned).collect();
            all.kernels.push(Kernel {
                name: version.symbol.replacen(symbol, kernel, 1),
                operators,
                flops: flops(&tile, &version.sizes) as u64,
                bytes: bytes(&tile, &version.sizes),
                seconds: version.nanoseconds as f64 * 1e-9,
                runs: 0,
            });
            kept.push(version);
        }
        kept.iter().for_each(|version| declare(part, &version.symbol, &tile));
        let by_kept: Vec<&Version> = kept.iter().collect();
        if let Some(first) = tile.members.first().filter(|_| work.serves_all(&by_kept)) {
            first.set_attr(VERSIONS, Version::attribute(first.context_ref(), &kept));
        }
        let seconds = |nanoseconds: u64| match nanoseconds {
            u64::MAX => f64::INFINITY,
            known => known as f64 * 1e-9,
        };
        let names = results.iter().map(|(name, _)| name.clone());
        let candidates = versions.iter().zip(stays).map(|(version, gain)| Candidate {
            sizes: version.sizes.iter().map(u64::to_string).collect::<Vec<_>>().join("x"),
            seconds: seconds(version.nanoseconds),
            gain,
            alone: work.times(&[version]).into_iter().map(seconds).collect(),
        });
        all.choices.push(Choice {
            name: format!("{kernel}_tile_{number}"),
            operators: tile.operators().map(str::to_owned).collect(),
            versions: candidates.collect(),
            likely: names.zip(work.times(&by_kept).into_iter().map(seconds)).collect(),
        });
    }
    Ok(all)
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

/// A version of a tile as far as its estimate; none where it has no types.
fn begin<'c>(
    tile: &Tile<'c>,
    (sizes, symbol): (Vec<u64>, String),
    weights: u64,
    settings: &Settings,
    known: &mut HashMap<String, u64>,
) -> Result<Option<Begun<'c>>, CompileError> {
    let parts = parts(tile, settings);
    let version = |nanoseconds| Version {
        sizes: sizes.clone(),
        symbol: symbol.clone(),
        workspace: 0,
        parts,
        nanoseconds,
    };
    let alike = described(tile, &sizes);
    if let Some(nanoseconds) = known.get(&alike) {
        return Ok(Some(Begun { version: version(*nanoseconds), made: None }));
    }
    let Some((module, decided, own)) = decided(tile, &sizes, &symbol, settings)? else { return Ok(None) };
    let nanoseconds = nanoseconds(tile, &sizes, settings, (constants_of(&module), weights), &decided.kernels);
    known.insert(alike, nanoseconds);
    Ok(Some(Begun { version: version(nanoseconds), made: Some((module, decided, own)) }))
}

/// A tile for some sizes whose kernels are chosen.
fn decided<'c>(
    tile: &Tile<'c>,
    sizes: &[u64],
    symbol: &str,
    settings: &Settings,
) -> Result<Option<(Module<'c>, Decided, Runner)>, CompileError> {
    let Some(module) = instance::of_tile(tile, sizes) else { return Ok(None) };
    let mut own = Runner::of_segment(&settings.planning, symbol);
    let decided = decide(&module, settings, &mut own)?;
    Ok(Some((module, decided, own)))
}

/// The rest of the way of a version.
fn complete<'c>(
    tile: &Tile<'c>,
    begun: Begun<'c>,
    weights: u64,
    settings: &Settings,
    stages: &mut Runner,
    block: &mut Block,
) -> Result<(Version, Units), CompileError> {
    let Begun { mut version, made } = begun;
    let made = match made {
        Some(made) => Some(made),
        None => decided(tile, &version.sizes, &version.symbol, settings)?,
    };
    let Some((module, decided, mut own)) = made else {
        return Err(CompileError::Stage(vec![format!(
            "the tile {} has no types, and one like it has",
            version.symbol
        )]));
    };
    let planned = finish(&module, decided, settings, &mut own)?;
    stages.add(own);
    let Planned { workspace_bytes, constants, kernels, units, .. } = planned;
    version.nanoseconds =
        nanoseconds(tile, &version.sizes, settings, (constants.size as u64, weights), &kernels);
    version.workspace = workspace_bytes;
    share(&module, &constants, block)?;
    let mut made: Units = units.into_iter().map(|unit| (unit.symbol.clone(), unit)).collect();
    if let Some(main) = entry_of(module_op(&module)) {
        main.set_attr(BY_ADDRESS, unit_attr(main.context_ref()));
    }
    made.push((version.symbol.clone(), unit(&module, &version.symbol, &version.symbol)));
    Ok((version, made))
}

/// Rows are computed where they lie, and by all threads together.
fn parts(tile: &Tile, settings: &Settings) -> u64 {
    match &tile.geometry.windows {
        Some(_) => settings.description().cores.clamp(1, MOST_PARTS),
        None => 1,
    }
}

/// What a version takes that has constants of so many bytes, where all tiles have so many bytes of weights.
fn nanoseconds(
    tile: &Tile,
    sizes: &[u64],
    settings: &Settings,
    (own, weights): (u64, u64),
    kernels: &[Kernel],
) -> u64 {
    let target = settings.description();
    // Between two runs of a tile the program reads all of its weights.
    let reading = own as f64 / target.bandwidth_of(weights.max(own), 1);
    let computing: f64 = kernels.iter().map(|kernel| kernel.seconds * kernel.runs as f64).sum();
    // Read and written once more where it is copied.
    let copied = 2 * bytes(tile, sizes);
    let copying =
        if tile.geometry.windows.is_some() { copied as f64 / target.bandwidth_of(copied, 1) } else { 0.0 };
    ((computing.max(reading) + copying) * 1e9).ceil() as u64
}

/// Bytes of the constants of a module.
fn constants_of(module: &Module) -> u64 {
    let constants = nested_ops(module_op(module))
        .into_iter()
        .filter(|op| matches!(kind_of(*op), Some(Kind::Relay(relay::Op::Constant))));
    let types = constants.flat_map(|op| op.result_values()).filter_map(tensor_type);
    types.filter_map(|ty| ty.bytes()).sum()
}

/// What a version computes, without the numbers of its weights.
fn described(tile: &Tile, sizes: &[u64]) -> String {
    let mut names: HashMap<usize, usize> = HashMap::new();
    let mut text = format!("{sizes:?}");
    for op in &tile.members {
        let operator = op.full_name();
        // A text takes what is written into it.
        let _ = write!(text, "; {operator}");
        for (name, value) in op.attrs().iter().filter(|(name, _)| *name != TILE) {
            let _ = write!(text, " {name}={value:?}");
        }
        for value in op.operand_values().into_iter().chain(op.result_values()) {
            let next = names.len();
            let name = *names.entry(key(value)).or_insert(next);
            let ty = tensor_type(value).map(|ty| ty.to_string()).unwrap_or_default();
            let _ = write!(text, " %{name}: {ty}");
        }
    }
    text
}
