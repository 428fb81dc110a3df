//===- Shape.td - Operators that move elements by their position -----------===//

def Relay_ReshapeOp : Relay_Plain<"reshape", "The same elements in row-major order under another shape",
    (ins Relay_Tensor:$data, DenseI64ArrayAttr:$shape)> {
  let description = [{ At most one extent may be -1: what is left over. C1: one -1 at most, others not negative. C2: the number of elements stays. }];
}
def Relay_TransposeOp : Relay_Plain<"transpose", "Axis i of the result is axis axes[i] of the operand; reversed when absent",
    (ins Relay_Tensor:$data, Relay_Ints:$axes)> { let description = [{ C1: axes are a permutation. }]; }
def Relay_SqueezeOp : Relay_Plain<"squeeze", "Removes axes of extent 1 (all of them when absent)",
    (ins Relay_Tensor:$data, Relay_Ints:$axes)> { let description = [{ C1: axes are in range. C2: their extents are 1; without axes, all extents are known. }]; }
def Relay_ExpandDimsOp : Relay_Plain<"expand_dims", "Inserts axes of extent 1 at the places `axes` of the result",
    (ins Relay_Tensor:$data, DenseI64ArrayAttr:$axes)> { let description = [{ C1: axes are in range of the result's rank and named once. }]; }
def Relay_BroadcastToOp : Relay_Plain<"broadcast_to", "Repeats along axes of extent 1 and new leading axes",
    (ins Relay_Tensor:$data, DenseI64ArrayAttr:$shape)> { let description = [{ C1: the operand's shape broadcasts to `shape`. }]; }
def Relay_ConcatOp : Relay_Operator<"concat"> {
  let summary = "Joins tensors along `axis`";
  let description = [{ C1: one element type and rank. C2: axis is in range. C3: the other extents agree. }];
  let arguments = (ins Variadic<Relay_Tensor>:$inputs, I64Attr:$axis);
  let assemblyFormat = "$inputs attr-dict `:` functional-type(operands, results)";
}
def Relay_SplitOp : Relay_Op<"split", [Pure, Relay_FactsTrait]> {
  let summary = "Cuts a tensor along `axis` into pieces of the extents `sections`";
  let description = [{ C1: axis is in range. C2: sections are not negative and sum to the extent. }];
  let arguments = (ins Relay_Tensor:$data, DenseI64ArrayAttr:$sections, I64Attr:$axis);
  let results = (outs Variadic<Relay_Tensor>:$pieces);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Relay_SliceOp : Relay_Plain<"slice", "y[i] = x[begin + i * stride] along each of `axes`",
    (ins Relay_Tensor:$data, DenseI64ArrayAttr:$begin, DenseI64ArrayAttr:$end, Relay_Ints:$axes, Relay_Ints:$strides)> {
  let description = [{
    `axes` are the first ones and `strides` 1 when absent. Negative begin and end count from the back, both are clamped to the
    axis (Python slices; with a negative stride an end below -extent means "through the first element").
    - C1: begin, end, axes and strides have one length. C2: axes are in range and named once. C3: no stride is 0.
  }];
}
def Relay_PadOp : Relay_Plain<"pad", "Extends each axis at its beginning and end",
    (ins Relay_Tensor:$data, DenseI64ArrayAttr:$padding, Relay_Str:$mode, Relay_Float:$value)> {
  let description = [{
    `padding` has all beginnings, then all ends; negative ones remove. `mode` is "constant" (with `value`, 0 when absent), "edge",
    "reflect" (without repeating the edge) or "wrap".
    - C1: two numbers an axis. C2: a known mode. C3: no extent becomes negative; reflection is shorter than the axis; edge and wrap of an axis that is not empty.
  }];
}
def Relay_TileOp : Relay_Plain<"tile", "Repeats the tensor reps[i] times along axis i",
    (ins Relay_Tensor:$data, DenseI64ArrayAttr:$reps)> { let description = [{ C1: one number, not negative, an axis. }]; }
def Relay_ResizeOp : Relay_Plain<"resize", "Samples the last axes at another resolution",
    (ins Relay_Tensor:$data, DenseI64ArrayAttr:$size, DenseF64ArrayAttr:$scales, Relay_Str:$method, Relay_Str:$coordinates, Relay_Str:$rounding)> {
  let description = [{
    `size` has one extent for each axis. `scales` are those that map coordinates (size / extent where the model gives no other).
    `method` is "nearest" or "linear"; `coordinates` is "half_pixel", "pytorch_half_pixel", "asymmetric" or "align_corners";
    `rounding`, for nearest, is "round_prefer_floor", "round_prefer_ceil", "floor" or "ceil". Defaults: nearest, half_pixel, round_prefer_floor.
    - C1: one size and scale an axis, above 0. C2: known method, coordinates, rounding. C3: linear interpolates floats.
  }];
}
def Relay_ReverseOp : Relay_Plain<"reverse", "Runs backwards along `axes`",
    (ins Relay_Tensor:$data, DenseI64ArrayAttr:$axes)> { let description = [{ C1: axes are in range and named once. }]; }
