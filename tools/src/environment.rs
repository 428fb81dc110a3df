//! Variables of the environment that are numbers: what is none is said at once, not taken for none given.

use crate::failure::Failure;

/// A variable that is a whole number.
struct Number {
    name: &'static str,
    least: u64,
    most: u64,
    what: &'static str,
}

const NUMBERS: &[Number] = &[
    Number {
        name: "FUSION_THREADS",
        least: 0,
        most: u16::MAX as u64,
        what: "a number of threads, 0 for one a processor",
    },
    Number {
        name: "FUSION_CACHE_MB",
        least: 0,
        most: u64::MAX,
        what: "the most megabytes that compiled kernels take on disk",
    },
];

/// Fails where a variable is set to something else.
pub fn check() -> Result<(), Failure> {
    for &Number { name, least, most, what } in NUMBERS {
        let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) else { continue };
        let number = value.to_str().and_then(|text| text.parse::<u64>().ok());
        if !number.is_some_and(|n| (least..=most).contains(&n)) {
            let value = value.to_string_lossy().into_owned();
            return Err(Failure::Variable { variable: name, value, least, what });
        }
    }
    Ok(())
}
