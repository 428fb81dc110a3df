//===- Schedule.td - Schedules and their primitives ------------------------===//

def Te_ScheduleOp : Te_Op<"schedule", [NoTerminator]> {
  let summary = "How to compute a kernel: a list of primitives, applied in order";
  let arguments = (ins FlatSymbolRefAttr:$kernel);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = "`for` $kernel attr-dict-with-keyword $body";
}
class Te_Primitive<string mnemonic> : Te_Op<mnemonic>;

def Te_StageOp : Te_Primitive<"stage"> {
  let summary = "The stage of the te.compute of that name";
  let arguments = (ins StrAttr:$name);
  let results = (outs Te_StageType:$stage);
  let assemblyFormat = "$name attr-dict";
}
def Te_AxesOp : Te_Primitive<"axes"> {
  let summary = "The loops a stage has now, outermost first; before any primitive: parallel axes, then reduction axes";
  let arguments = (ins Te_StageType:$stage);
  let results = (outs Variadic<Te_AxisType>:$axes);
  let assemblyFormat = "$stage attr-dict `:` type($axes)";
}
def Te_Tail : I64EnumAttr<"Tail", "What becomes of the iterations that a split leaves over", [
    I64EnumAttrCase<"guard", 0>, I64EnumAttrCase<"peel", 1>, I64EnumAttrCase<"pad", 2>]> {
  let cppNamespace = "::fusion::te";
}
def Te_SplitOp : Te_Primitive<"split"> {
  let summary = "i = outer * factor + inner; what is left over is computed by a loop of its own";
  let description = [{
    `by` gives the iterations of a block, `parts` the most blocks there are. Without a `tail`, what is left over is peeled
    off where that can be done and guarded where not. `guard` asks in each iteration, `peel` makes a loop of its own or
    fails, `pad` computes whole blocks into a buffer that is rounded up, which nothing reads beyond its end.
    C1: either the factor or the number of parts is given, and is above 0.
  }];
  let arguments = (ins Te_AxisType:$axis, OptionalAttr<I64Attr>:$factor, OptionalAttr<I64Attr>:$parts,
                       OptionalAttr<Te_Tail>:$tail);
  let results = (outs Te_AxisType:$outer, Te_AxisType:$inner);
  let assemblyFormat = "$axis (`by` $factor^)? (`parts` $parts^)? (`tail` $tail^)? attr-dict";
}
def Te_TileOp : Te_Primitive<"tile"> {
  let summary = "Splits two loops, and puts the loops over blocks outside of those inside a block";
  let arguments = (ins Te_AxisType:$first, Te_AxisType:$second, DenseI64ArrayAttr:$factors);
  let results = (outs Te_AxisType:$outer0, Te_AxisType:$outer1, Te_AxisType:$inner0, Te_AxisType:$inner1);
  let assemblyFormat = "$first `,` $second `by` $factors attr-dict";
}
def Te_FuseOp : Te_Primitive<"fuse"> {
  let summary = "One loop over two neighbouring ones: i = f / n, j = f mod n";
  let arguments = (ins Te_AxisType:$first, Te_AxisType:$second);
  let results = (outs Te_AxisType:$fused);
  let assemblyFormat = "$first `,` $second attr-dict";
}
def Te_ReorderOp : Te_Primitive<"reorder"> {
  let summary = "Puts the named loops into the named order, in the places they have now";
  let arguments = (ins Variadic<Te_AxisType>:$axes);
  let assemblyFormat = "$axes attr-dict";
}
class Te_Marking<string mnemonic, string what> : Te_Primitive<mnemonic> {
  let summary = what;
  let arguments = (ins Te_AxisType:$axis);
  let assemblyFormat = "$axis attr-dict";
}
def Te_VectorizeOp : Te_Marking<"vectorize", "All iterations at once, in one vector; those of a reduction have partial results">;
def Te_UnrollOp : Te_Marking<"unroll", "One copy of the body for each iteration; inner loops are jammed together">;
def Te_ParallelOp : Te_Marking<"parallel", "Iterations may run at the same time">;
def Te_ComputeInlineOp : Te_Primitive<"compute_inline"> {
  let summary = "Computes the stage's elements where they are used";
  let arguments = (ins Te_StageType:$stage);
  let assemblyFormat = "$stage attr-dict";
}
def Te_ComputeAtOp : Te_Primitive<"compute_at"> {
  let summary = "Computes, in each iteration of a loop of a consumer, what the rest of that iteration needs of the stage";
  let arguments = (ins Te_StageType:$stage, Te_AxisType:$axis);
  let assemblyFormat = "$stage `,` $axis attr-dict";
}

