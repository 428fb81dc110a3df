//===- Te.td - Tensor expressions and their schedules ----------------------===//
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Te_Dialect : Dialect {
  let name = "te";
  let cppNamespace = "::fusion::te";
  let summary = "What a kernel computes, and how";
  let description = [{
    A `te.kernel` says what to compute: each `te.compute` gives, for every point of its axes, a scalar expression of
    elements of other tensors, combined over its reduction axes. A `te.schedule` says how, as a list of primitives over
    handles (Chen et al., "TVM", 2018, section 4.1; Ragan-Kelley et al., "Halide", 2013). `te-lower` turns both into loops.
  }];
  let useDefaultTypePrinterParser = 1;
}

class Te_Type<string n, string m> : TypeDef<Te_Dialect, n> { let mnemonic = m; }
def Te_StageType : Te_Type<"Stage", "stage"> { let summary = "A te.compute seen by a schedule"; }
def Te_AxisType : Te_Type<"Axis", "axis"> { let summary = "A loop over an axis of a stage"; }

// Verified in Rust.
def Te_VerifiedTrait : NativeOpTrait<"VerifiedInRust"> { let cppNamespace = "::fusion"; }
class Te_Op<string mnemonic, list<Trait> traits = []> : Op<Te_Dialect, mnemonic, !listconcat([Te_VerifiedTrait], traits)>;

//===- Kernels -------------------------------------------------------------===//

def Te_KernelOp : Te_Op<"kernel", [IsolatedFromAbove, FunctionOpInterface]> {
  let summary = "One fused kernel: a function of tensors made of te.compute";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}
def Te_ReturnOp : Te_Op<"return", [Pure, Terminator]> {
  let summary = "Ends a kernel with its results";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}
def Te_ExtentOp : Te_Op<"extent", [Pure]> {
  let summary = "The extent of that name, which is known when the kernel runs";
  let description = [{
    Names are those of the kernel's tensor types. The attribute `te.extents` of the kernel lists them in the order in which the
    caller passes their numbers.
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs Index:$result);
  let assemblyFormat = "$name attr-dict";
}
def Te_ComputeOp : Te_Op<"compute", [Pure]> {
  let summary = "Tensors given element by element";
  let description = [{
    The body takes the indices of the parallel axes, then of the reduction axes, and yields one scalar for each result.
    With reduction axes, `init` has the neutral elements and the combiner takes the values so far, then the new ones.
    An axis whose extent has a name stands as -1; `te.names` has the names of all axes, empty for known extents.
    - C1: extents are not negative. C2: each result has the parallel extents as its shape.
    - C3: the body takes one index an axis and yields the results' element types (integers without sign).
    - C4: with reduction axes, there is one neutral element a result and a combiner of two scalars a result; without, neither.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$name, DenseI64ArrayAttr:$axes, DenseI64ArrayAttr:$reduce, ArrayAttr:$init);
  let regions = (region SizedRegion<1>:$body, AnyRegion:$combiner);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{ ($name^)? `axes` $axes `reduce` $reduce `init` $init $body `combine` $combiner attr-dict `:` type($results) }];
}
def Te_LoadOp : Te_Op<"load", [Pure]> {
  let summary = "An element of a tensor; of an integer tensor, without sign";
  let description = [{ C1: one index an axis. C2: the result is the tensor's element type without sign. }];
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$indices);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source `[` $indices `]` attr-dict `:` type($source) `->` type($result)";
}
def Te_LoadIfOp : Te_Op<"load_if", [Pure, AllTypesMatch<["otherwise", "result"]>]> {
  let summary = "An element of a tensor where a condition holds, another value elsewhere";
  let description = [{
    The indices need to be inside the tensor only where the condition holds: this is how data is padded.
    C1: one index an axis. C2: the result is the tensor's element type without sign.
  }];
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$indices, I1:$condition, AnyType:$otherwise);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$condition `,` $source `[` $indices `]` `else` $otherwise attr-dict `:` type($source) `->` type($result)";
}
def Te_YieldOp : Te_Op<"yield", [Pure, Terminator]> {
  let summary = "Ends a body with its scalars";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Te_ExternOp : Te_Op<"extern", [Pure]> {
  let summary = "Tensors computed by a loop nest written by hand";
  let description = [{
    For what is no elementwise expression: scans, sorts, scatters. The body is in the loop dialect and takes the flat buffers of
    the inputs, which it only reads, then those of the results, which it writes wholly.
    C1: the body takes one flat buffer an input and result, of its elements; where extents have names, of 2^44 elements, and
    `te.extent` says what they are.

    With `updates` the result starts as a copy of that input, which the body neither reads nor writes: it writes some of the
    result's elements only. A kernel of such a nest alone can work in place.
    C2: `updates` names an input, which has the type of the only result.

    With `axes` the results are computed in that many parts, in any order, and a part of them can be computed where it is used
    (`te.compute_at`). `parts` has three numbers a tensor, inputs first: an axis, a step and a length. Part `q` is the
    elements from `q step` on, as many as the length, along that axis; all of the tensor where the axis is -1. The body takes `q`, then for each
    tensor its flat buffer, the index of the part's first element in it, and how far apart neighbours along each axis are.
    C3: `axes` is one number above 0, and there are no `updates`. C4: there is one result and `parts` has three numbers a tensor; the parts
    of the result do not overlap and are all of it, those of an input lie inside it.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$name, Variadic<AnyRankedTensor>:$inputs, OptionalAttr<I64Attr>:$updates,
                       OptionalAttr<DenseI64ArrayAttr>:$axes, OptionalAttr<DenseI64ArrayAttr>:$parts);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{ ($name^)? `(` $inputs `)` $body attr-dict `:` functional-type($inputs, $results) }];
}

//===- The program around the kernels --------------------------------------===//

def Te_CallOp : Te_Op<"call"> {
  let summary = "Runs a kernel";
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyRankedTensor>:$operands);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$kernel `(` $operands `)` attr-dict `:` functional-type($operands, $results)";
}
def Te_ConstantOp : Te_Op<"constant", [Pure]> {
  let summary = "A tensor known at compile time, stored with the module";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "attr-dict $value `:` type($result)";
}
def Te_ViewOp : Te_Op<"view", [Pure]> {
  let summary = "The same memory, or a piece of it, under another shape";
  let description = [{
    With `from` the elements are those from that place on, counted in the order in which they lie in memory: such a view is taken by the
    program around kernels, not inside of one.
    C1: the element type stays. Without `from`, the number of elements does. C2: a piece lies inside of its source.
  }];
  let arguments = (ins AnyRankedTensor:$source, OptionalAttr<I64Attr>:$offset);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source (`from` $offset^)? attr-dict `:` type($source) `->` type($result)";
}

include "Schedule.td"
