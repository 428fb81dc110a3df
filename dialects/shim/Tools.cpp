//===- Tools.cpp - MLIR's own mains and registrations the C interface lacks -===//
#include "Bridge.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "llvm/Config/abi-breaking.h"
#include "llvm/Config/llvm-config.h"

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
/// Emits a warning; MLIR's C interface only emits errors.
void fusionEmitWarning(MlirLocation location, const char *message) { emitWarning(unwrap(location)) << message; }
/// Whether MLIR's libraries count statistics; LLVM's builds with assertions do as well.
bool fusionReportsStatistics() { return LLVM_FORCE_ENABLE_STATS || LLVM_ENABLE_ABI_BREAKING_CHECKS; }
int fusionLspServerMain(int argc, char **argv, MlirDialectRegistry registry) {
  return asMainReturnCode(MlirLspServerMain(argc, argv, *unwrap(registry)));
}
int fusionReduceMain(int argc, char **argv, MlirDialectRegistry registry) {
  MLIRContext context(*unwrap(registry), MLIRContext::Threading::DISABLED);
  return asMainReturnCode(mlirReduceMain(argc, argv, context));
}
}
