//! What somebody may have meant who wrote a name that there is not.

/// The names most like one.
pub fn near(name: &str, mut names: Vec<String>) -> Vec<String> {
    const MOST: usize = 5;
    names.sort_by_cached_key(|known| (strsim::damerau_levenshtein(name, known), known.clone()));
    names.dedup();
    names.truncate(MOST);
    names
}
