//===- RankReport.h - What ranks measured -----------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_RANKREPORT_H
#define AUTOPAR_RUNTIME_SESSION_RANKREPORT_H

#include "World.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace autopar::runtime {

/// The times of the measured steps, of which there is at least one.
struct StepTimes {
  std::vector<double> seconds; // of each, sorted
  std::vector<double> waits;   // by rank, a step's: for slower ranks at its end
  bool traced = false;

  double median() const;
};

/// Returns a rank's waits of a step, within operations and at its end.
double idleSeconds(const World &world, const StepTimes &times, int rank);

/// Returns the part of a step's communication that compute does not hide.
double exposedSeconds(const World &world, int rank);

/// Returns the records of the ranks as --json writes them.
nlohmann::ordered_json reportOf(const World &world, const StepTimes &times);
std::string reportText(const nlohmann::ordered_json &report);

/// A Chrome trace: a process per rank, a thread per stream. `traces` are by
/// rank, of as many events as its record says.
std::string traceText(const World &world,
                      const std::vector<const TraceEvent *> &traces);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_RANKREPORT_H
