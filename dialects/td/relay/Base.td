//===- Base.td - The relay dialect, its types and operation classes -------===//
#ifndef FUSION_RELAY_BASE_TD
#define FUSION_RELAY_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Relay_Dialect : Dialect {
  let name = "relay";
  let cppNamespace = "::fusion::relay";
  let summary = "Typed functional tensor programs";
  let description = [{
    Programs of tensors, tuples, closures, algebraic data and references (Roesch et al., "Relay: A
    High-Level Compiler for Deep Learning", 2019) in SSA form. An operator's result types follow from
    its operands and attributes by its type relation, whose constraints C1, C2, ... are listed with it
    and named by the verifier. An unknown extent, `?`, is Relay's `Any`; a named one stands in the
    tensor's encoding: `tensor<?x10xf32, #relay.dims<["n", ""]>>`.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

//===- Types ---------------------------------------------------------------===//

class Relay_Type<string n, string m> : TypeDef<Relay_Dialect, n> { let mnemonic = m; }

def Relay_RefType : Relay_Type<"Ref", "ref"> {
  let summary = "A mutable cell";
  let parameters = (ins "::mlir::Type":$value);
  let assemblyFormat = "`<` $value `>`";
}
def Relay_AdtType : Relay_Type<"Adt", "adt"> {
  let summary = "An algebraic data type applied to type arguments";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$name,
                        OptionalArrayRefParameter<"::mlir::Type">:$arguments);
  let assemblyFormat = "`<` $name (`,` `[` $arguments^ `]`)? `>`";
}
def Relay_VarType : Relay_Type<"Var", "var"> {
  let summary = "A type variable";
  let parameters = (ins "::mlir::StringAttr":$name);
  let assemblyFormat = "`<` $name `>`";
}
def Relay_HoleType : Relay_Type<"Hole", "hole"> {
  let summary = "A type that is not known yet";
  let description = [{
    Front ends write it where a type follows from others; each occurrence stands for a type of its own.
    `relay-infer-types` puts types in the place of all of them.
  }];
}
def Relay_StringType : Relay_Type<"String", "string"> {
  let summary = "The element type of tensors of strings";
  let description = [{
    A string is a text in UTF-8. Constants are written `dense<["a", "b"]> : tensor<2x!relay.string>`. Operators that only move or compare
    elements take strings as they are, others are those whose names begin with `string_`.
  }];
}
def Relay_ConstructorAttr : AttrDef<Relay_Dialect, "Constructor"> {
  let mnemonic = "constructor";
  let summary = "A constructor of a data type: its name and the types of its fields";
  let parameters = (ins StringRefParameter<"name">:$name, OptionalArrayRefParameter<"::mlir::Type">:$fields);
  let assemblyFormat = "`<` $name (`,` `[` $fields^ `]`)? `>`";
}
def Relay_DimsAttr : AttrDef<Relay_Dialect, "Dims"> {
  let mnemonic = "dims";
  let summary = "Extents that are known at run time only: names (`n`) and expressions of them (`2*n+1`, `(h-1) floordiv 2`, `max(n-1, 0)`)";
  let description = [{
    As the encoding of a tensor type, a text for each axis: an empty one for an extent that is known or has no name. As an
    attribute of an operator, extents of a shape, numbers among them; `?` is what is left over.
  }];
  let parameters = (ins "::mlir::ArrayAttr":$names);
  let assemblyFormat = "`<` $names `>`";
}

def Relay_DimAttr : AttrDef<Relay_Dialect, "Dim"> {
  let mnemonic = "dim";
  let summary = "An extent that is known at run time only: a name or an expression of names";
  let parameters = (ins "::mlir::StringAttr":$extent);
  let assemblyFormat = "`<` $extent `>`";
}

// What operators take and give: a tensor, or a type that is still to be found out.
def Relay_Tensor : AnyTypeOf<[AnyRankedTensor, Relay_HoleType], "ranked tensor">;

//===- Operation classes ---------------------------------------------------===//

// Verifies with the operator's type relation and folds with its reference semantics, both in Rust.
def Relay_FactsTrait : NativeOpTrait<"FromFacts"> { let cppNamespace = "::fusion::relay"; }

// Verified in Rust (dialects/src/relay/verify.rs).
def Relay_VerifiedTrait : NativeOpTrait<"VerifiedInRust"> { let cppNamespace = "::fusion"; }

// As that, of operations that name symbols: verified with the module, which builds its symbol table once for all of them.
def Relay_SymbolUser : DeclareOpInterfaceMethods<SymbolUserOpInterface>;

class Relay_Op<string mnemonic, list<Trait> traits = []> : Op<Relay_Dialect, mnemonic, traits>;

// An operator: build/operators.rs makes its operation of the row (crate fusion-operators). Operands are printed in order, then the
// attributes by name.
class Relay_Operator<string mnemonic, list<Trait> traits = []>
    : Relay_Op<mnemonic, !listconcat([Pure, Relay_FactsTrait], traits)> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

class Ints : OptionalAttr<DenseI64ArrayAttr>;
def Relay_Ints : Ints;
def Relay_Int : OptionalAttr<I64Attr>;
def Relay_Float : OptionalAttr<F64Attr>;
// Numbers, or extents that are known at run time only.
def Relay_ExtentAttr : AnyAttrOf<[I64Attr, Relay_DimAttr], "an integer of 64 bits or an extent">;
def Relay_Extent : OptionalAttr<Relay_ExtentAttr>;
def Relay_ExtentsAttr : AnyAttrOf<[DenseI64ArrayAttr, Relay_DimsAttr], "integers of 64 bits or extents">;
def Relay_Extents : OptionalAttr<Relay_ExtentsAttr>;
def Relay_Floats : OptionalAttr<DenseF64ArrayAttr>;
def Relay_DType : OptionalAttr<TypeAttr>;
def Relay_Flag : OptionalAttr<BoolAttr>;
def Relay_Str : OptionalAttr<StrAttr>;

#endif
