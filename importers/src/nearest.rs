//! Names that are like one that does not exist.

/// The name that is most like one, when any is.
pub fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let most = (name.len() / 3).max(1);
    let scored = known.iter().map(|other| (distance(name, other), *other)).filter(|(d, _)| *d <= most);
    scored.min().map(|(_, other)| other)
}

/// How many characters are to be put in, taken out or changed (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
