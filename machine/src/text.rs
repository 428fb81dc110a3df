//! Targets as text: lines of `key = value`, which are TOML as well.
//!
//! ```text
//!   name = "znver5"              # texts: WORDS
//!   cores = 2                    # all others are numbers: FIELDS
//!   peak_flops = 2.4e11          # FLOP/s
//! ```

use super::{DOT4, Dot4, FIELDS, Target};
use std::fmt::{self, Display, Formatter};

/// Why a text describes no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// A line is wrong.
    #[error("{file}:{line}: {message}")]
    Line {
        /// The file, as it was named.
        file: String,
        /// The line, from 1.
        line: usize,
        /// A full sentence.
        message: String,
    },
    /// The whole is wrong.
    #[error("{file}: {message}")]
    Whole {
        /// The file, as it was named.
        file: String,
        /// A full sentence.
        message: String,
    },
}

/// A key whose value is a text.
pub struct Word {
    /// What it is called.
    pub key: &'static str,
    /// Whether it is empty where nothing is said of it.
    pub optional: bool,
    /// Reads it.
    pub get: fn(&Target) -> &str,
    /// Writes it.
    pub set: fn(&mut Target, String),
}

/// Its texts.
pub const WORDS: [Word; 6] = [
    Word { key: "name", optional: false, get: |t| &t.name, set: |t, text| t.name = text },
    Word { key: "about", optional: false, get: |t| &t.about, set: |t, text| t.about = text },
    Word { key: "processor", optional: false, get: |t| &t.processor, set: |t, text| t.processor = text },
    Word { key: "dot4", optional: true, get: |t| &t.dot4, set: |t, text| t.dot4 = text },
    Word { key: "matrix", optional: true, get: |t| &t.gpu.matrix, set: |t, text| t.gpu.matrix = text },
    Word {
        key: "matrix_rounded",
        optional: true,
        get: |t| &t.gpu.matrix_rounded,
        set: |t, text| t.gpu.matrix_rounded = text,
    },
];

impl Target {
    /// Reads a description; `file` is what errors call it.
    ///
    /// All keys must be there, but those of the third cache and of GPUs.
    pub fn parse(text: &str, file: &str) -> Result<Target, TargetError> {
        let mut target = Target::default();
        let mut seen: Vec<(&str, usize)> = Vec::new();
        for (index, source) in text.lines().enumerate() {
            let line = index + 1;
            let wrong = |message| TargetError::Line { file: file.to_owned(), line, message };
            let source = without_comment(source).trim();
            if source.is_empty() {
                continue;
            }
            let Some((key, value)) = source.split_once('=').map(|(k, v)| (k.trim(), v.trim())) else {
                return Err(wrong(format!("{source:?} is not of the form `key = value`")));
            };
            if let Some((_, before)) = seen.iter().find(|(k, _)| *k == key) {
                return Err(wrong(format!("the key `{key}` was given on line {before} already")));
            }
            set(&mut target, key, value).map_err(wrong)?;
            seen.push((key, line));
        }
        let whole = |message| TargetError::Whole { file: file.to_owned(), message };
        let given = |key: &str| seen.iter().any(|(k, _)| *k == key);
        let words = WORDS.iter().filter(|w| !w.optional).map(|w| w.key);
        let keys = words.chain(FIELDS.iter().filter(|f| !f.is_optional()).map(|f| f.key));
        let missing: Vec<String> = keys.filter(|key| !given(key)).map(|key| format!("`{key}`")).collect();
        if !missing.is_empty() {
            let (noun, verb) = if missing.len() == 1 { ("key", "is") } else { ("keys", "are") };
            return Err(whole(format!("the {noun} {} {verb} missing", missing.join(", "))));
        }
        for field in FIELDS.iter().filter(|f| f.is_optional() && !given(f.key)) {
            (field.set)(&mut target, 0.0);
        }
        for word in WORDS.iter().filter(|w| w.optional && !given(w.key)) {
            (word.set)(&mut target, String::new());
        }
        target.check().map_err(whole)?;
        Ok(target)
    }

    /// What no number by itself can tell.
    pub fn check(&self) -> Result<(), String> {
        if self.l3.bytes > 0 && (self.l3.bandwidth <= 0.0 || self.l3.bandwidth_all <= 0.0) {
            return Err(
                "there is a third cache, so `l3_bandwidth` and `l3_bandwidth_all` must be given".to_owned()
            );
        }
        let mut caches = self.caches().map(|(memory, _)| memory.bytes);
        if !caches.by_ref().is_sorted() {
            return Err("a cache is smaller than the one before it".to_owned());
        }
        if !self.dot4.is_empty() && Dot4::named(&self.dot4).is_none() {
            let known: Vec<&str> = DOT4.iter().map(|facts| facts.name).collect();
            return Err(format!("`dot4` must be one of {}, found {:?}", known.join(", "), self.dot4));
        }
        let missing = FIELDS.iter().find(|field| field.needed && (field.get)(self) == 0.0);
        if let Some(field) = missing.filter(|_| self.is_gpu()) {
            return Err(format!("it is a GPU's, as it has a `warp`, so `{}` must be given", field.key));
        }
        if self.l1.bytes < self.l1_ways * self.line_bytes {
            return Err("the first cache is smaller than one of its sets".to_owned());
        }
        Ok(())
    }
}

