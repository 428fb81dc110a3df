//! `relay-check-match`: the clauses of a match fit every value, and each fits some that those before it do not.
//!
//! ```text
//!     case [Nil, _]           the rows before q            q = [_, Nil]
//!     case [_, Cons(x, y)]    useful(rows, q): is there a value that q fits and no row?    (Nil, ..) no; (Cons(_, _), Nil)
//! ```
//! Maranget, "Warnings for pattern matching" (Journal of Functional Programming 17, 2007), section 3: a row is useful to the
//! matrix of rows before it when, constructor by constructor of its first column, it is so in the rows that have that
//! constructor there. A clause that is not useful is redundant; when `_` is useful after all clauses, some value fits none, and
//! the way to it is a pattern of such values. A match that is `relay.partial` may miss some. The search is exponential in the worst case (matching is NP-complete), so it
//! ends after `MOST_WORK` rows.

use fusion_dialects::relay::{DataType, Op as Functional, PARTIAL, Pattern};
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    BlockLike, Op, OpExt, OperationLike, Pass, PassError, RunContext, array_elements, nested_ops, top_level,
};
use std::collections::HashMap;

/// The pass.
pub struct CheckMatch;

impl Pass for CheckMatch {
    const NAME: &'static str = "relay-check-match";
    const DESCRIPTION: &'static str = "Check that matches fit every value and have no clause in vain";
    const ANCHOR: Option<&'static str> = Some("builtin.module");

    fn run<'c>(module: Op<'c>, _: &mut RunContext) -> Result<(), PassError<'c>> {
        let declared = top_level(module, |kind| matches!(kind, Kind::Relay(Functional::Data)));
        let declared = declared.into_iter().filter_map(DataType::of);
        let constructors = declared.map(|data| {
            let constructors = data.constructors.iter().map(|c| (c.name.to_owned(), c.fields.len()));
            (data.name.to_owned(), constructors.collect())
        });
        let data: DataTypes = constructors.collect();
        for op in nested_ops(module) {
            if matches!(op.kind(), Some(Kind::Relay(Functional::Match))) {
                check(op, &data)?;
            }
        }
        Ok(())
    }
}

/// Data types by name: constructors with their numbers of fields.
type DataTypes = HashMap<String, Vec<(String, usize)>>;

fn check<'c>(op: Op<'c>, data: &DataTypes) -> Result<(), PassError<'c>> {
    let attrs = op.attr("patterns").map(array_elements).unwrap_or_default();
    let patterns = attrs.into_iter().map(Pattern::read).collect::<Result<Vec<_>, _>>();
    let patterns = patterns.map_err(|why| PassError::at(op, why))?;
    let mut search = Search { data, work: 0 };
    let mut rows: Vec<Vec<&Pattern>> = Vec::new();
    for (clause, pattern) in patterns.iter().enumerate() {
        let useful = search.useful(&rows, &[pattern], 0).map_err(|why| PassError::at(op, why))?;
        if useful.is_none() {
            let location = op.body(clause).and_then(|block| block.first_operation()).map(|op| op.location());
            let message = format!(
                "'relay.match' op has a clause in vain: clause {clause} is never taken, as the clauses before it match all that {} matches; take it away",
                shown(pattern)
            );
            return Err(PassError::new(location.unwrap_or(op.location()), message));
        }
        rows.push(vec![pattern]);
    }
    if op.attr(PARTIAL).is_some() {
        return Ok(());
    }
    match search.useful(&rows, &[&Pattern::Wildcard], 0).map_err(|why| PassError::at(op, why))? {
        None => Ok(()),
        Some(witness) => {
            let missing = witness.iter().map(shown).collect::<Vec<_>>().join(", ");
            let message =
                format!("is not exhaustive: {missing} is not matched; add a clause for it, or one for _");
            Err(PassError::at(op, message))
        }
    }
}

/// Rows that a search looks at before it gives up.
const MOST_WORK: usize = 2_000_000;
/// Columns in a row that a search goes into: it calls itself as often.
const MOST_DEPTH: usize = 4_000;

/// Why a match cannot be checked.
#[derive(Debug, PartialEq, thiserror::Error)]
enum Unchecked {
    #[error(
        "cannot be checked for values that no clause matches within {MOST_WORK} steps; split it into several matches"
    )]
    TooMuch,
    #[error("has a pattern of the constructor @{0}::@{1}, which the module does not declare")]
    Unknown(String, String),
}

struct Search<'a> {
    data: &'a DataTypes,
    work: usize,
}

/// What a pattern takes apart at its head.
#[derive(Clone, Copy, PartialEq)]
enum Head<'p> {
    Constructor(&'p str, &'p str, usize),
    Tuple(usize),
}

fn head(pattern: &Pattern) -> Option<(Head<'_>, &[Pattern])> {
    match pattern {
        Pattern::Wildcard | Pattern::Bind(_) => None,
        Pattern::Constructor { data, name, fields } => {
            Some((Head::Constructor(data, name, fields.len()), fields))
        }
        Pattern::Tuple(parts) => Some((Head::Tuple(parts.len()), parts)),
    }
}

