//===- Relay.cpp - Registers the relay dialect -----------------------------===//
#include "Bridge.h"
#include "llvm/ADT/TypeSwitch.h"

#include "RelayDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "RelayTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "RelayAttrs.h.inc"
#define GET_OP_CLASSES
#include "RelayOps.h.inc"

#include "RelayDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "RelayTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "RelayAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "RelayOps.cpp.inc"

using namespace mlir;

void fusion::relay::RelayDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "RelayOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "RelayTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "RelayAttrs.cpp.inc"
      >();
}

Operation *fusion::relay::RelayDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

OpFoldResult fusion::relay::ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult fusion::foldInRust(const void *row, Operation *op, ArrayRef<Attribute> operands,
                                 SmallVectorImpl<OpFoldResult> &results) {
  SmallVector<MlirAttribute> known;
  for (Attribute attribute : operands)
    known.push_back(wrap(attribute));
  SmallVector<MlirValue> values(op->getNumResults(), MlirValue{nullptr});
  SmallVector<MlirAttribute> attributes(op->getNumResults(), MlirAttribute{nullptr});
  int outcome = fusionRustFold(row, wrap(op), known.data(), known.size(), values.data(), attributes.data());
  if (outcome == 2)
    for (auto [value, attribute] : llvm::zip(values, attributes)) {
      if (value.ptr)
        results.push_back(unwrap(value));
      else
        results.push_back(unwrap(attribute));
    }
  return success(outcome != 0);
}

extern "C" MlirDialectHandle mlirGetDialectHandle__relay__();
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Relay, relay, fusion::relay::RelayDialect)

extern "C" {
/// Names of a tensor type's extents (`#relay.dims`), or a null attribute.
MlirAttribute fusionRelayDimNames(MlirType type) {
  auto tensor = dyn_cast<RankedTensorType>(unwrap(type));
  auto dims = tensor ? dyn_cast_or_null<fusion::relay::DimsAttr>(tensor.getEncoding()) : nullptr;
  return dims ? wrap(Attribute(dims.getNames())) : MlirAttribute{nullptr};
}
MlirAttribute fusionRelayDims(MlirAttribute names) {
  auto array = cast<ArrayAttr>(unwrap(names));
  return wrap(Attribute(fusion::relay::DimsAttr::get(array.getContext(), array)));
}
}
