//===- Te.cpp - Registers the te dialect -----------------------------------===//
#include "Bridge.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionImplementation.h"

#include "TeDialect.h.inc"
#include "TeEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "TeTypes.h.inc"
#define GET_OP_CLASSES
#include "TeOps.h.inc"

#include "TeDialect.cpp.inc"
#include "TeEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "TeTypes.cpp.inc"
#define GET_OP_CLASSES
#include "TeOps.cpp.inc"

using namespace mlir;

void fusion::te::TeDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "TeOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "TeTypes.cpp.inc"
      >();
}

ParseResult fusion::te::KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto type = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                 function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                                  getFunctionTypeAttrName(result.name), type,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void fusion::te::KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

extern "C" MlirDialectHandle mlirGetDialectHandle__te__();
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Te, te, fusion::te::TeDialect)

extern "C" {
MlirType fusionTeStageType(MlirContext context) { return wrap(Type(fusion::te::StageType::get(unwrap(context)))); }
MlirType fusionTeAxisType(MlirContext context) { return wrap(Type(fusion::te::AxisType::get(unwrap(context)))); }
}
