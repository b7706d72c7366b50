//===- TrainingTrail.h - What a training leaves behind ----------*- C++ -*-===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_TRAININGTRAIL_H
#define AUTOPAR_TOOLS_AUTOPAR_TRAININGTRAIL_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace autopar::driver {

/// The failure of a program, as it tells `autopar run` (FailureReport.h of the
/// runtime).
struct RunFailure {
  std::string message; // "" if it told nothing
  std::string target;
  int64_t rank = -1;     // that failed first; -1: none, or not known
  int64_t ranks = 0;     // of all; 0: not known
  int64_t steps = -1;    // that this run took; -1: not known
  bool hasEnded = false; // all were taken, what came then failed
};

/// Reads what the program wrote; the file may be empty.
RunFailure readFailure(llvm::StringRef path);

/// The folder of checkpoints and the log tell how far a training is.
class TrainingTrail {
public:
  TrainingTrail(std::string folder, std::string log);

  /// The newest checkpoint's step; -1: there is none.
  int64_t savedStep() const;
  /// Tells from which step the training goes on, and how many steps of the log
  /// it takes again.
  std::string textOfRestart() const;
  /// Changes whenever a step is saved or logged.
  std::string mark() const;

  /// Looks for the first step that a run takes which begins after this call.
  void awaitStep();
  /// True once the log has that step's line.
  bool hasStep();

private:
  int64_t bytesOfSteps(int64_t end, int64_t &steps) const;

  std::string folder, log; // "": there is no log that can be read
  int64_t oldBytes = 0;    // of the log, as the run before has left it
  int64_t keptBytes = 0;   // of its lines of steps before that one
  bool isCut = false;      // the run has cut it behind them
};

} // namespace autopar::driver

#endif // AUTOPAR_TOOLS_AUTOPAR_TRAININGTRAIL_H
