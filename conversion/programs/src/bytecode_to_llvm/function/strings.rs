//! Operators on strings, which functions of `runtime/language` compute: `text.c` and `decimal.c`.
//!
//! ```text
//!   %2 = operator string_concat(%0, %1)      call fusion_string_concat(run, "where", facts, [%0, %1], [%2])
//! ```
//! What attributes say becomes numbers, the facts; of a pattern they are an automaton, of a case the letters that change.

use super::Body;
use crate::bytecode_to_llvm::BytecodeError;
use crate::bytecode_to_llvm::automaton;
use crate::bytecode_to_llvm::globals::{number_of, packed};
use crate::bytecode_to_llvm::writer::Callee;
use fusion_bytecode::Register;
use fusion_operators::ops::strings::{
    STRING_CASE, STRING_CONCAT, STRING_MATCH, STRING_OF, STRING_RANK, STRING_SPLIT, STRING_TO_NUMBER,
};
use fusion_operators::reference::strings::letter;
use fusion_operators::{Attrs, DType, Operator};

/// An operator, the function that computes it, and its facts.
pub struct StringOperator {
    pub operator: &'static Operator,
    pub symbol: &'static str,
    facts: fn(&Attrs) -> Result<Vec<i64>, String>,
}

/// All of them.
pub static STRING_OPERATORS: [StringOperator; 7] = [
    row(&STRING_CONCAT, "fusion_string_concat", |_| Ok(vec![0])),
    row(&STRING_SPLIT, "fusion_string_split", |attrs| {
        let delimiter = attrs.str_or("delimiter", "");
        let facts = [attrs.int_or("maxsplit", -1), delimiter.len() as i64];
        Ok([&facts[..], &packed(delimiter.as_bytes())].concat())
    }),
    row(&STRING_CASE, "fusion_string_case", |attrs| Ok(letters(attrs.str_or("to", "") == "upper"))),
    row(&STRING_MATCH, "fusion_string_match", |attrs| automaton::facts(attrs.str_or("pattern", ""))),
    row(&STRING_RANK, "fusion_string_rank", |_| Ok(vec![0])),
    row(&STRING_OF, "fusion_string_of_number", |_| Ok(vec![0])),
    row(&STRING_TO_NUMBER, "fusion_string_to_number", |attrs| {
        Ok(vec![number_of(attrs.dtype("dtype").unwrap_or(DType::F64)).into()])
    }),
];

const fn row(
    operator: &'static Operator,
    symbol: &'static str,
    facts: fn(&Attrs) -> Result<Vec<i64>, String>,
) -> StringOperator {
    StringOperator { operator, symbol, facts }
}

/// How many letters change, and each with what it becomes, in ascending order.
fn letters(upper: bool) -> Vec<i64> {
    let changed = ('\0'..=char::MAX).map(|from| (from, letter(from, upper))).filter(|(from, to)| from != to);
    let pairs: Vec<[i64; 2]> =
        changed.map(|pair| [pair.0, pair.1].map(|c| i64::from(u32::from(c)))).collect();
    std::iter::once(pairs.len() as i64).chain(pairs.into_iter().flatten()).collect()
}

impl Body<'_, '_> {
    /// Calls the function of an operator.
    pub(super) fn string_operator(
        &mut self,
        at: usize,
        row: &StringOperator,
        attributes: &Attrs,
        (inputs, outputs): (&[Register], &[Register]),
    ) -> Result<(), BytecodeError> {
        let place = self.place(at);
        let facts =
            (row.facts)(attributes).map_err(|why| BytecodeError::Pattern { place: place.clone(), why })?;
        let facts = self.globals.numbers(facts);
        let place = format!("{place}in @{}: relay.{}", self.function.name, row.operator.name);
        let place = self.globals.message(&place);
        let tensors = self.get_all(inputs);
        let (taken, given) = (self.room[0], self.room[1]);
        for (i, tensor) in tensors.iter().enumerate() {
            self.code.writer.store(*tensor, taken, 8 * i as u64);
        }
        let (place, facts) = (self.code.writer.address(&place), self.code.writer.address(&facts));
        let passed = [self.code.run, place, facts, taken, given];
        self.code.writer.call(Callee::C(row.symbol), &passed, None);
        let pointer = self.code.writer.spelling.pointer;
        for (i, register) in outputs.iter().enumerate() {
            let made = self.code.writer.load(pointer, given, 8 * i as u64);
            self.set(*register, made);
        }
        Ok(())
    }
}
