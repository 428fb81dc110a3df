//===- Functional.td - Tuples, closures, control flow, references, data ----===//
// These have no type relation: their types follow from their regions and operands by their verifiers.

def Relay_TupleOp : Relay_Op<"tuple", [Relay_VerifiedTrait, Pure]> {
  let summary = "Forms a tuple";
  let arguments = (ins Variadic<AnyType>:$elements);
  let results = (outs AnyTuple:$result);
  let assemblyFormat = "$elements attr-dict `:` functional-type($elements, $result)";
}
def Relay_GetOp : Relay_Op<"get", [Relay_VerifiedTrait, Pure]> {
  let summary = "An element of a tuple";
  let arguments = (ins AnyTuple:$tuple, I64Attr:$index);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$tuple `[` $index `]` attr-dict `:` type($tuple) `->` type($result)";
}
def Relay_YieldOp : Relay_Op<"yield", [Relay_VerifiedTrait, Pure, Terminator]> {
  let summary = "Ends a region with its values";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}
def Relay_FnOp : Relay_Op<"fn", [Relay_VerifiedTrait, Pure]> {
  let summary = "A closure: a function value whose body may use the values around it";
  let regions = (region SizedRegion<1>:$body);
  let results = (outs FunctionType:$result);
  let assemblyFormat = "attr-dict-with-keyword $body `:` type($result)";
}
def Relay_ApplyOp : Relay_Op<"apply", [Relay_VerifiedTrait]> {
  let summary = "Calls a function value";
  let arguments = (ins FunctionType:$callee, Variadic<AnyType>:$arguments);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $arguments `)` attr-dict `:` type($callee)  `,` functional-type($arguments, $results)";
}
def Relay_IfOp : Relay_Op<"if", [Relay_VerifiedTrait, RecursiveMemoryEffects]> {
  let summary = "One of two regions, by a scalar condition (tensor<i1>)";
  let arguments = (ins AnyRankedTensor:$condition);
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
def Relay_RefNewOp : Relay_Op<"ref.new", [Relay_VerifiedTrait, MemoryEffects<[MemAlloc]>]> {
  let summary = "A new cell holding a value";
  let arguments = (ins AnyType:$value);
  let results = (outs Relay_RefType:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
}
def Relay_RefReadOp : Relay_Op<"ref.read", [Relay_VerifiedTrait, MemoryEffects<[MemRead]>]> {
  let summary = "The value a cell holds";
  let arguments = (ins Relay_RefType:$cell);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$cell attr-dict `:` type($cell) `->` type($result)";
}
def Relay_RefWriteOp : Relay_Op<"ref.write", [Relay_VerifiedTrait, MemoryEffects<[MemWrite]>]> {
  let summary = "Puts a value into a cell";
  let arguments = (ins Relay_RefType:$cell, AnyType:$value);
  let assemblyFormat = "$cell `,` $value attr-dict `:` type($cell) `,` type($value)";
}
