//===- Passes.cpp - Rust passes in MLIR's registry -------------------------===//
#include "Bridge.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include <deque>

using namespace mlir;

extern "C" {
enum FusionOptionKind : uint32_t { FusionFlag, FusionInt, FusionText };

struct FusionOption {
  const char *name, *description, *initial;
  FusionOptionKind kind;
};
struct FusionStatistic {
  const char *name, *description;
};
struct FusionPass {
  const void *rust; // the Rust pass's own description
  const char *name, *description;
  const char *anchor; // an operation's name, or null for any
  const FusionOption *options;
  size_t optionCount;
  const FusionStatistic *statistics;
  size_t statisticCount;
};

/// Adds the dialects the pass may create.
void fusionRustPassDialects(const void *rust, MlirDialectRegistry registry);
/// Runs the pass with the options as text; false when it failed (a diagnostic has been emitted).
bool fusionRustPassRun(const void *rust, MlirOperation op, const char *const *values, size_t count,
                       uint64_t *statistics);
}

namespace {
/// One class stands for all Rust passes; what differs is data. TypeIDs name C++ classes and must differ
/// per pass for analyses, so each description carries its own.
class RustPass : public Pass {
public:
  explicit RustPass(const FusionPass *description, TypeID id)
      : Pass(id, description->anchor ? std::optional<StringRef>(description->anchor) : std::nullopt),
        description(description), id(id) {
    declare();
  }
  RustPass(const RustPass &other) : Pass(other), description(other.description), id(other.id) { declare(); }

  StringRef getName() const override { return description->name; }
  StringRef getArgument() const override { return description->name; }
  StringRef getDescription() const override { return description->description; }
  void getDependentDialects(DialectRegistry &registry) const override {
    fusionRustPassDialects(description->rust, wrap(&registry));
  }
  bool canScheduleOn(RegisteredOperationName name) const override {
    return !description->anchor || name.getStringRef() == description->anchor;
  }
  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<RustPass>(*this); }

  void runOnOperation() override {
    SmallVector<std::string> values;
    for (size_t i = 0, f = 0, n = 0, t = 0; i < description->optionCount; ++i)
      switch (description->options[i].kind) {
      case FusionFlag: values.push_back(flags[f++].getValue() ? "true" : "false"); break;
      case FusionInt: values.push_back(std::to_string(ints[n++].getValue())); break;
      case FusionText: values.push_back(texts[t++].getValue()); break;
      }
    SmallVector<const char *> pointers;
    for (const std::string &value : values)
      pointers.push_back(value.c_str());
    SmallVector<uint64_t> counted(description->statisticCount, 0);
    if (!fusionRustPassRun(description->rust, wrap(getOperation()), pointers.data(), pointers.size(), counted.data()))
      signalPassFailure();
    for (auto [statistic, count] : llvm::zip(counters, counted))
      statistic += count;
  }

private:
  void declare() {
    for (size_t i = 0; i < description->optionCount; ++i) {
      const FusionOption &o = description->options[i];
      llvm::StringRef initial(o.initial);
      switch (o.kind) {
      case FusionFlag: flags.emplace_back(*this, o.name, llvm::cl::desc(o.description), llvm::cl::init(initial == "true")); break;
      case FusionInt: {
        int64_t number = 0;
        initial.getAsInteger(10, number);
        ints.emplace_back(*this, o.name, llvm::cl::desc(o.description), llvm::cl::init(number));
        break;
      }
      case FusionText: texts.emplace_back(*this, o.name, llvm::cl::desc(o.description), llvm::cl::init(initial.str())); break;
      }
    }
    for (size_t i = 0; i < description->statisticCount; ++i)
      counters.emplace_back(this, description->statistics[i].name, description->statistics[i].description);
  }

  const FusionPass *description;
  TypeID id;
  std::deque<Option<bool>> flags;
  std::deque<Option<int64_t>> ints;
  std::deque<Option<std::string>> texts;
  std::deque<Statistic> counters;
};
} // namespace

extern "C" void fusionRegisterPass(const FusionPass *description) {
  // Passes live as long as the process, as do their identities.
  static std::deque<SelfOwningTypeID> identities;
  TypeID id = identities.emplace_back();
  registerPass([description, id] { return std::make_unique<RustPass>(description, id); });
}

extern "C" void fusionRegisterPipeline(const char *name, const char *description, const char *pipeline) {
  PassPipelineRegistration<>(name, description, [pipeline](OpPassManager &manager) {
    if (failed(parsePassPipeline(pipeline, manager)))
      llvm::report_fatal_error(llvm::Twine("pipeline does not parse: ") + pipeline);
  });
}
