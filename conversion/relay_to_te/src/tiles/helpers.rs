//! Functions that the loops over tiles share: one for each way to copy, whatever the extents.
//!
//! ```text
//!   func.func private @fill_4_f32(%whole: memref<..>, %local: memref<..>, %first_0: index, %extent_0: index, %local_0: index, ...)
//! ```

use fusion_dialects::loops::{Buffer, DYNAMIC_ELEMENTS, Loops};
use fusion_dialects::rows::Upstream;
use fusion_dialects::{
    Build, OpExt, Type, Value, ValueLike, array_attr, buffer_type, dict_attr, function_type, index_type,
    ints_attr, ops_in, segments_attr, str_attr, symbol_attr, type_attr, unit_attr,
};
use std::cell::RefCell;
use std::collections::HashSet;

/// The functions of a module.
pub struct Helpers<'c> {
    build: Build<'c>,
    made: RefCell<HashSet<String>>,
}

impl<'c> Helpers<'c> {
    /// Functions that are built there.
    pub fn new(build: Build<'c>) -> Self {
        let there = ops_in(build.block());
        let names = there.iter().filter_map(|op| op.text("sym_name")).map(str::to_owned).collect();
        Helpers { build, made: RefCell::new(names) }
    }

    /// Calls a function of buffers and numbers, which `body` builds where it is not there yet.
    pub fn call(
        &self,
        loops: &Loops<'c>,
        name: &str,
        buffers: &[Buffer<'c>],
        numbers: &[Value<'c>],
        body: impl FnOnce(&Loops<'c>, &[Buffer<'c>], &[Value<'c>]),
    ) {
        let context = self.build.context();
        let any = |buffer: &Buffer<'c>| buffer_type(context, DYNAMIC_ELEMENTS, buffer.dtype);
        if self.made.borrow_mut().insert(name.to_owned()) {
            let mut takes: Vec<Type> = buffers.iter().map(any).collect();
            takes.extend(numbers.iter().map(|_| index_type(context)));
            let region = self.build.region(&takes, |inner, arguments| {
                let (values, numbers) = arguments.split_at(buffers.len());
                let given: Vec<Buffer> = values
                    .iter()
                    .zip(buffers)
                    .map(|(value, buffer)| Buffer { value: *value, dtype: buffer.dtype })
                    .collect();
                body(&Loops { build: inner }, &given, numbers);
                inner.op(Upstream::Return.name(), &[], &[], &[]);
            });
            let apart = dict_attr(context, &[("llvm.noalias", unit_attr(context))]);
            let other = dict_attr(context, &[]);
            let arguments: Vec<_> =
                (0..takes.len()).map(|at| if at < buffers.len() { apart } else { other }).collect();
            let attrs = [
                ("sym_name", str_attr(context, name)),
                ("sym_visibility", str_attr(context, "private")),
                ("function_type", type_attr(function_type(context, &takes, &[]))),
                ("arg_attrs", array_attr(context, &arguments)),
                // They are called from many places.
                ("passthrough", array_attr(context, &[str_attr(context, "noinline")])),
            ];
            self.build.op_with_regions(Upstream::Func.name(), &[], &[], &attrs, vec![region]);
        }
        let mut passed: Vec<Value> =
            buffers.iter().map(|buffer| of_any_extent(loops, buffer, any(buffer))).collect();
        passed.extend(numbers);
        let callee = symbol_attr(context, name);
        loops.build.op(Upstream::Call.name(), &passed, &[], &[("callee", callee)]);
    }
}

/// A buffer as one of no known extent.
fn of_any_extent<'c>(loops: &Loops<'c>, buffer: &Buffer<'c>, any: Type<'c>) -> Value<'c> {
    if buffer.value.r#type() == any {
        return buffer.value;
    }
    let context = loops.build.context();
    let attrs = [
        ("operandSegmentSizes", segments_attr(context, &[1, 0, 0, 0])),
        ("static_offsets", ints_attr(context, &[0])),
        ("static_sizes", ints_attr(context, &[DYNAMIC_ELEMENTS as i64])),
        ("static_strides", ints_attr(context, &[1])),
    ];
    loops.build.value("memref.reinterpret_cast", &[buffer.value], any, &attrs)
}
