//===- Lookups.cpp - Loops that look elements up in a table, before loops are vectorized -===//
// No processor gathers elements of fewer than 32 bits. LLVM 22 takes
//
//     for k { y[k] = table[x[k]]; }
//
// for cheaper in vectors, whose indices it takes out one by one and whose elements it puts in one by one: twice the instructions of
// the loop as it is. So a loop that does little else stays as it is.
#include "Bridge.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {
struct KeepLookups : PassInfoMixin<KeepLookups> {
  // Least bits of what processors gather, and what a lane of a gather takes: an index out of a vector, an element into one, and
  // what puts four lanes together.
  static constexpr unsigned gathered = 32, moves = 4;

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    ScalarEvolution &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
    bool changed = false;
    for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
      if (loop->isInnermost() && onlyLooksUp(*loop, evolution)) {
        addStringMetadataToLoop(loop, "llvm.loop.vectorize.enable", 0);
        changed = true;
      }
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }

  static bool onlyLooksUp(const Loop &loop, ScalarEvolution &evolution) {
    unsigned lookups = 0, computed = 0;
    for (const BasicBlock *block : loop.blocks())
      for (const Instruction &op : *block) {
        if (auto *load = dyn_cast<LoadInst>(&op)) {
          const SCEV *place = evolution.getSCEV(const_cast<Value *>(load->getPointerOperand()));
          bool isElsewhere = !evolution.isLoopInvariant(place, &loop) && !evolution.hasComputableLoopEvolution(place, &loop);
          lookups += isElsewhere && load->getType()->isIntegerTy() && load->getType()->getIntegerBitWidth() < gathered;
        } else if (isa<CallBase, BinaryOperator, UnaryOperator, CmpInst, SelectInst, CastInst>(op)) {
          ++computed;
        }
      }
    return lookups && computed <= moves * lookups + control;
  }

  // A step of the loop's own variable, and the comparison that ends it.
  static constexpr unsigned control = 2;
};
} // namespace

void keepLookups(PassBuilder &builder) {
  builder.registerVectorizerStartEPCallback(
      [](FunctionPassManager &passes, OptimizationLevel) { passes.addPass(KeepLookups()); });
}
