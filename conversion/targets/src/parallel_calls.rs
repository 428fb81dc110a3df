//! `fusion-parallel-calls`: what `loop-outline-parallel` declared hands its iterations to the threads.
//!
//! ```text
//!   llvm.func @k_parallel_0(i64, ptr, ptr)          llvm.func @k_parallel_0(%count, %x, %y) {
//!       attributes {fusion.part = @k_part_0}          the stack gets a structure of %x and %y
//!                                             =>      call @fusion_parallel(%count, @k_part_0_of, %structure)
//!   llvm.func @k_part_0(i64, i64, ptr, ptr)         }
//!                                                   llvm.func @k_part_0_of(%begin, %end, %structure) {
//!                                                     call @k_part_0(%begin, %end, %x, %y of the structure)
//!                                                   }
//! ```
//!
//! @fusion_parallel is linked into every library; it calls what it is given, on any thread, until all of `count` was run.

use super::spelled::Spelled;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, Pass, PassError, RunContext, Type, Value, ValueLike, arguments, ints_attr, str_attr,
    top_level, type_attr,
};
use fusion_loop_to_cpu::outline::PART;

/// The function of `threads.c` in the runtime.
pub const PARALLEL: &str = "fusion_parallel";

/// The pass.
pub struct ParallelCalls;

impl Pass for ParallelCalls {
    const NAME: &'static str = "fusion-parallel-calls";
    const DESCRIPTION: &'static str = "Hand the iterations of outlined parallel loops to the threads";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const DIALECTS: &'static [&'static str] = &["llvm"];

    fn run<'c>(module: Op<'c>, _: &mut RunContext) -> Result<(), PassError<'c>> {
        let functions = top_level(module, |k| matches!(k, Kind::Upstream(Upstream::LlvmFunc)));
        let named = |name: &str| functions.iter().copied().find(|f| f.text("sym_name") == Some(name));
        let starts: Vec<Op> = functions.iter().copied().filter(|f| f.attr(PART).is_some()).collect();
        let Some(first) = starts.first() else { return Ok(()) };
        if named(PARALLEL).is_none() {
            let lib = Spelled::new(*first)?;
            let signature = lib.ty("!llvm.func<void (i64, ptr, ptr)>")?;
            let context = first.context_ref();
            let attrs = [
                ("sym_name", str_attr(context, PARALLEL)),
                ("function_type", type_attr(signature)),
                ("linkage", lib.attribute("#llvm.linkage<external>")?),
            ];
            let body = vec![fusion_dialects::Region::new()];
            Build::before(*first).op_with_regions(Upstream::LlvmFunc.name(), &[], &[], &attrs, body);
        }
        // All are looked up before the first is replaced.
        let parts = starts.into_iter().map(|start| {
            let name = start.text(PART).unwrap_or_default();
            let missing = || PassError::at(start, format!("has no function @{name} to run its iterations"));
            Ok((start, named(name).ok_or_else(missing)?, name.to_owned()))
        });
        let parts: Vec<(Op, Op, String)> = parts.collect::<Result<_, PassError>>()?;
        parts.into_iter().try_for_each(|(start, part, name)| write(start, part, &name))
    }
}

fn write<'c>(start: Op<'c>, part: Op<'c>, name: &str) -> Result<(), PassError<'c>> {
    let lib = Spelled::new(start)?;
    let build = Build::before(start);
    let internal = lib.attribute("#llvm.linkage<internal>")?;
    let Some(entry) = part.body(0) else {
        return Err(PassError::at(part, "is declared, not defined"));
    };
    let takes: Vec<Type> = arguments(entry).iter().map(|v| v.r#type()).collect();
    let [begin, end, passed @ ..] = takes.as_slice() else {
        return Err(PassError::at(part, "takes no range of iterations"));
    };
    let spelled: Vec<String> = passed.iter().map(Type::to_string).collect();
    let context = lib.ty(&format!("!llvm.struct<({})>", spelled.join(", ")))?;
    let callback = format!("{name}_of");

    let mut outcome = Ok(());
    let body = build.region(&[*begin, *end, lib.pointer], |inner, given| {
        let all = inner.value("llvm.load", &given[2..], context, &[]);
        let of = |(i, ty): (usize, &Type<'c>)| {
            let position = ints_attr(inner.context(), &[i as i64]);
            inner.value("llvm.extractvalue", &[all], *ty, &[("position", position)])
        };
        let values: Vec<Value> = passed.iter().enumerate().map(of).collect();
        outcome = lib.call(&inner, name, &[&given[..2], values.as_slice()].concat());
        inner.op("llvm.return", &[], &[], &[]);
    });
    outcome?;
    let attrs = [
        ("sym_name", str_attr(build.context(), &callback)),
        ("function_type", type_attr(lib.ty("!llvm.func<void (i64, i64, ptr)>")?)),
        ("linkage", internal),
    ];
    build.op_with_regions(Upstream::LlvmFunc.name(), &[], &[], &attrs, vec![body]);

    let mut outcome = Ok(());
    let inputs = [&[*begin], passed].concat();
    let body = build.region(&inputs, |inner, given| {
        outcome = hand_over(&lib, &inner, given, context, &callback);
    });
    outcome?;
    let attrs = ["sym_name", "function_type", "arg_attrs"];
    let mut attrs: Vec<_> = attrs.into_iter().filter_map(|a| Some((a, start.attr(a)?))).collect();
    attrs.push(("linkage", internal));
    build.op_with_regions(Upstream::LlvmFunc.name(), &[], &[], &attrs, vec![body]);
    part.set_attr("linkage", internal);
    start.erase();
    Ok(())
}

fn hand_over<'c>(
    lib: &Spelled<'c>,
    build: &Build<'c>,
    given: &[Value<'c>],
    context: Type<'c>,
    callback: &str,
) -> Result<(), PassError<'c>> {
    let place = lib.stack(build, context)?;
    let mut all = build.value("llvm.mlir.undef", &[], context, &[]);
    for (i, value) in given[1..].iter().enumerate() {
        let position = ints_attr(build.context(), &[i as i64]);
        all = build.value("llvm.insertvalue", &[all, *value], context, &[("position", position)]);
    }
    build.op("llvm.store", &[all, place], &[], &[]);
    let function = lib.address(build, callback);
    lib.call(build, PARALLEL, &[given[0], function, place])?;
    build.op("llvm.return", &[], &[], &[]);
    Ok(())
}
