//! Types and attributes of the LLVM dialect, by how they are written.

use fusion_dialects::{
    Attribute, Build, Op, OpExt, PassError, Type, Value, int_attr, symbol_attr, type_attr,
};

/// What is written around a function that `owner` is named for in errors.
pub struct Spelled<'c> {
    /// The function.
    pub owner: Op<'c>,
    /// `!llvm.ptr`
    pub pointer: Type<'c>,
}

impl<'c> Spelled<'c> {
    /// For that function.
    pub fn new(owner: Op<'c>) -> Result<Self, PassError<'c>> {
        let mut lib = Spelled { owner, pointer: fusion_dialects::index_type(owner.context_ref()) };
        lib.pointer = lib.ty("!llvm.ptr")?;
        Ok(lib)
    }

    /// A type.
    pub fn ty(&self, text: &str) -> Result<Type<'c>, PassError<'c>> {
        let unknown = || PassError::at(self.owner, format!("cannot be wrapped: the type {text} is unknown"));
        Type::parse(self.owner.context_ref(), text).ok_or_else(unknown)
    }

    /// An attribute.
    pub fn attribute(&self, text: &str) -> Result<Attribute<'c>, PassError<'c>> {
        let unknown =
            || PassError::at(self.owner, format!("cannot be wrapped: the attribute {text} is unknown"));
        Attribute::parse(self.owner.context_ref(), text).ok_or_else(unknown)
    }

    /// The address of a function or global.
    pub fn address(&self, build: &Build<'c>, symbol: &str) -> Value<'c> {
        let name = ("global_name", symbol_attr(build.context(), symbol));
        build.value("llvm.mlir.addressof", &[], self.pointer, &[name])
    }

    /// A call of a function without result.
    pub fn call(&self, build: &Build<'c>, symbol: &str, passed: &[Value<'c>]) -> Result<(), PassError<'c>> {
        self.call_for(build, symbol, passed, &[])
    }

    /// A call of a function with results of those types, which nobody uses.
    pub fn call_for(
        &self,
        build: &Build<'c>,
        symbol: &str,
        passed: &[Value<'c>],
        results: &[Type<'c>],
    ) -> Result<(), PassError<'c>> {
        let attrs = [
            ("callee", symbol_attr(build.context(), symbol)),
            ("operandSegmentSizes", self.attribute(&format!("array<i32: {}, 0>", passed.len()))?),
            ("op_bundle_sizes", self.attribute("array<i32>")?),
        ];
        build.op(fusion_dialects::rows::Upstream::LlvmCall.name(), passed, results, &attrs);
        Ok(())
    }

    /// The address of an element of a list of pointers.
    pub fn element(
        &self,
        build: &Build<'c>,
        list: Value<'c>,
        index: usize,
    ) -> Result<Value<'c>, PassError<'c>> {
        let attrs = [
            ("elem_type", type_attr(self.pointer)),
            ("rawConstantIndices", self.attribute(&format!("array<i32: {index}>"))?),
        ];
        Ok(build.value("llvm.getelementptr", &[list], self.pointer, &attrs))
    }

    /// A place on the stack for a value of that type.
    pub fn stack(&self, build: &Build<'c>, ty: Type<'c>) -> Result<Value<'c>, PassError<'c>> {
        let one =
            build.value("llvm.mlir.constant", &[], self.ty("i64")?, &[("value", self.attribute("1 : i64")?)]);
        let attrs = [("elem_type", type_attr(ty)), ("alignment", int_attr(build.context(), 64))];
        Ok(build.value("llvm.alloca", &[one], self.pointer, &attrs))
    }
}
