//===- Functional.td - Tuples, functions as values, calls ------------------===//
// Operations of the functional side have no type relation: their types follow from their regions and operands by
// their verifiers. Where a type is still `!relay.hole`, they check what is known.

def Relay_TupleOp : Relay_Op<"tuple", [Relay_VerifiedTrait, Pure]> {
  let summary = "Forms a tuple";
  let arguments = (ins Variadic<AnyType>:$elements);
  let results = (outs AnyTypeOf<[AnyTuple, Relay_HoleType]>:$result);
  let assemblyFormat = "$elements attr-dict `:` functional-type($elements, $result)";
}
def Relay_GetOp : Relay_Op<"get", [Relay_VerifiedTrait, Pure]> {
  let summary = "An element of a tuple";
  let arguments = (ins AnyTypeOf<[AnyTuple, Relay_HoleType]>:$tuple, I64Attr:$index);
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
  let description = [{
    Type variables that stand in its type and in none of the values around it are its own: it is polymorphic in them,
    and each `relay.apply` or `relay.instantiate` of it chooses them anew.
  }];
  let regions = (region SizedRegion<1>:$body);
  let results = (outs AnyTypeOf<[FunctionType, Relay_HoleType]>:$result);
  let assemblyFormat = "attr-dict-with-keyword $body `:` type($result)";
}
def Relay_ApplyOp : Relay_Op<"apply", [Relay_VerifiedTrait]> {
  let summary = "Calls a function value";
  let arguments = (ins AnyTypeOf<[FunctionType, Relay_HoleType]>:$callee, Variadic<AnyType>:$arguments);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $arguments `)` attr-dict `:` type($callee)  `,` functional-type($arguments, $results)";
}
def Relay_CallOp : Relay_Op<"call", [Relay_SymbolUser]> {
  let summary = "Calls a function of the module, which may be polymorphic";
  let description = [{
    - C1: the module has the function.
    - C2: the types of the arguments and results are an instance of the function's type: its type variables
      (`relay.type_params`) and its named extents are chosen anew for each call.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$arguments);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $results)";
}
def Relay_GlobalOp : Relay_Op<"global", [Relay_SymbolUser, Pure]> {
  let summary = "A function of the module as a value";
  let description = [{
    - C1: the module has the function.
    - C2: the value's type is an instance of the function's type.
  }];
  let arguments = (ins FlatSymbolRefAttr:$function);
  let results = (outs AnyTypeOf<[FunctionType, Relay_HoleType]>:$result);
  let assemblyFormat = "$function attr-dict `:` type($result)";
}
def Relay_InstantiateOp : Relay_Op<"instantiate", [Relay_VerifiedTrait, Pure]> {
  let summary = "A polymorphic closure at one of its types";
  let description = [{ C1: the result's type is an instance of the operand's. }];
  let arguments = (ins FunctionType:$function);
  let results = (outs FunctionType:$result);
  let assemblyFormat = "$function attr-dict `:` type($function) `->` type($result)";
}
def Relay_AscribeOp : Relay_Op<"ascribe", [Relay_VerifiedTrait, Pure]> {
  let summary = "The same value; the two types must be one";
  let description = [{
    A type annotation. `relay-infer-types` takes it away where the two types became one; where extents differ it stays:
    what is known is given up there, or compared when the program runs.
    C1: what is known of the two types does not contradict.
  }];
  let arguments = (ins AnyType:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
}