impl Head<'_> {
    fn arity(self) -> usize {
        match self {
            Head::Constructor(_, _, arity) | Head::Tuple(arity) => arity,
        }
    }

    fn pattern(self, fields: Vec<Pattern>) -> Pattern {
        match self {
            Head::Constructor(data, name, _) => {
                Pattern::Constructor { data: data.into(), name: name.into(), fields }
            }
            Head::Tuple(_) => Pattern::Tuple(fields),
        }
    }
}

impl Search<'_> {
    /// Values, one a column, that the row fits and no row before it does. The first column is the last in the list.
    fn useful(
        &mut self,
        rows: &[Vec<&Pattern>],
        row: &[&Pattern],
        depth: usize,
    ) -> Result<Option<Vec<Pattern>>, Unchecked> {
        self.work += rows.len() + 1;
        if self.work > MOST_WORK || depth > MOST_DEPTH {
            return Err(Unchecked::TooMuch);
        }
        let Some(first) = row.last() else {
            return Ok(rows.is_empty().then(Vec::new));
        };
        if rows.is_empty() {
            return Ok(Some(row.iter().map(|pattern| without_names(pattern)).collect()));
        }
        if let Some((head, _)) = head(first) {
            return self.with_head(rows, row, head, depth);
        }
        let heads: Vec<Head> = rows.iter().filter_map(|row| Some(head(row.last()?)?.0)).collect();
        let Some(some) = heads.first() else { return self.without_head(rows, row, Pattern::Wildcard, depth) };
        let all = match some {
            Head::Tuple(_) => return self.with_head(rows, row, *some, depth),
            Head::Constructor(data, name, _) => {
                let unknown = || Unchecked::Unknown((*data).to_owned(), (*name).to_owned());
                let declared = self.data.get_key_value(*data).ok_or_else(unknown)?;
                if declared.1.iter().all(|(known, _)| known != name) {
                    return Err(unknown());
                }
                declared
            }
        };
        let named = |name: &str| heads.iter().any(|h| matches!(h, Head::Constructor(_, n, _) if *n == name));
        if let Some((name, arity)) = all.1.iter().find(|(name, _)| !named(name)) {
            let missing = Head::Constructor(all.0, name, *arity);
            let missing = missing.pattern(vec![Pattern::Wildcard; *arity]);
            return self.without_head(rows, row, missing, depth);
        }
        for (name, arity) in all.1 {
            let head = Head::Constructor(all.0, name, *arity);
            if let Some(found) = self.with_head(rows, row, head, depth)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// For values with that constructor in the first column.
    fn with_head(
        &mut self,
        rows: &[Vec<&Pattern>],
        row: &[&Pattern],
        wanted: Head,
        depth: usize,
    ) -> Result<Option<Vec<Pattern>>, Unchecked> {
        let rows: Vec<Vec<&Pattern>> = rows.iter().filter_map(|row| specialised(row, wanted)).collect();
        let Some(row) = specialised(row, wanted) else { return Ok(None) };
        let found = self.useful(&rows, &row, depth + 1)?;
        Ok(found.map(|mut values| {
            let mut fields = values.split_off(values.len().saturating_sub(wanted.arity()));
            fields.reverse();
            values.push(wanted.pattern(fields));
            values
        }))
    }

    /// For values with a constructor in the first column that no row asks for there.
    fn without_head(
        &mut self,
        rows: &[Vec<&Pattern>],
        row: &[&Pattern],
        value: Pattern,
        depth: usize,
    ) -> Result<Option<Vec<Pattern>>, Unchecked> {
        let free = rows.iter().filter_map(|row| {
            let (first, rest) = row.split_last()?;
            head(first).is_none().then(|| rest.to_vec())
        });
        let rows: Vec<Vec<&Pattern>> = free.collect();
        let rest = row.split_last().map(|(_, rest)| rest).unwrap_or_default();
        let found = self.useful(&rows, rest, depth + 1)?;
        Ok(found.map(|mut values| {
            values.push(value);
            values
        }))
    }
}

/// A row for values with that constructor in the first column, whose fields become columns; `None` when it fits none.
fn specialised<'p>(row: &[&'p Pattern], wanted: Head) -> Option<Vec<&'p Pattern>> {
    let (first, rest) = row.split_last()?;
    let mut new = rest.to_vec();
    match head(first) {
        None => new.extend(std::iter::repeat_n(&Pattern::Wildcard, wanted.arity())),
        Some((head, fields)) if head == wanted => new.extend(fields.iter().rev()),
        Some(_) => return None,
    }
    Some(new)
}

fn without_names(pattern: &Pattern) -> Pattern {
    match pattern {
        Pattern::Wildcard | Pattern::Bind(_) => Pattern::Wildcard,
        Pattern::Tuple(parts) => Pattern::Tuple(parts.iter().map(without_names).collect()),
        Pattern::Constructor { data, name, fields } => Pattern::Constructor {
            data: data.clone(),
            name: name.clone(),
            fields: fields.iter().map(without_names).collect(),
        },
    }
}

