//===- RankChoice.h - With which ranks a training goes on -------*- C++ -*-===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_RANKCHOICE_H
#define AUTOPAR_TOOLS_AUTOPAR_RANKCHOICE_H

#include "ChildProcess.h"
#include "Options.h"
#include "TrainingTrail.h"
#include <functional>
#include <map>
#include <set>

namespace autopar::driver {

/// The value of `--option VALUE` or `--option=VALUE`; "" where it is not given.
std::string valueOf(llvm::ArrayRef<std::string> command,
                    llvm::StringRef option);

/// Chooses on how many ranks, and which GPUs, the next run goes on: on as many
/// as before, until a rank has died twice on a device.
class RankChoice {
public:
  void addTo(CommandLine &line);
  /// Checks the options against the program.
  llvm::Error prepare(llvm::ArrayRef<std::string> command);
  /// Chooses anew after a run that failed, and returns what a note says about
  /// the next one. An error if too few devices are left.
  llvm::Expected<std::string> chooseAgain(llvm::ArrayRef<std::string> command,
                                          const RunFailure &failure);
  /// Changes a command and its environment to what was chosen.
  void apply(std::vector<std::string> &command, ChildPlace &place) const;

private:
  llvm::Error readNumbers(llvm::StringRef program);
  int64_t fewerThan(int64_t most) const;
  std::string deviceOf(const RunFailure &failure);
  llvm::Expected<std::string> takeOut(const RunFailure &failure,
                                      const std::string &device);
  std::string shrinkTo(int64_t number);

  bool shrinks = false;
  int64_t leastRanks = 1;
  std::set<int64_t, std::greater<>> numbers; // of ranks, that can be chosen
  int64_t ranks = 0;                         // 0: as the command has it
  bool isLimited = false;                    // to these GPUs
  std::vector<std::string> gpus;
  std::map<std::string, int64_t> deaths; // by device
};

} // namespace autopar::driver

#endif // AUTOPAR_TOOLS_AUTOPAR_RANKCHOICE_H
