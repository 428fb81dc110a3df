//===- Data.td - Algebraic data types: declaration, construction, match ----===//

def Relay_DataOp : Relay_Op<"data", [Relay_VerifiedTrait, Symbol]> {
  let summary = "Declares an algebraic data type";
  let description = [{
        relay.data @List ["a"] [#relay.constructor<"Nil">,
          #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]

    - C1: parameters differ, and so do constructors.
    - C2: the fields' type variables are parameters.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$parameters, TypedArrayAttrBase<Relay_ConstructorAttr, "constructors">:$constructors);
  let assemblyFormat = "$sym_name $parameters $constructors attr-dict";
}
def Relay_ConstructOp : Relay_Op<"construct", [Relay_SymbolUser, Pure]> {
  let summary = "Makes a value of a data type with one of its constructors";
  let description = [{
        %l = relay.construct @List::@Cons(%x, %rest) : (tensor<f32>, !relay.adt<@List, [tensor<f32>]>) -> !relay.adt<@List, [tensor<f32>]>

    - C1: the module declares the data type, and that the constructor.
    - C2: there is one operand a field.
    - C3: the types of operands and result are an instance of the constructor's.
  }];
  let arguments = (ins SymbolRefAttr:$constructor, Variadic<AnyType>:$fields);
  let results = (outs AnyTypeOf<[Relay_AdtType, Relay_HoleType]>:$result);
  let assemblyFormat = "$constructor `(` $fields `)` attr-dict `:` functional-type($fields, $result)";
}
def Relay_MatchOp : Relay_Op<"match", [Relay_SymbolUser, RecursiveMemoryEffects]> {
  let summary = "The first clause whose pattern fits the value";
  let description = [{
    A pattern is `"_"`, which fits all; a name, which also binds the value; `[@List::@Cons, p, q]`, which fits values of that
    constructor whose fields fit; or `[p, q]`, which fits tuples. The names of a pattern are, in order, the arguments of
    its clause's region.

        %r = relay.match %list : (!relay.adt<@List, [tensor<f32>]>) -> tensor<f32>
        case [@List::@Nil] { relay.yield %zero : tensor<f32> }
        case [@List::@Cons, "x", "_"] { ^bb0(%x: tensor<f32>): relay.yield %x : tensor<f32> }

    - C1: there is one region a pattern, and at least one.
    - C2: patterns fit the types of the value and its parts; the module declares their constructors.
    - C3: regions take what their patterns bind.
    - C4: regions yield the results.

    Whether the clauses together fit every value, and each some value, `relay-check-match` says.
  }];
  let arguments = (ins AnyType:$value, ArrayAttr:$patterns);
  let regions = (region VariadicRegion<SizedRegion<1>>:$clauses);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$value `:` functional-type($value, $results) attr-dict custom<Clauses>($patterns, $clauses)";
}
