//! The conversions, one family a file in the folder of its kind: adding an operator is adding a row.

mod arithmetic;
mod flow;
mod microsoft;
mod ml;
mod moving;
mod nn;
mod text;
mod vision;

use std::collections::HashMap;
use std::sync::OnceLock;

use super::build::Converted;
use super::importer::Importer;
use super::node::Node;
use crate::nearest::nearest;

/// How an ONNX operator becomes relay operators.
pub struct Conversion {
    /// Domain; empty for ONNX's own.
    pub domain: &'static str,
    /// Name.
    pub op_type: &'static str,
    /// Emits a node and gives its results.
    pub convert: for<'m> fn(&mut Importer<'m>, &Node<'m>) -> Converted,
}

/// A row of the default domain.
const fn row(
    op_type: &'static str,
    convert: for<'m> fn(&mut Importer<'m>, &Node<'m>) -> Converted,
) -> Conversion {
    Conversion { domain: "", op_type, convert }
}

const FOLDERS: [&[&[Conversion]]; 8] = [
    arithmetic::FAMILIES,
    nn::FAMILIES,
    moving::FAMILIES,
    flow::FAMILIES,
    text::FAMILIES,
    vision::FAMILIES,
    ml::FAMILIES,
    microsoft::FAMILIES,
];

type Table = HashMap<(&'static str, &'static str), &'static Conversion>;

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let all = FOLDERS.iter().flat_map(|folder| folder.iter());
        all.flat_map(|rows| rows.iter()).map(|r| ((r.domain, r.op_type), r)).collect()
    })
}

/// The conversion of an operator.
pub fn find(domain: &str, op_type: &str) -> Option<&'static Conversion> {
    table().get(&(domain, op_type)).copied()
}

/// The operator whose name is most like one that is not there, with its domain.
pub fn like(op_type: &str) -> Option<String> {
    let mut known: Vec<&str> = table().keys().map(|(_, name)| *name).collect();
    known.sort_unstable();
    let near = nearest(op_type, &known)?;
    // ONNX's own first.
    let mut domains: Vec<&str> = table().keys().filter(|(_, name)| *name == near).map(|(d, _)| *d).collect();
    domains.sort_unstable();
    let domain = domains.first().filter(|domain| !domain.is_empty());
    Some(domain.map_or_else(|| near.to_owned(), |domain| format!("{domain}.{near}")))
}
