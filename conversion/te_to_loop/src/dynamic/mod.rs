//! Kernels of dynamic extents: loops that run as often as the caller says.
//!
//! ```text
//!   te.kernel @k(%x: tensor<n0x64xf32>)             func.func @k(%x: memref<..>, %extents: memref<1xi64>, %y: memref<..>, ..)
//!       -> tensor<n0x64xf32>                   =>     %n0 = load %extents[0]
//!     te.compute axes [n0, 64] { ... }                loop.upto (%n0 / rows of a block) parallel { loop.for 64 { ... } }
//! ```
//!
//! Buffers are flat, of a length that is known nowhere; an index is computed from the extents. Nothing is scheduled: a stage that is used
//! once, or that only moves elements, is computed where it is used ([`inline`]), any other has loops of its own, over its axes in
//! order. The outermost loop is cut into blocks of rows that threads share; the innermost is left to LLVM, which makes vectors of it
//! and computes the rest of them one by one. Products of matrices have tiles of registers ([`tile`]). What stages hand to each other
//! lies in [`temporaries`], which the caller gives behind the results: their types are an attribute of the function.

mod body;
mod inline;
mod nest;
mod reads;
mod temporaries;
mod tile;

use super::plan_memory::{CONSTANTS_BYTES, INPUTS, OUTPUTS, WORKSPACE_BYTES};
use super::roundings::Roundings;
use fusion_dialects::loops::{Buffer, DYNAMIC_ELEMENTS, KERNEL, Loops};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::{EXTENTS, Op as Te, RANGES};
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, PassError, Type, Value, ValueLike, ValueMap, arguments, array_attr,
    array_elements, buffer_type, defining_op, dict_attr, function_type, index_type, int_attr, key, kind_of,
    nested_ops, ops_in, str_attr, tensor_type, text_of, type_attr, unit_attr,
};
use fusion_operators::{DType, Dim, TensorType};
use std::collections::HashMap;

/// The attribute of a function with the types of its temporaries.
pub const TEMPORARIES: &str = "loop.temporaries";

/// True for kernels of dynamic extents.
pub fn is_dynamic(kernel: Op) -> bool {
    kernel.attr(EXTENTS).is_some()
}

/// A kernel being lowered.
struct Lowering<'c> {
    kernel: Op<'c>,
    /// Which roundings of the source are kept.
    roundings: Roundings,
    /// Where tensors lie.
    places: HashMap<usize, Buffer<'c>>,
    /// The numbers of the extents that have names.
    extents: HashMap<String, Value<'c>>,
    /// What is known of them.
    ranges: HashMap<String, Range>,
    /// Constants of the kernel's block.
    outside: ValueMap<'c>,
    /// Stages that are computed where they are used.
    inlined: inline::Inlined,
    error: Option<PassError<'c>>,
}

/// What is known of an extent: the largest number, and what it is a multiple of.
#[derive(Clone, Copy)]
struct Range {
    most: u64,
    multiple: u64,
}

impl Range {
    const ANY: Range = Range { most: u64::MAX, multiple: 1 };
}

/// What is known of the extents of a kernel.
fn ranges_of(kernel: Op, names: &[String]) -> HashMap<String, Range> {
    let written = kernel.ints(RANGES).unwrap_or_default();
    let range = |(name, numbers): (&String, &[i64])| match numbers {
        [_, most, multiple] => Some((
            name.clone(),
            Range { most: (*most).try_into().ok()?, multiple: (*multiple).try_into().ok()? },
        )),
        _ => None,
    };
    names.iter().zip(written.chunks(3)).filter_map(range).collect()
}

