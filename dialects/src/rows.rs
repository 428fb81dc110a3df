//! What every operation is, found once a class instead of by comparing names.
//!
//! [`kind_of`](crate::kind_of) gives the [`Kind`] of an operation; passes match on it.

use crate::{loops, relay, te};
use fusion_operators::Operator;

/// What an operation is.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// An operator of relay, with its row of facts.
    Operator(&'static Operator),
    /// relay's functional side and constants.
    Relay(relay::Op),
    /// The te dialect.
    Te(te::Op),
    /// The loop dialect.
    Loop(loops::Op),
    /// Upstream operations our passes look at.
    Upstream(Upstream),
}

/// A closed list of operations with their full names.
#[macro_export]
macro_rules! operations {
    ($(#[$doc:meta])* $enum:ident { $($variant:ident = $name:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum $enum { $($variant),* }
        impl $enum {
            /// All of them.
            pub const ALL: &'static [$enum] = &[$($enum::$variant),*];
            /// The full name.
            pub const fn name(self) -> &'static str {
                match self { $($enum::$variant => $name),* }
            }
        }
    };
}

operations! {
    /// Upstream operations our passes look at.
    Upstream {
        Module = "builtin.module",
        Func = "func.func",
        Call = "func.call",
        Return = "func.return",
        ArithConstant = "arith.constant",
        AddI = "arith.addi",
        SubI = "arith.subi",
        MulI = "arith.muli",
        FloorDivSI = "arith.floordivsi",
        RemUI = "arith.remui",
        DivUI = "arith.divui",
        DivSI = "arith.divsi",
        RemSI = "arith.remsi",
        Select = "arith.select",
        AddF = "arith.addf",
        SubF = "arith.subf",
        MulF = "arith.mulf",
        DivF = "arith.divf",
        RemF = "arith.remf",
        NegF = "arith.negf",
        ExtF = "arith.extf",
        TruncF = "arith.truncf",
        SIToFP = "arith.sitofp",
        UIToFP = "arith.uitofp",
        FPToSI = "arith.fptosi",
        FPToUI = "arith.fptoui",
        CmpF = "arith.cmpf",
        CmpI = "arith.cmpi",
        AndI = "arith.andi",
        OrI = "arith.ori",
        XOrI = "arith.xori",
        MaximumF = "arith.maximumf",
        MinimumF = "arith.minimumf",
        MaxNumF = "arith.maxnumf",
        MaxSI = "arith.maxsi",
        MinSI = "arith.minsi",
        MaxUI = "arith.maxui",
        MinUI = "arith.minui",
        IndexCast = "arith.index_cast",
        AffineApply = "affine.apply",
        Alloca = "memref.alloca",
        View = "memref.view",
        MaskedLoad = "vector.maskedload",
        MaskedStore = "vector.maskedstore",
        MaskedGather = "vector.gather",
        MaskedScatter = "vector.scatter",
        If = "scf.if",
        ScfFor = "scf.for",
        While = "scf.while",
        ScfYield = "scf.yield",
        Condition = "scf.condition",
        Extract = "tensor.extract",
        Copy = "memref.copy",
        MemRefLoad = "memref.load",
        MemRefStore = "memref.store",
        VectorLoad = "vector.load",
        VectorStore = "vector.store",
        GpuModule = "gpu.module",
        GpuFunc = "gpu.func",
        GpuReturn = "gpu.return",
        GpuBarrier = "gpu.barrier",
        ThreadId = "gpu.thread_id",
        BlockId = "gpu.block_id",
        Shuffle = "gpu.shuffle",
        DeviceAsyncCopy = "nvgpu.device_async_copy",
        CopyCommitGroup = "nvvm.cp.async.commit.group",
        CopyWaitGroup = "nvvm.cp.async.wait.group",
        SetMaxRegister = "nvvm.setmaxregister",
        LlvmFunc = "llvm.func",
        LlvmGlobal = "llvm.mlir.global",
        LlvmCall = "llvm.call",
        LlvmBitcast = "llvm.bitcast",
        LlvmBr = "llvm.br",
        LlvmCondBr = "llvm.cond_br",
        LlvmExtractElement = "llvm.extractelement",
        LlvmInsertElement = "llvm.insertelement",
        LlvmLoad = "llvm.load",
        LlvmMaskedLoad = "llvm.intr.masked.load",
        LlvmMaskedStore = "llvm.intr.masked.store",
        LlvmSelect = "llvm.select",
        LlvmShuffleVector = "llvm.shufflevector",
        LlvmStore = "llvm.store",
        Exp = "math.exp",
        Log = "math.log",
        Log1p = "math.log1p",
        Sqrt = "math.sqrt",
        Sin = "math.sin",
        Cos = "math.cos",
        Tan = "math.tan",
        Asin = "math.asin",
        Acos = "math.acos",
        Atan = "math.atan",
        Sinh = "math.sinh",
        Cosh = "math.cosh",
        Tanh = "math.tanh",
        Asinh = "math.asinh",
        Acosh = "math.acosh",
        Atanh = "math.atanh",
        Erf = "math.erf",
        PowF = "math.powf",
        IPowI = "math.ipowi",
        AbsF = "math.absf",
        Ceil = "math.ceil",
        CopySign = "math.copysign",
        Floor = "math.floor",
        Fma = "math.fma",
        Round = "math.round",
        RoundEven = "math.roundeven",
        Rsqrt = "math.rsqrt",
        Trunc = "math.trunc",
    }
}

impl Upstream {
    /// True for functions that take tens of operations.
    pub const fn is_transcendental(self) -> bool {
        use Upstream::*;
        matches!(
            self,
            Exp | Log
                | Log1p
                | Sin
                | Cos
                | Tan
                | Asin
                | Acos
                | Atan
                | Sinh
                | Cosh
                | Tanh
                | Asinh
                | Acosh
                | Atanh
                | Erf
                | PowF
        )
    }
}

/// True for every operation of the relay dialect.
pub fn is_relay(kind: Kind) -> bool {
    matches!(kind, Kind::Operator(_) | Kind::Relay(_))
}

/// A row the shim keeps for a class of operations.
pub(crate) struct Row {
    pub name: String,
    pub kind: Kind,
}

/// All rows. Built once, never freed: the shim keeps pointers to them.
pub(crate) fn all() -> &'static [Row] {
    static ROWS: std::sync::OnceLock<Vec<Row>> = std::sync::OnceLock::new();
    ROWS.get_or_init(|| {
        let operators = fusion_operators::ops::all()
            .map(|op| Row { name: format!("relay.{}", op.name), kind: Kind::Operator(op) });
        let relay = relay::Op::ALL.iter().map(|&op| Row { name: op.name().into(), kind: Kind::Relay(op) });
        let te = te::Op::ALL.iter().map(|&op| Row { name: op.name().into(), kind: Kind::Te(op) });
        let loops = loops::Op::ALL.iter().map(|&op| Row { name: op.name().into(), kind: Kind::Loop(op) });
        let upstream =
            Upstream::ALL.iter().map(|&op| Row { name: op.name().into(), kind: Kind::Upstream(op) });
        operators.chain(relay).chain(te).chain(loops).chain(upstream).collect()
    })
}
