//===- Commands.h - The driver's subcommands --------------------*- C++ -*-===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_COMMANDS_H
#define AUTOPAR_TOOLS_AUTOPAR_COMMANDS_H

#include "Options.h"
#include "autopar/Pipeline/Compilation.h"
#include "autopar/Planning/Plan/WritePlanFile.h"
#include "autopar/Support/Output.h"
#include "autopar/Support/Text.h"

namespace autopar::driver {

/// Exit code of a command: 0, or 1 after one message on stderr.
int compileCommand(llvm::ArrayRef<const char *> arguments);
int planCommand(llvm::ArrayRef<const char *> arguments);
int explainCommand(llvm::ArrayRef<const char *> arguments);
int runCommand(llvm::ArrayRef<const char *> arguments);
int checkpointCommand(llvm::ArrayRef<const char *> arguments);
int calibrateCommand(llvm::ArrayRef<const char *> arguments);
int opsCommand(llvm::ArrayRef<const char *> arguments);
int predictCommand(llvm::ArrayRef<const char *> arguments);
int simulateCommand(llvm::ArrayRef<const char *> arguments);

/// Prints `autopar: error: ...`; returns 1.
int complain(const llvm::Twine &message);

/// The options that shape a plan, of all commands that make one.
struct PlanOptions {
  std::string cluster, target, precision, recipe, planFile, fromPlan, savePlan,
      ranks;
  /// The texts of kRequestOptions by name; that of an absent option is empty.
  std::map<llvm::StringRef, std::string> asked;
  std::vector<std::string> bindings, states, entries;
  bool allowLinkedWeights = false, tracePlanning = false, remarks = false,
       verbose = false, checkNumerics = false, evaluates = false;

  void addTo(CommandLine &line);
  /// Where text for a person goes: stdout, unless the plan or one of these
  /// other files is written there.
  llvm::raw_ostream &messages(llvm::ArrayRef<llvm::StringRef> files) const;
  /// Everything checked and parsed: for each number of ranks one request per
  /// entry, or a single one.
  llvm::Expected<std::vector<CompileRequest>>
  requests(llvm::StringRef model) const;

private:
  void addDemands(std::vector<Option> &options);
  Option optionOf(const RequestOption &row);
  /// Words that are none, and options that exclude each other.
  llvm::Error check() const;
  /// `ranks`: of --ranks; 0: none was given.
  llvm::Expected<CompileRequest> request(llvm::StringRef model,
                                         int64_t ranks) const;
  /// Adds what --entry, or --train with --evaluate, makes of a request.
  llvm::Error addEntries(const CompileRequest &common,
                         std::vector<CompileRequest> &requests) const;
};

/// The entries of a program that trains and evaluates (--train, --evaluate).
inline constexpr llvm::StringLiteral kTrainEntry = "train",
                                     kEvaluateEntry = "evaluate";

/// The name of the entry whose plan is called `planName` in a file: `batch=1`
/// of `batch=1,2-ranks`.
llvm::StringRef entryOfPlan(llvm::StringRef planName);

/// A request that takes the plan from a file, of one entry if it is named.
llvm::Expected<CompileRequest>
requestForPlan(llvm::StringRef model, llvm::StringRef planFile,
               llvm::ArrayRef<std::string> bindings,
               llvm::ArrayRef<std::string> states, llvm::StringRef recipe,
               llvm::StringRef planName);

/// The plan file that a command is about, and what else its model needs.
struct PlanFileOptions {
  std::string file, model, recipe, entry;
  std::vector<std::string> bindings, states;
  bool allowLinkedWeights = false, evaluates = false;

  void addTo(CommandLine &line);
  /// Of the plan's model, in the plan's folder unless it is named.
  llvm::Expected<CompileRequest> request() const;

private:
  llvm::Error readTrained(CompileRequest &request) const;
};

/// Parses; true if the command is done already (help was asked for, or an
/// error was printed), with its exit code.
bool parseOrExit(const CommandLine &line,
                 llvm::ArrayRef<const char *> arguments, int &code);

/// 1, after a note that says in which entry it failed.
int failedIn(const CompileRequest &request);

/// Prints the plans as tables, those of entries under their names.
void printPlan(llvm::raw_ostream &os, const CompileRequest &request,
               llvm::StringRef table);

/// Writes the plans where the options ask for them.
mlir::LogicalResult savePlans(llvm::ArrayRef<EntryPlan> plans,
                              llvm::ArrayRef<std::string> paths);

} // namespace autopar::driver

#endif // AUTOPAR_TOOLS_AUTOPAR_COMMANDS_H
