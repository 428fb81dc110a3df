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
    I64EnumAttrCase<"thread_z", 9>, I64EnumAttrCase<"virtual_thread", 10>]> {
  let cppNamespace = "::fusion::loop";
}
def Loop_Scope : I64EnumAttr<"Scope", "Who sees a buffer", [
    I64EnumAttrCase<"global", 0>, I64EnumAttrCase<"shared", 1>, I64EnumAttrCase<"local", 2>, I64EnumAttrCase<"fragment", 3>]> {
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
  }];
  let arguments = (ins Loop_Scope:$scope, OptionalAttr<I64Attr>:$slots);
  let results = (outs AnyMemRef:$buffer);
  let assemblyFormat = "$scope (`slots` $slots^)? attr-dict `:` type($buffer)";
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
  let description = [{ C1: a flat buffer. C2: the value is its element type or a vector of it. }];
  let arguments = (ins AnyType:$value, Arg<AnyMemRef, "", [MemWrite]>:$buffer, Index:$index);
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
def Loop_StoreStridedOp : Loop_Op<"store_strided"> {
  let summary = "Writes the elements of a vector from an index on, each that far behind the one before";
  let description = [{ C1: a flat buffer. C2: the value is a vector of its element type. }];
  let arguments = (ins AnyVectorOfNonZeroRank:$value, Arg<AnyMemRef, "", [MemWrite]>:$buffer, Index:$index, I64Attr:$stride);
  let assemblyFormat = "$value `,` $buffer `[` $index `]` `by` $stride attr-dict `:` type($value) `,` type($buffer)";
}
def Loop_PrefetchOp : Loop_Op<"prefetch"> {
  let summary = "Asks for the memory around an element, which will be read soon";
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
    exchange what their warps have in the scratch buffers, one for each value, which nothing else may use.
    - C1: the kind is one of threads, and the extent a power of two. C2: the body takes each type twice and yields each once.
    - C3: there is a buffer for each value, of its type.
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
