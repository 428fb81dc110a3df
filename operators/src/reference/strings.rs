//! What makes strings, or looks into them.

use super::elementwise::broadcast_indices;
use super::reduction::limits;
use super::{EvalError, Evaluated, static_shape};
use crate::strings::pattern::matcher;
use crate::{Call, DType, Tensor, TensorType};

/// Bytes of all strings of a result, at most: what a short program makes of short strings must not exhaust memory.
pub const MOST_BYTES: usize = 1 << 30;
/// Pieces of all strings of an operand, at most.
pub const MOST_PIECES: usize = 1 << 27;

/// Counts bytes of strings that are made, until there are too many.
struct Budget(usize);

impl Budget {
    fn take(&mut self, bytes: usize) -> Result<(), EvalError> {
        match self.0.checked_sub(bytes) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(EvalError::Value(format!("makes strings of more than {MOST_BYTES} bytes"))),
        }
    }
}

/// A string of each string of the operand.
fn each(result: &TensorType, x: &Tensor, f: impl Fn(&str) -> String) -> Evaluated {
    let (shape, mut budget) = (static_shape(result)?, Budget(MOST_BYTES));
    let mut made = Vec::with_capacity(x.len());
    for string in x.strings() {
        let string = f(string);
        budget.take(string.len())?;
        made.push(string);
    }
    Ok(vec![Tensor::from_strings(&shape, &made)?])
}

/// One string behind the other.
pub fn concat(_: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (shape, mut budget) = (static_shape(&results[0])?, Budget(MOST_BYTES));
    let of = |x: &Tensor| broadcast_indices(&shape, x.shape());
    let pairs = of(&x[0]).into_iter().zip(of(&x[1]));
    let pairs: Vec<[&str; 2]> = pairs.map(|(a, b)| [x[0].string_at(a), x[1].string_at(b)]).collect();
    pairs.iter().try_for_each(|pair| budget.take(pair[0].len() + pair[1].len()))?;
    let made: Vec<String> = pairs.into_iter().map(|pair| pair.concat()).collect();
    Ok(vec![Tensor::from_strings(&shape, &made)?])
}

/// The pieces of a string.
fn pieces<'a>(string: &'a str, delimiter: &str, most: usize) -> Vec<&'a str> {
    if !delimiter.is_empty() {
        return string.splitn(most.saturating_add(1), delimiter).collect();
    }
    let (mut found, mut rest) = (Vec::new(), string.trim_start());
    while !rest.is_empty() {
        let end = match found.len() < most {
            true => rest.find(char::is_whitespace).unwrap_or(rest.len()),
            false => rest.len(),
        };
        found.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    found
}

/// The pieces between delimiters, and how many there are.
pub fn split(call: &Call, _: &[TensorType], x: &[Tensor]) -> Evaluated {
    let delimiter = call.attrs.str_or("delimiter", "");
    let most = usize::try_from(call.attrs.int_or("maxsplit", i64::MAX)).unwrap_or(usize::MAX);
    let found: Vec<Vec<&str>> = x[0].strings().map(|string| pieces(string, delimiter, most)).collect();
    let longest = found.iter().map(Vec::len).max().unwrap_or(0);
    if longest.saturating_mul(found.len()) > MOST_PIECES {
        return Err(EvalError::Value(format!(
            "gives {longest} pieces of each of {} strings, at most {MOST_PIECES} are given",
            found.len()
        )));
    }
    let all: Vec<&str> = found
        .iter()
        .flat_map(|own| own.iter().copied().chain(std::iter::repeat_n("", longest - own.len())))
        .collect();
    let counts: Vec<i64> = found.iter().map(|own| own.len() as i64).collect();
    let shape = [x[0].shape(), &[longest]].concat();
    Ok(vec![Tensor::from_strings(&shape, &all)?, Tensor::from_slice(x[0].shape(), &counts)?])
}