def Te_InputOp : Te_Primitive<"input"> {
  let summary = "The argument of the kernel with that number, as something that can be cached or laid out";
  let arguments = (ins I64Attr:$index);
  let results = (outs Te_StageType:$stage);
  let assemblyFormat = "$index attr-dict";
}
def Te_CacheReadOp : Te_Primitive<"cache_read"> {
  let summary = "A copy of a stage's result or of an argument, which the readers (all of them, when none is named) read instead";
  let description = [{
    With `read`, the number of a load in the text of the one reader that is named, that load alone reads the copy: a stage may read a tensor at
    several places.
  }];
  let arguments = (ins Te_StageType:$source, StrAttr:$name, Variadic<Te_StageType>:$readers, OptionalAttr<I64Attr>:$read);
  let results = (outs Te_StageType:$copy);
  let assemblyFormat = "$source `as` $name (`for` $readers^)? (`read` $read^)? attr-dict";
}
def Te_CacheWriteOp : Te_Primitive<"cache_write"> {
  let summary = "Computes a stage into a buffer of its own, from which the stage itself only copies";
  let arguments = (ins Te_StageType:$stage, StrAttr:$name);
  let results = (outs Te_StageType:$computed);
  let assemblyFormat = "$stage `as` $name attr-dict";
}
def Te_ReindexOp : Te_Primitive<"reindex"> {
  let summary = "Makes few axes of those of a sum of products, which then reads copies of its operands with just these axes";
  let description = [{
    `by` has for each axis of the computation the number of the new axis that it becomes a part of: neighbours with the same number
    become one. The copies are stages, each with the new axes that its operand goes along, in the order that is given.
  }];
  let arguments = (ins Te_StageType:$stage, DenseI64ArrayAttr:$groups, StrAttr:$first, DenseI64ArrayAttr:$first_axes,
                       StrAttr:$second, DenseI64ArrayAttr:$second_axes);
  let results = (outs Te_StageType:$first_copy, Te_StageType:$second_copy);
  let assemblyFormat = "$stage `by` $groups `as` $first $first_axes `and` $second $second_axes attr-dict";
}
def Te_ReverseReindexOp : Te_Primitive<"reverse_reindex"> {
  let summary = "Computes a stage over the axes of one that it reads, and stores it where it did before";
  let description = [{
    The first stage is a result of the kernel that no other stage reads; it may read the second through others, which then go over its axes as well.
    Each element of the second is read once, at indices that are sums of the first one's axes, of which they are digits.
  }];
  let arguments = (ins Te_StageType:$stage, Te_StageType:$producer);
  let assemblyFormat = "$stage `,` $producer attr-dict";
}
def Te_DivideOp : Te_Primitive<"divide"> {
  let summary = "Computes what lies from a place on along an axis in a stage of its own, into the same memory";
  let description = [{
    The stage is a result of the kernel that no other stage reads, and the loop one of its parallel axes; both as they were before any other primitive.
    What both read is computed for both, unless `te.recompute` gives the new stage its own.
  }];
  let arguments = (ins Te_AxisType:$axis, I64Attr:$at, StrAttr:$name);
  let results = (outs Te_StageType:$rest);
  let assemblyFormat = "$axis `at` $at `as` $name attr-dict";
}
def Te_RecomputeOp : Te_Primitive<"recompute"> {
  let summary = "Computes a stage once more for the readers that are named, and no more of it than they read";
  let description = [{
    With `part`, an axis of the stage and two places of it, they read the new stage where what they read lies between these, and the stage
    itself elsewhere.
    C1: a part is an axis, where it begins and where it ends, behind that.
  }];
  let arguments = (ins Te_StageType:$stage, StrAttr:$name, Variadic<Te_StageType>:$readers,
                       OptionalAttr<DenseI64ArrayAttr>:$part);
  let results = (outs Te_StageType:$copy);
  let assemblyFormat = "$stage `as` $name `for` $readers (`part` $part^)? attr-dict";
}
def Te_RFactorOp : Te_Primitive<"rfactor"> {
  let summary = "Computes the partial results of a reduction for each iteration of one of its loops, which the stage itself combines";
  let description = [{
    The new stage has that loop as its last parallel axis. The combiner must be known to be associative and commutative:
    one sum, product, minimum, maximum, and, or, exclusive or that begins with its neutral element, or a choice between
    the values so far and the new ones.
  }];
  let arguments = (ins Te_AxisType:$axis, StrAttr:$name);
  let results = (outs Te_StageType:$partial);
  let assemblyFormat = "$axis `as` $name attr-dict";
}
def Te_TransformLayoutOp : Te_Primitive<"transform_layout"> {
  let summary = "Keeps a stage's result in another order in memory; of an argument: takes it in that order";
  let description = [{
    The map takes the indices of the tensor to those of a row-major array. Each result is `d`, `d floordiv n`, `d mod n` or
    `(d floordiv m) mod n`, and those of a dimension together are its digits, so that no two elements share a place.
  }];
  let arguments = (ins Te_StageType:$stage, AffineMapAttr:$layout);
  let assemblyFormat = "$stage `by` $layout attr-dict";
}

