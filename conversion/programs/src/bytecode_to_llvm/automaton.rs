//! A regular expression as an automaton that reads a string byte by byte and never goes back.
//!
//! ```text
//!   a|ab        class of bytes   a: 1   b: 2   others: 0          next      0  1  2   class
//!                                                       state 0             3  1  3
//!                                                       state 1, accepts    3  3  2
//!                                                       state 2, accepts    3  3  3
//! ```
//! Bytes that no state tells apart are one class. `fusion_string_match` (`runtime/language/text.c`) runs it.

use super::globals::packed;
use fusion_operators::strings::pattern::whole;
use indexmap::{IndexMap, IndexSet};
use regex_automata::dfa::{Automaton, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};

/// Bytes that the compiler may take for an automaton, and next states that it may have.
const MOST_BYTES: usize = 1 << 22;
const MOST_NEXT: usize = 1 << 20;

/// The states of an automaton as numbers: classes, states, the first state; the class of each byte; whether a state accepts; next states.
pub fn facts(pattern: &str) -> Result<Vec<i64>, String> {
    let dfa = automaton(pattern)?;
    let refused = |why: String| format!("pattern {pattern:?} has no automaton: {why}");
    let first = dfa.start_state(&start::Config::new().anchored(Anchored::Yes));
    let first = first.map_err(|error| refused(error.to_string()))?;
    // States in the order in which they are met, and the next states of each by byte.
    let mut states: IndexSet<StateID> = IndexSet::from([first]);
    let mut rows = Vec::new();
    while let Some(&state) = states.get_index(rows.len()) {
        let mut number = |byte| states.insert_full(dfa.next_state(state, byte)).0 as u32;
        rows.push((0..=u8::MAX).map(&mut number).collect::<Vec<u32>>());
    }
    // Bytes that no state tells apart have the same column.
    let mut columns: IndexMap<Vec<u32>, u8> = IndexMap::new();
    let mut class_of = Vec::with_capacity(256);
    for byte in 0..256 {
        let column: Vec<u32> = rows.iter().map(|row| row[byte]).collect();
        let known = columns.len() as u8;
        class_of.push(*columns.entry(column).or_insert(known));
    }
    if columns.len() * states.len() > MOST_NEXT {
        return Err(refused(format!("it has more than {MOST_NEXT} steps; write shorter repetitions")));
    }
    let accepts: Vec<u8> =
        states.iter().map(|state| dfa.is_match_state(dfa.next_eoi_state(*state)).into()).collect();
    let next: Vec<u8> = (0..states.len())
        .flat_map(|state| columns.keys().map(move |column| column[state]))
        .flat_map(u32::to_le_bytes)
        .collect();
    let sizes = [columns.len() as i64, states.len() as i64, 0];
    Ok([&sizes[..], &packed(&class_of), &packed(&accepts), &packed(&next)].concat())
}

fn automaton(pattern: &str) -> Result<dense::DFA<Vec<u32>>, String> {
    let refused = |why: String| format!("pattern {pattern:?} has no automaton: {why}");
    let nfa = thompson::Compiler::new()
        .configure(thompson::Config::new().nfa_size_limit(Some(MOST_BYTES)))
        .build_from_hir(&whole(pattern)?)
        .map_err(|error| refused(error.to_string()))?;
    let config = dense::Config::new()
        .match_kind(MatchKind::All)
        .start_kind(regex_automata::dfa::StartKind::Anchored)
        .dfa_size_limit(Some(MOST_BYTES))
        .determinize_size_limit(Some(MOST_BYTES));
    dense::Builder::new().configure(config).build_from_nfa(&nfa).map_err(|error| refused(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the runtime has it.
    fn accepts(facts: &[i64], text: &str) -> bool {
        let bytes: Vec<u8> = facts[3..].iter().flat_map(|word| word.to_le_bytes()).collect();
        let (classes, states) = (facts[0] as usize, facts[1] as usize);
        let next = 256 + states.next_multiple_of(8);
        let state = text.bytes().fold(facts[2] as usize, |state, byte| {
            let at = next + 4 * (state * classes + usize::from(bytes[usize::from(byte)]));
            u32::from_le_bytes(bytes[at..][..4].try_into().unwrap()) as usize
        });
        bytes[256 + state] != 0
    }

    #[test]
    fn an_automaton_accepts_what_the_pattern_matches() {
        let texts = ["", "a", "ab", "abb", "b", "é", "aé\n", "x1@y.z", "\u{10ffff}", "aaaa", "A b"];
        for pattern in [
            "",
            "a|ab",
            "(?i)A.?B*",
            "é|[^a-z]+",
            r"[\w.]+@[\w.]+\.\w{1,3}",
            "a{2,5}",
            r"\Aa\n?$",
            "(?s).*",
            r"\pL+",
            r"\w+\b\W?",
        ] {
            let (facts, oracle) =
                (facts(pattern).unwrap(), fusion_operators::strings::pattern::matcher(pattern).unwrap());
            for text in texts {
                assert_eq!(accepts(&facts, text), oracle.is_match(text), "{pattern:?} {text:?}");
            }
        }
        let refused = facts("(a|b)*a(a|b){20}").unwrap_err();
        assert!(refused.contains("has no automaton"), "{refused}");
    }
}
