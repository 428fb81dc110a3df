//! `relay-defunctionalise`: function values become data, and calls of them calls of functions that look at the data.
//!
//! ```text
//!   %f = relay.fn { ^bb0(%a): mul %a, %y }        relay.data @Function$0 [] [Lambda$0(type of %y), ...]
//!   %r = relay.apply %f(%x)                 =>    %f = relay.construct @Function$0::@Lambda$0(%y)
//!                                                 %r = relay.call @apply$0(%f, %x)
//!                                                 func @apply$0(%f, %a) { match %f { case Lambda$0(%y): mul %a, %y ... } }
//! ```
//! Reynolds, "Definitional interpreters for higher-order programming languages" (1972). There is one data type and one `apply` for
//! each function type, a constructor for each `relay.fn` and each `relay.global` of it, whose fields are what it captured. The
//! whole program must be monomorphic: with type variables one constructor would stand for functions of many types.

use super::effects::is;
use super::language::{blocks, copy_block, each_type, free_values, functions, variables};
use fusion_dialects::relay::{Constructor, DataType, Instance, Op as Relay, Pattern, RECURSIVE};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Context, Op, OpExt, OperationLike, Pass, PassError, Region, RunContext, StatisticSpec, Type,
    TypeLike, TypeParts, Value, ValueLike, ValueMap, adt_type, arguments, array_attr, constructor_attr,
    function_parts, function_type, nested_ops, nested_symbol_attr, ops_in, str_attr, symbol_attr, texts_attr,
    top_level, type_attr, type_of_attr, type_of_parts, type_parts,
};
use indexmap::IndexMap;

/// The pass.
pub struct RelayDefunctionalise;

impl Pass for RelayDefunctionalise {
    const NAME: &'static str = "relay-defunctionalise";
    const DESCRIPTION: &'static str = "Make data of function values, and functions that call them";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "closures", description: "Function values that became data" }];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let Some(block) = module.body(0) else { return Ok(()) };
        is_monomorphic(module)?;
        let mut types = Types { sorts: IndexMap::new(), closures: Vec::new() };
        let all: Vec<Op> = functions(module).into_values().flat_map(nested_ops).collect();
        for op in &all {
            let values = op.result_values().into_iter().chain(blocks(*op).into_iter().flat_map(arguments));
            values.for_each(|value| types.meet(value.r#type()));
        }
        let parameters = functions(module).into_values().filter_map(|f| f.body(0)).flat_map(arguments);
        parameters.for_each(|value| types.meet(value.r#type()));
        if types.sorts.is_empty() {
            return Ok(());
        }
        // Inner closures first: what they capture becomes what those around them capture.
        for op in all.into_iter().rev() {
            if is(op, Relay::Fn) || is(op, Relay::Global) {
                types.value_becomes_data(op);
                cx.count(0, 1);
            }
        }
        for op in functions(module).into_values().flat_map(nested_ops).filter(|op| is(*op, Relay::Apply)) {
            types.call_becomes_direct(op);
        }
        let context = module.context_ref();
        types.apply_functions(&Build::at_end(context, block, module.location()));
        types.rewrite_types(module);
        if let Some(first) = ops_in(block).first() {
            types.declarations(&Build::before(*first));
        }
        Ok(())
    }
}

fn is_monomorphic<'c>(module: Op<'c>) -> Result<(), PassError<'c>> {
    for function in functions(module).into_values() {
        for op in nested_ops(function).into_iter().chain([function]) {
            let values = op.result_values().into_iter().chain(blocks(op).into_iter().flat_map(arguments));
            let types: Vec<Type> = values.map(|v| v.r#type()).collect();
            if let Some(name) = variables(types.iter().copied()).first() {
                return Err(PassError::at(
                    op,
                    format!(
                        "has the type variable {name:?}; run relay-monomorphise before, so that each function has one type"
                    ),
                ));
            }
            if types.iter().any(|ty| fusion_dialects::relay::has_hole(*ty)) {
                return Err(PassError::at(op, "has a type that is not known; run relay-infer-types before"));
            }
        }
    }
    Ok(())
}

/// A function type, and what its values can be.
struct Sort<'c> {
    ty: Type<'c>,
    values: Vec<Made<'c>>,
}

/// Where function values of one constructor come from.
struct Made<'c> {
    name: String,
    fields: Vec<Type<'c>>,
    /// The body, in a closure or a call of a function; put into `apply` when all are known.
    clause: Clause<'c>,
}

enum Clause<'c> {
    /// A `relay.fn`, and the construction that took its place, of what it captured.
    Closure(Op<'c>, Op<'c>),
    Function(&'c str),
}

