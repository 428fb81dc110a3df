//===- Lld.cpp - lld's driver for ELF, called in this process -------------===//
#include "lld/Common/Driver.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include <string>

LLD_HAS_DRIVER(elf)

extern "C" {
/// Links; gives lld's exit status, and what it said to `tell`. `canRunAgain` is false where lld crashed.
int fusionLink(const char *const *args, size_t count, void (*tell)(const char *, size_t, void *), void *to,
               bool *canRunAgain) {
  std::string said;
  llvm::raw_string_ostream stream(said);
  // lld leaves by way of this where an error is fatal; without it, it would end the process.
  llvm::CrashRecoveryContext::Enable();
  lld::Result result = lld::lldMain({args, count}, stream, stream, {{lld::Gnu, &lld::elf::link}});
  llvm::CrashRecoveryContext::Disable();
  tell(said.data(), said.size(), to);
  *canRunAgain = result.canRunAgain;
  return result.retCode;
}
}
