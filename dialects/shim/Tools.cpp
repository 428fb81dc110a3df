//===- Tools.cpp - MLIR's own mains and registrations the C interface lacks -===//
#include "Bridge.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

using namespace mlir;

extern "C" {
/// Registers all upstream passes, once a process.
void fusionRegisterUpstreamPasses() {
  static bool once = (registerAllPasses(), true);
  (void)once;
}
void fusionRegisterTranslations(MlirDialectRegistry registry) { registerAllGPUToLLVMIRTranslations(*unwrap(registry)); }

int fusionOptMain(int argc, char **argv, MlirDialectRegistry registry) {
  return asMainReturnCode(MlirOptMain(argc, argv, "fusion optimizer driver\n", *unwrap(registry)));
}
int fusionLspServerMain(int argc, char **argv, MlirDialectRegistry registry) {
  return asMainReturnCode(MlirLspServerMain(argc, argv, *unwrap(registry)));
}
int fusionReduceMain(int argc, char **argv, MlirDialectRegistry registry) {
  MLIRContext context(*unwrap(registry), MLIRContext::Threading::DISABLED);
  return asMainReturnCode(mlirReduceMain(argc, argv, context));
}
}
