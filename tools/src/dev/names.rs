//! Names in the forms that files, types and constants have.

use super::DevError;

/// `count_calls`, as files are called; an error unless it is small letters, digits and single underscores.
pub fn file_name(name: &str, what: &'static str) -> Result<String, DevError> {
    let is_word =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    if name.starts_with(|c: char| c.is_ascii_lowercase()) && name.split('_').all(is_word) {
        return Ok(name.to_owned());
    }
    let wanted = "small letters and digits, as words with underscores between them, such as count_calls";
    Err(DevError::Name { name: name.to_owned(), what, wanted })
}

/// `CountCalls`.
pub fn type_name(name: &str) -> String {
    let capitalized = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    name.split('_').map(capitalized).collect()
}

#[cfg(test)]
mod tests {
    use super::{file_name, type_name};

    #[test]
    fn a_name_has_words_of_small_letters() {
        for name in ["trunc", "log1p", "conv_2d", "count_calls"] {
            assert_eq!(file_name(name, "an operator").unwrap(), name);
        }
        for name in ["", "Trunc", "_x", "x_", "a__b", "1d", "a-b", "../x", "a b"] {
            let said = file_name(name, "an operator").unwrap_err().to_string();
            assert!(said.contains("of an operator must be small letters"), "{said}");
        }
    }

    #[test]
    fn types_have_capitals() {
        assert_eq!(type_name("count_calls"), "CountCalls");
        assert_eq!(type_name("conv_2d"), "Conv2d");
    }
}
