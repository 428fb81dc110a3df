//! The statements of each innermost block of a kernel, with the loops around them and what they touch.

use crate::access::Access;
use fusion_dialects::indices::expr::{Atom, Expr};
use fusion_dialects::indices::{Comparison, affine, comparison, index_op};
use fusion_dialects::loops::{LoopKind, Op as LoopOp, loop_kind};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, Op, OpExt, OperationLike, Value, ValueLike, affine_map_of, arguments, defining_op, is_elementwise,
    key, kind_of, ops_in,
};
use std::collections::HashMap;

/// Iterations that a loop is taken to have whose number is known when it runs only.
const UNKNOWN: f64 = 16.0;

/// A loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Its iterations.
    pub extent: f64,
    /// How they run.
    pub kind: LoopKind,
}

/// What a load or a store touches.
#[derive(Clone, Debug, PartialEq)]
pub struct Touch {
    /// The number of the buffer.
    pub buffer: usize,
    /// Elements of the buffer.
    pub elements: f64,
    /// Bytes of an element.
    pub width: f64,
    /// True for stores.
    pub writes: bool,
    /// How far the index moves with each loop around; none where that is no number.
    pub steps: Vec<Option<i64>>,
}

/// The statements of a block that stand in no further loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// The loops around, the outermost first.
    pub loops: Vec<Loop>,
    /// The share of their iterations that guards let through.
    pub share: f64,
    /// What they touch.
    pub touches: Vec<Touch>,
    /// Arithmetic of floats, and that of functions that take tens of operations.
    pub flops: f64,
    #[allow(missing_docs)]
    pub special: f64,
    /// All statements.
    pub statements: f64,
}

impl Body {
    /// How often it runs.
    pub fn runs(&self) -> f64 {
        self.share * self.loops.iter().map(|l| l.extent).product::<f64>()
    }

    /// The innermost vectorized loop.
    pub fn vectorized(&self) -> Option<usize> {
        self.loops.iter().rposition(|l| l.kind == LoopKind::Vectorized)
    }

    /// The iterations of all loops of a kind together.
    pub fn extent_of(&self, kind: LoopKind) -> f64 {
        self.loops.iter().filter(|l| l.kind == kind).map(|l| l.extent).product()
    }

    /// The iterations of the innermost serial loop.
    pub fn innermost_serial(&self) -> f64 {
        self.loops.iter().rfind(|l| l.kind == LoopKind::Serial).map_or(1.0, |l| l.extent)
    }
}

/// The bodies inside an operation, in the order of the text.
pub fn bodies(root: Op) -> Vec<Body> {
    let mut reader = Reader::default();
    for block in blocks(root) {
        reader.block(block, 1.0);
    }
    reader.all
}

fn blocks(op: Op) -> Vec<Block> {
    (0..op.region_count()).filter_map(|region| op.body(region)).collect()
}

#[derive(Default)]
struct Reader<'c> {
    all: Vec<Body>,
    /// The loops around, with the numbers of their variables.
    around: Vec<(Loop, usize)>,
    variables: usize,
    buffers: Vec<Value<'c>>,
    /// Index values that are understood, by key. Only looked up, never iterated.
    known: HashMap<usize, Expr>,
}

impl<'c> Reader<'c> {
    fn block(&mut self, block: Block<'c>, share: f64) {
        let loops = self.around.iter().map(|(own, _)| own.clone()).collect();
        let mut body = Body { loops, share, ..Body::default() };
        for op in ops_in(block) {
            match kind_of(op) {
                Some(Kind::Loop(LoopOp::For | LoopOp::Upto)) => self.enter(op, share),
                Some(Kind::Loop(LoopOp::Guard)) => {
                    let passes = op.operand_values().first().map_or(1.0, |condition| self.passes(*condition));
                    for inner in blocks(op) {
                        self.block(inner, share * passes);
                    }
                }
                _ => {
                    self.statement(op, &mut body);
                    for inner in blocks(op) {
                        self.block(inner, share);
                    }
                }
            }
        }
        if body.flops + body.special > 0.0 || !body.touches.is_empty() {
            self.all.push(body);
        }
    }

