//! Builds the body of a kernel: one `te.compute` after another.

use super::combine::Neutral;
use super::parts::{Parts, Slice};
use super::scalar::{Scalar, Scalars};
use crate::loops::{Buffer, Loops};
use crate::{
    Attribute, Build, Location, Type, Value, array_attr, index_type, ints_attr, scalar_type, str_attr,
    tensor_type_to_mlir,
};
use fusion_operators::{DType, Dim, TensorType};
use melior::ir::Region;
use melior::ir::attribute::{FloatAttribute, IntegerAttribute};
use std::cell::Cell;
use std::rc::Rc;

/// Builds the computations of one kernel.
pub struct Kernel<'c> {
    /// The place: the end of the kernel's block.
    pub build: Build<'c>,
    named: Rc<Cell<usize>>,
}

/// The part of a tensor that a nest goes over.
pub struct View<'c> {
    /// What it lies in.
    pub buffer: Buffer<'c>,
    /// The index of its first element.
    pub first: Value<'c>,
    /// How far apart neighbours along each axis are.
    pub strides: Vec<Value<'c>>,
}

impl<'c> Kernel<'c> {
    /// Computations at a place.
    pub fn new(build: Build<'c>) -> Self {
        Kernel { build, named: Rc::default() }
    }

    /// The same kernel, with another location for what is built next.
    pub fn at(&self, location: Location<'c>) -> Self {
        Kernel { build: self.build.at(location), named: Rc::clone(&self.named) }
    }

    /// The type in which scalars of an element type are computed here.
    pub fn compute_type(&self, dtype: DType) -> DType {
        self.build.compute_type(dtype)
    }

