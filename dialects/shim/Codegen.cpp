//===- Codegen.cpp - From LLVM dialect to machine code, and running it -----===//
// What the C interface lacks: a target machine of one's choice, object code in memory, and a JIT that loads
// the very bytes a file would hold. Which target, which options: Rust says.
#include "Bridge.h"
#include "mlir-c/Support.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include "MachinesLeftOut.inc"

using namespace llvm;

void preferIntegerBroadcasts();        // Broadcasts.cpp
void hoistDivisions(PassBuilder &builder); // Divisions.cpp
void keepLookups(PassBuilder &builder);    // Lookups.cpp

namespace {
void initializeTargets() {
  static bool once = [] {
    InitializeAllTargetInfos();
    InitializeAllTargets();
    InitializeAllTargetMCs();
    InitializeAllAsmParsers();
    InitializeAllAsmPrinters();
    preferIntegerBroadcasts();
    return true;
  }();
  (void)once;
}

void give(StringRef text, MlirStringCallback callback, void *user) { callback({text.data(), text.size()}, user); }

std::string message(Error error) { return toString(std::move(error)); }
} // namespace

extern "C" {
enum FusionEmit : uint32_t { FusionObject, FusionAssembly, FusionLLVM };

struct FusionTarget {
  MlirStringRef triple, cpu, features; // empty: this machine's
  uint32_t optimization;
  uint32_t vectorWidth; // preferred width in bits of vectorised loops; 0: the target's own choice
  MlirStringRef libraries; // files of bitcode to link what is called from, a line each
};
}

namespace {
/// A target with the facts of this machine where nothing else was asked for.
struct Resolved {
  Triple triple;
  std::string cpu, features;

  explicit Resolved(const FusionTarget &wanted)
      : triple(wanted.triple.length ? unwrap(wanted.triple).str() : sys::getProcessTriple()),
        cpu(unwrap(wanted.cpu).str()), features(unwrap(wanted.features).str()) {
    if (triple.isAArch64())
      cpu = AArch64::resolveCPUAlias(cpu).str(); // of which the code generator knows nothing
    if (wanted.triple.length || !cpu.empty())
      return;
    cpu = sys::getHostCPUName().str();
    std::vector<std::string> list;
    for (const auto &feature : sys::getHostCPUFeatures())
      list.push_back((feature.second ? "+" : "-") + feature.first().str());
    llvm::sort(list);
    features = features.empty() ? join(list, ",") : join(list, ",") + "," + features;
  }
};

/// LLVM's pipeline of a level. Loops are unrolled by schedules, which count registers; LLVM's unrolling of a reduction would
/// share loads between its steps and spill accumulators for them.
void optimize(Module &module, TargetMachine &machine, unsigned level) {
  const OptimizationLevel levels[] = {OptimizationLevel::O0, OptimizationLevel::O1, OptimizationLevel::O2,
                                      OptimizationLevel::O3};
  PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager graph;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine, tuning);
  hoistDivisions(builder);
  keepLookups(builder);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  OptimizationLevel chosen = levels[std::min(level, 3u)];
  ModulePassManager passes = chosen == OptimizationLevel::O0 ? builder.buildO0DefaultPipeline(chosen)
                                                             : builder.buildPerModuleDefaultPipeline(chosen);
  passes.run(module, modules);
}
/// Links what a module calls from files of bitcode, as code of its own; the reason where that fails.
std::string link(Module &module, StringRef files) {
  SmallVector<StringRef> paths;
  files.split(paths, '\n', -1, false);
  for (StringRef path : paths) {
    SMDiagnostic diagnostic;
    std::unique_ptr<Module> library = parseIRFile(path, diagnostic, module.getContext());
    if (!library)
      return (path + ": " + diagnostic.getMessage()).str();
    library->setTargetTriple(module.getTargetTriple());
    library->setDataLayout(module.getDataLayout());
    auto own = [](Module &all, const StringSet<> &linked) {
      internalizeModule(all, [&](const GlobalValue &value) { return !linked.contains(value.getName()); });
    };
    if (Linker::linkModules(module, std::move(library), Linker::LinkOnlyNeeded, own))
      return (path + ": it cannot be linked").str();
  }
  return "";
}

/// The name of a function that is called and nobody defines.
StringRef undefined(const Module &module) {
  for (const Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
      return function.getName();
  return "";
}
} // namespace

