//===- Loop.td - Explicit loop nests over flat buffers ---------------------===//
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Loop_Dialect : Dialect {
  let name = "loop";
  let cppNamespace = "::fusion::loop";
  let summary = "Loops with a kind, over buffers with a scope";
  let description = [{
    What a schedule lowers to and what every target lowers from. Buffers are flat (`memref<Nxf32>`): an index is the
    row-major offset, so that a reshape is no operation and contiguity is a coefficient of 1. Values carried around a loop
    are explicit, so that an accumulator is an SSA value from the start. Booleans are bytes (i8) in memory.
  }];
}

def Loop_VerifiedTrait : NativeOpTrait<"VerifiedInRust"> { let cppNamespace = "::fusion"; }
class Loop_Op<string mnemonic, list<Trait> traits = []> : Op<Loop_Dialect, mnemonic, !listconcat([Loop_VerifiedTrait], traits)>;

def Loop_Kind : I64EnumAttr<"Kind", "How the iterations of a loop run", [
    I64EnumAttrCase<"serial", 0>, I64EnumAttrCase<"parallel", 1>, I64EnumAttrCase<"vectorized", 2>,
    I64EnumAttrCase<"unrolled", 3>, I64EnumAttrCase<"block_x", 4>, I64EnumAttrCase<"block_y", 5>,
    I64EnumAttrCase<"block_z", 6>, I64EnumAttrCase<"thread_x", 7>, I64EnumAttrCase<"thread_y", 8>,
    I64EnumAttrCase<"thread_z", 9>, I64EnumAttrCase<"virtual_thread", 10>, I64EnumAttrCase<"warp", 11>,
    I64EnumAttrCase<"lane", 12>]> {
  let cppNamespace = "::fusion::loop";
}
def Loop_Scope : I64EnumAttr<"Scope", "Who sees a buffer", [
    I64EnumAttrCase<"global", 0>, I64EnumAttrCase<"shared", 1>, I64EnumAttrCase<"local", 2>, I64EnumAttrCase<"fragment", 3>]> {
  let cppNamespace = "::fusion::loop";
}
def Loop_Instruction : I64EnumAttr<"Instruction", "An instruction that multiplies small matrices", [
    I64EnumAttrCase<"mma_m16n8k16_f16", 0>, I64EnumAttrCase<"mma_m16n8k16_bf16", 1>, I64EnumAttrCase<"mma_m16n8k8_tf32", 2>,
    I64EnumAttrCase<"mfma_16x16x16_f16", 3>, I64EnumAttrCase<"mfma_16x16x16_bf16", 4>,
    I64EnumAttrCase<"mfma_32x32x8_f16", 5>, I64EnumAttrCase<"mfma_32x32x8_bf16", 6>,
    I64EnumAttrCase<"mfma_16x16x4_f32", 7>, I64EnumAttrCase<"mfma_32x32x2_f32", 8>,
    I64EnumAttrCase<"wmma_16x16x16_f16", 9>, I64EnumAttrCase<"wmma_16x16x16_bf16", 10>,
    I64EnumAttrCase<"wgmma_m64n64k64_f16", 11>, I64EnumAttrCase<"wgmma_m64n64k64_bf16", 12>,
    I64EnumAttrCase<"wgmma_m64n128k64_f16", 13>, I64EnumAttrCase<"wgmma_m64n128k64_bf16", 14>,
    I64EnumAttrCase<"wgmma_m64n256k64_f16", 15>, I64EnumAttrCase<"wgmma_m64n256k64_bf16", 16>,
    I64EnumAttrCase<"wgmma_m64n64k32_tf32", 17>, I64EnumAttrCase<"wgmma_m64n128k32_tf32", 18>,
    I64EnumAttrCase<"wgmma_m64n256k32_tf32", 19>,
    I64EnumAttrCase<"wmma_16x16x16_halves_f16", 20>, I64EnumAttrCase<"wmma_16x16x16_halves_bf16", 21>,
    I64EnumAttrCase<"mfma_16x16x32_f16", 22>, I64EnumAttrCase<"mfma_16x16x32_bf16", 23>,
    I64EnumAttrCase<"mfma_32x32x16_f16", 24>, I64EnumAttrCase<"mfma_32x32x16_bf16", 25>,
    I64EnumAttrCase<"tcgen05_m128n64k64_f16", 26>, I64EnumAttrCase<"tcgen05_m128n64k64_bf16", 27>,
    I64EnumAttrCase<"tcgen05_m128n128k64_f16", 28>, I64EnumAttrCase<"tcgen05_m128n128k64_bf16", 29>]> {
  let cppNamespace = "::fusion::loop";
}

