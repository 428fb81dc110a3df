//! TMA copies of tensors, mbarriers and registers that change hands, in upstream's terms for NVIDIA's sm_90a.
//!
//!     loop.copy_tensor {map = 0} %x[%i, %k] .. to %s[%o] mbarriers %f[%n]      =>      nvvm.cp.async.bulk.tensor %s, %map, %f, box [%k, %i]
//!     loop.mbarrier_init %f of 1                                                       nvvm.mbarrier.init of each ; nvvm.fence.mbarrier.init
//!     loop.mbarrier_expect %f[%n] bytes 4096                                           nvvm.mbarrier.arrive.expect_tx
//!     loop.mbarrier_arrive %f[%n]                                                      nvvm.mbarrier.arrive
//!     loop.mbarrier_wait %f[%n] phase %p                                               nvvm.mbarrier.try_wait.parity, again and again
//!     loop.registers 240                                                             nvvm.setmaxregister increase 240
//!
//! Maps are arguments of the kernel behind its pointers. A phase is told from the next by whether it is even (PTX ISA, "mbarrier").

use super::forms::parsed;
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::loops::tensor_copy::TensorCopy;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Attribute, Build, Op, OpExt, OperationLike, PassError, Type, Value, ValueLike, arguments, attr_to_mlir,
    buffer_parts, dtype_of, index_type, scalar_type, segments_attr, typed_int_attr,
};
use fusion_loop_to_gpu::maps::{MAP, MAPS};
use fusion_operators::{Attr, DType};

/// How long a thread sleeps at most before it looks again, in nanoseconds.
const SLEEP: i64 = 10_000_000;

/// Converts one of these operations; false for another.
pub fn convert<'c>(op: Op<'c>) -> Result<bool, PassError<'c>> {
    match op.kind() {
        Some(Kind::Loop(Loop::CopyTensor)) => copy(op)?,
        Some(Kind::Loop(Loop::MbarrierInit)) => init(op)?,
        Some(Kind::Loop(Loop::MbarrierExpect)) => {
            let at = Place::of(op, 0, 1)?;
            let bytes = at.word(op.int("bytes").unwrap_or(0));
            at.build.op("nvvm.mbarrier.arrive.expect_tx", &[at.pointer, bytes], &[], &at.ordered()?);
        }
        Some(Kind::Loop(Loop::MbarrierArrive)) => {
            let at = Place::of(op, 0, 1)?;
            let state = scalar_type(at.build.context(), DType::I64);
            at.build.op("nvvm.mbarrier.arrive", &[at.pointer], &[state], &at.ordered()?);
        }
        Some(Kind::Loop(Loop::MbarrierWait)) => {
            let at = Place::of(op, 0, 1)?;
            let s = Scalars { build: at.build };
            let index = index_type(at.build.context());
            let odd =
                at.build.value(Upstream::AndI.name(), &[op.operand_values()[2], s.index(1)], index, &[]);
            let operands = [at.pointer, at.narrow(odd), at.word(SLEEP)];
            at.build.op("nvvm.mbarrier.try_wait.parity", &operands, &[], &[]);
        }
        Some(Kind::Loop(Loop::Registers)) => {
            let build = Build::before(op);
            let which = if op.attr("fewer").is_some() { "decrease" } else { "increase" };
            let word = scalar_type(build.context(), DType::I32);
            let attrs = [
                ("regCount", typed_int_attr(word, op.int("count").unwrap_or(0))),
                ("action", parsed(op, &format!("#nvvm<action {which}>"))?),
            ];
            build.op(Upstream::SetMaxRegister.name(), &[], &[], &attrs);
        }
        _ => return Ok(false),
    }
    op.erase();
    Ok(true)
}

/// A place in shared memory.
struct Place<'c> {
    build: Build<'c>,
    op: Op<'c>,
    pointer: Value<'c>,
}

impl<'c> Place<'c> {
    /// An element of a buffer, by the numbers of both among the operands.
    fn of(op: Op<'c>, buffer: usize, index: usize) -> Result<Place<'c>, PassError<'c>> {
        let operands = op.operand_values();
        Place::element(op, operands[buffer], operands.get(index).copied())
    }

