//! For which sizes a tile is compiled, and which of them runs when.
//!
//! ```text
//!   rows      64, 16, 4, 1: as many as fit, the largest first; 15 rows that are left go into a tile of 16, of which one row is thrown away
//!   windows   16 x 16, 8 x 8, or 16 patches of any images; 256, 64 or 16 places of a pointwise convolution: those with which all takes
//!             the least
//! ```
//!
//! A tile of rows has so many that reading the weights takes no longer than computing with them, and that a call is paid for.

use super::Tile;
use super::geometry::prefix;
use fusion_dialects::{
    Attribute, Context, OpExt, array_attr, array_elements, dict_attr, dictionary_element, dictionary_text,
    int_attr, int_of, key, str_attr, tensor_type,
};
use fusion_machine::Target;
use fusion_operators::{Call, Dim, TensorType};

/// The attribute of a tile's first operation: what it was compiled for.
pub const VERSIONS: &str = "relay.tile_versions";

/// Rows of a tile at most.
const MOST_ROWS: u64 = 256;
/// Tiles that run at a time, each with memory of its own.
pub const MOST_PARTS: u64 = 64;
/// How many times fewer rows the next smaller version has.
const ROWS_STEP: u64 = 4;
/// Calls that the work of a tile should take at least, so that calling is not what takes the time.
const CALLS_PAID: f64 = 16.0;
/// Places of the versions of windows: with the smaller one little is computed beyond the border of an image, the larger one reads the
/// weights less often. More of them save nothing by the roofline.
const PLACES: [u64; 2] = [1 << 8, 1 << 6];
/// Places of tiles of patches, the columns of a product: a vector of floats on the widest processors, and on others some. More columns
/// take little less time each, by the roofline.
const PATCHES: u64 = 16;

/// A tile compiled for some sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    /// Places along each axis of the tiles.
    pub sizes: Vec<u64>,
    /// The function: it takes the addresses of its inputs, its results and a workspace.
    pub symbol: String,
    /// Bytes of the workspace.
    pub workspace: u64,
    /// How many tiles of it may run at a time.
    pub parts: u64,
    /// What one run takes, estimated.
    pub nanoseconds: u64,
}

impl Version {
    /// Versions as an attribute.
    pub fn attribute<'c>(context: &'c Context, versions: &[Version]) -> Attribute<'c> {
        let one = |v: &Version| {
            let sizes: Vec<Attribute> = v.sizes.iter().map(|&n| int_attr(context, n as i64)).collect();
            let entries = [
                ("nanoseconds", int_attr(context, v.nanoseconds as i64)),
                ("parts", int_attr(context, v.parts as i64)),
                ("sizes", array_attr(context, &sizes)),
                ("symbol", str_attr(context, &v.symbol)),
                ("workspace", int_attr(context, v.workspace as i64)),
            ];
            dict_attr(context, &entries)
        };
        array_attr(context, &versions.iter().map(one).collect::<Vec<_>>())
    }

    /// The versions of an attribute.
    pub fn read(attr: Attribute) -> Option<Vec<Version>> {
        let one = |attr: Attribute| {
            let number = |name: &str| {
                dictionary_element(attr, name).and_then(int_of).and_then(|n| u64::try_from(n).ok())
            };
            let sizes = dictionary_element(attr, "sizes").map(array_elements)?;
            let size = |attr| int_of(attr).and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0);
            Some(Version {
                sizes: sizes.into_iter().map(size).collect::<Option<_>>()?,
                symbol: dictionary_text(attr, "symbol")?,
                workspace: number("workspace")?,
                parts: number("parts")?.clamp(1, MOST_PARTS),
                nanoseconds: number("nanoseconds")?.max(1),
            })
        };
        array_elements(attr).into_iter().map(one).collect()
    }
}

/// The sizes that a tile is compiled for, the largest first.
pub fn sizes(tile: &Tile, target: &Target) -> Vec<Vec<u64>> {
    match &tile.geometry.windows {
        None => rows(tile, target).into_iter().map(|n| vec![n]).collect(),
        Some(_) => windows(tile),
    }
}

/// Bytes of the constants that a tile takes.
pub fn weights_of(tile: &Tile) -> u64 {
    let types = tile.constants.iter().flat_map(|op| op.result_values()).filter_map(tensor_type);
    types.filter_map(|ty| ty.bytes()).sum()
}

