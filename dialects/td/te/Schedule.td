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
  let summary = "The loops of a stage before any primitive: parallel axes, then reduction axes";
  let arguments = (ins Te_StageType:$stage);
  let results = (outs Variadic<Te_AxisType>:$axes);
  let assemblyFormat = "$stage attr-dict `:` type($axes)";
}
def Te_SplitOp : Te_Primitive<"split"> {
  let summary = "i = outer * factor + inner; what is left over is computed by a loop of its own";
  let arguments = (ins Te_AxisType:$axis, I64Attr:$factor);
  let results = (outs Te_AxisType:$outer, Te_AxisType:$inner);
  let assemblyFormat = "$axis `by` $factor attr-dict";
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
class Te_Annotate<string mnemonic, string what> : Te_Primitive<mnemonic> {
  let summary = what;
  let arguments = (ins Te_AxisType:$axis);
  let assemblyFormat = "$axis attr-dict";
}
def Te_VectorizeOp : Te_Annotate<"vectorize", "All iterations at once, in one vector; those of a reduction have partial results">;
def Te_UnrollOp : Te_Annotate<"unroll", "One copy of the body for each iteration; inner loops are jammed together">;
def Te_ParallelOp : Te_Annotate<"parallel", "Iterations may run at the same time">;
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
  let arguments = (ins Te_StageType:$source, StrAttr:$name, Variadic<Te_StageType>:$readers);
  let results = (outs Te_StageType:$copy);
  let assemblyFormat = "$source `as` $name (`for` $readers^)? attr-dict";
}
def Te_CacheWriteOp : Te_Primitive<"cache_write"> {
  let summary = "Computes a stage into a buffer of its own, from which the stage itself only copies";
  let arguments = (ins Te_StageType:$stage, StrAttr:$name);
  let results = (outs Te_StageType:$computed);
  let assemblyFormat = "$stage `as` $name attr-dict";
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
