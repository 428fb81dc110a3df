//! What an MLIR file calls its values, by the places of the operations that give them: a parser forgets names and keeps places.
//!
//!     mlp.mlir, line 4:    %y, %z = relay.split %x        =>      y and z are mlp.mlir:4:12

use indexmap::IndexMap;
use std::path::Path;

/// The place of each name of a file; empty for what is no MLIR text. Of a name that several functions have, the first.
pub fn read(model: &Path) -> IndexMap<String, String> {
    let is_mlir = model.extension().is_some_and(|extension| extension == "mlir");
    let text = is_mlir.then(|| std::fs::read_to_string(model).ok()).flatten();
    let mut names = IndexMap::new();
    for (number, line) in text.iter().flat_map(|text| text.lines().enumerate()) {
        for (name, column) in given(line) {
            names.entry(name).or_insert_with(|| format!("{}:{}:{column}", model.display(), number + 1));
        }
    }
    names
}

/// The names to which a line gives the results of an operation, and the column of that, counted from 1.
fn given(line: &str) -> Vec<(String, usize)> {
    let results = line.split_once('=').filter(|(left, _)| left.trim_start().starts_with('%'));
    let Some((left, right)) = results else { return Vec::new() };
    let column = left.len() + 1 + (right.len() - right.trim_start().len()) + 1;
    // One name for several results has their number behind it.
    let name = |part: &str| {
        part.trim().strip_prefix('%').map(|name| name.split(':').next().unwrap_or(name).to_owned())
    };
    left.split(',').filter_map(name).map(|name| (name, column)).collect()
}

#[cfg(test)]
mod tests {
    use super::given;

    #[test]
    fn results_are_named() {
        assert_eq!(given("  %a = relay.add %x, %y : t"), [("a".to_owned(), 8)]);
        assert_eq!(given("%p, %q = relay.split %x"), [("p".to_owned(), 10), ("q".to_owned(), 10)]);
        assert_eq!(given("%n:2 = relay.split %x {axis = 0 : i64}"), [("n".to_owned(), 8)]);
    }

    #[test]
    fn other_lines_name_nothing() {
        assert!(given("  return %a : t").is_empty());
        assert!(given("func.func @main(%x: tensor<4xf32> {a = 1 : i64})").is_empty());
    }
}