    fn enter(&mut self, op: Op<'c>, share: f64) {
        let extent = op.int("extent").map_or(UNKNOWN, |extent| extent.max(0) as f64);
        let number = self.variables;
        self.variables += 1;
        self.around.push((Loop { extent, kind: loop_kind(op) }, number));
        for block in blocks(op) {
            if let Some(variable) = arguments(block).first() {
                self.known.insert(key(*variable), Expr::var(number, extent as u64));
            }
            self.block(block, share);
        }
        self.around.pop();
    }

    fn statement(&mut self, op: Op<'c>, body: &mut Body) {
        if let Some(known) = self.index_of(op) {
            if let Some(result) = op.result_values().first() {
                self.known.insert(key(*result), known);
            }
            return;
        }
        body.statements += 1.0;
        if let Some(access) = Access::of(op) {
            body.touches.push(self.touch(&access));
        } else if matches!(kind_of(op), Some(Kind::Loop(LoopOp::Dot4Add))) {
            // Four products, each added.
            body.flops += 8.0;
        } else if is_elementwise(op)
            && op.result_values().first().is_some_and(|v| is_arithmetic(&v.r#type().to_string()))
        {
            let special = matches!(kind_of(op), Some(Kind::Upstream(kind)) if kind.is_transcendental());
            *(if special { &mut body.special } else { &mut body.flops }) += 1.0;
        }
    }

    fn index_of(&self, op: Op<'c>) -> Option<Expr> {
        let mut operand = |value: Value<'c>| Some(self.expr(value));
        if matches!(kind_of(op), Some(Kind::Upstream(Upstream::AffineApply))) {
            let inputs: Vec<Expr> = op.operand_values().into_iter().filter_map(&mut operand).collect();
            return affine(&affine_map_of(op.attr("map")?)?, &inputs);
        }
        index_op(op, &mut operand)
    }

    fn expr(&self, value: Value<'c>) -> Expr {
        self.known.get(&key(value)).cloned().unwrap_or_else(|| Expr::atom(Atom::Opaque(key(value))))
    }

    /// The share of iterations for which a condition holds, where it is one of indices.
    fn passes(&self, condition: Value<'c>) -> f64 {
        let Some(op) = defining_op(condition) else { return 1.0 };
        if matches!(kind_of(op), Some(Kind::Upstream(Upstream::AndI))) {
            return op.operand_values().into_iter().map(|part| self.passes(part)).product();
        }
        match comparison(op, &mut |value| Some(self.expr(value))) {
            Some(Comparison::NotNegative(e)) => e.range().map_or(1.0, |(low, high)| {
                ((high + 1) as f64 / (high - low + 1).max(1) as f64).clamp(0.0, 1.0)
            }),
            Some(Comparison::Zero(e, wanted)) => e.range().map_or(1.0, |(low, high)| {
                let zero = 1.0 / (high - low + 1).max(1) as f64;
                if wanted { zero } else { 1.0 - zero }
            }),
            None => 1.0,
        }
    }

    fn touch(&mut self, access: &Access<'c>) -> Touch {
        let at = self.buffers.iter().position(|buffer| *buffer == access.buffer);
        let buffer = at.unwrap_or_else(|| {
            self.buffers.push(access.buffer);
            self.buffers.len() - 1
        });
        let (elements, width) = size_of(&access.buffer.r#type().to_string());
        let index = self.expr(access.index);
        let moves = |(_, variable): &(Loop, usize)| {
            if index.is_opaque() { None } else { index.coefficient(*variable) }
        };
        let steps = self.around.iter().map(moves).map(|step| step.map(i64::abs)).collect();
        Touch { buffer, elements, width, writes: access.writes, steps }
    }
}

/// True for floats and vectors of them.
fn is_arithmetic(ty: &str) -> bool {
    let element = ty.trim_end_matches('>').rsplit('x').next().unwrap_or(ty);
    element.starts_with('f') || element.starts_with("bf")
}

/// Elements of a flat buffer, and bytes of each, by its type: `memref<147840xf32>`.
fn size_of(ty: &str) -> (f64, f64) {
    let inner = ty.trim_start_matches("memref<").trim_end_matches('>');
    let (count, element) = inner.split_once('x').unwrap_or(("?", inner));
    let bits: String =
        element.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    (count.parse().unwrap_or(f64::INFINITY), (bits.parse().unwrap_or(32.0_f64) / 8.0).max(1.0))
}
