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

using namespace mlir;

/// The clauses of a match: `case PATTERN { ... }` for each.
static ParseResult parseClauses(OpAsmParser &parser, ArrayAttr &patterns,
                                SmallVectorImpl<std::unique_ptr<Region>> &clauses) {
  SmallVector<Attribute> parsed;
  while (succeeded(parser.parseOptionalKeyword("case"))) {
    clauses.push_back(std::make_unique<Region>());
    if (parser.parseAttribute(parsed.emplace_back()) || parser.parseRegion(*clauses.back()))
      return failure();
  }
  patterns = parser.getBuilder().getArrayAttr(parsed);
  return success();
}
static void printClauses(OpAsmPrinter &printer, Operation *, ArrayAttr patterns, MutableArrayRef<Region> clauses) {
  for (auto [pattern, clause] : llvm::zip(patterns, clauses)) {
    printer.printNewline();
    printer << "case " << pattern << ' ';
    printer.printRegion(clause);
  }
}

#define GET_OP_CLASSES
#include "RelayOps.cpp.inc"

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

template <typename ConcreteOp> static LogicalResult verifySymbols(ConcreteOp op, SymbolTableCollection &symbols) {
  return success(fusionRustVerify(fusion::rowOf<ConcreteOp>(), wrap(op.getOperation()), &symbols));
}
LogicalResult fusion::relay::CallOp::verifySymbolUses(SymbolTableCollection &symbols) { return verifySymbols(*this, symbols); }
LogicalResult fusion::relay::GlobalOp::verifySymbolUses(SymbolTableCollection &symbols) { return verifySymbols(*this, symbols); }
LogicalResult fusion::relay::ConstructOp::verifySymbolUses(SymbolTableCollection &symbols) { return verifySymbols(*this, symbols); }
LogicalResult fusion::relay::MatchOp::verifySymbolUses(SymbolTableCollection &symbols) { return verifySymbols(*this, symbols); }

/// The symbol of that name in the module around an operation, or null.
extern "C" MlirOperation fusionSymbolNamed(void *symbols, MlirOperation near, MlirStringRef name) {
  auto *tables = static_cast<SymbolTableCollection *>(symbols);
  Operation *op = unwrap(near);
  return wrap(tables->lookupNearestSymbolFrom(op, StringAttr::get(op->getContext(), unwrap(name))));
}

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

/// The parameters of a relay type, as `dialects/src/bridge/relay_types.rs` asks for them. Null where it has none.
using namespace fusion::relay;
extern "C" {
/// 0 for types of other dialects.
enum RelaySort : uint32_t { Other = 0, Ref = 1, Adt = 2, Var = 3, Hole = 4, String = 5 };
uint32_t fusionRelaySort(MlirType type) {
  return llvm::TypeSwitch<Type, uint32_t>(unwrap(type))
      .Case([](RefType) { return RelaySort::Ref; })
      .Case([](AdtType) { return RelaySort::Adt; })
      .Case([](VarType) { return RelaySort::Var; })
      .Case([](HoleType) { return RelaySort::Hole; })
      .Case([](StringType) { return RelaySort::String; })
      .Default([](Type) { return RelaySort::Other; });
}
/// The name of a data type or type variable.
MlirStringRef fusionRelayName(MlirType type) {
  if (auto adt = dyn_cast<AdtType>(unwrap(type)))
    return wrap(adt.getName().getValue());
  if (auto variable = dyn_cast<VarType>(unwrap(type)))
    return wrap(variable.getName().getValue());
  return wrap(StringRef());
}
/// The parts of a type: what a cell holds, what a data type is applied to.
intptr_t fusionRelayPartCount(MlirType type) {
  if (auto adt = dyn_cast<AdtType>(unwrap(type)))
    return adt.getArguments().size();
  return isa<RefType>(unwrap(type)) ? 1 : 0;
}
MlirType fusionRelayPart(MlirType type, intptr_t index) {
  if (auto adt = dyn_cast<AdtType>(unwrap(type)))
    return wrap(adt.getArguments()[index]);
  return wrap(cast<RefType>(unwrap(type)).getValue());
}
MlirType fusionRelayRef(MlirType value) { return wrap(Type(RefType::get(unwrap(value).getContext(), unwrap(value)))); }
MlirType fusionRelayAdt(MlirContext context, MlirStringRef name, const MlirType *parts, intptr_t count) {
  SmallVector<Type> arguments;
  for (intptr_t i = 0; i < count; ++i)
    arguments.push_back(unwrap(parts[i]));
  auto symbol = FlatSymbolRefAttr::get(unwrap(context), unwrap(name));
  return wrap(Type(AdtType::get(unwrap(context), symbol, arguments)));
}
MlirType fusionRelayVar(MlirContext context, MlirStringRef name) {
  return wrap(Type(VarType::get(unwrap(context), StringAttr::get(unwrap(context), unwrap(name)))));
}
MlirType fusionRelayString(MlirContext context) { return wrap(Type(StringType::get(unwrap(context)))); }
MlirType fusionRelayHole(MlirContext context) { return wrap(Type(HoleType::get(unwrap(context)))); }

bool fusionRelayIsConstructor(MlirAttribute attribute) { return isa<ConstructorAttr>(unwrap(attribute)); }
MlirStringRef fusionRelayConstructorName(MlirAttribute attribute) {
  return wrap(cast<ConstructorAttr>(unwrap(attribute)).getName());
}
intptr_t fusionRelayFieldCount(MlirAttribute attribute) {
  return cast<ConstructorAttr>(unwrap(attribute)).getFields().size();
}
MlirType fusionRelayField(MlirAttribute attribute, intptr_t index) {
  return wrap(cast<ConstructorAttr>(unwrap(attribute)).getFields()[index]);
}
MlirAttribute fusionRelayConstructor(MlirContext context, MlirStringRef name, const MlirType *fields, intptr_t count) {
  SmallVector<Type> types;
  for (intptr_t i = 0; i < count; ++i)
    types.push_back(unwrap(fields[i]));
  return wrap(Attribute(ConstructorAttr::get(unwrap(context), unwrap(name), types)));
}

/// Names of a tensor type's extents (`#relay.dims`), or a null attribute.
MlirAttribute fusionRelayDimNames(MlirType type) {
  auto tensor = dyn_cast<RankedTensorType>(unwrap(type));
  auto dims = tensor ? dyn_cast_or_null<fusion::relay::DimsAttr>(tensor.getEncoding()) : nullptr;
  return dims ? wrap(Attribute(dims.getNames())) : MlirAttribute{nullptr};
}
/// The texts of a `#relay.dims` attribute (an array), the text of a `#relay.dim`, or a null attribute.
MlirAttribute fusionRelayExtents(MlirAttribute attribute) {
  if (auto dims = dyn_cast<fusion::relay::DimsAttr>(unwrap(attribute)))
    return wrap(Attribute(dims.getNames()));
  if (auto dim = dyn_cast<fusion::relay::DimAttr>(unwrap(attribute)))
    return wrap(Attribute(dim.getExtent()));
  return MlirAttribute{nullptr};
}
MlirAttribute fusionRelayDim(MlirAttribute text) {
  auto extent = cast<StringAttr>(unwrap(text));
  return wrap(Attribute(fusion::relay::DimAttr::get(extent.getContext(), extent)));
}
MlirAttribute fusionRelayDims(MlirAttribute names) {
  auto array = cast<ArrayAttr>(unwrap(names));
  return wrap(Attribute(fusion::relay::DimsAttr::get(array.getContext(), array)));
}
}
