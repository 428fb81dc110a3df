//! Operators that make strings, or look into them.
//!
//! What only moves or compares strings are operators of other families: to them an element is the number of its string
//! ([`crate::strings`]). After the ONNX operators StringConcat, StringSplit, StringNormalizer, RegexFullMatch and Cast.

use crate::form::{Form, dtype, form, int, operand, text};
use crate::operator::cost::ten_each;
use crate::operator::{Reference, Related};
use crate::reference::strings;
use crate::relation::broadcast;
use crate::strings::pattern;
use crate::{Call, DType, Dim, FusionKind, Operator, Relation, TensorType, Violation, operators, require};

/// The cases that letters may be turned into.
pub const CASES: [&str; 2] = ["lower", "upper"];

const fn of_strings(name: &'static str, relation: Relation, reference: Reference) -> Operator {
    Operator::new(name, FusionKind::Opaque, relation, ten_each, reference).of_strings()
}

/// C1: the operand is a tensor of strings.
fn strings_only<'a>(call: &Call<'a>) -> Result<&'a TensorType, Violation> {
    let ty = &call.operands[0];
    require!(ty.dtype == DType::String, C 1, "the operand must be a tensor of !relay.string, found {ty}");
    Ok(ty)
}

/// C1: both operands are tensors of strings. C2: their shapes broadcast.
fn concat_relation(call: &Call) -> Related {
    for ty in call.operands {
        require!(ty.dtype == DType::String, C 1, "operands must be tensors of !relay.string, found {ty}");
    }
    broadcast(call)
}

/// C1. C2: maxsplit is not negative. As many pieces as the string with most has, only running shows.
fn split_relation(call: &Call) -> Related {
    let ty = strings_only(call)?;
    let most = call.attrs.int_or("maxsplit", 0);
    require!(most >= 0, C 2, "attribute maxsplit must not be negative, found {most}");
    let pieces = [&ty.dims[..], &[Dim::Any]].concat();
    Ok(vec![TensorType::new(pieces, DType::String), ty.with_dtype(DType::I64)])
}

/// C1. C2: a known case.
fn case_relation(call: &Call) -> Related {
    let (ty, case) = (strings_only(call)?, call.attrs.str_or("to", ""));
    require!(CASES.contains(&case), C 2, "attribute to must be \"lower\" or \"upper\", found {case:?}");
    Ok(vec![ty.clone()])
}

/// C1. C2: the pattern is a regular expression.
fn match_relation(call: &Call) -> Related {
    let ty = strings_only(call)?;
    if let Err(why) = pattern::matcher(call.attrs.str_or("pattern", "")) {
        return Err(Violation::new(2, why));
    }
    Ok(vec![ty.with_dtype(DType::Bool)])
}

/// C1: the operand is a tensor of strings.
fn rank_relation(call: &Call) -> Related {
    Ok(vec![strings_only(call)?.with_dtype(DType::I64)])
}

/// C1: the operand is a tensor of f64, f32, i64 or ui64.
fn string_of_relation(call: &Call) -> Related {
    let ty = &call.operands[0];
    let written = [DType::F64, DType::F32, DType::I64, DType::U64];
    require!(
        written.contains(&ty.dtype),
        C 1,
        "the operand must be a tensor of f64, f32, i64 or ui64, found {ty}; write relay.cast before"
    );
    Ok(vec![ty.with_dtype(DType::String)])
}

/// C1. C2: dtype is f64, i64 or ui64.
fn string_to_number_relation(call: &Call) -> Related {
    let ty = strings_only(call)?;
    match call.attrs.dtype("dtype") {
        Some(dtype @ (DType::F64 | DType::I64 | DType::U64)) => Ok(vec![ty.with_dtype(dtype)]),
        _ => Err(Violation::new(2, "attribute dtype must be f64, i64 or ui64; write relay.cast behind")),
    }
}

operators! {
    /// The strings of both operands one behind the other, with broadcasting
    ///
    /// C1: both operands are tensors of strings. C2: their shapes broadcast.
    STRING_CONCAT = of_strings("string_concat", concat_relation, strings::concat).of(Form::BINARY);
    /// The pieces of strings between `delimiter`, along a new last axis, and how many each string has
    ///
    /// The new axis is as long as the string with most pieces needs; the others have empty strings behind their own. Without a
    /// delimiter, or with an empty one, pieces stand between blanks (Unicode's White_Space), of which any number stand together, and
    /// none is empty. There are at most `maxsplit` cuts, from the left; any number where it is absent.
    /// - C1: the operand is a tensor of strings. C2: maxsplit is not negative.
    STRING_SPLIT = of_strings("string_split", split_relation, strings::split)
        .of(form(&[operand("operand")])
            .attributes(&[text("delimiter"), int("maxsplit")])
            .results(&[operand("pieces"), operand("counts")]));
    /// Letters as lower or upper ones
    ///
    /// A letter for a letter, by Unicode's simple mappings: one that would become several stays. C1: the operand is a tensor of strings.
    /// C2: to is "lower" or "upper".
    STRING_CASE = of_strings("string_case", case_relation, strings::case)
        .of(form(&[operand("operand")]).attributes(&[text("to").required()]));
    /// Whether a regular expression matches the whole of a string
    ///
    /// The syntax is RE2's. C1: the operand is a tensor of strings. C2: the pattern is a regular expression.
    STRING_MATCH = of_strings("string_match", match_relation, strings::full_match)
        .of(form(&[operand("operand")]).attributes(&[text("pattern").required()]));
    /// How many elements have a string that is less, by the bytes of UTF-8
    ///
    /// Equal strings have equal ranks, so that ranks sort, group and compare as strings do. C1: the operand is a tensor of strings.
    STRING_RANK = of_strings("string_rank", rank_relation, strings::rank).of(Form::UNARY);
    /// Numbers in decimal notation
    ///
    /// Floats have the fewest digits that give them back, without an exponent; NaN, INF and -INF.
    /// C1: the operand is a tensor of f64, f32, i64 or ui64.
    STRING_OF = of_strings("string_of", string_of_relation, strings::string_of).of(Form::UNARY);
    /// The numbers that strings are, as `dtype`
    ///
    /// In decimal notation, with an exponent or not; inf, infinity and nan, in any case; blanks around are passed over. Integers of
    /// floats are truncated toward zero and saturate. A string that is no number is an error when the program runs.
    /// - C1: the operand is a tensor of strings. C2: dtype is f64, i64 or ui64.
    STRING_TO_NUMBER = of_strings("string_to_number", string_to_number_relation, strings::string_to_number)
        .of(form(&[operand("operand")]).attributes(&[dtype("dtype").required()]));
}
