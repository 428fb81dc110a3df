//! Writes operations of the LLVM dialect, one after another.
//!
//! Values are pointers to counted memory, so nearly all of it is loads, stores and comparisons of integers. What rarely happens
//! stands behind branches that say so, and the code for it comes last.

use fusion_dialects::rows::Upstream;
use fusion_dialects::{
    Attribute, Block, Build, Context, OpExt, Region, Type, Value, int_elements, llvm_function, llvm_pointer,
    scalar_type, segments_attr, str_attr, symbol_attr, type_attr, typed_int_attr,
};
use fusion_operators::DType;

/// Types and attributes that are spelled once.
#[derive(Clone, Copy)]
pub struct Spelling<'c> {
    /// `!llvm.ptr`
    pub pointer: Type<'c>,
    /// `i8`
    pub int8: Type<'c>,
    /// `i32`
    pub int32: Type<'c>,
    /// `i64`
    pub int64: Type<'c>,
    /// `i1`
    pub boolean: Type<'c>,
    /// How functions of the program are called: the stack does not grow where the last thing is a call.
    tail: Attribute<'c>,
    /// A call that takes its caller's place.
    must_tail: Attribute<'c>,
    /// The same where optimizations leave it the last one, which they do with functions of the program.
    may_tail: Attribute<'c>,
    /// Not seen outside of the object.
    pub internal: Attribute<'c>,
    /// Seen outside of the object.
    pub external: Attribute<'c>,
}

impl<'c> Spelling<'c> {
    /// Of a context with the LLVM dialect; `None` without it.
    pub fn of(context: &'c Context) -> Option<Self> {
        let attribute = |text: &str| Attribute::parse(context, text);
        Some(Spelling {
            pointer: llvm_pointer(context),
            int8: scalar_type(context, DType::I8),
            int32: scalar_type(context, DType::I32),
            int64: scalar_type(context, DType::I64),
            boolean: scalar_type(context, DType::Bool),
            tail: attribute("#llvm.cconv<tailcc>")?,
            must_tail: attribute("#llvm.tailcallkind<musttail>")?,
            may_tail: attribute("#llvm.tailcallkind<tail>")?,
            internal: attribute("#llvm.linkage<internal>")?,
            external: attribute("#llvm.linkage<external>")?,
        })
    }
}

/// Pointers that registers pass on the processor that has the fewest for them, x86-64.
const IN_REGISTERS: usize = 6;

/// How integers are compared, as the LLVM dialect numbers it.
#[derive(Clone, Copy)]
pub enum Order {
    /// Equal.
    Equal = 0,
    /// Not equal.
    NotEqual = 1,
    /// More, of numbers with a sign.
    More = 4,
    /// Less, of numbers without a sign.
    Below = 6,
}