/// Makes the function of a kernel before it.
pub fn lower<'c>(kernel: Op<'c>, roundings: Roundings) -> Result<(), PassError<'c>> {
    let block = kernel.body(0).ok_or_else(|| PassError::at(kernel, "has no body"))?;
    let ops = ops_in(block);
    let returned = ops.last().map(|op| op.operand_values()).unwrap_or_default();
    let inputs = arguments(block);
    let inlined = inline::Inlined::of(&ops, &returned);
    let mut own: Vec<Value> = Vec::new();
    let mut direct: HashMap<usize, usize> = HashMap::new();
    for (i, value) in returned.iter().enumerate() {
        let maker =
            defining_op(*value).filter(|op| matches!(kind_of(*op), Some(Kind::Te(Te::Compute | Te::Extern))));
        if maker.is_some() {
            direct.entry(key(*value)).or_insert(i);
        }
    }
    for op in &ops {
        match kind_of(*op) {
            Some(Kind::Te(Te::Compute | Te::Extern)) if !inlined.has(*op) => {
                own.extend(op.result_values().into_iter().filter(|v| !direct.contains_key(&key(*v))));
            }
            _ => {}
        }
    }
    let build = Build::before(kernel);
    let context = build.context();
    let typed = |v: &Value<'c>| -> Result<TensorType, PassError<'c>> {
        tensor_type(*v).ok_or_else(|| PassError::at(kernel, "has a value that is no tensor"))
    };
    let own = own.into_iter().map(|v| Ok((v, typed(&v)?))).collect::<Result<Vec<_>, PassError>>()?;
    let temporaries = temporaries::Temporaries::of(&ops, &own, &inlined);
    let names = kernel.attr(EXTENTS).map(array_elements).unwrap_or_default();
    let names: Vec<String> = names.into_iter().filter_map(|n| text_of(n).map(str::to_owned)).collect();
    let buffer = |ty: &TensorType| buffer_type(context, ty.elements().unwrap_or(DYNAMIC_ELEMENTS), ty.dtype);
    let mut types: Vec<Type> = Vec::new();
    for value in &inputs {
        types.push(buffer(&typed(value)?));
    }
    types.push(buffer_type(context, names.len().max(1) as u64, DType::I64));
    for value in &returned {
        types.push(buffer(&typed(value)?));
    }
    types.extend(temporaries.types.iter().map(buffer));
    // As of any program over memory: constants, which it has none of, and a workspace, which it does not need.
    types.extend([buffer_type(context, 1, DType::I8); 2]);
    let outputs = returned.len() + temporaries.types.len();
    let mut lowering = Lowering {
        kernel,
        roundings,
        places: HashMap::new(),
        extents: HashMap::new(),
        ranges: ranges_of(kernel, &names),
        outside: ValueMap::new(),
        inlined,
        error: None,
    };
    let region = build.region(&types, |inner, args| {
        let loops = Loops { build: inner };
        let (takes, behind) = args.split_at(inputs.len());
        for (tensor, value) in inputs.iter().zip(takes) {
            lowering.put(*tensor, *value);
        }
        lowering.load_extents(&loops, &names, behind[0]);
        let results = &behind[1..];
        for (i, tensor) in returned.iter().enumerate() {
            if direct.get(&key(*tensor)) == Some(&i) {
                lowering.put(*tensor, results[i]);
            }
        }
        for ((tensor, _), temporary) in own.iter().zip(&temporaries.of) {
            lowering.put(*tensor, results[returned.len() + temporary]);
        }
        for op in &ops {
            lowering.operation(&loops, *op);
        }
        for (i, tensor) in returned.iter().enumerate() {
            if direct.get(&key(*tensor)) != Some(&i) {
                lowering.copy(&loops, *tensor, results[i]);
            }
        }
        inner.op(Upstream::Return.name(), &[], &[], &[]);
    });
    if let Some(error) = lowering.error {
        return Err(error);
    }
    let noalias = dict_attr(context, &[("llvm.noalias", unit_attr(context))]);
    let temporaries: Vec<_> = temporaries
        .types
        .iter()
        .map(|ty| type_attr(fusion_dialects::tensor_type_to_mlir(context, ty)))
        .collect();
    let attrs = [
        ("sym_name", str_attr(context, kernel.text("sym_name").unwrap_or_default())),
        ("function_type", type_attr(function_type(context, &types, &[]))),
        ("arg_attrs", array_attr(context, &vec![noalias; types.len()])),
        (KERNEL, unit_attr(context)),
        (TEMPORARIES, array_attr(context, &temporaries)),
        (INPUTS, int_attr(context, inputs.len() as i64 + 1)),
        (OUTPUTS, int_attr(context, outputs as i64)),
        (CONSTANTS_BYTES, int_attr(context, 0)),
        (WORKSPACE_BYTES, int_attr(context, 0)),
    ];
    build.op_with_regions(Upstream::Func.name(), &[], &[], &attrs, vec![region]);
    Ok(())
}

impl<'c> Lowering<'c> {
    fn put(&mut self, tensor: Value<'c>, value: Value<'c>) {
        let dtype = tensor_type(tensor).map_or(DType::F32, |ty| ty.dtype);
        self.places.insert(key(tensor), Buffer { value, dtype });
    }

    fn fail(&mut self, error: PassError<'c>) {
        self.error.get_or_insert(error);
    }

    fn load_extents(&mut self, loops: &Loops<'c>, names: &[String], buffer: Value<'c>) {
        let buffer = Buffer { value: buffer, dtype: DType::I64 };
        let s = loops.scalars();
        for (i, name) in names.iter().enumerate() {
            let number = loops.load_raw(buffer, s.index(i as i64)).value;
            let ty = index_type(loops.build.context());
            let extent = loops.build.value("arith.index_cast", &[number], ty, &[]);
            self.extents.insert(name.clone(), extent);
        }
    }