def Loop_ForOp : Loop_Op<"for", [RecursiveMemoryEffects]> {
  let summary = "extent iterations; the body takes the index and the carried values and yields the next ones";
  let description = [{
    - C1: the extent is not negative. C2: the body takes an index, then one value for each initial one.
    - C3: carried, yielded and resulting types agree. C4: a parallel loop carries nothing.
  }];
  let arguments = (ins I64Attr:$extent, Loop_Kind:$kind, Variadic<AnyType>:$inits);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$extent $kind (`iter` `(` $inits^ `:` type($inits) `)`)? $body attr-dict (`->` type($results)^)?";
}
def Loop_UptoOp : Loop_Op<"upto", [RecursiveMemoryEffects]> {
  let summary = "As loop.for, with a number of iterations that is known when it runs";
  let description = [{
    It is serial or parallel; there are none when the number is negative. C2, C3 and C4 are those of `loop.for`.
    C5: it is serial or parallel.
  }];
  let arguments = (ins Index:$count, Loop_Kind:$kind, Variadic<AnyType>:$inits);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$count $kind (`iter` `(` $inits^ `:` type($inits) `)`)? $body attr-dict (`->` type($results)^)?";
}
def Loop_YieldOp : Loop_Op<"yield", [Pure, Terminator]> {
  let summary = "Ends an iteration with the values carried to the next";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}