/// What is called.
#[derive(Clone, Copy)]
pub enum Callee<'a, 'c> {
    /// A C function.
    C(&'a str),
    /// A function of the program.
    Program(&'a str),
    /// A function of the program, by its address.
    Address(Value<'c>),
}

/// Writes at the end of a block, which changes.
pub struct Writer<'c> {
    /// Where.
    pub build: Build<'c>,
    /// Types.
    pub spelling: Spelling<'c>,
}

impl<'c> Writer<'c> {
    /// A number.
    pub fn int(&self, ty: Type<'c>, value: i64) -> Value<'c> {
        self.build.value("llvm.mlir.constant", &[], ty, &[("value", typed_int_attr(ty, value))])
    }

    /// The address of a function or global.
    pub fn address(&self, symbol: &str) -> Value<'c> {
        let name = ("global_name", symbol_attr(self.build.context(), symbol));
        self.build.value("llvm.mlir.addressof", &[], self.spelling.pointer, &[name])
    }

    /// A pointer some bytes further.
    pub fn at(&self, pointer: Value<'c>, offset: u64) -> Value<'c> {
        if offset == 0 {
            return pointer;
        }
        let bytes = self.int(self.spelling.int64, offset as i64);
        self.at_index(pointer, bytes, self.spelling.int8)
    }

    /// A pointer some elements further.
    pub fn at_index(&self, pointer: Value<'c>, index: Value<'c>, element: Type<'c>) -> Value<'c> {
        let attrs = [
            ("elem_type", type_attr(element)),
            // The one index is an operand.
            ("rawConstantIndices", segments_attr(self.build.context(), &[i32::MIN])),
        ];
        self.build.value("llvm.getelementptr", &[pointer, index], self.spelling.pointer, &attrs)
    }

    /// Reads what lies some bytes behind a pointer.
    pub fn load(&self, ty: Type<'c>, pointer: Value<'c>, offset: u64) -> Value<'c> {
        let place = self.at(pointer, offset);
        self.build.value("llvm.load", &[place], ty, &[])
    }

    /// Writes some bytes behind a pointer.
    pub fn store(&self, value: Value<'c>, pointer: Value<'c>, offset: u64) {
        let place = self.at(pointer, offset);
        self.build.op("llvm.store", &[value, place], &[], &[]);
    }

    /// Adds a number.
    pub fn add(&self, ty: Type<'c>, value: Value<'c>, number: i64) -> Value<'c> {
        let number = self.int(ty, number);
        self.build.value("llvm.add", &[value, number], ty, &[])
    }

    /// Compares.
    pub fn compare(&self, order: Order, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let predicate = typed_int_attr(self.spelling.int64, order as i64);
        self.build.value("llvm.icmp", &[a, b], self.spelling.boolean, &[("predicate", predicate)])
    }

    /// Room on the stack for that many pointers, for as long as the function runs.
    pub fn room(&self, pointers: usize) -> Value<'c> {
        let count = self.int(self.spelling.int64, pointers as i64);
        let attrs = [("elem_type", type_attr(self.spelling.pointer))];
        self.build.value("llvm.alloca", &[count], self.spelling.pointer, &attrs)
    }

    /// Goes on in another block.
    pub fn jump(&self, to: Block<'c>) {
        self.build.branch("llvm.br", &[], &[to], &[]);
    }

    /// Goes on in one of two blocks; `odds` says how often in each.
    pub fn jump_if(&self, condition: Value<'c>, yes: Block<'c>, no: Block<'c>, odds: Option<[i32; 2]>) {
        let context = self.build.context();
        let mut attrs = vec![("operandSegmentSizes", segments_attr(context, &[1, 0, 0]))];
        attrs.extend(odds.map(|odds| ("branch_weights", segments_attr(context, &odds))));
        self.build.branch("llvm.cond_br", &[condition], &[yes, no], &attrs);
    }

    /// Writes what rarely happens in a block of its own: it is run when the condition holds, then all goes on.
    pub fn rarely(&mut self, condition: Value<'c>, write: impl FnOnce(&mut Self)) {
        self.when(condition, Some([1, 2000]), write);
    }

    /// Writes what happens when the condition holds; then all goes on.
    pub fn when(&mut self, condition: Value<'c>, odds: Option<[i32; 2]>, write: impl FnOnce(&mut Self)) {
        let (inside, after) = (self.build.new_block(&[]), self.build.new_block(&[]));
        self.jump_if(condition, inside.block(), after.block(), odds);
        self.build = inside;
        write(self);
        self.jump(after.block());
        self.build = after;
    }

    /// Goes on where a number says: in the first block for 0, and so on; in the last for all that are left.
    pub fn switch(&self, number: Value<'c>, cases: &[Block<'c>], last: Block<'c>) {
        if cases.is_empty() {
            return self.jump(last);
        }
        let context = self.build.context();
        let numbers: Vec<i64> = (0..cases.len() as i64).collect();
        let attrs = [
            ("case_values", int_elements(context, 32, &numbers)),
            ("case_operand_segments", segments_attr(context, &vec![0; cases.len()])),
            ("operandSegmentSizes", segments_attr(context, &[1, 0, 0])),
        ];
        let successors: Vec<Block> = std::iter::once(last).chain(cases.iter().copied()).collect();
        self.build.branch("llvm.switch", &[number], &successors, &attrs);
    }