/// A letter in the other case, where it is one letter.
pub fn letter(letter: char, upper: bool) -> char {
    let one = |mut letters: Box<dyn Iterator<Item = char>>| match (letters.next(), letters.next()) {
        (Some(one), None) => one,
        _ => letter,
    };
    match upper {
        true => one(Box::new(letter.to_uppercase())),
        false => one(Box::new(letter.to_lowercase())),
    }
}

/// Letters in lower or upper case.
pub fn case(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let upper = call.attrs.str_or("to", "") == "upper";
    each(&results[0], &x[0], |string| string.chars().map(|c| letter(c, upper)).collect())
}

/// Whether the pattern matches the whole of a string.
pub fn full_match(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let regex = matcher(call.attrs.str_or("pattern", "")).map_err(EvalError::Value)?;
    let found: Vec<u8> = x[0].strings().map(|string| regex.is_match(string).into()).collect();
    Ok(vec![Tensor::from_bytes(DType::Bool, &static_shape(&results[0])?, found)?])
}

/// How many elements are less.
pub fn rank(_: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let mut sorted: Vec<&str> = x[0].strings().collect();
    sorted.sort_unstable();
    let ranks = x[0].strings().map(|string| sorted.partition_point(|other| *other < string) as i64);
    Ok(vec![Tensor::from_slice(&static_shape(&results[0])?, &ranks.collect::<Vec<_>>())?])
}

/// A number in decimal notation.
fn written(x: &Tensor, i: usize) -> String {
    let number = x.f64_at(i);
    match x.dtype() {
        dtype if !dtype.is_float() => x.int_at(i).to_string(),
        _ if number.is_nan() => "NaN".to_owned(),
        _ if number.is_infinite() => if number > 0.0 { "INF" } else { "-INF" }.to_owned(),
        DType::F64 => number.to_string(),
        _ => (number as f32).to_string(),
    }
}

/// Numbers as strings.
pub fn string_of(_: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let made: Vec<String> = (0..x[0].len()).map(|i| written(&x[0], i)).collect();
    Ok(vec![Tensor::from_strings(&static_shape(&results[0])?, &made)?])
}

/// The characters of a number in decimal notation.
fn is_number(c: char) -> bool {
    c.is_ascii_digit() || "+-.eE".contains(c)
}

/// The number that a string is, as an integer where it is written as one and one is wanted.
fn read(string: &str, wants_float: bool) -> Option<Result<i128, f64>> {
    let text = string.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    if let (false, Ok(whole)) = (wants_float, text.parse::<i128>()) {
        return Some(Ok(whole));
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let named = ["inf", "infinity", "nan"].iter().any(|name| unsigned.eq_ignore_ascii_case(name));
    if !named && !text.chars().all(is_number) {
        return None;
    }
    text.parse::<f64>().ok().map(Err)
}

/// Strings as numbers.
pub fn string_to_number(_: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (shape, dtype) = (static_shape(&results[0])?, results[0].dtype);
    let mut numbers = Vec::with_capacity(x[0].len());
    for string in x[0].strings() {
        let number = read(string, dtype.is_float()).ok_or_else(|| {
            let start: String = string.chars().take(40).collect();
            EvalError::Value(format!(
                "takes numbers in decimal notation, such as 12 or -1.5e3, found {start:?}"
            ))
        })?;
        numbers.push(number);
    }
    if dtype.is_float() {
        let floats: Vec<f64> =
            numbers.into_iter().map(|n| n.map_or_else(|float| float, |whole| whole as f64)).collect();
        return Ok(vec![Tensor::from_f64s(dtype, &shape, &floats)?]);
    }
    let (least, most) = limits(dtype);
    // `as` truncates toward zero, saturates, and takes NaN to 0.
    let whole = |number: Result<i128, f64>| number.unwrap_or_else(|float| float as i128).clamp(least, most);
    let wholes: Vec<i128> = numbers.into_iter().map(whole).collect();
    Ok(vec![Tensor::from_ints(dtype, &shape, &wholes)?])
}
