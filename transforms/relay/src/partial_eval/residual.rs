//! What is emitted: operations that stay, and values of the program for values that are known.
//!
//! ```text
//!   Cons(1, %x), known  ->  %1 = constant 1;  %2 = Cons(%1, %x)
//! ```
//! A known value is made where it is first needed, and found again wherever that place can be seen. A closure is made with its body
//! evaluated on unknown arguments.

use super::eval::{Evaluator, Frame, Outcome, attributes, frame_of, result_types};
use super::store::Store;
use super::value::{Closure, Known, Partial, Shared};
use fusion_dialects::relay::{Builder, Instance, Op as Relay, RECURSIVE};
use fusion_dialects::rows::Upstream;
use fusion_dialects::{
    Attribute, Build, Op, OpExt, PassError, Type, Value, ValueLike, arguments, function_parts,
    nested_symbol_attr, symbol_attr,
};
use std::rc::Rc;

impl<'c> Evaluator<'c> {
    /// The same operation on the program's values.
    pub(super) fn emit(
        &mut self,
        build: &Build<'c>,
        op: Op<'c>,
        given: &[Shared<'c>],
        frame: &Frame<'c>,
    ) -> Outcome<'c, Vec<Shared<'c>>> {
        let values = self.residuals(build, given)?;
        let attrs = attributes(op);
        let named: Vec<(&str, Attribute)> = attrs.iter().map(|(n, a)| (n.as_str(), *a)).collect();
        let made = build.op(&op.full_name(), &values, &result_types(op, frame), &named);
        Ok(self.made(made))
    }

    /// The results of an operation that was emitted.
    pub fn made(&self, op: Op<'c>) -> Vec<Shared<'c>> {
        let scope = self.scopes.last().copied().unwrap_or(0);
        let results = op.result_values().into_iter();
        results.map(|value| Partial::dynamic(value, value.r#type(), scope)).collect()
    }

    /// Values of the program for values.
    pub fn residuals(&mut self, build: &Build<'c>, values: &[Shared<'c>]) -> Outcome<'c, Vec<Value<'c>>> {
        values.iter().map(|value| self.residual(build, value)).collect()
    }

    /// Ends a function with values, as the types that it is declared with: an extent may be known where they say `?`.
    pub fn give(&mut self, build: &Build<'c>, values: &[Shared<'c>], types: &[Type<'c>]) -> Outcome<'c, ()> {
        let values = self.residuals(build, values)?;
        let exact = |(value, ty): (Value<'c>, &Type<'c>)| match value.r#type() == *ty {
            true => value,
            false => build.value(Relay::Ascribe.name(), &[value], *ty, &[]),
        };
        let values: Vec<Value<'c>> = values.into_iter().zip(types).map(exact).collect();
        build.op(Upstream::Return.name(), &values, &[], &[]);
        Ok(())
    }

    /// The program's value for a value; made here when there is none that can be seen.
    pub fn residual(&mut self, build: &Build<'c>, value: &Shared<'c>) -> Outcome<'c, Value<'c>> {
        if let Some((made, scope)) = *value.residual.borrow()
            && (self.scopes.contains(&scope) || matches!(value.known, Known::Dynamic | Known::Cell(_)))
        {
            return Ok(made);
        }
        let context = build.context();
        let made = match &value.known {
            Known::Dynamic | Known::Cell(_) => {
                return Err(PassError::new(
                    build.location,
                    "a value is used where the program has none for it",
                ));
            }
            Known::Tensor(tensor) => Builder::new(*build).constant(tensor),
            Known::Tuple(elements) => {
                let elements = self.residuals(build, elements)?;
                build.value(Relay::Tuple.name(), &elements, value.ty, &[])
            }
            Known::Data { data, name, fields } => {
                let fields = self.residuals(build, fields)?;
                let constructor = nested_symbol_attr(context, data, name);
                build.value(Relay::Construct.name(), &fields, value.ty, &[("constructor", constructor)])
            }
            Known::Global(name) => {
                if !self.reached.contains(name) {
                    self.reached.push(name);
                }
                let function = ("function", symbol_attr(context, name));
                build.value(Relay::Global.name(), &[], value.ty, &[function])
            }
            Known::Closure(closure) => self.residual_closure(build, closure, value.ty)?,
        };
        let scope = self.scopes.last().copied().unwrap_or(0);
        *value.residual.borrow_mut() = Some((made, scope));
        Ok(made)
    }

    /// A closure with its body evaluated on unknown arguments.
    fn residual_closure(
        &mut self,
        build: &Build<'c>,
        closure: &Rc<Closure<'c>>,
        ty: Type<'c>,
    ) -> Outcome<'c, Value<'c>> {
        let op = closure.op;
        let body = op.body(0).ok_or_else(|| PassError::at(op, "has an empty region"))?;
        let own = arguments(body);
        let Some((inputs, _)) = function_parts(ty) else {
            return Err(PassError::at(op, "has a type that is not known; run relay-infer-types before"));
        };
        let recursive = op.attr(RECURSIVE).is_some();
        let takes = if recursive { [vec![ty], inputs].concat() } else { inputs };
        let mut instance = Instance::clone(&closure.instance);
        for (declared, actual) in own.iter().zip(&takes) {
            instance.matches(declared.r#type(), *actual);
        }
        let mut frame = frame_of(closure, instance);
        let (region, _) = self.region(build, &takes, Store::default(), |this, inner, values| {
            for (name, value) in own.iter().zip(values) {
                frame.environment.bind(*name, value);
            }
            let values = this.block(&inner, body, &mut frame)?;
            let values = this.residuals(&inner, &values)?;
            inner.op(Relay::Yield.name(), &values, &[], &[]);
            Ok(())
        })?;
        let attrs = attributes(op);
        let named: Vec<(&str, Attribute)> = attrs.iter().map(|(n, a)| (n.as_str(), *a)).collect();
        let made = build.op_with_regions(Relay::Fn.name(), &[], &[ty], &named, vec![region]);
        Ok(made.result_values()[0])
    }
}
