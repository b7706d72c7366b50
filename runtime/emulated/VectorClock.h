//===- VectorClock.h - What happened before ---------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_VECTORCLOCK_H
#define AUTOPAR_RUNTIME_EMULATED_VECTORCLOCK_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace autopar::runtime::emulated {

/// Per actor (a stream, or a branch of a graph) how many of its commands are
/// known to be done.
class VectorClock {
public:
  uint64_t of(uint32_t actor) const {
    return actor < done.size() ? done[actor] : 0;
  }
  void raise(uint32_t actor, uint64_t sequence) {
    if (actor >= done.size())
      done.resize(actor + 1);
    done[actor] = std::max(done[actor], sequence);
  }
  void join(const VectorClock &other) {
    if (other.done.size() > done.size())
      done.resize(other.done.size());
    for (size_t i = 0; i < other.done.size(); ++i)
      done[i] = std::max(done[i], other.done[i]);
  }

private:
  std::vector<uint64_t> done;
};

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_VECTORCLOCK_H
