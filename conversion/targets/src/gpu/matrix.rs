//! `gpu-matrix`: matrix instructions in the terms of their vendor's dialects.
//!
//!     loop.multiply_matrix mma_m16n8k16_f16     =>      nvvm.mma.sync, a register an operand
//!     loop.load_matrix                          =>      nvgpu.ldmatrix
//!     loop.multiply_shared wgmma_m64n128k64_f16 =>      nvvm.wgmma.mma_async (`warp_groups`)
//!     loop.multiply_shared tcgen05_m128n128k64_f16 => nvvm.tcgen05.mma (`tensor_memory`)
//!     loop.copy_tensor and mbarriers              =>      nvvm.cp.async.bulk.tensor, nvvm.mbarrier (`tensor_copies`)
//!     loop.multiply_matrix mfma_16x16x16_f16    =>      amdgpu.mfma 16x16x16
//!     loop.multiply_matrix wmma_16x16x16_f16    =>      amdgpu.wmma 16x16x16
//!
//! Emulated, they are calls of the run time (`emulate`).

use super::forms::{element, parsed, parsed_type};
use super::{tensor_copies, tensor_memory, warp_groups};
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::loops::matrix::{Family, Instruction};
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Build, Op, OpExt, Pass, PassError, RunContext, Value, ValueLike, attr_to_mlir, ints_attr, nested_ops,
    scalar_type, typed_int_attr, vector_parts, vector_type,
};
use fusion_operators::{Attr, DType};

/// The pass.
pub struct GpuMatrix;

impl Pass for GpuMatrix {
    const NAME: &'static str = "gpu-matrix";
    const DESCRIPTION: &'static str = "Make a vendor's matrix instructions of those of the loop dialect";
    const ANCHOR: Option<&'static str> = Some("gpu.module");
    const DIALECTS: &'static [&'static str] =
        &["arith", "vector", "memref", "scf", "gpu", "nvgpu", "nvvm", "llvm", "amdgpu"];

    fn run<'c>(module: Op<'c>, _: &mut RunContext) -> Result<(), PassError<'c>> {
        warp_groups::show_writes(module);
        tensor_memory::convert(module)?;
        for op in nested_ops(module) {
            if tensor_copies::convert(op)? {
                continue;
            }
            let made = match op.kind() {
                Some(Kind::Loop(Loop::MultiplyMatrix)) => multiply(op)?,
                Some(Kind::Loop(Loop::MultiplyShared)) => warp_groups::multiply(op)?,
                Some(Kind::Loop(Loop::LoadMatrix)) => load(op)?,
                _ => continue,
            };
            op.replace_all_uses(&[made]);
            op.erase();
        }
        Ok(())
    }
}

fn multiply<'c>(op: Op<'c>) -> Result<Value<'c>, PassError<'c>> {
    let row = op.int("instruction").and_then(Instruction::numbered);
    let row = row.ok_or_else(|| PassError::at(op, "names no instruction"))?;
    match row.family {
        Family::Mma => mma(op, row),
        Family::Mfma | Family::Wmma => amd(op, row),
        Family::Wgmma | Family::TensorMemory => {
            Err(PassError::at(op, "takes a and b from shared memory; use loop.multiply_shared"))
        }
    }
}

