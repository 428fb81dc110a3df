//! `te-pack-arguments`: constants reach a kernel in the layout that its schedule asks for.
//!
//!     %w = te.constant [K][N]                          %w = te.constant [N / 64][K][64]
//!     te.call @k(%x, %w)                       =>      te.call @k(%x, %w)
//!     te.kernel @k(%x, %w) { .. %w[k, n] .. }          te.kernel @k(%x, %w) { .. %w[n / 64, k, n mod 64] .. }
//!     te.schedule for @k {                             te.schedule for @k { .. }
//!       te.transform_layout (te.input 1) by ..
//!     }
//!
//! The elements are moved at compile time, places without an element are 0, and the kernel indexes what it is given: the
//! primitive is then done and goes.

use super::layout::Layout;
use fusion_dialects::indices::load_of;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::{Op as Te, Scalars, handles};
use fusion_dialects::{
    Build, Op, OpExt, Pass, PassError, RunContext, StatisticSpec, Type, Value, ValueLike, arguments,
    defining_op, function_type, key, kind_of, nested_ops, ops_in, read_tensor, set_type, tensor_type,
    tensor_type_to_mlir, top_level, type_attr, users, write_tensor,
};
use fusion_operators::{Tensor, TensorType};
use std::collections::HashMap;

/// The pass.
pub struct TePackArguments;

impl Pass for TePackArguments {
    const NAME: &'static str = "te-pack-arguments";
    const DESCRIPTION: &'static str =
        "Give kernels their constant arguments in the layout of their schedules";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "packed", description: "Number of constants laid out anew" }];
    const DIALECTS: &'static [&'static str] = &["te", "arith"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let mut calls: HashMap<&str, Vec<Op<'c>>> = HashMap::new();
        for op in nested_ops(module) {
            if matches!(kind_of(op), Some(Kind::Te(Te::Call))) {
                calls.entry(op.text("kernel").unwrap_or_default()).or_default().push(op);
            }
        }
        let kernels: HashMap<&str, Op<'c>> = top_level(module, |k| matches!(k, Kind::Te(Te::Kernel)))
            .into_iter()
            .filter_map(|k| Some((k.text("sym_name")?, k)))
            .collect();
        let mut packed: Vec<(usize, Layout, Value<'c>)> = Vec::new();
        for schedule in top_level(module, |k| matches!(k, Kind::Te(Te::Schedule))) {
            let name = schedule.text("kernel").unwrap_or_default();
            let Some(&kernel) = kernels.get(name) else { continue };
            for (primitive, input) in wanted(schedule) {
                let layout = layout_of(kernel, primitive, input)?;
                for call in calls.get(name).map(Vec::as_slice).unwrap_or_default() {
                    pack_operand(*call, (primitive, input), &layout, &mut packed, cx)?;
                }
                index_packed(kernel, primitive, input, &layout)?;
                primitive.erase();
            }
        }
        // What was only wanted in its old layout need not be kept with the module.
        for constant in nested_ops(module) {
            if matches!(kind_of(constant), Some(Kind::Te(Te::Constant)))
                && constant.result_values().iter().all(|v| users(*v).is_empty())
            {
                constant.erase();
            }
        }
        Ok(())
    }
}

/// The `te.transform_layout` of arguments in a schedule.
fn wanted<'c>(schedule: Op<'c>) -> Vec<(Op<'c>, usize)> {
    let ops = schedule.body(0).map(ops_in).unwrap_or_default();
    let layouts = ops.into_iter().filter(|op| matches!(kind_of(*op), Some(Kind::Te(Te::TransformLayout))));
    layouts
        .filter_map(|op| {
            let source = defining_op(*op.operand_values().first()?)?;
            let is_input = matches!(kind_of(source), Some(Kind::Te(Te::Input)));
            let index = source.int("index").and_then(|i| usize::try_from(i).ok());
            is_input.then_some((op, index?))
        })
        .collect()
}

