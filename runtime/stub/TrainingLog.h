//===- TrainingLog.h - What is told of each training step -------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_TRAININGLOG_H
#define AUTOPAR_RUNTIME_STUB_TRAININGLOG_H

#include "Run.h"

#include <cstdio>
#include <memory>

namespace autopar::runtime {

/// Rank 0's: a line of JSON per step for --log, as soon as the step is done,
/// a line on a terminal that shows how far the training is, and in the end a
/// word on stderr if every step was skipped.
class TrainingLog {
public:
  /// Does nothing more for a program that does not train.
  Status open(const Run &run);
  Status add(int64_t step, double seconds);
  void end() const;

private:
  /// The scalar output at a step.
  double value(const char *output, int64_t step) const;
  void show(int64_t step, double seconds);

  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  const Run *run = nullptr;
  std::unique_ptr<std::FILE, Close> file;
  bool onTerminal = false;
  int64_t skipped = 0;         // steps
  double begun = 0, shown = 0; // seconds
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_TRAININGLOG_H