/// Sets what a line says; the error is a sentence.
fn set(target: &mut Target, key: &str, value: &str) -> Result<(), String> {
    if let Some(word) = WORDS.iter().find(|w| w.key == key) {
        let text = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
        let text = text.filter(|t| !t.contains(['"', '\\']));
        let text = text
            .ok_or_else(|| format!("the value of `{key}` is no text in quotes without quotes or \\ in it"))?;
        (word.set)(target, text.to_owned());
        return Ok(());
    }
    let Some(field) = FIELDS.iter().find(|f| f.key == key) else {
        let known = WORDS.iter().map(|w| w.key).chain(FIELDS.iter().map(|f| f.key));
        let near = known.max_by(|a, b| strsim::jaro(a, key).total_cmp(&strsim::jaro(b, key)));
        return Err(format!(
            "there is no key `{key}`; the one most like it is `{}`",
            near.unwrap_or_default()
        ));
    };
    let number: f64 = value
        .replace('_', "")
        .parse()
        .map_err(|_| format!("the value of `{key}`, {value:?}, is not a number"))?;
    if !field.allows(number) {
        let (sort, (least, most)) = (if field.whole { "an integer" } else { "a number" }, field.range);
        return Err(format!("`{key}` cannot be {value}: it is {sort} from {least:e} to {most:e}"));
    }
    (field.set)(target, number);
    Ok(())
}

/// A line up to the `#` that stands in no text.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let end = line.find(|c| {
        quoted ^= c == '"';
        c == '#' && !quoted
    });
    &line[..end.unwrap_or(line.len())]
}

/// The text that [`Target::parse`] reads as the same target.
impl Display for Target {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        for word in WORDS.iter().filter(|w| !w.optional || !(w.get)(self).is_empty()) {
            writeln!(f, "{} = \"{}\"", word.key, (word.get)(self))?;
        }
        for field in FIELDS {
            let number = (field.get)(self);
            if field.gpu && !self.is_gpu() {
                continue;
            }
            let value = if field.whole { format!("{number}") } else { format!("{number:e}") };
            let unit = if field.unit.is_empty() { String::new() } else { format!("{}, ", field.unit) };
            let line = format!("{} = {value}", field.key);
            writeln!(f, "{line:<34}# {unit}{}", field.about)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(text: &str) -> String {
        Target::parse(text, "a.toml").unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut target = Target { peak_flops: 1.0 / 3.0 * 1e12, kernel_call: 1.7e-8, ..Target::default() };
        assert_eq!(Target::parse(&target.to_string(), "a.toml"), Ok(target.clone()));
        target.l3 = Default::default();
        let text: Vec<String> =
            target.to_string().lines().filter(|l| !l.starts_with("l3_")).map(str::to_owned).collect();
        assert_eq!(Target::parse(&text.join("\r\n"), "a.toml"), Ok(target));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let whole = Target::default().to_string();
        assert_eq!(
            complaint("cores = 1\n\nvector-bytes = 4"),
            "a.toml:3: there is no key `vector-bytes`; the one most like it is `vector_bytes`"
        );
        assert_eq!(complaint("# cores\ncores"), "a.toml:2: \"cores\" is not of the form `key = value`");
        assert_eq!(complaint("cores = two"), "a.toml:1: the value of `cores`, \"two\", is not a number");
        assert_eq!(
            complaint("cores = 1.5"),
            "a.toml:1: `cores` cannot be 1.5: it is an integer from 1e0 to 4.096e3"
        );
        assert!(complaint("peak_flops = nan").contains("`peak_flops` cannot be nan"));
        assert_eq!(
            complaint("cores = 1\ncores = 2"),
            "a.toml:2: the key `cores` was given on line 1 already"
        );
        assert!(complaint("name = zen").contains("the value of `name` is no text in quotes"));
        let without =
            |key: &str| whole.lines().filter(|l| !l.starts_with(key)).collect::<Vec<_>>().join("\n");
        assert_eq!(complaint(&without("cores")), "a.toml: the key `cores` is missing");
        assert_eq!(
            complaint(&without("l1_bandwidth")),
            "a.toml: the keys `l1_bandwidth`, `l1_bandwidth_all` are missing"
        );
        assert!(complaint(&without("l3_bandwidth")).contains("there is a third cache"));
        assert_eq!(
            complaint(&whole.replace("l2_bytes = 1048576", "l2_bytes = 4096")),
            "a.toml: a cache is smaller than the one before it"
        );
        assert!(
            complaint(
                &whole.replace("l1_bytes = 32768", "l1_bytes = 8192").replace("l1_ways = 8", "l1_ways = 200")
            )
            .contains("smaller than one of its sets")
        );
    }
}
