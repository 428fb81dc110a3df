//===- Reduction.td - Many elements to one ---------------------------------===//

class Relay_Reduce<string mnemonic, string what> : Relay_Plain<"reduce_" # mnemonic, what,
    (ins Relay_Tensor:$data, Relay_Ints:$axes, Relay_Flag:$keepdims)> {
  let description = [{ Over `axes`, all of them when absent. C1: axes are in range and named once. }];
}
def Relay_ReduceSumOp : Relay_Reduce<"sum", "Sum">;
def Relay_ReduceMeanOp : Relay_Reduce<"mean", "Mean (C2: of floats)">;
def Relay_ReduceProdOp : Relay_Reduce<"prod", "Product">;
def Relay_ReduceMaxOp : Relay_Reduce<"max", "Greatest element; NaN when one is">;
def Relay_ReduceMinOp : Relay_Reduce<"min", "Least element; NaN when one is">;
def Relay_ReduceAllOp : Relay_Reduce<"all", "Whether all are true (C2: of booleans)">;
def Relay_ReduceAnyOp : Relay_Reduce<"any", "Whether one is true (C2: of booleans)">;

class Relay_Arg<string mnemonic, string what> : Relay_Plain<mnemonic, what,
    (ins Relay_Tensor:$data, Relay_Int:$axis, Relay_Flag:$keepdims, Relay_Flag:$select_last)> {
  let description = [{ Along `axis` (0 when absent), as i64; among equals the first, or with `select_last` the last. C1: axis is in range. C2: the axis is not empty. }];
}
def Relay_ArgmaxOp : Relay_Arg<"argmax", "Index of the greatest element">;
def Relay_ArgminOp : Relay_Arg<"argmin", "Index of the least element">;

class Relay_Scan<string mnemonic, string what> : Relay_Plain<mnemonic, what,
    (ins Relay_Tensor:$data, Relay_Int:$axis, Relay_Flag:$exclusive, Relay_Flag:$reverse)> {
  let description = [{ Along `axis` (0 when absent); `exclusive` leaves out the element itself; `reverse` runs from the end. C1: axis is in range. C2: not boolean. }];
}
def Relay_CumsumOp : Relay_Scan<"cumsum", "Running sum">;
def Relay_CumprodOp : Relay_Scan<"cumprod", "Running product">;

def Relay_TopkOp : Relay_Op<"topk", [Pure, Relay_FactsTrait]> {
  let summary = "The k greatest (or least) elements along `axis`, sorted, and their indices as i64";
  let description = [{ `axis` is -1 when absent; `smallest` takes the least; equals keep their order. C1: axis is in range. C2: 0 <= k <= extent. }];
  let arguments = (ins Relay_Tensor:$data, I64Attr:$k, Relay_Int:$axis, Relay_Flag:$smallest);
  let results = (outs Relay_Tensor:$values, Relay_Tensor:$indices);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