def Loop_GuardOp : Loop_Op<"guard", [RecursiveMemoryEffects]> {
  let summary = "Runs its body where the condition holds; otherwise its results are `otherwise`";
  let arguments = (ins I1:$condition, Variadic<AnyType>:$otherwise);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$condition (`else` `(` $otherwise^ `:` type($otherwise) `)`)? $body attr-dict (`->` type($results)^)?";
}
def Loop_AllocOp : Loop_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "A buffer that lives as long as the block it stands in";
  let description = [{
    One with `slots` is so many parts behind each other, which the iterations of one loop use in turn: iteration k the part
    k mod slots. C1: there are at least two, of the same size.

    One that is `swizzled` begins at a multiple of 1024 bytes and has the 8 groups of 16 bytes of each 128 in another order: group `g` of line
    `l` is at `g xor (l mod 8)`. So the same group of 8 lines is read from different banks. Indices are those of the elements as if they were
    in order. C2: it is shared, and of whole 1024 bytes.
  }];
  let arguments = (ins Loop_Scope:$scope, OptionalAttr<I64Attr>:$slots, UnitAttr:$swizzled);
  let results = (outs AnyMemRef:$buffer);
  let assemblyFormat = "$scope (`slots` $slots^)? (`swizzled` $swizzled^)? attr-dict `:` type($buffer)";
}
def Loop_LoadOp : Loop_Op<"load"> {
  let summary = "The element at an index, or a vector of those from it on";
  let description = [{ C1: a flat buffer. C2: the result is its element type or a vector of it. }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$buffer, Index:$index);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$buffer `[` $index `]` attr-dict `:` type($buffer) `->` type($result)";
}
def Loop_StoreOp : Loop_Op<"store"> {
  let summary = "Writes an element at an index, or a vector of those from it on";
  let description = [{
    As a stream it goes past the caches, where the buffer begins at a multiple of 64 bytes. Whoever says so knows that the index is one of a
    multiple of the vector's bytes, or of 64 where it has more.
    C1: a flat buffer. C2: the value is its element type or a vector of it. C3: a stream is of a vector.
  }];
  let arguments = (ins AnyType:$value, Arg<AnyMemRef, "", [MemWrite]>:$buffer, Index:$index, UnitAttr:$stream);
  let assemblyFormat = "$value `,` $buffer `[` $index `]` attr-dict `:` type($value) `,` type($buffer)";
}
def Loop_GatherOp : Loop_Op<"gather"> {
  let summary = "The elements at a vector of indices";
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$buffer, VectorOfRankAndType<[1], [Index]>:$indices);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$buffer `[` $indices `]` attr-dict `:` type($buffer) `,` type($indices) `->` type($result)";
}
def Loop_ScatterOp : Loop_Op<"scatter"> {
  let summary = "Writes elements at a vector of indices, in order";
  let arguments = (ins AnyVectorOfNonZeroRank:$value, Arg<AnyMemRef, "", [MemWrite]>:$buffer, VectorOfRankAndType<[1], [Index]>:$indices);
  let assemblyFormat = "$value `,` $buffer `[` $indices `]` attr-dict `:` type($value) `,` type($buffer) `,` type($indices)";
}
def Loop_LoadStridedOp : Loop_Op<"load_strided"> {
  let summary = "A vector of the elements from an index on, each that far behind the one before";
  let description = [{ C1: a flat buffer. C2: the result is a vector of its element type. }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$buffer, Index:$index, I64Attr:$stride);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$buffer `[` $index `]` `by` $stride attr-dict `:` type($buffer) `->` type($result)";
}
def Loop_LoadPackedOp : Loop_Op<"load_packed"> {
  let summary = "The four elements of 8 bits from an index on as an integer of 32 bits, the first in its lowest; or a vector of the next fours";
  let description = [{ C1: a flat buffer of i8. C2: the result is i32 or a vector of it. }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$buffer, Index:$index);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$buffer `[` $index `]` attr-dict `:` type($buffer) `->` type($result)";
}
def Loop_StoreStridedOp : Loop_Op<"store_strided"> {
  let summary = "Writes the elements of a vector from an index on, each that far behind the one before";
  let description = [{ C1: a flat buffer. C2: the value is a vector of its element type. }];
  let arguments = (ins AnyVectorOfNonZeroRank:$value, Arg<AnyMemRef, "", [MemWrite]>:$buffer, Index:$index, I64Attr:$stride);
  let assemblyFormat = "$value `,` $buffer `[` $index `]` `by` $stride attr-dict `:` type($value) `,` type($buffer)";
}
def Loop_PrefetchOp : Loop_Op<"prefetch"> {
  let summary = "Prefetches the memory around an element, which will be read soon";
  let description = [{ C1: a flat buffer. }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead, MemWrite]>:$buffer, Index:$index);
  let assemblyFormat = "$buffer `[` $index `]` attr-dict `:` type($buffer)";
}
def Loop_ThreadIndexOp : Loop_Op<"thread_index", [Pure]> {
  let summary = "Which of that many threads of a block this is";
  let description = [{ C1: the kind is one of threads, and the extent is above 0. }];
  let arguments = (ins I64Attr:$extent, Loop_Kind:$kind);
  let results = (outs Index:$index);
  let assemblyFormat = "$extent $kind attr-dict";
}
def Loop_AllReduceOp : Loop_Op<"all_reduce", [SameVariadicOperandSize, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Combines the values that all threads along one dimension of a block come with; each gets the outcome";
  let description = [{
    The body takes two values of each kind and yields them combined, in any order of the threads. Threads of more than one warp
    exchange what their warps have in the scratch buffers, one for each value, which nothing else may use. Threads beside each other
    along the other dimensions combine values of their own.
    - C1: the kind is one of threads, and the extent a power of two. C2: the body takes each type twice and yields each once.
    - C3: there is a buffer for each value, of its type, or of that of its lanes.
  }];
  let arguments = (ins I64Attr:$extent, Loop_Kind:$kind, Variadic<AnyType>:$values, Variadic<AnyMemRef>:$scratch);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$extent $kind `(` $values `:` type($values) `)` `by` `(` $scratch `:` type($scratch) `)` $body attr-dict `->` type($results)";
}
def Loop_BarrierOp : Loop_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "All threads of a block arrive before any goes on";
  let assemblyFormat = "attr-dict";
}
def Loop_Dot4AddOp : Loop_Op<"dot4add", [Pure, AllTypesMatch<["c", "a", "b", "result"]>]> {
  let summary = "c + a[0] b[0] + a[1] b[1] + a[2] b[2] + a[3] b[3] of integers of 8 bits, four packed in each of a and b; sums wrap";
  let description = [{
    The numbers of a or b are signed unless they are said to be unsigned (Intel, "Intel 64 and IA-32 Architectures Software Developer's Manual",
    VPDPBUSD; Arm, "Arm Architecture Reference Manual", SDOT and UDOT).
    C1: all are i32 or vectors of it.
  }];
  let arguments = (ins AnyType:$c, AnyType:$a, AnyType:$b, UnitAttr:$unsigned_a, UnitAttr:$unsigned_b);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$c `,` (`unsigned` $unsigned_a^)? $a `,` (`unsigned` $unsigned_b^)? $b attr-dict `:` type($c)";
}
def Loop_MultiplyMatrixOp : Loop_Op<"multiply_matrix", [Pure, AllTypesMatch<["c", "result"]>]> {
  let summary = "c + a * b of small matrices, each of which the threads of a warp hold together";
  let description = [{
    All threads of a warp come to it, each with its registers of the matrices: those that the instruction wants of it
    (NVIDIA, "PTX ISA", matrix fragments; AMD, "CDNA3" and "RDNA3 instruction set architecture"). The sums are in f32.
    C1: a, b and c are of the types of the instruction, vectors of as many elements as a thread has; one element is no vector.
  }];
  let arguments = (ins Loop_Instruction:$instruction, AnyType:$a, AnyType:$b, AnyType:$c);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$instruction $a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c)";
}
def Loop_MultiplySharedOp : Loop_Op<"multiply_shared", [AllTypesMatch<["c", "result"]>]> {
  let summary = "c + a * b of matrices, of which the threads of four warps hold c together and a and b are in shared memory";
  let description = [{
    All threads of the four warps come to it, and go on when the sums are there. Rows of a have their elements together, 128 bytes of them, one
    row behind the other. So have columns of b; where they are `transposed`, rows of b have 64 of their elements together, one row 64 elements
    behind the other, and those behind the 64 are `apart` elements from there; tf32 is never transposed (NVIDIA, "PTX ISA", wgmma, matrices in shared memory
    with swizzling of 128 bytes). The sums are in f32.
    - C1: a and b are flat buffers of the instruction's elements. C2: c is a vector of as many f32 as a thread has.
    - C3: elements that are transposed have two bytes.
  }];
  let arguments = (ins Loop_Instruction:$instruction, Arg<AnyMemRef, "", [MemRead]>:$a, Index:$from_a,
                       Arg<AnyMemRef, "", [MemRead]>:$b, Index:$from_b, Index:$apart, AnyVectorOfNonZeroRank:$c, UnitAttr:$transposed);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$instruction $a `[` $from_a `]` `,` (`transposed` $transposed^)? $b `[` $from_b `]` `apart` $apart `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c)";
}
def Loop_LoadMatrixOp : Loop_Op<"load_matrix"> {
  let summary = "The elements that a thread of a warp has of one, two or four matrices of 8 x 8 in shared memory";
  let description = [{
    All threads of a warp come to it. Thread `8 m + r` comes with where row `r` of matrix `m` begins, whose 8 elements lie together
    at a multiple of 16 bytes; other threads' places are not used. Thread `l` gets of each matrix elements `2 (l mod 4)` and the
    next of row `l / 4`, of column `l / 4` where it is `transposed` (NVIDIA, "PTX ISA", ldmatrix).
    - C1: a flat buffer. C2: the result is a vector of 2, 4 or 8 of its elements, which have two bytes.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$buffer, Index:$index, UnitAttr:$transposed);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "(`transposed` $transposed^)? $buffer `[` $index `]` attr-dict `:` type($buffer) `->` type($result)";
}
def Loop_CopyAsyncOp : Loop_Op<"copy_async"> {
  let summary = "Begins to copy elements to shared memory, or zeros where the condition does not hold";
  let description = [{
    The elements are there for this thread once it has waited for the group of the copy, and for others behind a barrier after that.
    - C1: two flat buffers of the same element type. C2: the elements are 4, 8 or 16 bytes.
  }];
  let arguments = (ins I64Attr:$elements, Arg<AnyMemRef, "", [MemRead]>:$source, Index:$from,
                       Arg<AnyMemRef, "", [MemWrite]>:$buffer, Index:$to, Optional<I1>:$condition);
  let assemblyFormat = "$elements `from` $source `[` $from `]` `to` $buffer `[` $to `]` (`if` $condition^)? attr-dict `:` type($source) `,` type($buffer)";
}
def Loop_CopyCommitOp : Loop_Op<"copy_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Makes a group of the asynchronous copies that this thread has begun since the last one";
  let assemblyFormat = "attr-dict";
}
def Loop_CopyWaitOp : Loop_Op<"copy_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until at most so many of the thread's last groups of copies are under way";
  let description = [{ C1: the number is not negative. }];
  let arguments = (ins I64Attr:$groups);
  let assemblyFormat = "$groups attr-dict";
}

//===- Copies of whole tiles, and the mbarriers that tell of them -------------===//

def Loop_CopyTensorOp : Loop_Op<"copy_tensor", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Begins to copy a box of a tensor to shared memory; what is beyond the tensor's ends is 0";
  let description = [{
    The tensor is row-major in the device's memory, the box row-major in the buffer. One thread does it for all: where there are mbarriers the thread
    that comes to it, and its bytes count for the phase of the mbarrier. Without mbarriers all threads come to it, one of them copies, and
    the box is there for what comes after it: `loop-pipeline` makes the other form of this one (NVIDIA, "PTX ISA", cp.async.bulk.tensor).
    - C1: two flat buffers of the same element type, and mbarriers of i64. C2: places, extents and box are of one to five axes, and the
      tensor is no larger than its buffer.
    - C3: elements along the last axis of the box are whole 16 bytes, at most 128 where the buffer is swizzled; the box has 1 to 256 of each axis.
    - C4: neighbours along the other axes of the tensor are whole 16 bytes apart.
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$at, AnyMemRef:$buffer, Index:$to, Optional<AnyMemRef>:$mbarriers,
                       Optional<Index>:$mbarrier, DenseI64ArrayAttr:$extents, DenseI64ArrayAttr:$box);
  let assemblyFormat = "$source `[` $at `]` `of` $extents `box` $box `to` $buffer `[` $to `]` (`mbarriers` $mbarriers^ `[` $mbarrier `]`)? attr-dict `:` type($source) `,` type($buffer) (`,` type($mbarriers)^)?";
}
def Loop_MbarrierInitOp : Loop_Op<"mbarrier_init", [MemoryEffects<[MemWrite]>]> {
  let summary = "Makes mbarriers, of whose phases each is over when so many threads have come and all bytes it expects are there";
  let description = [{ One thread does it; others use them behind a barrier. C1: a flat buffer of i64. C2: the number is above 0. }];
  let arguments = (ins AnyMemRef:$mbarriers, I64Attr:$count);
  let assemblyFormat = "$mbarriers `of` $count attr-dict `:` type($mbarriers)";
}
def Loop_MbarrierExpectOp : Loop_Op<"mbarrier_expect", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "A thread comes to a mbarrier, whose phase has to see so many more bytes copied";
  let description = [{ C1: a flat buffer of i64. C2: the number is above 0. }];
  let arguments = (ins AnyMemRef:$mbarriers, Index:$mbarrier, I64Attr:$bytes);
  let assemblyFormat = "$mbarriers `[` $mbarrier `]` `bytes` $bytes attr-dict `:` type($mbarriers)";
}
def Loop_MbarrierArriveOp : Loop_Op<"mbarrier_arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "A thread comes to a mbarrier, and has done what it did before";
  let description = [{ C1: a flat buffer of i64. }];
  let arguments = (ins AnyMemRef:$mbarriers, Index:$mbarrier);
  let assemblyFormat = "$mbarriers `[` $mbarrier `]` attr-dict `:` type($mbarriers)";
}
def Loop_MbarrierWaitOp : Loop_Op<"mbarrier_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until the phase of a mbarrier with that number is over; what came to it is there then";
  let description = [{
    Phases are numbered from 0; the one before the first, -1, is over. It must be the phase that is under way, or the one before it: what runs
    knows them by whether they are even. C1: a flat buffer of i64.
  }];
  let arguments = (ins AnyMemRef:$mbarriers, Index:$mbarrier, Index:$phase);
  let assemblyFormat = "$mbarriers `[` $mbarrier `]` `phase` $phase attr-dict `:` type($mbarriers)";
}
def Loop_RegistersOp : Loop_Op<"registers", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The threads of four warps have so many registers from here on: more, or `fewer`, than at the begin of the kernel";
  let description = [{ All threads of the four warps come to it. C1: a multiple of 8 from 24 to 256. }];
  let arguments = (ins I64Attr:$count, UnitAttr:$fewer);
  let assemblyFormat = "(`fewer` $fewer^)? $count attr-dict";
}
