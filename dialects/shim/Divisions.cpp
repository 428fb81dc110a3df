//===- Divisions.cpp - Divisions under conditions, before loops are vectorized -===//
// LLVM 22 vectorizes
//
//     for k { if (c[k]) y += x[n mod m][k]; }          n and m do not change in the loop
//
// with one remainder for all lanes, computed only where the first lane's condition holds; the others then read at a place
// that nobody computed. So what does not change goes before the loop, where it may be computed there; else the loop stays as it is.
#include "Bridge.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {
struct HoistDivisions : PassInfoMixin<HoistDivisions> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    bool changed = false;
    for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
      if (loop->isInnermost())
        for (BasicBlock *block : loop->blocks())
          for (Instruction &op : make_early_inc_range(*block))
            if (isDivision(op) && loop->hasLoopInvariantOperands(&op) && !loop->makeLoopInvariant(&op, changed)) {
              addStringMetadataToLoop(loop, "llvm.loop.vectorize.enable", 0);
              changed = true;
            }
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }

  static bool isDivision(const Instruction &op) { return op.isIntDivRem(); }
};
} // namespace

void hoistDivisions(PassBuilder &builder) {
  builder.registerVectorizerStartEPCallback(
      [](FunctionPassManager &passes, OptimizationLevel) { passes.addPass(HoistDivisions()); });
}
