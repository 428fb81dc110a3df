//! `relay-propagate-constants`: a parameter that is the same constant in every call is that constant.
//!
//! ```text
//!   func.func @main(%t) {                         func.func @main(%t) {
//!     %w = relay.constant ...                       relay.call @cell(%t)
//!     relay.call @cell(%t, %w)                    }
//!   }                                      ==>    func.func @cell(%x) {
//!   func.func @cell(%x, %w) {                       %w = relay.constant ...
//!     ... relay.call @cell(%y, %w) }                ... relay.call @cell(%y) }
//! ```
//!
//! Weights that a program hands from function to function so come to the kernels that use them, which lay them out once, when
//! compiling. The parameters of all functions are solved together: each begins as *not called*, becomes the constant of the first
//! call that is seen, and *varies* as soon as a call passes anything else (Callahan, Cooper, Kennedy, Torczon, "Interprocedural
//! constant propagation", 1986). A function that is used as a value may be called with anything, and so may @main, which is where
//! programs start.
//!
//! Pieces of constants are constants first, however large: recurrent operators of several directions have their weights in one tensor.

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, Pass, PassError, RunContext, StatisticSpec, Type, Value, ValueLike,
    ValueMap, arguments, array_attr, array_elements, attr_key, defining_op, erase_argument, function_parts,
    function_type, key, kind_of, nested_ops, ops_in, read_tensor, relay, replace_uses, tensor_type,
    top_level, type_attr, type_of_attr, unused, write_tensor,
};
use fusion_operators::ops::shape;
use fusion_operators::{Operator, reference};
use std::collections::HashMap;

/// The function that programs start with.
const ENTRY: &str = "main";

/// The pass.
pub struct PropagateConstants;

impl Pass for PropagateConstants {
    const NAME: &'static str = "relay-propagate-constants";
    const DESCRIPTION: &'static str =
        "Make parameters that are the same constant in every call constants of the function";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "parameters", description: "Parameters that became constants" }];
    const DIALECTS: &'static [&'static str] = &["relay", "func"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        cut(module);
        let functions = top_level(module, |k| matches!(k, Kind::Upstream(Upstream::Func)));
        if !functions.iter().any(|f| f.text("sym_name") == Some(ENTRY)) {
            // All functions may be called from anywhere.
            return Ok(());
        }
        let mut parameters = Parameters::of(module, &functions);
        parameters.solve();
        for function in functions {
            cx.count(0, parameters.rewrite(function) as u64);
        }
        Ok(())
    }
}

/// Operators that give a piece of a tensor, or all of it.
const PIECES: &[&Operator] = &[&shape::SLICE, &shape::RESHAPE, &shape::SQUEEZE, &shape::EXPAND_DIMS];

