//! From the graph to relay: one pass over each function, from @main on. Calls are put in where they are called.
//!
//! ```text
//!   stablehlo.add %a, %b     the row of its family in ops/ emits relay operators
//!   func.call @f(%a)         the operations of @f
//!   complex<f32>             two values, the real and the imaginary part
//!   i4, !quant.uniform       a wider integer: wrapped to its bits, or turned into floats around each operator
//! ```
//! A region that works on single elements (of a reduction, say) may be emitted for whole tensors at once: relay's
//! elementwise operators broadcast, so that what the region does with one element it does with all of them (`lifted`).

mod build;
mod extents;
mod quantized;

use super::graph::{Block, Operation, Program, ValueId};
use super::types::{Element, TensorTy, Type};
use crate::sources::{Fault, Outcome, Source, Span};
use fusion_dialects::relay::Builder;
use fusion_dialects::{Context, Location, Value};
use fusion_operators::Dim;
use std::collections::HashMap;

/// Calls are nested at most so deeply.
const MOST_CALLS: usize = 256;
/// No program of more operations is emitted; calls count what they call.
const MOST_OPERATIONS: usize = 1 << 20;

/// What a value of the source is.
#[derive(Clone, Debug)]
pub enum Held<'c> {
    /// A tensor.
    Tensor(Value<'c>),
    /// The real and the imaginary part.
    Complex(Value<'c>, Value<'c>),
    /// A tuple.
    Tuple(Vec<Held<'c>>),
    /// What orders effects, of which there are none.
    Token,
}

/// The results of an operation.
pub type Results<'c> = Outcome<Vec<Held<'c>>>;

/// How an operation becomes relay operators.
pub type Convert = for<'c, 'p> fn(&mut Emitter<'c, 'p>, &'p Operation, &[Held<'c>]) -> Results<'c>;

/// Walks functions and builds operations.
pub struct Emitter<'c, 'p> {
    pub context: &'c Context,
    pub program: &'p Program,
    source: &'p Source,
    /// The conversion of an operator, or why there is none.
    find: fn(&Operation) -> Outcome<Convert>,
    /// Where operations are built.
    pub builder: Builder<'c>,
    /// What values stand for in each function that is being emitted, innermost last.
    frames: Vec<(HashMap<ValueId, Held<'c>>, &'p [Type])>,
    /// Whether scalars of the source stand for whole tensors.
    pub lifted: bool,
    /// The operation that is emitted.
    pub span: Span,
    emitted: usize,
    /// Extents that are known to be what a tensor of integers holds.
    pub extents: HashMap<usize, Vec<Dim>>,
}

impl<'c, 'p> Emitter<'c, 'p> {
    /// Builds at a place.
    pub fn new(
        context: &'c Context,
        program: &'p Program,
        source: &'p Source,
        find: fn(&Operation) -> Outcome<Convert>,
        builder: Builder<'c>,
    ) -> Self {
        let (frames, extents) = (Vec::new(), HashMap::new());
        let span = Span::default();
        Emitter { context, program, source, find, builder, frames, lifted: false, span, emitted: 0, extents }
    }

    /// What is built from now on comes from there.
    fn locate(&mut self, span: Span) {
        self.span = span;
        let (line, column, _) = self.source.place(span.start);
        let location = Location::new(self.context, &self.source.name, line, column);
        self.builder = Builder::new(self.builder.build().at(location));
    }

    /// A sentence about the operation that is emitted.
    pub fn fault<T>(&self, message: impl Into<String>) -> Outcome<T> {
        Fault::new(self.span, message)
    }