struct Types<'c> {
    /// By the type's place in memory: types are unique.
    sorts: IndexMap<usize, Sort<'c>>,
    /// Closures that became data, those inside others first.
    closures: Vec<Op<'c>>,
}

impl<'c> Types<'c> {
    /// Notes all function types in a type.
    fn meet(&mut self, ty: Type<'c>) {
        match type_parts(ty) {
            TypeParts::Function(inputs, results) => {
                inputs.into_iter().chain(results).for_each(|part| self.meet(part));
                let id = ty.to_raw().ptr as usize;
                self.sorts.entry(id).or_insert_with(|| Sort { ty, values: Vec::new() });
            }
            TypeParts::Tuple(parts) | TypeParts::Adt(_, parts) => {
                parts.into_iter().for_each(|p| self.meet(p))
            }
            TypeParts::Ref(value) => self.meet(value),
            TypeParts::Tensor(_) | TypeParts::Var(_) | TypeParts::Hole | TypeParts::Other => {}
        }
    }

    fn sort(&self, ty: Type<'c>) -> Option<usize> {
        self.sorts.get_index_of(&(ty.to_raw().ptr as usize))
    }

    fn value_becomes_data(&mut self, op: Op<'c>) {
        let ty = op.result_values()[0].r#type();
        let Some(sort) = self.sort(ty) else { return };
        let context = op.context_ref();
        let (name, captured) = match op.text("function") {
            Some(function) => (format!("Function${function}"), Vec::new()),
            None => {
                let count: usize = self.sorts.values().map(|s| s.values.len()).sum();
                (format!("Lambda${count}"), free_values(op))
            }
        };
        let fields: Vec<Type> = captured.iter().map(|v| v.r#type()).collect();
        let constructor = nested_symbol_attr(context, &data_name(sort), &name);
        let data = [data_type(context, sort)];
        let attrs = [("constructor", constructor)];
        let made = Build::before(op).op(Relay::Construct.name(), &captured, &data, &attrs);
        op.replace_all_uses(&made.result_values());
        let values = &mut self.sorts[sort].values;
        match op.text("function") {
            None => {
                values.push(Made { name, fields, clause: Clause::Closure(op, made) });
                self.closures.push(op);
            }
            Some(function) => {
                if values.iter().all(|v| v.name != name) {
                    values.push(Made { name, fields, clause: Clause::Function(function) });
                }
                op.erase();
            }
        }
    }

    fn call_becomes_direct(&self, op: Op<'c>) {
        let operands = op.operand_values();
        let ty = operands[0].r#type();
        let sort = match type_parts(ty) {
            TypeParts::Adt(name, _) => (0..self.sorts.len()).find(|sort| data_name(*sort) == name),
            _ => self.sort(ty),
        };
        let Some(sort) = sort else { return };
        let results: Vec<Type> = op.result_values().iter().map(|v| v.r#type()).collect();
        let callee = ("callee", symbol_attr(op.context_ref(), &apply_name(sort)));
        let call = Build::before(op).op(Relay::Call.name(), &operands, &results, &[callee]);
        op.replace_all_uses(&call.result_values());
        op.erase();
    }

    /// One function a function type: a clause for each constructor.
    fn apply_functions(&mut self, build: &Build<'c>) {
        let context = build.context();
        for (sort, Sort { ty, values }) in self.sorts.values().enumerate() {
            let Some((inputs, results)) = function_parts(*ty) else { continue };
            let data = data_type(context, sort);
            let takes = [vec![data], inputs].concat();
            let body = build.region(&takes, |inner, parameters| {
                let patterns = values.iter().map(|made| {
                    let fields = (0..made.fields.len()).map(|i| Pattern::Bind(format!("c{i}"))).collect();
                    Pattern::Constructor { data: data_name(sort), name: made.name.clone(), fields }
                        .attr(context)
                });
                let patterns: Vec<_> = patterns.collect();
                let clauses = values.iter().map(|made| clause(&inner, made, parameters, &results)).collect();
                let attrs = [("patterns", array_attr(context, &patterns))];
                let gives =
                    inner.op_with_regions(Relay::Match.name(), &parameters[..1], &results, &attrs, clauses);
                inner.op(Upstream::Return.name(), &gives.result_values(), &[], &[]);
            });
            // Where no value of the type is made, the function is a declaration that nothing reaches.
            let body = if values.is_empty() { Region::new() } else { body };
            let attrs = [
                ("sym_name", str_attr(context, &apply_name(sort))),
                ("function_type", type_attr(function_type(context, &takes, &results))),
                ("sym_visibility", str_attr(context, "private")),
            ];
            build.op_with_regions(Upstream::Func.name(), &[], &[], &attrs, vec![body]);
        }
        self.closures.drain(..).for_each(OpExt::erase);
    }

    fn changed(&self, context: &'c Context, ty: Type<'c>) -> Type<'c> {
        if let Some(sort) = self.sort(ty) {
            return data_type(context, sort);
        }
        let all = |parts: Vec<Type<'c>>| parts.into_iter().map(|p| self.changed(context, p)).collect();
        let parts = match type_parts(ty) {
            TypeParts::Tuple(parts) => TypeParts::Tuple(all(parts)),
            TypeParts::Adt(name, parts) => TypeParts::Adt(name, all(parts)),
            TypeParts::Ref(value) => TypeParts::Ref(self.changed(context, value)),
            TypeParts::Function(inputs, results) => TypeParts::Function(all(inputs), all(results)),
            TypeParts::Tensor(_) | TypeParts::Var(_) | TypeParts::Hole | TypeParts::Other => return ty,
        };
        type_of_parts(context, &parts).unwrap_or(ty)
    }

    fn rewrite_types(&self, module: Op<'c>) {
        let context = module.context_ref();
        let change = |ty| self.changed(context, ty);
        for function in functions(module).into_values() {
            each_type(function, &change);
            let ty = function.attr("function_type").and_then(type_of_attr);
            if let Some((inputs, results)) = ty.and_then(function_parts) {
                let all = |types: Vec<Type<'c>>| types.into_iter().map(change).collect::<Vec<_>>();
                let ty = function_type(context, &all(inputs), &all(results));
                function.set_attr("function_type", type_attr(ty));
            }
        }
        for op in top_level(module, |kind| matches!(kind, Kind::Relay(Relay::Data))) {
            let Some(data) = DataType::of(op) else { continue };
            let of = |c: &Constructor<'c>| {
                let fields: Vec<_> = c.fields.iter().map(|ty| change(*ty)).collect();
                constructor_attr(context, c.name, &fields)
            };
            let constructors: Vec<_> = data.constructors.iter().map(of).collect();
            op.set_attr("constructors", array_attr(context, &constructors));
        }
    }

