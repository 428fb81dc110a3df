//! Operators with numbers that nobody means: they are refused or read, and soon.

use fusion_dialects::{load_context, with_diagnostics};
use fusion_importers::relay_text::import;
use fusion_operators::random::{Random, seed};
use std::path::Path;

const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "7",
    "1048577",
    "2147483648",
    "1099511627776",
    "9223372036854775807",
    "-9223372036854775807",
    "[]",
    "[1, 2, 3]",
];

/// Where whole numbers stand in a text, after `=`, `[`, `(` or a space.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 1;
    while at < bytes.len() {
        let end = at + bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        let after = bytes.get(end).is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'.');
        if end > at && after && b"=[( -".contains(&bytes[at - 1]) {
            found.push((at, end));
        }
        at = end.max(at + 1);
    }
    found
}

#[test]
fn numbers_out_of_range_are_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/tests/relay_operators");
    let mut random = Random::new(seed(11));
    let mut below = |bound: usize| (random.next_u64() % bound.max(1) as u64) as usize;
    let mut refused = 0;
    for file in
        ["images.txt", "rearranging.txt", "sequences.txt", "quantized.txt", "detection.txt", "packed.txt"]
    {
        let text = std::fs::read_to_string(folder.join(file)).expect("the cases are there");
        let (shared, cases) = text.split_once("\n\n").expect("an empty line ends what cases share");
        let expressions = cases.lines().filter(|line| !line.is_empty() && !line.starts_with(' '));
        for expression in expressions {
            let places = numbers(expression);
            for _ in 0..8 {
                let Some(&(start, end)) = places.get(below(places.len())) else { break };
                let number = NUMBERS[below(NUMBERS.len())];
                let changed = format!("{}{number}{}", &expression[..start], &expression[end..]);
                let program = format!("def @main() {{\n{shared}\n{changed}\n}}");
                let context = load_context();
                let (read, _) =
                    with_diagnostics(&context, || import(&context, "numbers.relay", program, None).map(drop));
                refused += usize::from(read.is_err());
            }
        }
    }
    assert!(refused > 100, "{refused}");
}
