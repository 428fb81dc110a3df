//===- Control.td - One of two regions, loops ------------------------------===//

def Relay_IfOp : Relay_Op<"if", [Relay_VerifiedTrait, RecursiveMemoryEffects]> {
  let summary = "One of two regions, by a scalar condition (tensor<i1>)";
  let arguments = (ins Relay_Tensor:$condition);
  let regions = (region SizedRegion<1>:$then, SizedRegion<1>:$otherwise);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$condition $then `else` $otherwise attr-dict `:` functional-type($condition, $results)";
}
def Relay_WhileOp : Relay_Op<"while", [Relay_VerifiedTrait, RecursiveMemoryEffects]> {
  let summary = "While the first region yields true, the second gives the next state";
  let description = [{
    The first region takes the state and yields tensor<i1>; the second takes the state and yields the next; the
    results are the state when the condition is false.
  }];
  let arguments = (ins Variadic<AnyType>:$state);
  let regions = (region SizedRegion<1>:$condition, SizedRegion<1>:$body);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "`(` $state `)` $condition `do` $body attr-dict `:` functional-type($state, $results)";
}
