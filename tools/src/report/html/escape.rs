//! Text as HTML.

use std::fmt::{self, Display};

/// Text that may stand in an element or between the quotes of an attribute.
pub struct Escaped<T>(pub T);

impl<T: AsRef<str>> Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for c in self.0.as_ref().chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // Not allowed in a document, and of no use.
                c if c.is_control() && c != '\n' && c != '\t' => f.write_str("\u{fffd}")?,
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}

/// A text that is cut where it is longer than so many characters.
pub fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['\u{2026}']).collect(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        let text = Escaped("</script><b a='\"'>&\u{1}").to_string();
        assert_eq!(text, "&lt;/script&gt;&lt;b a=&#39;&quot;&#39;&gt;&amp;\u{fffd}");
        assert_eq!(
            (shortened("kernel", 6), shortened("kernels", 6)),
            ("kernel".to_owned(), "kerne\u{2026}".to_owned())
        );
    }
}
