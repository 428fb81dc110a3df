//! The loop dialect: explicit loop nests over flat buffers.

mod builder;
pub mod matrix;
pub mod tensor_copy;
pub mod verify;

pub use builder::{Buffer, Loops};

/// The attribute of functions that are lowered kernels.
pub const KERNEL: &str = "loop.kernel";
/// The annotation of loops whose lanes are rounded up to a power of two.
pub const MASKED_TAIL: &str = "masked_tail";

/// Says of a choice between two floats that its first operand is a number, whatever the program reads.
pub const FIRST_IS_NUMBER: &str = "loop.first_is_number";

crate::operations! {
    /// Operations of loop.
    Op {
        For = "loop.for",
        Upto = "loop.upto",
        Yield = "loop.yield",
        Guard = "loop.guard",
        Alloc = "loop.alloc",
        Load = "loop.load",
        Store = "loop.store",
        Gather = "loop.gather",
        Scatter = "loop.scatter",
        LoadStrided = "loop.load_strided",
        LoadPacked = "loop.load_packed",
        StoreStrided = "loop.store_strided",
        Prefetch = "loop.prefetch",
        ThreadIndex = "loop.thread_index",
        AllReduce = "loop.all_reduce",
        Barrier = "loop.barrier",
        Dot4Add = "loop.dot4add",
        MultiplyMatrix = "loop.multiply_matrix",
        MultiplyShared = "loop.multiply_shared",
        LoadMatrix = "loop.load_matrix",
        CopyAsync = "loop.copy_async",
        CopyCommit = "loop.copy_commit",
        CopyWait = "loop.copy_wait",
        CopyTensor = "loop.copy_tensor",
        MbarrierInit = "loop.mbarrier_init",
        MbarrierExpect = "loop.mbarrier_expect",
        MbarrierArrive = "loop.mbarrier_arrive",
        MbarrierWait = "loop.mbarrier_wait",
        Registers = "loop.registers",
    }
}

/// On an argument of a kernel: it is stored past the caches.
pub const STREAMED: &str = "loop.streamed";
/// The attribute of loops with what a schedule keeps on them.
pub const ANNOTATIONS: &str = "annotations";
/// An annotation: iterations write nothing that another one reads or writes, whatever the other loops of the nest are at.
pub const INDEPENDENT: &str = "independent";
/// An annotation: what an iteration stores last is stored while the next one is computed.
pub const PIPELINED: &str = "pipelined";

/// Elements of a buffer whose length is known at run time only: more than there is memory.
pub const DYNAMIC_ELEMENTS: u64 = 1 << 44;

/// Swizzled buffers begin at multiples of so many bytes, and are of multiples of them: 8 lines of 128.
pub const SWIZZLED_BYTES: u64 = 1024;

/// How the iterations of a loop run; the numbers are those of the dialect's `Kind` attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
#[repr(i64)]
pub enum LoopKind {
    Serial = 0,
    Parallel = 1,
    Vectorized = 2,
    Unrolled = 3,
    BlockX = 4,
    BlockY = 5,
    BlockZ = 6,
    ThreadX = 7,
    ThreadY = 8,
    ThreadZ = 9,
    VirtualThread = 10,
    Warp = 11,
    Lane = 12,
}

impl LoopKind {
    /// The kind a number in the attribute stands for.
    pub fn from_number(number: i64) -> Option<LoopKind> {
        use LoopKind::*;
        let all = [
            Serial,
            Parallel,
            Vectorized,
            Unrolled,
            BlockX,
            BlockY,
            BlockZ,
            ThreadX,
            ThreadY,
            ThreadZ,
            VirtualThread,
            Warp,
            Lane,
        ];
        all.into_iter().find(|k| *k as i64 == number)
    }
}

impl LoopKind {
    /// What a loop is bound to: threads of a block or blocks of a grid, and which of x, y and z. Lanes of a warp are threads that
    /// follow each other, and those of the next warp follow them.
    pub fn binding(self) -> Option<(bool, usize)> {
        match self {
            LoopKind::BlockX => Some((false, 0)),
            LoopKind::BlockY => Some((false, 1)),
            LoopKind::BlockZ => Some((false, 2)),
            LoopKind::ThreadX | LoopKind::Lane => Some((true, 0)),
            LoopKind::ThreadY | LoopKind::Warp => Some((true, 1)),
            LoopKind::ThreadZ => Some((true, 2)),
            _ => None,
        }
    }

    /// True for threads of a block, by themselves or as warps and their lanes.
    pub fn is_thread(self) -> bool {
        self.binding().is_some_and(|(thread, _)| thread)
    }
}

/// Who sees a buffer; the numbers are those of the dialect's `Scope` attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
#[repr(i64)]
pub enum Scope {
    Global = 0,
    Shared = 1,
    Local = 2,
    Fragment = 3,
}

impl Scope {
    /// The scope a number in the attribute stands for.
    pub fn from_number(number: i64) -> Option<Scope> {
        [Scope::Global, Scope::Shared, Scope::Local, Scope::Fragment]
            .into_iter()
            .find(|s| *s as i64 == number)
    }
}

/// True for a loop of which a schedule keeps something under that name.
pub fn has_note(op: crate::Op, name: &str) -> bool {
    use crate::OpExt;
    op.attr(ANNOTATIONS).is_some_and(|notes| crate::dictionary_attr(notes, name).is_some())
}

/// The kind of a `loop.for` or `loop.upto`.
pub fn loop_kind(op: crate::Op) -> LoopKind {
    use crate::OpExt;
    op.int("kind").and_then(LoopKind::from_number).unwrap_or(LoopKind::Serial)
}