    fn fresh(&self, name: &str) -> Attribute<'c> {
        let n = self.named.get();
        self.named.set(n + 1);
        str_attr(self.build.context(), &if n == 0 { name.to_owned() } else { format!("{name}_{n}") })
    }

    /// A tensor given element by element: `body` takes the indices and gives the element, which is converted
    /// to the tensor's type.
    pub fn compute(
        &self,
        name: &str,
        ty: &TensorType,
        body: impl FnOnce(&Scalars<'c>, &[Value<'c>]) -> Scalar<'c>,
    ) -> Value<'c> {
        self.stage(
            name,
            std::slice::from_ref(ty),
            &[0u64; 0],
            &[],
            |s, axes, _| vec![body(s, axes)],
            |_, a, _| a.to_vec(),
        )[0]
    }

    /// The general form: several results of one shape, any combiner (which takes the values so far and the new
    /// ones). Without reduction axes, `neutral` is empty and the combiner is not used.
    pub fn stage(
        &self,
        name: &str,
        types: &[TensorType],
        reduce: &[impl Into<Dim> + Clone],
        neutral: &[Neutral],
        body: impl FnOnce(&Scalars<'c>, &[Value<'c>], &[Value<'c>]) -> Vec<Scalar<'c>>,
        combiner: impl FnOnce(&Scalars<'c>, &[Scalar<'c>], &[Scalar<'c>]) -> Vec<Scalar<'c>>,
    ) -> Vec<Value<'c>> {
        let context = self.build.context();
        let reduced: Vec<Dim> = reduce.iter().cloned().map(Into::into).collect();
        let number = |dim: &Dim| dim.known().map_or(super::DYNAMIC, |n| n as i64);
        let shape: Vec<i64> = types[0].dims.iter().map(number).collect();
        let over: Vec<i64> = reduced.iter().map(number).collect();
        let indices = vec![index_type(context); shape.len() + over.len()];
        let finish = |inner: Build<'c>, values: Vec<Scalar<'c>>| {
            let s = Scalars { build: inner };
            let values: Vec<_> = values.iter().zip(types).map(|(v, t)| s.cast(*v, t.dtype).value).collect();
            inner.op(super::Op::Yield.name(), &values, &[], &[]);
        };
        let region = self.build.region(&indices, |inner, args| {
            let (axes, reduced) = args.split_at(shape.len());
            finish(inner, body(&Scalars { build: inner }, axes, reduced));
        });
        let combining = if reduce.is_empty() {
            Region::new()
        } else {
            let scalars: Vec<Type> = types.iter().map(|t| scalar_type(context, t.dtype)).collect();
            self.build.region(&[scalars.clone(), scalars].concat(), |inner, args| {
                let of = |values: &[Value<'c>]| -> Vec<Scalar<'c>> {
                    values.iter().zip(types).map(|(&value, t)| Scalar { value, dtype: t.dtype }).collect()
                };
                let (so_far, new) = args.split_at(types.len());
                finish(inner, combiner(&Scalars { build: inner }, &of(so_far), &of(new)));
            })
        };
        let init: Vec<Attribute> =
            neutral.iter().zip(types).map(|(n, t)| self.neutral_attr(*n, t.dtype)).collect();
        let results: Vec<Type> = types.iter().map(|t| tensor_type_to_mlir(context, t)).collect();
        let mut attrs = vec![
            ("name", self.fresh(name)),
            ("axes", ints_attr(context, &shape)),
            ("reduce", ints_attr(context, &over)),
            ("init", array_attr(context, &init)),
        ];
        let all = types[0].dims.iter().chain(&reduced);
        if all.clone().any(|dim| dim.known().is_none()) {
            let name = |dim: &Dim| str_attr(context, if let Dim::Symbol(name) = dim { name } else { "" });
            attrs.push((super::NAMES, array_attr(context, &all.map(name).collect::<Vec<_>>())));
        }
        let op = self.build.op_with_regions(
            super::Op::Compute.name(),
            &[],
            &results,
            &attrs,
            vec![region, combining],
        );
        crate::OpExt::result_values(op)
    }

    /// Tensors computed by a loop nest written by hand: `body` takes the flat buffers of the inputs and results.
    pub fn nest(
        &self,
        name: &str,
        inputs: &[Value<'c>],
        types: &[TensorType],
        body: impl FnOnce(&Loops<'c>, &[Buffer<'c>], &[Buffer<'c>]),
    ) -> Vec<Value<'c>> {
        let attrs = [("name", self.fresh(name))];
        self.extern_op(&attrs, inputs, types, body)
    }

    /// As [`Self::nest`], with one result that starts as a copy of the first input.
    pub fn update(
        &self,
        name: &str,
        inputs: &[Value<'c>],
        ty: &TensorType,
        body: impl FnOnce(&Loops<'c>, &[Buffer<'c>], &[Buffer<'c>]),
    ) -> Vec<Value<'c>> {
        let attrs = [("name", self.fresh(name)), ("updates", crate::int_attr(self.build.context(), 0))];
        self.extern_op(&attrs, inputs, std::slice::from_ref(ty), body)
    }

    /// A tensor computed by a loop nest written by hand in `count` parts: `body` takes the number of the part and what belongs to it of
    /// the inputs and of the result.
    pub fn nest_by_parts(
        &self,
        name: &str,
        count: u64,
        inputs: &[(Value<'c>, Option<Slice>)],
        (ty, slice): (&TensorType, Slice),
        body: impl FnOnce(&Loops<'c>, Value<'c>, &[View<'c>], &View<'c>),
    ) -> Value<'c> {
        let context = self.build.context();
        let (values, mut slices): (Vec<Value<'c>>, Vec<Option<Slice>>) = inputs.iter().copied().unzip();
        slices.push(Some(slice));
        let given: Vec<TensorType> = values.iter().filter_map(|v| crate::tensor_type(*v)).collect();
        let all = [given.as_slice(), std::slice::from_ref(ty)].concat();
        let mut taken = vec![index_type(context)];
        for ty in &all {
            taken.push(crate::buffer_type(context, ty.elements().unwrap_or(0), ty.dtype));
            taken.extend(vec![index_type(context); 1 + ty.rank()]);
        }
        let region = self.build.region(&taken, |inner, args| {
            let (mut views, mut rest) = (Vec::new(), &args[1..]);
            for ty in &all {
                let (own, behind) = rest.split_at(2 + ty.rank());
                let buffer = Buffer { value: own[0], dtype: ty.dtype };
                views.push(View { buffer, first: own[1], strides: own[2..].to_vec() });
                rest = behind;
            }
            let loops = Loops { build: inner };
            if let Some((result, inputs)) = views.split_last() {
                body(&loops, args[0], inputs, result);
            }
            loops.finish(&[]);
        });
        let parts = Parts { count, slices };
        let attrs = [
            ("name", self.fresh(name)),
            ("axes", ints_attr(context, &[count as i64])),
            ("parts", ints_attr(context, &parts.numbers())),
        ];
        let results = [tensor_type_to_mlir(context, ty)];
        let op =
            self.build.op_with_regions(super::Op::Extern.name(), &values, &results, &attrs, vec![region]);
        crate::OpExt::result_values(op)[0]
    }

    fn extern_op(
        &self,
        attrs: &[(&str, Attribute<'c>)],
        inputs: &[Value<'c>],
        types: &[TensorType],
        body: impl FnOnce(&Loops<'c>, &[Buffer<'c>], &[Buffer<'c>]),
    ) -> Vec<Value<'c>> {
        let context = self.build.context();
        let given: Vec<TensorType> = inputs.iter().filter_map(|v| crate::tensor_type(*v)).collect();
        let all = [given.as_slice(), types].concat();
        let buffers: Vec<Type> = all
            .iter()
            .map(|t| crate::buffer_type(context, super::elements_of(t).unwrap_or(0), t.dtype))
            .collect();
        let region = self.build.region(&buffers, |inner, args| {
            let buffers: Vec<Buffer> =
                args.iter().zip(&all).map(|(&value, t)| Buffer { value, dtype: t.dtype }).collect();
            let (ins, outs) = buffers.split_at(inputs.len());
            let loops = Loops { build: inner };
            body(&loops, ins, outs);
            loops.finish(&[]);
        });
        let results: Vec<Type> = types.iter().map(|t| tensor_type_to_mlir(context, t)).collect();
        let op = self.build.op_with_regions(super::Op::Extern.name(), inputs, &results, attrs, vec![region]);
        crate::OpExt::result_values(op)
    }

    fn neutral_attr(&self, neutral: Neutral, dtype: DType) -> Attribute<'c> {
        let context = self.build.context();
        let ty = scalar_type(context, dtype);
        match neutral {
            Neutral::Float(v) => FloatAttribute::new(context, ty, v).into(),
            Neutral::Int(v) => IntegerAttribute::new(ty, v).into(),
        }
    }
}
