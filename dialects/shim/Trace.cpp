//===- Trace.cpp - Tells Rust when passes begin and end --------------------===//
#include "Bridge.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

extern "C" {
void fusionPassBegins(const char *name, size_t length);
void fusionPassEnds();
}

namespace {
/// Passes that run others on nested operations have no argument: those are told by themselves.
class Tracing : public PassInstrumentation {
  void runBeforePass(Pass *pass, Operation *) override {
    if (StringRef name = pass->getArgument(); !name.empty())
      fusionPassBegins(name.data(), name.size());
  }
  void runAfterPass(Pass *pass, Operation *) override {
    if (!pass->getArgument().empty())
      fusionPassEnds();
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override { runAfterPass(pass, op); }
};
} // namespace

extern "C" void fusionTracePasses(MlirPassManager manager) {
  unwrap(manager)->addInstrumentation(std::make_unique<Tracing>());
}