    fn element(op: Op<'c>, buffer: Value<'c>, index: Option<Value<'c>>) -> Result<Place<'c>, PassError<'c>> {
        let build = Build::before(op);
        let (s, wide) = (Scalars { build }, scalar_type(build.context(), DType::I64));
        let size = buffer_parts(buffer.r#type()).and_then(|(e, _)| dtype_of(e)).map_or(1, DType::size) as i64;
        let start = build.value(
            "memref.extract_aligned_pointer_as_index",
            &[buffer],
            index_type(build.context()),
            &[],
        );
        let place = index.map_or(start, |index| s.index_add(start, s.index_affine(index, size, 0)));
        let place = build.value("arith.index_cast", &[place], wide, &[]);
        let pointer = build.value("llvm.inttoptr", &[place], shared(op, 3)?, &[]);
        Ok(Place { build, op, pointer })
    }

    fn word(&self, number: i64) -> Value<'c> {
        let word = scalar_type(self.build.context(), DType::I32);
        self.build.value("arith.constant", &[], word, &[("value", typed_int_attr(word, number))])
    }

    fn narrow(&self, index: Value<'c>) -> Value<'c> {
        self.build.value("arith.index_cast", &[index], scalar_type(self.build.context(), DType::I32), &[])
    }

    /// What a thread did before it comes is seen by those of its block who have waited.
    fn ordered(&self) -> Result<[(&'static str, Attribute<'c>); 2], PassError<'c>> {
        let no = attr_to_mlir(self.build.context(), &Attr::Bool(false));
        Ok([("relaxed", no), ("scope", parsed(self.op, "#nvvm.mem_scope<cta>")?)])
    }
}

fn shared<'c>(op: Op<'c>, space: u32) -> Result<Type<'c>, PassError<'c>> {
    super::forms::parsed_type(op, &format!("!llvm.ptr<{space}>"))
}

fn init<'c>(op: Op<'c>) -> Result<(), PassError<'c>> {
    let mbarriers = op.operand_values()[0];
    let build = Build::before(op);
    for number in 0..buffer_parts(mbarriers.r#type()).map_or(0, |(_, n)| n) {
        let index = Scalars { build }.index(number as i64);
        let at = Place::element(op, mbarriers, Some(index))?;
        let count = at.word(op.int("count").unwrap_or(0));
        build.op("nvvm.mbarrier.init", &[at.pointer, count], &[], &[]);
    }
    build.op("nvvm.fence.mbarrier.init", &[], &[], &[]);
    Ok(())
}

fn copy<'c>(op: Op<'c>) -> Result<(), PassError<'c>> {
    let wrong = || PassError::at(op, "has no map, or no mbarrier that tells of it");
    let copy = TensorCopy::of(op).ok_or_else(wrong)?;
    let (mbarriers, mbarrier) = copy.mbarrier.ok_or_else(wrong)?;
    let kernel = std::iter::successors(op.parent_operation(), |o| o.parent_operation())
        .find(|o| matches!(o.kind(), Some(Kind::Upstream(Upstream::GpuFunc))))
        .ok_or_else(wrong)?;
    let map = map_of(kernel, op).ok_or_else(wrong)?;
    let told = Place::element(op, mbarriers, Some(mbarrier))?;
    let to = Place::element(op, copy.buffer, Some(copy.to))?;
    let build = to.build;
    let cluster = build.value("llvm.addrspacecast", &[to.pointer], shared(op, 7)?, &[]);
    let mut operands = vec![cluster, map];
    operands.extend(copy.at.iter().rev().map(|index| to.narrow(*index)));
    operands.push(told.pointer);
    let attrs = [
        ("isCTAOnly", attr_to_mlir(build.context(), &Attr::Bool(false))),
        ("mode", parsed(op, "#nvvm.tma_load_mode<tile>")?),
        ("operandSegmentSizes", segments_attr(build.context(), &[1, 1, copy.at.len() as i32, 1, 0, 0, 0, 0])),
    ];
    build.op("nvvm.cp.async.bulk.tensor.shared.cluster.global", &operands, &[], &attrs);
    Ok(())
}

/// The argument of a kernel that is the map of a copy: behind its pointers, before its buffers.
fn map_of<'c>(kernel: Op<'c>, copy: Op<'c>) -> Option<Value<'c>> {
    let number = |op: Op<'c>, name: &str| op.int(name).and_then(|n| usize::try_from(n).ok());
    let ty = kernel.attr("function_type").and_then(fusion_dialects::type_of_attr)?;
    let (inputs, _) = fusion_dialects::function_parts(ty)?;
    let first = inputs.len().checked_sub(number(kernel, MAPS)?)?;
    arguments(kernel.body(0)?).get(first + number(copy, MAP)?).copied()
}