fn rows(tile: &Tile, target: &Target) -> Vec<u64> {
    let weights = weights_of(tile);
    let flops = flops(tile, &[1]).max(1.0);
    let by_weights = target.peak_flops * weights as f64 / target.bandwidth_of(weights, 1) / flops;
    let by_calls = CALLS_PAID * target.kernel_call * target.peak_flops / flops;
    let wanted = by_weights.max(by_calls).ceil().clamp(1.0, MOST_ROWS as f64) as u64;
    let mut sizes = vec![1];
    while sizes[0] < wanted {
        sizes.insert(0, sizes[0] * ROWS_STEP);
    }
    sizes
}

fn windows(tile: &Tile) -> Vec<Vec<u64>> {
    if tile.geometry.pointwise {
        return PLACES.iter().chain([&PATCHES]).map(|&places| vec![1, places]).collect();
    }
    let axes = tile.geometry.axes();
    let square = |places: u64| {
        let side = (places as f64).powf(1.0 / (axes - 1) as f64) as u64;
        let side = (side + 1).next_power_of_two() / 2;
        let mut sizes = vec![side.max(1); axes];
        sizes[0] = 1;
        sizes
    };
    let mut all: Vec<Vec<u64>> = PLACES.iter().map(|&places| square(places)).collect();
    all.dedup();
    if tile.patches.is_some() {
        if axes == 2 {
            // Along one axis patches take as long; along two, windows may be computed by Winograd's algorithm.
            all.truncate(1);
        }
        all.push(vec![PATCHES]);
    }
    all
}

/// Bytes that a tile takes and gives, but for what is the same for all.
pub fn bytes(tile: &Tile, sizes: &[u64]) -> u64 {
    let of = |v: &fusion_dialects::Value| {
        let ty = tensor_type(*v).filter(|ty| prefix(ty) > 0)?;
        tile.tile_type(&ty, tile.data() == Some(key(*v)), sizes)?.bytes()
    };
    tile.inputs.iter().chain(&tile.outputs).filter_map(of).sum()
}

/// Arithmetic operations of a tile, but for what makes its weights, which is done when compiling.
pub fn flops(tile: &Tile, sizes: &[u64]) -> f64 {
    let data = tile.data();
    let known = |values: Vec<fusion_dialects::Value>| -> Option<Vec<TensorType>> {
        let of = |v: fusion_dialects::Value| tile.tile_type(&tensor_type(v)?, data == Some(key(v)), sizes);
        values.into_iter().map(of).collect()
    };
    let is_of_weight = |op: &fusion_dialects::Op| {
        op.result_values().into_iter().all(|v| tensor_type(v).is_some_and(|ty| ty.shape().is_some()))
    };
    let of = |op: &fusion_dialects::Op| {
        let (operands, results) = (known(op.operand_values())?, known(op.result_values())?);
        let attrs = op.attrs().map_dims(|_| Dim::Any);
        let call = Call { op: super::operator_of(*op)?, operands: &operands, attrs: &attrs };
        Some((call.op.cost)(&call, &results))
    };
    tile.members.iter().filter(|op| !is_of_weight(op)).filter_map(of).sum()
}

/// For each version of rows, the largest first: from how many rows on that are left a whole tile takes less than the smaller ones do.
pub fn worth_filling(versions: &[Version]) -> Vec<u64> {
    let size = |v: usize| versions[v].sizes[0];
    let mut from = vec![1; versions.len()];
    // What so many rows take with the versions behind one.
    let mut rest: Box<dyn Fn(u64) -> u64> = Box::new(|rows| if rows == 0 { 0 } else { u64::MAX });
    for v in (0..versions.len()).rev() {
        let (n, cost) = (size(v), versions[v].nanoseconds);
        from[v] = (1..n).find(|&rows| cost <= rest(rows)).unwrap_or(n);
        let (least, smaller) = (from[v], rest);
        rest = Box::new(move |rows| {
            let left = rows % n;
            let last = if left >= least { cost } else { smaller(left) };
            (rows / n).saturating_mul(cost).saturating_add(last)
        });
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_rows_goes_into_whole_tiles_where_small_ones_take_longer() {
        let version = |rows: u64, nanoseconds: u64| Version {
            sizes: vec![rows],
            symbol: String::new(),
            workspace: 0,
            parts: 1,
            nanoseconds,
        };
        // 13 rows: 4 + 4 + 4 + 1 takes 3 * 30 + 20, a tile of 16 takes 100.
        let from = worth_filling(&[version(16, 100), version(4, 30), version(1, 20)]);
        assert_eq!(from, [13, 2, 1]);
    }
}