/// A pattern as the language writes it: `Cons(_, Nil)`.
fn shown(pattern: &Pattern) -> String {
    let list = |parts: &[Pattern]| parts.iter().map(shown).collect::<Vec<_>>().join(", ");
    match pattern {
        Pattern::Wildcard => "_".into(),
        Pattern::Bind(name) => name.clone(),
        Pattern::Constructor { name, fields, .. } if fields.is_empty() => name.clone(),
        Pattern::Constructor { name, fields, .. } => format!("{name}({})", list(fields)),
        Pattern::Tuple(parts) if parts.len() == 1 => format!("({},)", list(parts)),
        Pattern::Tuple(parts) => format!("({})", list(parts)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> DataTypes {
        let constructors = |list: &[(&str, usize)]| list.iter().map(|(n, a)| ((*n).to_owned(), *a)).collect();
        let types = [
            ("List", constructors(&[("Nil", 0), ("Cons", 2)])),
            ("Bit", constructors(&[("Off", 0), ("On", 0)])),
        ];
        types.into_iter().map(|(name, constructors)| (name.to_owned(), constructors)).collect()
    }

    fn of(data: &str, name: &str, fields: &[Pattern]) -> Pattern {
        Pattern::Constructor { data: data.into(), name: name.into(), fields: fields.to_vec() }
    }

    /// Every value of tuples of bits of that width.
    fn values(width: usize) -> Vec<Vec<bool>> {
        (0..1_usize << width).map(|bits| (0..width).map(|i| bits >> i & 1 == 1).collect()).collect()
    }

    fn fits(pattern: &Pattern, value: &[bool]) -> bool {
        let bit = |pattern: &Pattern, value: bool| match pattern {
            Pattern::Constructor { name, .. } => (name == "On") == value,
            _ => true,
        };
        match pattern {
            Pattern::Tuple(parts) => parts.iter().zip(value).all(|(p, v)| bit(p, *v)),
            _ => true,
        }
    }

    /// What the search says of random matches of tuples of bits is what trying all values says.
    #[test]
    fn agrees_with_trying_all_values() {
        let data = data();
        let mut state = 7_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..500 {
            let width = 1 + next(4) as usize;
            let patterns: Vec<Pattern> = (0..1 + next(6))
                .map(|_| {
                    let bit = |n| match n {
                        0 => of("Bit", "Off", &[]),
                        1 => of("Bit", "On", &[]),
                        _ => Pattern::Wildcard,
                    };
                    Pattern::Tuple((0..width).map(|_| bit(next(3))).collect())
                })
                .collect();
            let mut search = Search { data: &data, work: 0 };
            let mut rows: Vec<Vec<&Pattern>> = Vec::new();
            for (i, pattern) in patterns.iter().enumerate() {
                let first =
                    |value: &Vec<bool>| fits(pattern, value) && !patterns[..i].iter().any(|p| fits(p, value));
                let useful = search.useful(&rows, &[pattern], 0).unwrap();
                assert_eq!(useful.is_some(), values(width).iter().any(first), "{patterns:?} {i}");
                rows.push(vec![pattern]);
            }
            let witness = search.useful(&rows, &[&Pattern::Wildcard], 0).unwrap();
            let unmatched: Vec<_> =
                values(width).into_iter().filter(|v| !patterns.iter().any(|p| fits(p, v))).collect();
            assert_eq!(witness.is_some(), !unmatched.is_empty(), "{patterns:?}");
            if let Some(witness) = witness {
                let shown_values: Vec<_> =
                    values(width).into_iter().filter(|v| fits(&witness[0], v)).collect();
                assert!(shown_values.iter().all(|v| unmatched.contains(v)), "{patterns:?} {witness:?}");
            }
        }
    }

    /// Ten pigeons in nine holes: two share one, whichever; to see it takes nine factorial steps, and the search ends before.
    #[test]
    fn ends_where_it_would_not() {
        let (pigeons, holes) = (10, 9);
        let names: Vec<(String, usize)> = (0..holes).map(|hole| (format!("H{hole}"), 0)).collect();
        let data = DataTypes::from([("Hole".to_owned(), names)]);
        let mut patterns = Vec::new();
        for hole in 0..holes {
            for i in 0..pigeons {
                for j in i + 1..pigeons {
                    let there = |k| {
                        if k == i || k == j {
                            of("Hole", &format!("H{hole}"), &[])
                        } else {
                            Pattern::Wildcard
                        }
                    };
                    patterns.push(Pattern::Tuple((0..pigeons).map(there).collect()));
                }
            }
        }
        let rows: Vec<Vec<&Pattern>> = patterns.iter().map(|p| vec![p]).collect();
        let mut search = Search { data: &data, work: 0 };
        assert_eq!(search.useful(&rows, &[&Pattern::Wildcard], 0), Err(Unchecked::TooMuch));
    }

    #[test]
    fn shows_nested_patterns() {
        let nested = of("List", "Cons", &[Pattern::Wildcard, of("List", "Nil", &[])]);
        assert_eq!(shown(&Pattern::Tuple(vec![nested, Pattern::Wildcard])), "(Cons(_, Nil), _)");
    }
}