/// Makes constants of the pieces of constants.
fn cut(module: Op) {
    for op in nested_ops(module) {
        let Some(Kind::Operator(operator)) = kind_of(op) else { continue };
        if !PIECES.iter().any(|piece| piece.is(operator)) {
            continue;
        }
        let constant = op.operand_values().first().copied().and_then(defining_op);
        let constant = constant.filter(|op| matches!(kind_of(*op), Some(Kind::Relay(relay::Op::Constant))));
        let Some(tensor) = constant.and_then(|op| op.attr("value")).and_then(read_tensor) else { continue };
        let known = op.result_values().iter().all(|v| tensor_type(*v).is_some_and(|ty| ty.shape().is_some()));
        let evaluated = known.then(|| reference::evaluate(operator, &op.attrs(), &[tensor]).ok()).flatten();
        let Some([piece]) = evaluated.as_deref() else { continue };
        let context = op.context_ref();
        let value = ("value", write_tensor(context, piece, "piece"));
        let types: Vec<Type> = op.result_values().iter().map(|v| v.r#type()).collect();
        let made = Build::before(op).op(relay::Op::Constant.name(), &[], &types, &[value]);
        op.replace_all_uses(&made.result_values());
        op.erase();
        if let Some(constant) = constant.filter(|op| op.result_values().into_iter().all(unused)) {
            constant.erase();
        }
    }
}

/// What is known of a parameter.
#[derive(Clone, Copy)]
enum Known<'c> {
    NotCalled,
    Constant(Op<'c>),
    Varies,
}

impl<'c> Known<'c> {
    /// What is known where one or the other holds.
    fn or(self, other: Known<'c>) -> Known<'c> {
        match (self, other) {
            (Known::NotCalled, known) | (known, Known::NotCalled) => known,
            (Known::Constant(a), Known::Constant(b)) if same(a, b) => self,
            _ => Known::Varies,
        }
    }

    fn is(self, other: Known<'c>) -> bool {
        match (self, other) {
            (Known::NotCalled, Known::NotCalled) | (Known::Varies, Known::Varies) => true,
            (Known::Constant(a), Known::Constant(b)) => same(a, b),
            _ => false,
        }
    }
}

fn same(a: Op, b: Op) -> bool {
    a.attr("value").map(attr_key) == b.attr("value").map(attr_key)
}

/// The parameters of a module's functions.
struct Parameters<'c> {
    known: HashMap<usize, Known<'c>>,
    calls: HashMap<&'c str, Vec<Op<'c>>>,
    of: HashMap<&'c str, Vec<Value<'c>>>,
}

impl<'c> Parameters<'c> {
    fn of(module: Op<'c>, functions: &[Op<'c>]) -> Self {
        let mut found = Parameters { known: HashMap::new(), calls: HashMap::new(), of: HashMap::new() };
        for function in functions {
            let Some((name, body)) = function.text("sym_name").zip(function.body(0)) else { continue };
            let fixed = name == ENTRY || function.attr(relay::TYPE_PARAMS).is_some();
            let known = if fixed { Known::Varies } else { Known::NotCalled };
            found.known.extend(arguments(body).into_iter().map(|v| (key(v), known)));
            found.of.insert(name, arguments(body));
        }
        for op in nested_ops(module) {
            match kind_of(op) {
                Some(Kind::Relay(relay::Op::Call) | Kind::Upstream(Upstream::Call)) => {
                    if let Some(callee) = op.text("callee") {
                        found.calls.entry(callee).or_default().push(op);
                    }
                }
                Some(Kind::Relay(relay::Op::Global)) => {
                    let parameters = op.text("function").and_then(|name| found.of.get(name));
                    for parameter in parameters.into_iter().flatten() {
                        found.known.insert(key(*parameter), Known::Varies);
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Goes over all calls until nothing changes; each parameter changes twice at most.
    fn solve(&mut self) {
        loop {
            let mut changed = false;
            for (name, calls) in &self.calls {
                let Some(parameters) = self.of.get(name) else { continue };
                for call in calls {
                    for (parameter, passed) in parameters.iter().zip(call.operand_values()) {
                        let before = self.known.get(&key(*parameter)).copied().unwrap_or(Known::Varies);
                        let after = before.or(self.passed(*parameter, passed));
                        changed |= !after.is(before);
                        self.known.insert(key(*parameter), after);
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn passed(&self, parameter: Value<'c>, passed: Value<'c>) -> Known<'c> {
        let Some(op) = defining_op(passed) else {
            return self.known.get(&key(passed)).copied().unwrap_or(Known::Varies);
        };
        let constant = matches!(kind_of(op), Some(Kind::Relay(relay::Op::Constant)));
        // A parameter that says less of its extents stays.
        match constant && passed.r#type() == parameter.r#type() {
            true => Known::Constant(op),
            false => Known::Varies,
        }
    }

    /// Makes constants of what is known to be constant, and takes those parameters away. Gives how many there were.
    fn rewrite(&self, function: Op<'c>) -> usize {
        let (Some(body), Some(name)) = (function.body(0), function.text("sym_name")) else { return 0 };
        let parameters = arguments(body);
        let constants: Vec<Option<Op>> = parameters
            .iter()
            .map(|parameter| match self.known.get(&key(*parameter)) {
                Some(Known::Constant(op)) if op.result_values()[0].r#type() == parameter.r#type() => {
                    Some(*op)
                }
                _ => None,
            })
            .collect();
        let Some(first) = ops_in(body).first().copied() else { return 0 };
        let count = constants.iter().flatten().count();
        if count == 0 {
            return 0;
        }
        for (parameter, constant) in parameters.iter().zip(&constants) {
            if let Some(constant) = constant {
                let build = Build::before(first).at(constant.location());
                let copy = ValueMap::new().clone_op(&build, *constant);
                replace_uses(*parameter, copy.result_values()[0]);
            }
        }
        let gone = |i: usize| constants.get(i).is_some_and(Option::is_some);
        for (_, parameter) in parameters.iter().enumerate().rev().filter(|(i, _)| gone(*i)) {
            erase_argument(*parameter);
        }
        shorten(function, &gone);
        for call in self.calls.get(name).into_iter().flatten() {
            let operands = call.operand_values().into_iter().enumerate().filter(|(i, _)| !gone(*i));
            let operands: Vec<Value> = operands.map(|(_, value)| value).collect();
            call_with(*call, &operands);
        }
        count
    }
}

/// Takes parameters out of a function's type and what is noted of its parameters.
fn shorten(function: Op, gone: &impl Fn(usize) -> bool) {
    let context = function.context_ref();
    let parts = function.attr("function_type").and_then(type_of_attr).and_then(function_parts);
    if let Some((inputs, results)) = parts {
        let inputs: Vec<Type> =
            inputs.into_iter().enumerate().filter(|(i, _)| !gone(*i)).map(|(_, ty)| ty).collect();
        function.set_attr("function_type", type_attr(function_type(context, &inputs, &results)));
    }
    if let Some(noted) = function.attr("arg_attrs") {
        let noted = array_elements(noted).into_iter().enumerate().filter(|(i, _)| !gone(*i));
        let noted: Vec<_> = noted.map(|(_, attr)| attr).collect();
        function.set_attr("arg_attrs", array_attr(context, &noted));
    }
}

/// The same call with other operands, in its place.
fn call_with<'c>(call: Op<'c>, operands: &[Value<'c>]) {
    let results: Vec<Type> = call.result_values().iter().map(|v| v.r#type()).collect();
    let attributes: Vec<_> = call
        .attributes()
        .map(|(name, value)| (name.as_string_ref().as_str().unwrap_or_default().to_owned(), value))
        .collect();
    let attributes: Vec<_> = attributes.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let new = Build::before(call).op(&call.full_name(), operands, &results, &attributes);
    call.replace_all_uses(&new.result_values());
    call.erase();
}
