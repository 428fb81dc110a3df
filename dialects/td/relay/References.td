//===- References.td - Mutable cells ---------------------------------------===//

def Relay_RefNewOp : Relay_Op<"ref.new", [Relay_VerifiedTrait, MemoryEffects<[MemAlloc]>]> {
  let summary = "A new cell holding a value";
  let arguments = (ins AnyType:$value);
  let results = (outs AnyTypeOf<[Relay_RefType, Relay_HoleType]>:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` qualified(type($result))";
}
def Relay_RefReadOp : Relay_Op<"ref.read", [Relay_VerifiedTrait, MemoryEffects<[MemRead]>]> {
  let summary = "The value a cell holds";
  let arguments = (ins AnyTypeOf<[Relay_RefType, Relay_HoleType]>:$cell);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$cell attr-dict `:` qualified(type($cell)) `->` type($result)";
}
def Relay_RefWriteOp : Relay_Op<"ref.write", [Relay_VerifiedTrait, MemoryEffects<[MemWrite]>]> {
  let summary = "Puts a value into a cell";
  let arguments = (ins AnyTypeOf<[Relay_RefType, Relay_HoleType]>:$cell, AnyType:$value);
  let assemblyFormat = "$cell `,` $value attr-dict `:` qualified(type($cell)) `,` type($value)";
}
