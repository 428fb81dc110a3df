//===- Creation.td - Tensors from nothing ----------------------------------===//

def Relay_ConstantOp : Relay_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "A tensor known at compile time";
  let description = [{ Dense, splat, or an external resource (`dense_resource`). }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Relay_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}
def Relay_ArangeOp : Relay_Op<"arange", [Pure, Relay_FactsTrait]> {
  let summary = "start + i * step for each i below `size`, as `dtype`";
  let description = [{ C1: dtype is an element type. C2: size is not negative. `start` is 0 and `step` 1 when absent. }];
  let arguments = (ins I64Attr:$size, Relay_Float:$start, Relay_Float:$step, TypeAttr:$dtype);
  let results = (outs Relay_Tensor:$result);
  let assemblyFormat = "attr-dict `:` functional-type(operands, results)";
}
def Relay_ShapeOfOp : Relay_Unary<"shape_of", "The extents as a tensor of i64">;
