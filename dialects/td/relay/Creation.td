//===- Creation.td - Constants ----------------------------------===//

def Relay_ConstantOp : Relay_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "A tensor known at compile time";
  let description = [{ Dense, splat, or an external resource (`dense_resource`). }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Relay_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}