/// `nvvm.mma.sync` takes registers: two f16 each, two bf16 as the bits of an integer, an f32 or the bits of a tf32.
fn mma<'c>(op: Op<'c>, row: &Instruction) -> Result<Value<'c>, PassError<'c>> {
    let (build, operands) = (Build::before(op), op.operand_values());
    let context = build.context();
    let bits = scalar_type(context, DType::I32);
    let mut registers = Vec::new();
    for (operand, n) in operands[..2].iter().zip(row.elements) {
        let pairs = if row.dtype.size() == 2 { n / 2 } else { n };
        if row.dtype == DType::F16 {
            let pair = vector_type(scalar_type(context, DType::F16), 2);
            for i in 0..pairs as i64 {
                let list = |n: i64| parsed(op, &format!("[{n}]"));
                let attrs = [("offsets", list(2 * i)?), ("sizes", list(2)?), ("strides", list(1)?)];
                registers.push(build.value("vector.extract_strided_slice", &[*operand], pair, &attrs));
            }
        } else {
            let words = build.value("vector.bitcast", &[*operand], vector_type(bits, pairs), &[]);
            registers.extend((0..pairs as usize).map(|i| element(&build, words, i)));
        }
    }
    let sums = row.elements[2] as usize;
    registers.extend((0..sums).map(|i| element(&build, operands[2], i)));
    let [m, n, k] = row.shape;
    let counts: Vec<usize> = {
        let per = |n: u64| if row.dtype.size() == 2 { n as usize / 2 } else { n as usize };
        vec![per(row.elements[0]), per(row.elements[1]), sums]
    };
    let kind = match row.dtype {
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        _ => "tf32",
    };
    let kind = parsed(op, &format!("#nvvm.mma_type<{kind}>"))?;
    let attrs = [
        ("layoutA", parsed(op, "#nvvm.mma_layout<row>")?),
        ("layoutB", parsed(op, "#nvvm.mma_layout<col>")?),
        ("multiplicandAPtxType", kind),
        ("multiplicandBPtxType", kind),
        (
            "operandSegmentSizes",
            parsed(op, &format!("array<i32: {}, {}, {}>", counts[0], counts[1], counts[2]))?,
        ),
        ("shape", parsed(op, &format!("#nvvm.shape<m = {m}, n = {n}, k = {k}>"))?),
    ];
    let each = vec!["f32"; sums].join(", ");
    let all = parsed_type(op, &format!("!llvm.struct<({each})>"))?;
    let product = build.value("nvvm.mma.sync", &registers, all, &attrs);
    let float = scalar_type(context, DType::F32);
    let parts: Vec<Value> = (0..sums as i64)
        .map(|i| {
            build.value("llvm.extractvalue", &[product], float, &[("position", ints_attr(context, &[i]))])
        })
        .collect();
    Ok(build.value("vector.from_elements", &parts, op.result_values()[0].r#type(), &[]))
}

fn amd<'c>(op: Op<'c>, row: &Instruction) -> Result<Value<'c>, PassError<'c>> {
    let build = Build::before(op);
    let word = scalar_type(build.context(), DType::I32);
    let number = |n: u64| typed_int_attr(word, n as i64);
    let [m, n, k] = row.shape;
    let mut attrs = vec![("m", number(m)), ("n", number(n)), ("k", number(k))];
    let name = if row.family == Family::Wmma {
        attrs.push(("subwordOffset", number(0)));
        "amdgpu.wmma"
    } else {
        attrs.extend([("blocks", number(1)), ("cbsz", number(0)), ("abid", number(0))]);
        attrs.push(("blgp", parsed(op, "#amdgpu<mfma_perm_b none>")?));
        "amdgpu.mfma"
    };
    Ok(build.value(name, &op.operand_values(), op.result_values()[0].r#type(), &attrs))
}

fn load<'c>(op: Op<'c>) -> Result<Value<'c>, PassError<'c>> {
    let (build, operands) = (Build::before(op), op.operand_values());
    let context = build.context();
    if !operands[0].r#type().to_string().contains("workgroup") {
        return Err(PassError::at(
            op,
            "loads matrices from memory that a block does not share; have it read a te.cache_read in shared memory",
        ));
    }
    let ty = op.result_values()[0].r#type();
    let Some((element, lanes)) = vector_parts(ty) else { return Err(PassError::at(op, "gives no vector")) };
    let attrs = [
        ("numTiles", typed_int_attr(scalar_type(context, DType::I32), lanes as i64 / 2)),
        ("transpose", attr_to_mlir(context, &Attr::Bool(op.attr("transposed").is_some()))),
    ];
    let tiles = parsed_type(op, &format!("vector<{}x2x{element}>", lanes / 2))?;
    let tiles = build.value("nvgpu.ldmatrix", &operands, tiles, &attrs);
    Ok(build.value("vector.shape_cast", &[tiles], ty, &[]))
}
