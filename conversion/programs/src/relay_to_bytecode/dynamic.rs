//! Operators on tensors whose extents are known at run time only, and the checks that such extents are what types say.
//!
//! ```text
//!   func.func @f(%x: tensor<nx4xf32>, %y: tensor<nxf32>)        check %0: tensor<nx4xf32>, %1: tensor<nxf32>
//!   %z = relay.relu %x : tensor<?x4xf32>                        %2 = operator relu %0
//!   relay.call @g(%z) : (tensor<?x4xf32>), @g takes 8x4         check %2: tensor<8x4xf32>
//! ```
//!
//! A check stands where a type says more than what is known of the value: where a function begins whose parameters share a named
//! extent, before a call whose parameters are narrower, after an operator whose result is, and where a type is ascribed. What comes
//! out of data, cells, function values and branches may be wider than its type says without anybody having seen where: it is
//! compared before the first kernel that was compiled for that type, and before `@main` gives it. Programs without dynamic extents have none
//! of these checks.

use super::function::Body;
use super::known::Known;
use super::program::signature;
use fusion_bytecode::{Instruction, Register};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Op, OpExt, PassError, Type, TypeParts, Value, ValueLike, defining_op, key, kind_of, relay, tensor_type,
    tensor_type_of, type_parts,
};
use fusion_operators::{Dim, Operator, TensorType};
use fusion_relay_to_te::dynamic;