extern "C" {
/// Gives a line each to `out`: the triple, the processor and the features that code for a target is made with.
void fusionResolve(const FusionTarget *wanted, MlirStringCallback out, void *user) {
  Resolved resolved(*wanted);
  give(resolved.triple.str() + "\n" + resolved.cpu + "\n" + resolved.features, out, user);
}

/// Gives the features of a target's processor to `out`, a line each, as LLVM names them (`avx512f`); none of an unknown triple.
void fusionFeatures(const FusionTarget *wanted, MlirStringCallback out, void *user) {
  initializeTargets();
  std::string why;
  auto [triple, cpu, features] = Resolved(*wanted);
  const Target *target = TargetRegistry::lookupTarget(triple, why);
  std::unique_ptr<MCSubtargetInfo> info(target ? target->createMCSubtargetInfo(triple, cpu, features) : nullptr);
  if (!info)
    return;
  for (const SubtargetFeatureKV &feature : info->getEnabledProcessorFeatures())
    give(std::string(feature.Key) + "\n", out, user);
}

/// Gives the names of the processors of a triple to `out`, a line each; none of an unknown triple.
void fusionProcessors(MlirStringRef name, MlirStringCallback out, void *user) {
  initializeTargets();
  std::string why;
  Triple triple(unwrap(name).str());
  const Target *target = TargetRegistry::lookupTarget(triple, why);
  std::unique_ptr<MCSubtargetInfo> info(target ? target->createMCSubtargetInfo(triple, "", "") : nullptr);
  if (!info)
    return;
  for (const SubtargetSubTypeKV &processor : info->getAllProcessorDescriptions()) {
    std::unique_ptr<MCSubtargetInfo> known(target->createMCSubtargetInfo(triple, processor.Key, ""));
    if (triple.getArch() != Triple::x86_64 || (known && known->checkFeatures("+64bit")))
      give(std::string(processor.Key) + "\n", out, user);
  }
  if (triple.isAArch64())
    for (const AArch64::Alias &alias : AArch64::CpuAliases)
      give(alias.AltName.str() + "\n", out, user);
}

/// Gives the bytes asked for to `out`; false after it gave a message to `error`.
bool fusionEmit(MlirOperation module, const FusionTarget *wanted, FusionEmit emit, MlirStringCallback out,
                void *outUser, MlirStringCallback error, void *errorUser) {
  auto fail = [&](const Twine &text) {
    give(text.str(), error, errorUser);
    return false;
  };
  initializeTargets();
  LLVMContext context;
  std::unique_ptr<Module> llvm = mlir::translateModuleToLLVMIR(unwrap(module), context);
  if (!llvm)
    return fail("the module does not translate to LLVM IR");

  auto [triple, cpu, features] = Resolved(*wanted);
  std::string why;
  const Target *target = TargetRegistry::lookupTarget(triple, why);
  if (!target)
    return fail(why);
  auto level = CodeGenOpt::getLevel(wanted->optimization);
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, cpu, features, TargetOptions(), Reloc::PIC_, std::nullopt, level.value_or(CodeGenOptLevel::Aggressive)));
  if (!machine)
    return fail("there is no target machine for " + triple.str());

  llvm->setTargetTriple(triple);
  llvm->setDataLayout(machine->createDataLayout());
  llvm->setPICLevel(PICLevel::BigPIC);
  if (std::string unlinked = link(*llvm, unwrap(wanted->libraries)); !unlinked.empty())
    return fail(unlinked);
  for (Function &function : *llvm) {
    if (function.isDeclaration())
      continue;
    if (wanted->vectorWidth)
      function.addFnAttr("prefer-vector-width", std::to_string(wanted->vectorWidth));
    // Else whether registers that are spilled lie across lines of the cache is the luck of the caller's stack: LLVM learns too late
    // that a function spills to align its own, when the register for it is given away.
    if (triple.isX86())
      function.addFnAttr("stackrealign");
  }
  optimize(*llvm, *machine, wanted->optimization);
  if (StringRef name = undefined(*llvm); wanted->libraries.length && !name.empty())
    return fail("nobody defines " + name);

  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  if (emit == FusionLLVM) {
    llvm->print(stream, nullptr);
  } else {
    legacy::PassManager passes;
    auto type = emit == FusionObject ? CodeGenFileType::ObjectFile : CodeGenFileType::AssemblyFile;
    if (machine->addPassesToEmitFile(passes, stream, nullptr, type))
      return fail("the target cannot emit this kind of file");
    passes.run(*llvm);
  }
  give(StringRef(bytes.data(), bytes.size()), out, outUser);
  return true;
}

struct FusionSymbol {
  MlirStringRef name;
  void *address;
};

/// Loads objects into this process; null after it gave a message to `error`.
void *fusionJitCreate(const MlirStringRef *objects, size_t objectCount, const FusionSymbol *symbols, size_t count,
                      MlirStringCallback error, void *errorUser) {
  auto fail = [&](Error failed) -> void * {
    give(message(std::move(failed)), error, errorUser);
    return nullptr;
  };
  initializeTargets();
  auto jit = orc::LLJITBuilder().create();
  if (!jit)
    return fail(jit.takeError());
  orc::JITDylib &main = (*jit)->getMainJITDylib();
  char prefix = (*jit)->getDataLayout().getGlobalPrefix();
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix);
  if (!process)
    return fail(process.takeError());
  main.addGenerator(std::move(*process));
  orc::SymbolMap map;
  for (size_t i = 0; i < count; ++i)
    map[(*jit)->mangleAndIntern(unwrap(symbols[i].name))] = {orc::ExecutorAddr::fromPtr(symbols[i].address),
                                                            JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  if (!map.empty())
    if (Error failed = main.define(orc::absoluteSymbols(std::move(map))))
      return fail(std::move(failed));
  for (MlirStringRef object : ArrayRef(objects, objectCount))
    if (Error failed = (*jit)->addObjectFile(MemoryBuffer::getMemBufferCopy(unwrap(object), "fusion")))
      return fail(std::move(failed));
  return jit->release();
}
/// The address of a symbol; null after it gave a message to `error`.
void *fusionJitLookup(void *jit, MlirStringRef name, MlirStringCallback error, void *errorUser) {
  auto found = static_cast<orc::LLJIT *>(jit)->lookup(unwrap(name));
  if (found)
    return found->toPtr<void *>();
  give(message(found.takeError()), error, errorUser);
  return nullptr;
}
void fusionJitDestroy(void *jit) { delete static_cast<orc::LLJIT *>(jit); }

/// True for operations that work lane by lane on vectors as they do on scalars.
bool fusionIsElementwise(MlirOperation op) { return mlir::OpTrait::hasElementwiseMappableTraits(unwrap(op)); }
/// True for operations that read and write no memory and never trap: they may be copied, moved or dropped.
bool fusionIsPure(MlirOperation op) { return mlir::isPure(unwrap(op)); }
}
