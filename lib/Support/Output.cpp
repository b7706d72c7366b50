//===- Output.cpp - Where the compiler writes -----------------------------===//

#include "autopar/Support/Output.h"
#include "files/OutputFile.h"
#include "llvm/Support/raw_ostream.h"

namespace autopar {

llvm::Error toError(const runtime::Status &status) {
  if (status.ok())
    return llvm::Error::success();
  return llvm::createStringError(status.message());
}

llvm::Error writeFile(llvm::StringRef path, llvm::StringRef text) {
  llvm::outs().flush(); // earlier output comes first
  return toError(runtime::writeWhole(path.str(), text.str()));
}

bool goesToStdout(llvm::StringRef path) {
  return runtime::goesToStdout(path.str());
}

} // namespace autopar