fn layout_of<'c>(kernel: Op<'c>, primitive: Op<'c>, input: usize) -> Result<Layout, PassError<'c>> {
    let inputs = kernel.body(0).map(arguments).unwrap_or_default();
    let ty = inputs.get(input).copied().and_then(tensor_type).ok_or_else(|| {
        PassError::at(primitive, format_args!("names argument {input}; the kernel has {}", inputs.len()))
    })?;
    let rank = ty.shape().map_or(0, |s| s.len());
    let map = primitive.attr("layout").ok_or_else(|| PassError::at(primitive, "has no layout"))?;
    Layout::of_map(map, rank).map_err(|why| PassError::at(primitive, why))
}

/// Calls with the packed constant.
fn pack_operand<'c>(
    call: Op<'c>,
    (primitive, input): (Op<'c>, usize),
    layout: &Layout,
    packed: &mut Vec<(usize, Layout, Value<'c>)>,
    cx: &mut RunContext,
) -> Result<(), PassError<'c>> {
    let Some(operand) = call.operand_values().get(input).copied() else { return Ok(()) };
    let known = packed.iter().find(|(of, by, _)| *of == key(operand) && by == layout);
    let value = match known {
        Some((_, _, value)) => *value,
        None => {
            let value = pack_constant(primitive, operand, (input, layout), packed.len())?;
            packed.push((key(operand), layout.clone(), value));
            cx.count(0, 1);
            value
        }
    };
    call.set_operand_value(input, value);
    Ok(())
}

fn pack_constant<'c>(
    primitive: Op<'c>,
    operand: Value<'c>,
    (input, layout): (usize, &Layout),
    number: usize,
) -> Result<Value<'c>, PassError<'c>> {
    let constant = defining_op(operand).filter(|op| matches!(kind_of(*op), Some(Kind::Te(Te::Constant))));
    let Some((op, value)) = constant.and_then(|op| Some((op, op.attr("value")?))) else {
        return Err(PassError::at(
            primitive,
            format_args!(
                "lays out argument {input}, for which a call gives a value that is no constant; lay out a te.cache_read of the \
                 argument instead {}",
                handles::context_of(primitive)
            ),
        ));
    };
    let tensor = read_tensor(value)
        .ok_or_else(|| PassError::at(op, "holds no data that could be laid out for the kernel"))?;
    let moved = pack(&tensor, layout).ok_or_else(|| {
        PassError::at(op, "is larger in the layout of the kernel's schedule than can be addressed")
    })?;
    let build = Build::before(op);
    let name = format!("packed_{number}");
    let ty = tensor_type_to_mlir(build.context(), &moved.tensor_type());
    let attr = write_tensor(build.context(), &moved, &name);
    Ok(build.value(Te::Constant.name(), &[], ty, &[("value", attr)]))
}

/// The elements of a tensor in another order; 0 where there is none.
fn pack(tensor: &Tensor, layout: &Layout) -> Option<Tensor> {
    let from: Vec<u64> = tensor.shape().iter().map(|&n| n as u64).collect();
    let to: Vec<usize> = layout.shape(&from).iter().map(|&n| n as usize).collect();
    let mut moved = Tensor::zeros(tensor.dtype(), &to).ok()?;
    let size = tensor.dtype().size();
    // What a step of each place is worth: along its axis, and in bytes of the tensor.
    let mut strides = vec![size; from.len()];
    for axis in (1..from.len()).rev() {
        strides[axis - 1] = strides[axis] * from[axis] as usize;
    }
    let Some((last, outer)) = layout.digits().split_last() else { return Some(moved) };
    let (run, step) = (to[outer.len()], strides[last.axis] * last.unit as usize);
    let mut digits = vec![0usize; outer.len()];
    let mut index = vec![0u64; from.len()];
    let source = tensor.bytes();
    // The elements of the last place are a run, along one axis of the tensor.
    for target in moved.bytes_mut().chunks_exact_mut((run * size).max(1)) {
        if index.iter().zip(&from).all(|(i, n)| i < n) {
            let at: usize = index.iter().zip(&strides).map(|(&i, s)| i as usize * s).sum();
            let left = (from[last.axis] - index[last.axis]).div_ceil(last.unit) as usize;
            copy_run(&mut target[..run.min(left) * size], &source[at..], (size, step));
        }
        for (place, digit) in outer.iter().enumerate().rev() {
            digits[place] += 1;
            index[digit.axis] += digit.unit;
            if digits[place] < to[place] {
                break;
            }
            index[digit.axis] -= digits[place] as u64 * digit.unit;
            digits[place] = 0;
        }
    }
    Some(moved)
}

