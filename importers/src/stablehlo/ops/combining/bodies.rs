//! What the region of a reduction, a scatter or a sort computes, where it has a form that an operator of relay has.
//!
//! ```text
//!   ^bb0(%a, %b): %c = stablehlo.add %a, %b; return %c                          add
//!   ^bb0(%a, %b, %i, %j): JAX's comparison of values, then of places            argmax, argmin
//! ```

use crate::stablehlo::graph::{Block, Operation, ValueId};

/// The operator that combines two elements, when a region is nothing else.
pub fn combiner(region: &Block) -> Option<&str> {
    let [a, b] = region.arguments[..] else { return None };
    let [operation, end] = &region.operations[..] else { return None };
    let both = operation.operands == [a, b] || operation.operands == [b, a];
    let given = operation.results.len() == 1 && end.operands == operation.results;
    let name = operation.name.strip_prefix("stablehlo.")?;
    let known = ["add", "multiply", "maximum", "minimum", "and", "or", "xor"];
    (both && given && known.contains(&name)).then_some(name)
}

/// Whether a region gives its second value, as scatters without a combination do.
pub fn gives_second(region: &Block) -> bool {
    let [_, second] = region.arguments[..] else { return false };
    matches!(&region.operations[..], [end] if end.operands == [second])
}

/// One operation of a form: its name, its direction if it compares, and which values it takes. Values are counted from the arguments on.
type Step = (&'static str, &'static str, &'static [usize]);

/// The greatest value and its place, the first one of several; NaN is greater than all.
fn arg_form(direction: &'static str) -> [Step; 9] {
    [
        ("compare", direction, &[0, 2]),
        ("compare", "NE", &[0, 0]),
        ("or", "", &[4, 5]),
        ("compare", "EQ", &[0, 2]),
        ("compare", "LT", &[1, 3]),
        ("and", "", &[7, 8]),
        ("or", "", &[6, 9]),
        ("select", "", &[6, 0, 2]),
        ("select", "", &[10, 1, 3]),
    ]
}

/// The same of integers, of which none is no number.
fn integer_arg_form(direction: &'static str) -> [Step; 6] {
    [
        ("compare", direction, &[0, 2]),
        ("compare", "EQ", &[0, 2]),
        ("compare", "LT", &[1, 3]),
        ("and", "", &[5, 6]),
        ("or", "", &[4, 7]),
        ("select", "", &[4, 0, 2]),
    ]
}

/// Whether a region finds a place: of the greatest value (true) or of the least.
pub fn finds_place(region: &Block) -> Option<bool> {
    for (greatest, direction) in [(true, "GT"), (false, "LT")] {
        if follows(region, &arg_form(direction), &[11, 12]) {
            return Some(greatest);
        }
        let mut steps = integer_arg_form(direction).to_vec();
        steps.push(("select", "", &[8, 1, 3]));
        if follows(region, &steps, &[9, 10]) {
            return Some(greatest);
        }
    }
    None
}

fn follows(region: &Block, steps: &[Step], results: &[usize]) -> bool {
    let Some((end, operations)) = region.operations.split_last() else { return false };
    let mut values: Vec<ValueId> = region.arguments.clone();
    if operations.len() != steps.len() {
        return false;
    }
    let takes = |operation: &Operation, values: &[ValueId], places: &[usize]| {
        let taken: Option<Vec<ValueId>> = places.iter().map(|&i| values.get(i).copied()).collect();
        taken.is_some_and(|taken| taken == operation.operands)
    };
    for (operation, (name, direction, places)) in operations.iter().zip(steps) {
        let same = operation.short_name() == *name
            && (direction.is_empty() || operation.word("comparison_direction") == Some(direction));
        if !same || !takes(operation, &values, places) {
            return false;
        }
        values.extend(&operation.results);
    }
    takes(end, &values, results)
}

/// A key that a comparator looks at: the operation that compares it, and whether the order is from the greatest on.
pub struct Key<'p> {
    /// The comparison whose first operand is the key.
    pub comparison: &'p Operation,
    /// From the greatest to the least.
    pub descending: bool,
}

/// The keys of a comparator, the most significant first: `u < v`, or `u < v or (u == v and NEXT)`. `u` and `v` are the same
/// function of one element each.
pub fn keys(region: &Block) -> Option<Vec<Key<'_>>> {
    let end = region.operations.last()?;
    let [result] = end.operands[..] else { return None };
    let mut found = Vec::new();
    collect(region, result, &mut found)?;
    Some(found)
}

fn made_by(region: &Block, value: ValueId) -> Option<&Operation> {
    region.operations.iter().find(|operation| operation.results.contains(&value))
}

fn collect<'p>(region: &'p Block, value: ValueId, found: &mut Vec<Key<'p>>) -> Option<()> {
    let operation = made_by(region, value)?;
    match operation.name.as_str() {
        "stablehlo.compare" => {
            let descending = match operation.word("comparison_direction")? {
                "LT" => false,
                "GT" => true,
                _ => return None,
            };
            let [u, v] = operation.operands[..] else { return None };
            if !mirrored(region, u, v) {
                return None;
            }
            found.push(Key { comparison: operation, descending });
            Some(())
        }
        "stablehlo.or" => {
            let [first, rest] = operation.operands[..] else { return None };
            let both = made_by(region, rest).filter(|op| op.name == "stablehlo.and")?;
            let [same, next] = both.operands[..] else { return None };
            collect(region, first, found)?;
            let equal = made_by(region, same).filter(|op| op.word("comparison_direction") == Some("EQ"))?;
            let compared = found.last()?.comparison;
            let [u, v] = equal.operands[..] else { return None };
            let pairs = alike(region, u, compared.operands[0], false)
                && alike(region, v, compared.operands[1], false);
            pairs.then_some(())?;
            collect(region, next, found)
        }
        _ => None,
    }
}

/// Whether one value is the same function of the first elements as another is of the second ones.
fn mirrored(region: &Block, u: ValueId, v: ValueId) -> bool {
    alike(region, u, v, true)
}

/// Whether two values are the same function of the region's arguments, or of those and their partners.
fn alike(region: &Block, u: ValueId, v: ValueId, partners: bool) -> bool {
    let mut pairs = vec![(u, v)];
    let mut seen = 0;
    while let Some((u, v)) = pairs.pop() {
        seen += 1;
        let places = |value| region.arguments.iter().position(|&a| a == value);
        match (places(u), places(v)) {
            // Elements alternate: those of the first operand, then of the second.
            (Some(i), Some(j)) if partners && (i % 2 != 0 || j != i + 1) => return false,
            (Some(i), Some(j)) if !partners && i != j => return false,
            (Some(_), Some(_)) => continue,
            (None, None) => {}
            _ => return false,
        }
        let (Some(a), Some(b)) = (made_by(region, u), made_by(region, v)) else {
            // A value from around the region is itself.
            match u == v {
                true => continue,
                false => return false,
            }
        };
        let attributes = format!("{:?}", a.attributes) == format!("{:?}", b.attributes);
        let same = a.name == b.name && attributes && a.regions.is_empty() && b.regions.is_empty();
        if !same || a.operands.len() != b.operands.len() || seen > 4096 {
            return false;
        }
        pairs.extend(a.operands.iter().copied().zip(b.operands.iter().copied()));
    }
    true
}