    /// Calls a function.
    pub fn call(
        &self,
        callee: Callee<'_, 'c>,
        passed: &[Value<'c>],
        result: Option<Type<'c>>,
    ) -> Option<Value<'c>> {
        self.call_as(callee, passed, result, false)
    }

    /// Ends the function with what another gives, in its place.
    pub fn tail_call(&self, callee: Callee<'_, 'c>, passed: &[Value<'c>]) {
        if let Some(result) = self.call_as(callee, passed, Some(self.spelling.pointer), true) {
            self.give(&[result]);
        }
    }

    fn call_as(
        &self,
        callee: Callee<'_, 'c>,
        passed: &[Value<'c>],
        result: Option<Type<'c>>,
        tail: bool,
    ) -> Option<Value<'c>> {
        let context = self.build.context();
        let mut operands = Vec::new();
        let mut attrs = Vec::new();
        match callee {
            Callee::C(symbol) | Callee::Program(symbol) => {
                attrs.push(("callee", symbol_attr(context, symbol)))
            }
            Callee::Address(address) => operands.push(address),
        }
        if !matches!(callee, Callee::C(_)) {
            attrs.push(("CConv", self.spelling.tail));
        }
        if tail {
            // LLVM 22 stores no arguments on the stack for calls that must be tail calls.
            let kind = match passed.len() <= IN_REGISTERS {
                true => self.spelling.must_tail,
                false => self.spelling.may_tail,
            };
            attrs.push(("TailCallKind", kind));
        }
        operands.extend(passed);
        attrs.push(("operandSegmentSizes", segments_attr(context, &[operands.len() as i32, 0])));
        attrs.push(("op_bundle_sizes", segments_attr(context, &[])));
        let results: Vec<Type> = result.into_iter().collect();
        let call = self.build.op(Upstream::LlvmCall.name(), &operands, &results, &attrs);
        call.result_values().first().copied()
    }

    /// Calls a C function that does not come back.
    pub fn fail(&self, symbol: &str, passed: &[Value<'c>]) {
        self.call(Callee::C(symbol), passed, None);
        self.build.op("llvm.unreachable", &[], &[], &[]);
    }

    /// Ends the function.
    pub fn give(&self, values: &[Value<'c>]) {
        self.build.op("llvm.return", values, &[], &[]);
    }

    /// Writes a function of pointers that gives a pointer. `body` writes it; what it cannot write is its error.
    pub fn function<E>(
        &self,
        symbol: &str,
        parameters: usize,
        of_program: bool,
        body: impl FnOnce(Writer<'c>, &[Value<'c>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (spelling, context) = (self.spelling, self.build.context());
        let parameters = vec![spelling.pointer; parameters];
        let mut outcome = Ok(());
        let region = self.build.region(&parameters, |build, arguments| {
            outcome = body(Writer { build, spelling }, arguments);
        });
        outcome?;
        let linkage = if of_program { spelling.internal } else { spelling.external };
        let mut attrs = vec![
            ("sym_name", str_attr(context, symbol)),
            ("function_type", type_attr(llvm_function(context, Some(spelling.pointer), &parameters))),
            ("linkage", linkage),
        ];
        if of_program {
            attrs.push(("CConv", spelling.tail));
        }
        self.build.op_with_regions(Upstream::LlvmFunc.name(), &[], &[], &attrs, vec![region]);
        Ok(())
    }

    /// Declares a C function.
    pub fn declare(&self, symbol: &str, result: Option<Type<'c>>, parameters: &[Type<'c>]) {
        let context = self.build.context();
        let attrs = [
            ("sym_name", str_attr(context, symbol)),
            ("function_type", type_attr(llvm_function(context, result, parameters))),
            ("linkage", self.spelling.external),
        ];
        self.build.op_with_regions(Upstream::LlvmFunc.name(), &[], &[], &attrs, vec![Region::new()]);
    }
}
