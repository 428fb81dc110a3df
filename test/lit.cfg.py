# The suite for LLVM's lit: `lit test` runs it with the debug build, `lit test -D profile=release` with another.
# For litcheck, lit.suite.toml says the same.
import os

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
config.name = "fusion"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".relay"]
config.excludes = ["Inputs", "fuzz"]
config.test_source_root = os.path.join(root, "test")
config.test_exec_root = os.path.join(root, "target", "lit")
llvm = os.environ.get("MLIR_SYS_220_PREFIX", "/usr/lib/llvm-22")
tools = [os.path.join(root, "target", lit_config.params.get("profile", "debug")), os.path.join(llvm, "bin")]
config.environment["PATH"] = os.pathsep.join(tools + [config.environment["PATH"]])