//===- Where stages are computed and kept ----------------------------------===//

def Te_StoreAtOp : Te_Primitive<"store_at"> {
  let summary = "Keeps what a stage computes in a buffer that lives in each iteration of that loop; without one, all the time";
  let arguments = (ins Te_StageType:$stage, Optional<Te_AxisType>:$axis);
  let assemblyFormat = "$stage (`,` $axis^)? attr-dict";
}
def Te_ReverseComputeAtOp : Te_Primitive<"reverse_compute_at"> {
  let summary = "Computes, at the end of each iteration of a loop of the stage it reads, the elements that have become known";
  let arguments = (ins Te_StageType:$stage, Te_AxisType:$axis);
  let assemblyFormat = "$stage `,` $axis attr-dict";
}
def Te_Scope : I64EnumAttr<"Scope", "Who sees a buffer; as in the loop dialect", [
    I64EnumAttrCase<"global", 0>, I64EnumAttrCase<"shared", 1>, I64EnumAttrCase<"local", 2>, I64EnumAttrCase<"fragment", 3>]> {
  let cppNamespace = "::fusion::te";
}
def Te_SetScopeOp : Te_Primitive<"set_scope"> {
  let summary = "Keeps what a stage computes in memory of that kind";
  let arguments = (ins Te_StageType:$stage, Te_Scope:$scope);
  let assemblyFormat = "$stage `to` $scope attr-dict";
}
def Te_DoubleBufferOp : Te_Primitive<"double_buffer"> {
  let summary = "Keeps what a stage computes in two buffers in turn, or in more, so that one can be filled while another is read";
  let description = [{ C1: there are at least two buffers. }];
  let arguments = (ins Te_StageType:$stage, DefaultValuedAttr<I64Attr, "2">:$count);
  let assemblyFormat = "$stage (`by` $count^)? attr-dict";
}
def Te_StorageAlignOp : Te_Primitive<"storage_align"> {
  let summary = "Keeps neighbours along an axis of a stage's result k * factor + offset elements apart, for the least k that does";
  let description = [{ C1: the factor is above 0, the offset not negative and below it, the axis not negative. }];
  let arguments = (ins Te_StageType:$stage, I64Attr:$dim, I64Attr:$factor, DefaultValuedAttr<I64Attr, "0">:$offset);
  let assemblyFormat = "$stage `dim` $dim `by` $factor (`offset` $offset^)? attr-dict";
}
def Te_StorageSwizzleOp : Te_Primitive<"storage_swizzle"> {
  let summary = "Keeps a stage's result in shared memory with groups of 16 bytes in another order, so that lines below each other fall on different banks";
  let arguments = (ins Te_StageType:$stage);
  let assemblyFormat = "$stage attr-dict";
}
def Te_StreamOp : Te_Primitive<"stream"> {
  let summary = "Has a result of the kernel stored past the caches";
  let arguments = (ins Te_StageType:$stage);
  let assemblyFormat = "$stage attr-dict";
}
def Te_BulkCopyOp : Te_Primitive<"bulk_copy"> {
  let summary = "Has a stage that copies an argument copied by TMA, which one thread asks for";
  let arguments = (ins Te_StageType:$stage);
  let assemblyFormat = "$stage attr-dict";
}
def Te_PrefetchOp : Te_Primitive<"prefetch"> {
  let summary = "Asks, in each iteration of a loop, for what an iteration some steps ahead reads, or writes, of a stage's result or an argument; a share of it in each iteration of a loop inside, where one is named";
  let description = [{ C1: the number of iterations ahead is above 0. }];
  let arguments = (ins Te_StageType:$source, Te_AxisType:$axis, I64Attr:$ahead, Optional<Te_AxisType>:$over);
  let assemblyFormat = "$source `,` $axis `ahead` $ahead (`over` $over^)? attr-dict";
}

//===- How loops run -------------------------------------------------------===//

