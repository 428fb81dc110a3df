//===- Broadcasts.cpp - Floats that fill a register, read as integers ------===//
// A core of Zen 4 takes a slot beside its arithmetic for `vbroadcastss` from memory, and none for `vpbroadcastd`, which reads
// the same bytes (24 multiply-adds and 24 additions: 24 cycles, with 12 of the former 30, of the latter 24). Other cores do both as
// loads. LLVM chooses by what reads the register, so the choice is made after it.
#include "Bridge.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace {
/// Instructions of AVX-512, which all have the same operands.
constexpr std::pair<StringLiteral, StringLiteral> Pairs[] = {
    {"VBROADCASTSSZrm", "VPBROADCASTDZrm"},
    {"VBROADCASTSSZ256rm", "VPBROADCASTDZ256rm"},
    {"VBROADCASTSSZ128rm", "VPBROADCASTDZ128rm"},
    {"VBROADCASTSDZrm", "VPBROADCASTQZrm"},
    {"VBROADCASTSDZ256rm", "VPBROADCASTQZ256rm"},
};

/// The opcodes, whose numbers are known to the target alone.
SmallDenseMap<unsigned, unsigned> opcodes(const TargetInstrInfo &instructions) {
  StringMap<unsigned> numbers;
  for (unsigned opcode = 0; opcode < instructions.getNumOpcodes(); ++opcode)
    if (instructions.getName(opcode).contains("BROADCAST"))
      numbers[instructions.getName(opcode)] = opcode;
  SmallDenseMap<unsigned, unsigned> found;
  for (auto [from, to] : Pairs)
    if (numbers.contains(from) && numbers.contains(to))
      found[numbers[from]] = numbers[to];
  return found;
}

struct IntegerBroadcasts : MachineFunctionPass {
  static char ID;
  SmallDenseMap<unsigned, unsigned> known;

  IntegerBroadcasts() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Broadcasts of integers"; }

  bool runOnMachineFunction(MachineFunction &function) override {
    const TargetInstrInfo &instructions = *function.getSubtarget().getInstrInfo();
    if (known.empty())
      known = opcodes(instructions);
    bool changed = false;
    for (MachineBasicBlock &block : function)
      for (MachineInstr &instruction : block)
        if (auto found = known.find(instruction.getOpcode()); found != known.end()) {
          instruction.setDesc(instructions.get(found->second));
          changed = true;
        }
    return changed;
  }
};
char IntegerBroadcasts::ID = 0;

} // namespace

/// Has code for x86 read them so, behind what chooses between floats and integers by the neighbours of an instruction.
void preferIntegerBroadcasts() {
  static RegisterTargetPassConfigCallback registered(
      [](TargetMachine &machine, PassManagerBase &, TargetPassConfig *config) {
        if (machine.getTargetTriple().isX86() && machine.getOptLevel() != CodeGenOptLevel::None)
          config->insertPass(&FuncletLayoutID, new IntegerBroadcasts());
      });
}