impl<'c> Body<'_, 'c> {
    /// An operator that no kernel was made of.
    pub fn operator(&mut self, op: Op<'c>, operator: &'static Operator) -> Result<(), PassError<'c>> {
        let typed = |values: Vec<Value<'c>>| -> Result<Vec<TensorType>, PassError<'c>> {
            let of = |v: &Value<'c>| {
                let why = || {
                    PassError::at(
                        op,
                        format!("has an operand or result of type {}, which is no tensor", v.r#type()),
                    )
                };
                tensor_type(*v).ok_or_else(why)
            };
            values.iter().map(of).collect()
        };
        let (operands, results) = (typed(op.operand_values())?, typed(op.result_values())?);
        let attributes = op.attrs();
        if let Some(name) = attributes.names().first() {
            let why = format!(
                "has the extent {name} in its attributes, and no kernel is made of it: {}",
                dynamic::why_not(op, operator)
            );
            return Err(PassError::at(op, why));
        }
        let related = operator.infer(&operands, &attributes).map_err(|why| PassError::at(op, why))?;
        let seen =
            op.operand_values().into_iter().map(|v| self.look(op, v)).collect::<Result<Vec<_>, _>>()?;
        let inputs = seen.iter().map(|(register, _)| *register).collect();
        let outputs: Vec<Register> = op.result_values().into_iter().map(|v| self.define(v)).collect();
        let name = operator.name.to_owned();
        self.code.emit(Instruction::Operator {
            operator: name,
            attributes,
            inputs,
            outputs: outputs.clone(),
        });
        self.drop_made(&seen);
        let narrower = outputs
            .into_iter()
            .zip(results)
            .zip(&related)
            .filter(|((_, claimed), known)| says_more(claimed, known));
        let (values, types): (Vec<_>, Vec<_>) = narrower.map(|(checked, _)| checked).unzip();
        self.check(values, types);
        self.settle(op);
        Ok(())
    }

    /// Where a function begins: an extent that has a name is the same everywhere.
    pub fn check_parameters(&mut self, parameters: &[Value<'c>]) -> Result<(), PassError<'c>> {
        let names = |ty: &TensorType| ty.dims.iter().any(|dim| matches!(dim, Dim::Symbol(_)));
        let named: Vec<_> =
            parameters.iter().filter_map(|v| Some((*v, tensor_type(*v).filter(names)?))).collect();
        let mut all: Vec<&Dim> =
            named.iter().flat_map(|(_, ty)| &ty.dims).filter(|dim| dim.known().is_none()).collect();
        let count = all.len();
        all.sort();
        all.dedup();
        if all.len() == count {
            // Each name stands once: there is nothing to compare.
            return Ok(());
        }
        let (values, types): (Vec<_>, Vec<_>) = named.into_iter().unzip();
        let registers = values.into_iter().filter_map(|v| self.registers.get(&key(v)).copied()).collect();
        self.check(registers, types);
        Ok(())
    }

    /// Before a call: arguments whose parameters are narrower.
    pub fn check_arguments(&mut self, op: Op<'c>) -> Result<(), PassError<'c>> {
        let (arguments, parameters) = match kind_of(op) {
            Some(Kind::Relay(relay::Op::Apply)) => {
                let operands = op.operand_values();
                let Some((callee, arguments)) = operands.split_first() else { return Ok(()) };
                let TypeParts::Function(parameters, _) = type_parts(callee.r#type()) else { return Ok(()) };
                (arguments.to_vec(), parameters)
            }
            Some(Kind::Relay(relay::Op::Call) | Kind::Upstream(Upstream::Call)) => {
                let callee = self.program.function_named(op.text("callee").unwrap_or_default());
                let parameters = callee.map_or_else(Vec::new, |callee| signature(callee).0);
                (op.operand_values(), parameters)
            }
            _ => return Ok(()),
        };
        let narrower = |(value, parameter): (Value<'c>, Type<'c>)| {
            let (known, claimed) = (tensor_type(value)?, tensor_type_of(parameter)?);
            // A name of the parameter's is the callee's own.
            let fixed =
                claimed.dims.iter().zip(&known.dims).any(|(c, k)| c.known().is_some() && k.known().is_none());
            fixed.then_some((value, claimed))
        };
        for (value, claimed) in arguments.into_iter().zip(parameters).filter_map(narrower) {
            let (register, made) = self.look(op, value)?;
            self.check(vec![register], vec![claimed]);
            self.drop_made(&[(register, made)]);
        }
        Ok(())
    }

    /// Before a kernel that was compiled for fixed extents: operands that may have others.
    pub fn check_inputs(&mut self, op: Op<'c>, inputs: &[Register]) {
        for (value, register) in op.operand_values().into_iter().zip(inputs) {
            self.check_fixed(value, value.r#type(), *register);
        }
    }

    /// Before `@main` gives its values.
    pub fn check_given(&mut self, op: Op<'c>, given: &[Value<'c>]) -> Result<(), PassError<'c>> {
        let types = self.given.clone();
        given.iter().zip(types).try_for_each(|(value, ty)| self.check_value(op, *value, ty))
    }

    fn check_value(&mut self, op: Op<'c>, value: Value<'c>, ty: Type<'c>) -> Result<(), PassError<'c>> {
        match (self.program.facts.known(value), type_parts(ty)) {
            (Known::Tuple(tuple), TypeParts::Tuple(types)) => {
                let elements = tuple.operand_values().into_iter().zip(types);
                return elements.into_iter().try_for_each(|(value, ty)| self.check_value(op, value, ty));
            }
            (_, TypeParts::Tensor(_)) => {
                let (register, made) = self.look(op, value)?;
                self.check_fixed(value, ty, register);
                self.drop_made(&[(register, made)]);
            }
            (Known::Value(_), TypeParts::Tuple(types)) => {
                let (register, made) = self.look(op, value)?;
                self.check_elements(register, &types);
                self.drop_made(&[(register, made)]);
            }
            _ => {}
        }
        Ok(())
    }

    /// Compares the elements of a tuple with their types.
    fn check_elements(&mut self, tuple: Register, types: &[Type<'c>]) {
        for (index, ty) in types.iter().enumerate() {
            let parts = type_parts(*ty);
            if !matches!(parts, TypeParts::Tensor(_) | TypeParts::Tuple(_)) {
                continue;
            }
            let to = self.code.fresh();
            self.code.emit(Instruction::Field { to, from: tuple, index: index as u32 });
            match parts {
                TypeParts::Tuple(inner) => self.check_elements(to, &inner),
                TypeParts::Tensor(ty) => self.check(vec![to], vec![fixed(&ty)]),
                _ => {}
            }
            self.code.drop_register(to);
        }
    }

    /// Where a type is written that says more than is known.
    pub fn check_ascribed(&mut self, op: Op<'c>) {
        let ([value], [ascribed]) = (&op.operand_values()[..], &op.result_values()[..]) else { return };
        let (Some(known), Some(claimed)) = (tensor_type(*value), tensor_type(*ascribed)) else { return };
        let Known::Value(value) = self.program.facts.known(*value) else { return };
        let register = self.registers.get(&key(value)).copied();
        if let Some(register) = register.filter(|_| says_more(&claimed, &known)) {
            self.check_fixed(value, ascribed.r#type(), register);
        }
    }

    /// Compares a value with a type whose known extents are relied on, unless they follow from how it was made.
    fn check_fixed(&mut self, value: Value<'c>, ty: Type<'c>, register: Register) {
        let Some(claimed) = tensor_type_of(ty).filter(|ty| ty.dims.iter().any(|dim| dim.known().is_some()))
        else {
            return;
        };
        let Known::Value(made) = self.program.facts.known(value) else { return };
        if !self.program.is_dynamic || self.is_certain(made, &claimed) {
            return;
        }
        let fixed = fixed(&claimed);
        if self.checked.insert((key(made), fixed.to_string())) {
            self.check(vec![register], vec![fixed]);
        }
    }

    /// True for results of kernels and operators, which have the extents that their types say.
    fn is_certain(&self, made: Value<'c>, claimed: &TensorType) -> bool {
        let Some(op) = defining_op(made) else { return false };
        let computed = match kind_of(op) {
            Some(Kind::Operator(_)) => true,
            Some(Kind::Upstream(Upstream::Call)) => {
                self.program.is_kernel(op.text("callee").unwrap_or_default())
            }
            _ => false,
        };
        computed && tensor_type(made).is_some_and(|known| !says_more(claimed, &known))
    }

    fn check(&mut self, values: Vec<Register>, types: Vec<TensorType>) {
        if !values.is_empty() {
            self.code.emit(Instruction::CheckTypes { values, types });
        }
    }
}

/// The type without names of extents: they are the program's own, and compared where they begin.
fn fixed(ty: &TensorType) -> TensorType {
    let dims = ty.dims.iter().map(|dim| dim.known().map_or(Dim::Any, Dim::Static)).collect();
    TensorType::new(dims, ty.dtype)
}

/// True when a type says of an extent what another does not.
fn says_more(claimed: &TensorType, known: &TensorType) -> bool {
    claimed
        .dims
        .iter()
        .zip(&known.dims)
        .any(|(claimed, known)| claimed.known().is_some() && known.known().is_none())
}
