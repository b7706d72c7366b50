//===- CompileFatbinTest.cpp - What the toolkit is asked for --------------===//
//
// Scripts stand in for ptxas and fatbinary.
//
//===----------------------------------------------------------------------===//

#include "lib/Lowering/GPU/CompileFatbin.h"
#include "lib/Lowering/GPU/FindCuda.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <map>

using namespace autopar;

namespace {

class CompileFatbin : public ::testing::Test {
protected:
  CompileFatbin() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("toolkit", root));
    for (const char *name : {"AUTOPAR_PTXAS", "AUTOPAR_FATBINARY", "CUDA_HOME",
                             "CUDA_PATH", "PATH"}) {
      const char *value = std::getenv(name);
      before[name] = value ? std::optional<std::string>(value) : std::nullopt;
      if (std::string(name) != "PATH")
        unsetenv(name);
    }
  }
  ~CompileFatbin() override {
    for (const auto &[name, value] : before)
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    llvm::sys::fs::remove_directories(root);
  }

  /// A program of a toolkit below the root; gives its path.
  std::string tool(const std::string &toolkit, const std::string &name,
                   const std::string &script) {
    std::string folder = (root + "/" + toolkit + "/bin").str();
    EXPECT_FALSE(llvm::sys::fs::create_directories(folder));
    std::string path = folder + "/" + name;
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << "#!/bin/sh\n" << script << "\n";
    EXPECT_FALSE(
        llvm::sys::fs::setPermissions(path, llvm::sys::fs::perms::all_all));
    return path;
  }

  /// The arguments of fatbinary, or the error.
  std::string compile() {
    context.loadDialect<mlir::gpu::GPUDialect>();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "gpu.module @kernels {}", &context);
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            remark = diagnostic.str();
                                            return mlir::success();
                                          });
    auto images =
        compileFatbin(*module->getOps<mlir::gpu::GPUModuleOp>().begin());
    if (!images)
      return "error: " + llvm::toString(images.takeError());
    return std::string(images->code.begin(), images->code.end());
  }

  mlir::MLIRContext context;
  llvm::SmallString<128> root;
  std::map<std::string, std::optional<std::string>> before;
  std::string remark;
};

const char *kOldPtxas =
    "case \"$*\" in *sm_100*) echo \"'sm_100' is not defined\"; exit 1;; esac\n"
    "while [ $# -gt 1 ]; do\n"
    "  if [ \"$1\" = -o ]; then echo cubin > \"$2\"; fi\n  shift\ndone";
const char *kFatbinary =
    "for each in \"$@\"; do\n"
    "  case \"$each\" in --create=*) out=\"${each#--create=}\";; esac\n"
    "done\necho \"$@\" > \"$out\"";

TEST_F(CompileFatbin, LeavesOutWhatPtxasDoesNotKnow) {
  tool("old", "fatbinary", kFatbinary);
  setenv("AUTOPAR_PTXAS", tool("old", "ptxas", kOldPtxas).c_str(), 1);
  std::string arguments = compile();
  for (const char *image :
       {"kind=elf,sm=80,", "kind=elf,sm=90,", "kind=ptx,sm=90,"})
    EXPECT_NE(arguments.find(image), std::string::npos) << arguments;
  EXPECT_EQ(arguments.find("sm=100"), std::string::npos) << arguments;
  EXPECT_NE(remark.find("knows sm_80, sm_90 alone"), std::string::npos)
      << remark;
}

TEST_F(CompileFatbin, FailsWherePtxasKnowsNone) {
  tool("broken", "fatbinary", kFatbinary);
  setenv("AUTOPAR_PTXAS",
         tool("broken", "ptxas", "echo out of order; exit 3").c_str(), 1);
  EXPECT_NE(compile().find("out of order"), std::string::npos);
}

TEST_F(CompileFatbin, NamedToolkitsComeBeforePath) {
  std::string named = tool("named", "ptxas", "");
  tool("path", "ptxas", "");
  std::string fatbinary = tool("path", "fatbinary", "");
  setenv("PATH",
         ((root + "/path/bin:").str() + before["PATH"].value_or("")).c_str(),
         1);
  EXPECT_EQ(findCudaTool("fatbinary"), fatbinary);
  setenv("CUDA_HOME", (root + "/named").str().c_str(), 1);
  EXPECT_EQ(findCudaTool("ptxas"), named);
  EXPECT_EQ(findCudaTool("fatbinary", named), fatbinary);
  std::string beside = tool("named", "fatbinary", "");
  EXPECT_EQ(findCudaTool("fatbinary", named), beside);
}

} // namespace