    /// The number of an extent.
    fn extent(&mut self, loops: &Loops<'c>, dim: &Dim) -> Value<'c> {
        match dim {
            Dim::Static(known) => loops.scalars().index(*known as i64),
            Dim::Symbol(name) if self.extents.contains_key(name) => self.extents[name],
            _ => {
                let why = format!("has the extent {dim}, which its caller does not pass");
                self.fail(PassError::at(self.kernel, why));
                loops.scalars().index(0)
            }
        }
    }

    /// The product of extents.
    fn product(&mut self, loops: &Loops<'c>, dims: &[Dim]) -> Value<'c> {
        let s = loops.scalars();
        let known: u64 = dims.iter().filter_map(Dim::known).fold(1, u64::saturating_mul);
        let mut product = None;
        for dim in dims.iter().filter(|dim| dim.known().is_none()) {
            let extent = self.extent(loops, dim);
            product = Some(product.map_or(extent, |so_far| s.index_mul(so_far, extent)));
        }
        product.map_or_else(|| s.index(known as i64), |dynamic| s.index_affine(dynamic, known as i64, 0))
    }

    fn operation(&mut self, loops: &Loops<'c>, op: Op<'c>) {
        let loops = &Loops { build: loops.build.at(op.location()) };
        match kind_of(op) {
            Some(Kind::Te(Te::Compute)) if self.inlined.has(op) => {}
            Some(Kind::Te(Te::Compute)) => self.stage(loops, op),
            Some(Kind::Te(Te::Extern)) => self.nest_by_hand(loops, op),
            Some(Kind::Te(Te::View)) if op.int("offset").is_some() => self.fail(PassError::at(
                op,
                "takes a piece of a tensor inside of a kernel; take it where the kernel is called",
            )),
            Some(Kind::Te(Te::View)) => {
                let (from, to) = (op.operand_values()[0], op.result_values()[0]);
                match self.places.get(&key(from)).copied() {
                    Some(place) => {
                        self.places.insert(key(to), place);
                    }
                    None => self.fail(PassError::at(op, "is a view of a tensor that is not in memory")),
                }
            }
            Some(Kind::Te(Te::Return)) => {}
            _ => {
                self.outside.clone_op(&loops.build, op);
            }
        }
    }

    /// Puts the loops of a `te.extern` in place, over the tensors' buffers.
    fn nest_by_hand(&mut self, loops: &Loops<'c>, op: Op<'c>) {
        let tensors = [op.operand_values(), op.result_values()].concat();
        let Some(body) = op.body(0) else { return };
        if op.attr("parts").is_some() {
            return self.fail(PassError::at(op, "computes in parts, which needs known extents"));
        }
        let mut map = self.outside.clone();
        for (argument, tensor) in arguments(body).into_iter().zip(&tensors) {
            match self.places.get(&key(*tensor)) {
                Some(place) => map.insert(argument, place.value),
                None => return self.fail(PassError::at(op, "reads a tensor that is not in memory")),
            }
        }
        if let Some(updates) = op.int("updates")
            && let Some(from) = op.operand_values().get(updates as usize)
            && let Some(to) = self.places.get(&key(op.result_values()[0])).copied()
        {
            self.copy(loops, *from, to.value);
        }
        let ops = ops_in(body);
        for inner in &ops[..ops.len().saturating_sub(1)] {
            match self.named(*inner) {
                Some(extent) => map.insert(inner.result_values()[0], extent),
                None => {
                    let copy = map.clone_op(&loops.build, *inner);
                    self.resolve_extents(copy);
                }
            }
        }
    }

    /// What a `te.extent` stands for.
    fn named(&self, op: Op<'c>) -> Option<Value<'c>> {
        let is_extent = matches!(kind_of(op), Some(Kind::Te(Te::Extent)));
        self.extents.get(op.text("name").filter(|_| is_extent)?).copied()
    }

    /// Puts the numbers of extents where loops of a nest ask for them.
    fn resolve_extents(&mut self, nest: Op<'c>) {
        for op in nested_ops(nest) {
            if let Some(extent) = self.named(op) {
                op.replace_all_uses(&[extent]);
                op.erase();
            }
        }
    }

    /// A result that lies elsewhere.
    fn copy(&mut self, loops: &Loops<'c>, tensor: Value<'c>, to: Value<'c>) {
        let Some(ty) = tensor_type(tensor) else { return };
        let Some(from) = self.places.get(&key(tensor)).copied() else {
            self.fail(PassError::at(
                self.kernel,
                format!("gives a {} that was not computed", tensor.r#type()),
            ));
            return;
        };
        let count = self.product(loops, &ty.dims);
        let to = Buffer { value: to, dtype: ty.dtype };
        loops.upto(count, fusion_dialects::loops::LoopKind::Serial, &[], |inner, i, _| {
            inner.store(inner.load_raw(from, i), to, i);
            Vec::new()
        });
    }
}
