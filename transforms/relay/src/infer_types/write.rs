//! The types that were found go into the program; those that were not are errors.

use super::functions::{Function, Inference, OpenValue, Place};
use super::solver::Failure;
use fusion_dialects::relay::{Op as Functional, TYPE_PARAMS};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, PassError, Type, ValueLike, arguments, function_parts, function_type, nested_ops,
    set_type, texts_attr, texts_of, type_attr, type_of_attr,
};
use indexmap::IndexMap;

impl<'c> Inference<'c> {
    /// Writes types, and takes annotations away.
    pub fn write(mut self) -> Result<(), Failure<'c>> {
        let open = std::mem::take(&mut self.open);
        for value in &open {
            let Some(ty) = self.solver.type_of_term(self.context, value.term) else {
                return Err(self.not_determined(value));
            };
            if !self.functions[value.function].foreign.is_empty() {
                let names = self.solver.names(value.term);
                // A variable that is some other function's: no call of this one could choose it.
                if !names.types.is_disjoint(&self.functions[value.function].foreign) {
                    return Err(self.not_determined(value));
                }
            }
            set_type(value.value, ty);
        }
        for index in 0..self.functions.len() {
            if self.functions[index].open {
                self.write_function(index)?;
            }
        }
        for op in self.annotations {
            let (value, result) = (op.operand_values()[0], op.result_values()[0]);
            if value.r#type() == result.r#type() {
                op.replace_all_uses(&[value]);
                op.erase();
            }
        }
        for function in self.functions.values().filter(|f| f.open) {
            exact(function.op, &self.functions);
        }
        Ok(())
    }

    fn write_function(&mut self, index: usize) -> Result<(), Failure<'c>> {
        let (op, block) = (self.functions[index].op, self.functions[index].block);
        let Some(block) = block.filter(|_| self.functions[index].open_signature) else { return Ok(()) };
        let results = self.functions[index].results.clone();
        let mut types = Vec::new();
        for (i, term) in results.into_iter().enumerate() {
            let Some(ty) = self.solver.type_of_term(self.context, term) else {
                let found = self.solver.shown(term);
                let message = format!(
                    "the type of result {i} of @{} is not determined: {found}; write the function's result type",
                    op.text("sym_name").unwrap_or_default()
                );
                return Err(PassError::at(op, message));
            };
            types.push(ty);
        }
        let inputs: Vec<Type> = arguments(block).iter().map(|v| v.r#type()).collect();
        op.set_attr("function_type", type_attr(function_type(self.context, &inputs, &types)));
        let scheme = self.functions[index].scheme.clone().unwrap_or_default();
        let mut names: Vec<&str> = op.attr(TYPE_PARAMS).map(texts_of).unwrap_or_default();
        let more: Vec<&str> = scheme.types.iter().map(|n| &**n).filter(|n| !names.contains(n)).collect();
        if !more.is_empty() {
            names.extend(more);
            op.set_attr(TYPE_PARAMS, texts_attr(self.context, &names));
        }
        Ok(())
    }

    fn not_determined(&self, open: &OpenValue<'c>) -> Failure<'c> {
        let found = self.solver.shown(open.term);
        let function = match open.op.kind() {
            Some(Kind::Upstream(Upstream::Func)) => {
                format!(" of @{}", open.op.text("sym_name").unwrap_or_default())
            }
            _ => String::new(),
        };
        let (what, advice) = match open.place {
            Place::Argument(i) => (format!("argument {i}{function}"), "write the type of the parameter"),
            Place::Result(i) => (
                format!("result {i}"),
                "annotate the value, with relay.ascribe to its type (in Relay text, let %x: T = ...)",
            ),
        };
        PassError::at(open.op, format!("has a type that is not determined: {what} is {found}; {advice}"))
    }
}

fn signature<'c>(function: Op<'c>) -> Option<(Vec<Type<'c>>, Vec<Type<'c>>)> {
    function.attr("function_type").and_then(type_of_attr).and_then(function_parts)
}

/// Upstream's verifiers want the very types that functions are declared with: where extents differ, a view says so.
fn exact<'c>(function: Op<'c>, functions: &IndexMap<&str, Function<'c>>) {
    for op in nested_ops(function) {
        let declared = match op.kind() {
            Some(Kind::Upstream(Upstream::Return)) => signature(function).map(|(_, results)| results),
            Some(Kind::Upstream(Upstream::Call)) => {
                let callee = functions.get(op.text("callee").unwrap_or_default());
                callee.and_then(|f| signature(f.op)).map(|(inputs, _)| inputs)
            }
            _ => None,
        };
        let Some(declared) = declared else { continue };
        for (i, (value, ty)) in op.operand_values().into_iter().zip(declared).enumerate() {
            if value.r#type() != ty {
                let view = Build::before(op).value(Functional::Ascribe.name(), &[value], ty, &[]);
                op.set_operand_value(i, view);
            }
        }
    }
}
