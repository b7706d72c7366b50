//===- TrainingProgress.h - How far a training is ---------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_TRAININGPROGRESS_H
#define AUTOPAR_RUNTIME_STUB_TRAININGPROGRESS_H

#include "../core/Manifest.h"

#include <string>

namespace autopar::runtime {

/// Shows on stderr how far a training is. On a terminal it is a bar, otherwise
/// an occasional line during a long run.
class TrainingProgress {
public:
  /// `first` is the number of steps of the runs before, and `steps` that of
  /// this run.
  void begin(const Manifest &manifest, int64_t first, int64_t steps);
  /// Sets the memory of the rank that uses most; 0 means that it is unknown.
  void setMemory(int64_t bytes) { memory = bytes; }
  void show(int64_t step, double loss, double learningRate, double seconds);
  /// Ends the line, because other text follows.
  void pause();
  /// Returns whether the bar is shown.
  bool isBar() const { return onTerminal; }
  void end(int64_t taken);

private:
  std::string textOf(int64_t done, double loss, double learningRate,
                     int columns) const;
  std::string rateOf(double count, const char *what) const;
  std::string computed() const;

  bool onTerminal = false;
  int64_t first = 0, steps = 0;
  int64_t samples = 0, tokens = 0; // of a step; 0: not known
  double flops = 0, peak = 0;      // of a device, per step and second; likewise
  int64_t memory = 0;
  double mean = 0;        // of losses, smoothed
  double stepSeconds = 0; // smoothed
  double begun = 0, shown = 0;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_TRAININGPROGRESS_H
