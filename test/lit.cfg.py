"""lit configuration: IR tests by stage, execution tests, the driver's messages.

Tests that say `REQUIRES: shared` are skipped where the shared models are absent; with AUTOPAR_REQUIRE_SHARED=1 that is an error.
"""

import os
import sys

import lit.formats
from lit.llvm import llvm_config

config.name = "autopar"
config.test_format = lit.formats.ShTest(not llvm_config.use_lit_shell)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Unit", "Runtime"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.autopar_build_dir, "test")

llvm_config.with_system_environment(["HOME", "TMP", "TEMP", "AUTOPAR_SHARED", "AUTOPAR_REQUIRE_SHARED"])
if config.asan_options:
    llvm_config.with_environment("ASAN_OPTIONS", config.asan_options)
    config.available_features.add("sanitized")
llvm_config.with_environment("AUTOPAR_PROGRESS", "off")  # a slow host would say more than what is checked
llvm_config.use_default_substitutions()
llvm_config.with_environment("FILECHECK_OPTS", "-enable-var-scope --allow-unused-prefixes=false")
tools = os.path.join(config.autopar_build_dir, "bin")
llvm_config.with_environment("PATH", tools, append_path=True)
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)  # FileCheck, not, split-file
llvm_config.add_tool_substitutions(["autopar-opt", "autopar-import", "autopar"], [tools, config.llvm_tools_dir])
config.substitutions.insert(0, ("%python", config.python))  # before lit's own

sys.path.insert(0, os.path.join(config.test_source_root, "Execution"))
from shared_models import REQUIRED, SHARED, SMALL, absence_of  # noqa: E402

config.substitutions += [("%shared", SHARED), ("%build", config.autopar_build_dir), ("%cc", config.c_compiler)]
absence = absence_of(SMALL)
if not absence:
    config.available_features.add("shared")
elif REQUIRED:
    lit_config.fatal(absence)