    fn declarations(&self, build: &Build<'c>) {
        let context = build.context();
        for (sort, Sort { values, .. }) in self.sorts.values().enumerate() {
            let constructors: Vec<_> = values
                .iter()
                .map(|made| {
                    let fields: Vec<_> = made.fields.iter().map(|ty| self.changed(context, *ty)).collect();
                    constructor_attr(context, &made.name, &fields)
                })
                .collect();
            let attrs = [
                ("sym_name", str_attr(context, &data_name(sort))),
                ("parameters", texts_attr(context, &[])),
                ("constructors", array_attr(context, &constructors)),
            ];
            build.op(Relay::Data.name(), &[], &[], &attrs);
        }
    }
}

fn data_name(sort: usize) -> String {
    format!("Function${sort}")
}

fn apply_name(sort: usize) -> String {
    format!("apply${sort}")
}

/// The data type that stands for a function type.
fn data_type(context: &Context, sort: usize) -> Type<'_> {
    adt_type(context, &data_name(sort), &[])
}

/// What a function value does when it is called: the clause of its constructor.
fn clause<'c>(build: &Build<'c>, made: &Made<'c>, given: &[Value<'c>], results: &[Type<'c>]) -> Region<'c> {
    build.region(&made.fields, |inner, fields| {
        let values = match &made.clause {
            Clause::Function(name) => {
                let callee = ("callee", symbol_attr(inner.context(), name));
                inner.op(Relay::Call.name(), &given[1..], results, &[callee]).result_values()
            }
            Clause::Closure(closure, made) => {
                let mut map = ValueMap::new();
                let captured = made.operand_values().into_iter();
                captured.zip(fields).for_each(|(old, new)| map.insert(old, *new));
                let Some(body) = closure.body(0) else { return };
                let first = usize::from(closure.attr(RECURSIVE).is_none());
                let own = arguments(body).into_iter();
                own.zip(&given[first..]).for_each(|(old, new)| map.insert(old, *new));
                let values = copy_block(&inner, body, &mut map, &Instance::default());
                // Closures inside are data by now; what was copied of them is of no use.
                let copied =
                    ops_in(inner.block()).into_iter().flat_map(|op| [vec![op], nested_ops(op)].concat());
                let closures: Vec<Op> = copied.filter(|op| is(*op, Relay::Fn)).collect();
                closures.into_iter().rev().for_each(OpExt::erase);
                values
            }
        };
        inner.op(Relay::Yield.name(), &values, &[], &[]);
    })
}
