//! Extents as code that the run time computes before a program runs.
//!
//! ```text
//!   2*n+1      ->      constant 2, extent (input 0, axis 0), times, constant 1, plus          numbers, the last on top
//! ```
//! `runtime/language/shapes.c` computes them.

use fusion_bytecode::Program;
use fusion_bytecode::ranges::places;
use fusion_operators::Dim;
use fusion_operators::dims::{Factor, Polynomial};

/// What is done; [`Code::CONSTANT`] and [`Code::EXTENT`] have numbers behind them.
struct Code;

impl Code {
    const CONSTANT: i64 = 0;
    const EXTENT: i64 = 1;
    const PLUS: i64 = 2;
    const TIMES: i64 = 3;
    const OVER: i64 = 4;
    const LEAST: i64 = 5;
    const GREATEST: i64 = 6;
}

/// Numbers that wait for an operation at most; the run time has room for so many.
const MOST_WAITING: usize = 64;
/// Words of an extent at most.
const MOST_WORDS: usize = 1 << 12;

/// The code of an extent of names of a program's inputs, which come first in its length; -1 where it does not follow from them.
pub fn code(program: &Program, dim: &Dim) -> Vec<i64> {
    match words(program, dim) {
        Some(words) => [vec![words.len() as i64], words].concat(),
        None => vec![-1],
    }
}

/// The product of extents and a number.
pub fn product(program: &Program, dims: &[Dim], by: u64) -> Option<Vec<i64>> {
    let mut all = vec![Code::CONSTANT, i64::try_from(by).ok()?];
    for dim in dims {
        all.extend(words(program, dim)?);
        all.push(Code::TIMES);
    }
    Some(all)
}

/// The sum of numbers.
pub fn sum(parts: &[Vec<i64>]) -> Vec<i64> {
    let mut all = vec![Code::CONSTANT, 0];
    for part in parts {
        all.extend(part);
        all.push(Code::PLUS);
    }
    all
}

fn words(program: &Program, dim: &Dim) -> Option<Vec<i64>> {
    let mut writer = Writer { program, words: Vec::new(), waiting: 0 };
    match dim {
        Dim::Static(n) => writer.constant(i64::try_from(*n).ok()?)?,
        Dim::Symbol(name) => writer.name(name)?,
        Dim::Expr(expression) => writer.polynomial(expression)?,
        Dim::Any => return None,
    }
    (writer.words.len() <= MOST_WORDS).then_some(writer.words)
}

struct Writer<'p> {
    program: &'p Program,
    words: Vec<i64>,
    waiting: usize,
}

impl Writer<'_> {
    fn push(&mut self, words: &[i64]) -> Option<()> {
        self.words.extend(words);
        self.waiting += 1;
        // What a sum of products around it keeps waiting is little more.
        (self.waiting < MOST_WAITING - 4).then_some(())
    }

    fn constant(&mut self, n: i64) -> Option<()> {
        self.push(&[Code::CONSTANT, n])
    }

    fn name(&mut self, name: &str) -> Option<()> {
        let (input, axis) = places(self.program.inputs.iter().map(|(_, ty)| ty), name).next()?;
        self.push(&[Code::EXTENT, input as i64, axis as i64])
    }

    /// An operation on the last two numbers.
    fn operation(&mut self, code: i64) {
        self.words.push(code);
        self.waiting -= 1;
    }

    fn polynomial(&mut self, expression: &Polynomial) -> Option<()> {
        self.constant(0)?;
        for (coefficient, factors) in expression.terms() {
            self.constant(coefficient)?;
            for (factor, power) in factors {
                for _ in 0..power {
                    self.factor(factor)?;
                    self.operation(Code::TIMES);
                }
            }
            self.operation(Code::PLUS);
        }
        Some(())
    }

    fn factor(&mut self, factor: &Factor) -> Option<()> {
        let (a, b, code) = match factor {
            Factor::Symbol(name) => return self.name(name),
            Factor::Quotient(a, b) => (a, b, Code::OVER),
            Factor::Least(a, b) => (a, b, Code::LEAST),
            Factor::Greatest(a, b) => (a, b, Code::GREATEST),
        };
        self.polynomial(a)?;
        self.polynomial(b)?;
        self.operation(code);
        Some(())
    }
}