/// Copies elements of a size to a place where they lie one behind the other, from one where they are a step apart.
fn copy_run(to: &mut [u8], from: &[u8], (size, step): (usize, usize)) {
    match size {
        _ if step == size => to.copy_from_slice(&from[..to.len()]),
        1 => copy_apart::<1>(to, from, step),
        2 => copy_apart::<2>(to, from, step),
        4 => copy_apart::<4>(to, from, step),
        _ => copy_apart::<8>(to, from, step),
    }
}

fn copy_apart<const SIZE: usize>(to: &mut [u8], from: &[u8], step: usize) {
    for (target, source) in to.as_chunks_mut::<SIZE>().0.iter_mut().zip(from.chunks(step)) {
        target.copy_from_slice(&source[..SIZE]);
    }
}

/// Has a kernel take the argument in the layout, and index it so.
fn index_packed<'c>(
    kernel: Op<'c>,
    primitive: Op<'c>,
    input: usize,
    layout: &Layout,
) -> Result<(), PassError<'c>> {
    let Some(block) = kernel.body(0) else { return Ok(()) };
    let argument = arguments(block)[input];
    let Some((ty, shape)) = tensor_type(argument).and_then(|t| Some((t.clone(), t.shape()?))) else {
        return Err(PassError::at(primitive, "lays out an argument of unknown extents"));
    };
    for op in nested_ops(kernel) {
        let Some(at) = op.operand_values().iter().position(|v| key(*v) == key(argument)) else { continue };
        let Some((_, indices)) = load_of(op).filter(|_| at == 0) else {
            return Err(PassError::at(
                primitive,
                format_args!("lays out argument {input}, which is read as a whole by '{}'", op.full_name()),
            ));
        };
        let scalars = Scalars { build: Build::before(op) };
        let behind = op.operand_values().split_off(1 + indices.len());
        let mut operands = vec![argument];
        for digit in layout.digits() {
            let quotient = scalars.index_div(indices[digit.axis], digit.unit as i64);
            operands.push(digit.base.map_or(quotient, |base| scalars.index_mod(quotient, base as i64)));
        }
        operands.extend(behind);
        let results: Vec<Type> = op.result_values().iter().map(|v| v.r#type()).collect();
        let new = scalars.build.op(&op.full_name(), &operands, &results, &[]);
        op.replace_all_uses(&new.result_values());
        op.erase();
    }
    let context = kernel.context_ref();
    let packed = TensorType::fixed(&layout.shape(&shape), ty.dtype);
    set_type(argument, tensor_type_to_mlir(context, &packed));
    let inputs: Vec<Type> = arguments(block).iter().map(|v| v.r#type()).collect();
    let results: Vec<Type> = ops_in(block)
        .last()
        .map(|op| op.operand_values())
        .unwrap_or_default()
        .iter()
        .map(|v| v.r#type())
        .collect();
    kernel.set_attr("function_type", type_attr(function_type(context, &inputs, &results)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::layout::Digit;
    use super::*;

    #[test]
    fn panels_of_two_columns_are_filled_up_with_zeros() {
        let tensor = Tensor::from_slice(&[2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("six numbers");
        let digits = vec![
            Digit { axis: 1, unit: 2, base: None },
            Digit { axis: 0, unit: 1, base: None },
            Digit { axis: 1, unit: 1, base: Some(2) },
        ];
        let layout = Layout::new(2, digits).expect("a layout");
        let moved = pack(&tensor, &layout).expect("eight numbers");
        assert_eq!(moved.shape(), [2, 2, 2]);
        let expected =
            Tensor::from_slice(&[2, 2, 2], &[1.0f32, 2.0, 4.0, 5.0, 3.0, 0.0, 6.0, 0.0]).expect("eight");
        assert_eq!(moved.bytes(), expected.bytes());
    }
}
