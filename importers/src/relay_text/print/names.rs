//! What variables are called.
//!
//! Parameters of the module's functions and the variables of patterns keep their names, others get `%v0`, `%v1`, ... A name
//! may stand for several values, each in its scope; where an inner one would hide an outer one that is used inside, the inner
//! one is renamed.

use super::PrintError;
use fusion_dialects::relay::{Op as Relay, Pattern};
use fusion_dialects::rows::Kind;
use fusion_dialects::{Block, Op, OpExt, OperationLike, Value, arguments, array_elements, key, ops_in};
use std::collections::{HashMap, HashSet};

/// Names that come with the program.
#[derive(Default)]
pub struct Named {
    /// The names of values, by their keys.
    names: HashMap<usize, String>,
    /// All of them.
    taken: HashSet<String>,
    next: usize,
}

/// A word of the language, or none.
pub fn is_word(name: &str) -> bool {
    let mut characters = name.chars();
    let first = characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && name != "_" && characters.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
}

const KEYWORDS: &[&str] = &[
    "let",
    "fn",
    "def",
    "if",
    "else",
    "type",
    "match",
    "extern",
    "free_var",
    "import",
    "ref",
    "ref_read",
    "ref_write",
    "True",
    "False",
    "meta",
];

/// Refuses names that a type, a constructor or an extent cannot have.
pub fn check(name: &str) -> Result<(), PrintError> {
    if is_word(name) && !KEYWORDS.contains(&name) {
        return Ok(());
    }
    Err(PrintError(format!("{name:?} is no name in the language")))
}

/// Refuses names that a function cannot have.
pub fn check_symbol(name: &str) -> Result<(), PrintError> {
    if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$') {
        return Ok(());
    }
    Err(PrintError(format!("{name:?} is no name of a function in the language")))
}

impl Named {
    /// The names in a function, whose parameters have those.
    pub fn of<'c>(function: Op<'c>, parameters: &[Option<String>]) -> Named {
        let mut named = Named::default();
        let Some(block) = function.body(0) else { return named };
        let mut scope: HashMap<String, Vec<usize>> = HashMap::new();
        for (argument, name) in arguments(block).iter().zip(parameters) {
            if let Some(name) = name.as_ref().filter(|name| is_word(name)) {
                named.enter(*argument, name, &mut scope);
            }
        }
        named.walk(block, &mut scope);
        named.taken = named.names.values().cloned().collect();
        named
    }

    fn enter(&mut self, value: Value, name: &str, scope: &mut HashMap<String, Vec<usize>>) {
        self.names.insert(key(value), name.to_owned());
        scope.entry(name.to_owned()).or_default().push(key(value));
    }

    fn walk<'c>(&mut self, block: Block<'c>, scope: &mut HashMap<String, Vec<usize>>) {
        for op in ops_in(block) {
            for operand in op.operand_values() {
                let Some(name) = self.names.get(&key(operand)).cloned() else { continue };
                let within = scope.get(&name).map(Vec::as_slice).unwrap_or_default();
                // What was named alike further in hides this value.
                for hiding in within.iter().rev().take_while(|other| **other != key(operand)) {
                    self.names.remove(hiding);
                }
            }
            let patterns = pattern_names(op);
            for region in 0..op.region_count() {
                let Some(inner) = op.body(region) else { continue };
                let names = patterns.get(region).map(Vec::as_slice).unwrap_or_default();
                let mut entered = Vec::new();
                for (argument, name) in arguments(inner).iter().zip(names) {
                    if is_word(name) {
                        self.enter(*argument, name, scope);
                        entered.push(name.clone());
                    }
                }
                self.walk(inner, scope);
                for name in entered {
                    scope.entry(name).or_default().pop();
                }
            }
        }
    }

    /// The name a value came with.
    pub fn given(&self, value: Value) -> Option<&str> {
        self.names.get(&key(value)).map(String::as_str)
    }

    /// A name that nothing else has.
    pub fn fresh(&mut self) -> String {
        loop {
            let name = format!("v{}", self.next);
            self.next += 1;
            if !self.taken.contains(&name) {
                return name;
            }
        }
    }
}

/// The names that each clause of a match binds.
fn pattern_names(op: Op) -> Vec<Vec<String>> {
    if !matches!(op.kind(), Some(Kind::Relay(Relay::Match))) {
        return Vec::new();
    }
    let patterns = op.attr("patterns").map(array_elements).unwrap_or_default();
    let names = patterns.into_iter().map(|pattern| {
        let pattern = Pattern::read(pattern).unwrap_or(Pattern::Wildcard);
        pattern.names().into_iter().map(str::to_owned).collect()
    });
    names.collect()
}
