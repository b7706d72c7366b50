//===- TrainingLog.h - What is told of each training step -------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_TRAININGLOG_H
#define AUTOPAR_RUNTIME_STUB_TRAININGLOG_H

#include "Run.h"
#include "TrainingProgress.h"

namespace autopar::runtime {

/// The log of a training on rank 0. It writes a line of JSON per step for --log
/// as soon as the step is done, and shows the progress. It reports on stderr
/// the first loss that is not finite, steps without labels, and each
/// evaluation. If the log cannot be written, it ends with the reason in its
/// record, and the training continues.
class TrainingLog {
public:
  TrainingLog() = default;
  TrainingLog(const TrainingLog &) = delete;
  TrainingLog &operator=(const TrainingLog &) = delete;
  ~TrainingLog() { closeFile(); }

  /// Opens the log. It stays unused if the program does not train.
  Status open(Run &run);
  /// Adds a step. `saveSeconds` is the time that the step waited until states
  /// were copied for a checkpoint, or 0 if there was none. `waits` means that
  /// an evaluation follows, which is part of the line of the step.
  void add(int64_t step, double seconds, double saveSeconds, bool waits);
  /// Reports an evaluation of the states after that many steps. `isBest` means
  /// that it is the best so far.
  void addEvaluation(int64_t steps, const std::vector<double> &values,
                     double seconds, bool isBest);
  void close();

private:
  void write(int64_t step, const std::string &line);
  void writeWaiting(int64_t step, const std::string &rest);
  void fail(int64_t step);
  bool closeFile();
  void warn(int64_t step);
  void warnOfNorm(int64_t step);
  void warnOfLabels(int64_t step);
  long long numberOf(int64_t step) const;
  double loss(int64_t step) const;

  Run *run = nullptr;
  int file = -1;       // a descriptor
  std::string waiting; // the last step's line, without its end
  int64_t written = 0; // bytes of whole lines
  bool showsProgress = false;
  TrainingProgress progress;
  bool warned = false;       // of a loss that is not finite
  bool warnedOfNorm = false; // of gradients that are not
  int64_t unlabelled = 0;    // steps that counted no label
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_TRAININGLOG_H
