//===- Loop.cpp - Registers the loop dialect -------------------------------===//
#include "Bridge.h"

#include "LoopDialect.h.inc"
#include "LoopEnums.h.inc"
#define GET_OP_CLASSES
#include "LoopOps.h.inc"

#include "LoopDialect.cpp.inc"
#include "LoopEnums.cpp.inc"
#define GET_OP_CLASSES
#include "LoopOps.cpp.inc"

void fusion::loop::LoopDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "LoopOps.cpp.inc"
      >();
}

extern "C" MlirDialectHandle mlirGetDialectHandle__loop__();
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Loop, loop, fusion::loop::LoopDialect)
