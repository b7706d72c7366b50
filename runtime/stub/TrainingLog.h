//===- TrainingLog.h - What is told of each training step -------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_TRAININGLOG_H
#define AUTOPAR_RUNTIME_STUB_TRAININGLOG_H

#include "Run.h"
#include "TrainingProgress.h"

namespace autopar::runtime {

/// Rank 0's: a line of JSON per step for --log, as soon as the step is done,
/// how far the training is, and a word on stderr at the first loss that is not
/// finite, where a step counts no label and of each evaluation. A log that
/// cannot be written ends: the training goes on, and its record says why.
class TrainingLog {
public:
  TrainingLog() = default;
  TrainingLog(const TrainingLog &) = delete;
  TrainingLog &operator=(const TrainingLog &) = delete;
  ~TrainingLog() { closeFile(); }

  /// Does nothing more for a program that does not train.
  Status open(Run &run);
  /// `saveSeconds`: for which the step waited until states were copied for a
  /// checkpoint; 0: there was none. `waits`: an evaluation follows, which is
  /// told in the step's line.
  void add(int64_t step, double seconds, double saveSeconds, bool waits);
  /// Tells an evaluation of the states after so many steps; `isBest`: of all so
  /// far.
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