    /// The results of a function for these arguments.
    pub fn call(&mut self, name: &str, arguments: Vec<Held<'c>>) -> Results<'c> {
        let program = self.program;
        let Some(function) = program.functions.get(name) else {
            let known: Vec<&str> = program.functions.keys().map(String::as_str).collect();
            let near = crate::nearest::nearest(name, &known)
                .map_or(String::new(), |n| format!("; did you mean @{n}?"));
            return self.fault(format!("there is no function @{name}{near}"));
        };
        if self.frames.len() >= MOST_CALLS {
            return self.fault(format!(
                "calls are nested more than {MOST_CALLS} levels deep at @{name}; StableHLO has no recursion"
            ));
        }
        let (outer, lifted) = (self.span, std::mem::take(&mut self.lifted));
        self.frames.push((HashMap::new(), &function.types));
        // A function of a region that is lifted is lifted with it.
        self.lifted = lifted;
        let results = self.block(&function.body, arguments);
        self.frames.pop();
        let results = results?;
        self.locate(outer);
        Ok(results)
    }

    /// The results of a block for these arguments.
    pub fn block(&mut self, block: &'p Block, arguments: Vec<Held<'c>>) -> Results<'c> {
        if block.arguments.len() != arguments.len() {
            return self.fault(format!(
                "a block of {} arguments is given {} values",
                block.arguments.len(),
                arguments.len()
            ));
        }
        self.bind(&block.arguments, arguments);
        for operation in &block.operations {
            self.emitted += 1;
            self.locate(operation.span);
            if self.emitted > MOST_OPERATIONS {
                return self.fault(format!(
                    "the program has more than {MOST_OPERATIONS} operations, counting what it calls"
                ));
            }
            let operands: Vec<Held> =
                operation.operands.iter().map(|&v| self.held(v)).collect::<Outcome<_>>()?;
            if matches!(
                operation.name.as_str(),
                "stablehlo.return" | "func.return" | "sdy.return" | "mhlo.return"
            ) {
                return Ok(operands);
            }
            let results = self.operation(operation, operands)?;
            if results.len() != operation.results.len() {
                let (found, wanted) = (results.len(), operation.results.len());
                return operation.fault(format!("it gives {found} results here, and {wanted} are named"));
            }
            self.bind(&operation.results, results);
        }
        self.fault("a block ends without stablehlo.return or func.return")
    }

    /// Values of a block of single elements, computed for whole tensors; the block is emitted up to its end.
    pub fn lifted_values(
        &mut self,
        block: &'p Block,
        arguments: Vec<Held<'c>>,
        wanted: &[ValueId],
    ) -> Results<'c> {
        let outer = std::mem::replace(&mut self.lifted, true);
        let done = self.block(block, arguments);
        self.lifted = outer;
        done?;
        wanted.iter().map(|&value| self.held(value)).collect()
    }

    fn bind(&mut self, values: &[ValueId], held: Vec<Held<'c>>) {
        if let Some((frame, _)) = self.frames.last_mut() {
            frame.extend(values.iter().copied().zip(held));
        }
    }

    fn held(&self, value: ValueId) -> Outcome<Held<'c>> {
        let found = self.frames.last().and_then(|(frame, _)| frame.get(&value));
        found.cloned().ok_or_else(|| Fault::boxed(self.span, "a value is used before it is computed"))
    }

    fn operation(&mut self, operation: &'p Operation, operands: Vec<Held<'c>>) -> Results<'c> {
        let convert = (self.find)(operation)?;
        if quantized::is_about(self, operation) {
            return self.on_floats(operation, operands, convert);
        }
        let results = convert(self, operation, &operands)?;
        let results = self.wrapped(operation, results)?;
        self.follow_extents(operation, &operands, &results);
        Ok(results)
    }

    /// The type of a value of the function that is emitted.
    pub fn type_of(&self, value: ValueId) -> &'p Type {
        const TOKEN: &Type = &Type::Token;
        self.frames.last().and_then(|(_, types)| types.get(value as usize)).unwrap_or(TOKEN)
    }

    /// The declared type of a result that is a tensor.
    pub fn result_type(&self, operation: &Operation, index: usize) -> Outcome<&'p TensorTy> {
        let ty = operation.results.get(index).map(|&v| self.type_of(v));
        match ty.and_then(Type::tensor) {
            Some(tensor) => match &tensor.element {
                Element::Other(name) => operation.fault(format!(
                    "elements of type {name} are not supported; convert them to f32, f16, bf16 or an integer type"
                )),
                _ => Ok(tensor),
            },
            None => operation.fault(format!("result {index} must be a tensor")),
        }
    }
}