def Te_Binding : I64EnumAttr<"Binding", "What a loop's iterations become; the numbers are those of the loop dialect's kinds", [
    I64EnumAttrCase<"block_x", 4>, I64EnumAttrCase<"block_y", 5>, I64EnumAttrCase<"block_z", 6>,
    I64EnumAttrCase<"thread_x", 7>, I64EnumAttrCase<"thread_y", 8>, I64EnumAttrCase<"thread_z", 9>,
    I64EnumAttrCase<"virtual_thread", 10>, I64EnumAttrCase<"warp", 11>, I64EnumAttrCase<"lane", 12>]> {
  let cppNamespace = "::fusion::te";
}
def Te_BindOp : Te_Primitive<"bind"> {
  let summary = "The iterations are the blocks of a grid, the warps or threads of a block, the lanes of a warp, or threads that take turns in one";
  let arguments = (ins Te_AxisType:$axis, Te_Binding:$binding);
  let assemblyFormat = "$axis `to` $binding attr-dict";
}
def Te_PipelineOp : Te_Primitive<"pipeline"> {
  let summary = "Has what an iteration stores last stored while the next one is computed";
  let arguments = (ins Te_AxisType:$axis);
  let assemblyFormat = "$axis attr-dict";
}
def Te_SkipPaddingOp : Te_Primitive<"skip_padding"> {
  let summary = "Passes over the iterations of a reduction in which a sum of products only adds products with the zeros of a padding";
  let arguments = (ins Te_AxisType:$axis);
  let assemblyFormat = "$axis attr-dict";
}
def Te_AnnotateOp : Te_Primitive<"annotate"> {
  let summary = "Keeps a value under a name on the loop";
  let description = [{
    Of a vectorized loop `"masked_tail" = 1` rounds a number of lanes that is no power of two up to the next one, with a mask. Names that
    no pass knows change nothing.
  }];
  let arguments = (ins Te_AxisType:$axis, StrAttr:$key, AnyAttr:$value);
  let assemblyFormat = "$axis $key `=` $value attr-dict";
}

//===- Intrinsics ----------------------------------------------------------===//

def Te_IntrinsicOp : Te_Op<"intrinsic", [IsolatedFromAbove, Symbol]> {
  let summary = "A small computation, and loops or operations that do it better than those of a schedule would";
  let description = [{
    The first body says what is computed: it takes small tensors and returns the only result of the one `te.compute` in it,
    each of whose loads has axes as indices. The second says how, in the loop dialect: it takes for each tensor, the result
    last, its buffer, the place of its first element, and how far apart neighbours along each of its axes are. A reduction
    combines into what the result's buffer has. Where the result has no axes, the second body takes the sum so far in place of a
    buffer, and yields the next one: schedules keep such sums in registers.
    - C1: the first body has a te.compute of one result, which it returns.
    - C2: the second body takes a flat buffer, an index, and an index an axis for each tensor, and ends with loop.yield; of a
      result without axes, a scalar, which it yields.

    With `lanes` all threads of a warp do it together. They are numbered by those of its axes, the last one fastest; each has, in a
    fragment, the results of its number. The result's buffer is in fragments, and laid out so that a thread's elements lie
    together, one thread behind the other. `contiguous` has for each argument the axis along which its elements must lie together, -1
    for none.
    - C3: lanes are parallel axes, each once; contiguous names an axis of each argument, or -1.

    With `panels` its arguments are in shared memory, swizzled, in panels of so many elements along these axes: lines of them, one behind
    the other. `apart` has how far apart neighbours along each axis of each argument are then, -1 for any distance.
    - C4: apart has a distance for each axis of each argument.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<DenseI64ArrayAttr>:$lanes,
                       OptionalAttr<DenseI64ArrayAttr>:$contiguous, OptionalAttr<I64Attr>:$panels,
                       OptionalAttr<DenseI64ArrayAttr>:$apart);
  let regions = (region SizedRegion<1>:$semantics, SizedRegion<1>:$lowering);
  let assemblyFormat = [{
    $sym_name (`lanes` $lanes^)? (`contiguous` $contiguous^)? (`panels` $panels^)? (`apart` $apart^)? `computes` $semantics `by` $lowering attr-dict
  }];
}
def Te_TensorizeOp : Te_Primitive<"tensorize"> {
  let summary = "Does what the loops from that one inwards compute with an intrinsic";
  let arguments = (ins Te_AxisType:$axis, FlatSymbolRefAttr:$intrinsic);
  let assemblyFormat = "$axis `with` $intrinsic attr-dict";
}
