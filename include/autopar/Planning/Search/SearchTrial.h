//===- SearchTrial.h - What became of a mesh ------------------------------===//

#ifndef AUTOPAR_PLANNING_SEARCH_SEARCHTRIAL_H
#define AUTOPAR_PLANNING_SEARCH_SEARCHTRIAL_H

#include <cstdint>
#include <string>

namespace autopar {

/// A mesh that the search tried: the seconds and bytes of its plan, or the
/// reason why it has no plan.
struct SearchTrial {
  std::string name; // such as `x=4, y=2, 3 stages`
  double seconds = 0, lowerBoundSeconds = 0;
  int64_t peakMemoryBytes = 0;
  bool best = false;     // of all trials so far
  std::string complaint; // empty: there is a plan
};
/// Returns `x=4: 12.1 us, at least 11.0 us, 1.0 MiB a device, best so far`.
std::string toString(const SearchTrial &trial);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SEARCH_SEARCHTRIAL_H
