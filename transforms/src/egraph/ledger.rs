//! The ledger: what was decided, and what it would have cost otherwise.

use super::extract::bound::lower_bound;
use super::extract::search::{Plan, SearchReport};
use super::extract::space::Space;
use super::saturate::Report;
use super::write::Written;
use serde::Serialize;
use std::path::Path;

/// The decisions of a module.
#[derive(Debug, Default, Serialize)]
pub struct Ledger {
    /// Its blocks.
    pub blocks: Vec<BlockLedger>,
}

/// The decisions of a block.
#[derive(Debug, Serialize)]
pub struct BlockLedger {
    /// The function.
    pub function: String,
    /// What saturation did.
    pub saturation: Report,
    /// What the search did.
    pub search: SearchReport,
    /// Seconds that no plan goes below.
    pub bound: f64,
}

impl Ledger {
    /// Adds a block.
    pub fn block(
        &mut self,
        function: &str,
        space: &Space,
        _plan: &Plan,
        _written: &[Written],
        saturation: Report,
        search: SearchReport,
    ) {
        let bound = lower_bound(space);
        self.blocks.push(BlockLedger { function: function.to_owned(), saturation, search, bound });
    }

    /// Writes it as JSON.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(|e| e.to_string())?;
        std::fs::write(path, text).map_err(|e| format!("cannot write the ledger {}: {e}", path.display()))
    }
}
