//===- Options.h - The driver's command line --------------------*- C++ -*-===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_OPTIONS_H
#define AUTOPAR_TOOLS_AUTOPAR_OPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace autopar::driver {

/// One option: `--ranks N`; a flag has no value name. The help may have several
/// lines. One that takes two values (`--emit KIND DIR`) gets them with a space
/// between. Of one that is not repeatable the last value holds, of which a
/// warning tells.
struct Option {
  std::string name, value, help;
  std::function<llvm::Error(llvm::StringRef)> apply;
  bool repeatable = false;
};

/// A command's options and its one positional argument.
struct CommandLine {
  std::string usage, about;
  std::vector<Option> options;
  std::string *positional = nullptr;

  /// `--name value`, `--name=value`, `-o value`. The error says what is wrong
  /// and names `--help`.
  llvm::Error parse(llvm::ArrayRef<const char *> arguments) const;
  void printHelp() const;
};

Option flag(std::string name, std::string help, bool &to);
Option text(std::string name, std::string value, std::string help,
            std::string &to);
/// A text that may be given several times.
Option texts(std::string name, std::string value, std::string help,
             std::vector<std::string> &to);
Option number(std::string name, std::string value, std::string help,
              int64_t &to);

} // namespace autopar::driver

#endif // AUTOPAR_TOOLS_AUTOPAR_OPTIONS_H
