//===- Commands.h - The driver's subcommands --------------------*- C++ -*-===//

#ifndef AUTOPAR_TOOLS_COMMANDS_H
#define AUTOPAR_TOOLS_COMMANDS_H

#include "Options.h"
#include "autopar/Pipeline/Compilation.h"

namespace autopar::driver {

/// Exit code of a command: 0, or 1 after one message on stderr.
int compileCommand(llvm::ArrayRef<const char *> arguments);
int planCommand(llvm::ArrayRef<const char *> arguments);

/// Prints `autopar: error: ...`; returns 1.
int complain(const llvm::Twine &message);

/// The options that shape a plan, of all commands that make one.
struct PlanOptions {
  std::string cluster, target, strategy, mesh, planFile, savePlan, memoryLimit;
  std::vector<std::string> bindings;
  int64_t ranks = 0, microBatches = 0;
  bool allowLinkedWeights = false, verbose = false;

  void addTo(CommandLine &line);
  /// Everything checked and parsed.
  llvm::Expected<CompileRequest> request(llvm::StringRef model) const;
};

/// Parses; true if the command is done already (help was asked for, or an
/// error was printed), with its exit code.
bool parseOrExit(const CommandLine &line,
                 llvm::ArrayRef<const char *> arguments, int &code);

/// Writes the plan where the options ask for it.
mlir::LogicalResult savePlans(const Plan &plan,
                              llvm::ArrayRef<std::string> paths);

} // namespace autopar::driver

#endif // AUTOPAR_TOOLS_COMMANDS_H
