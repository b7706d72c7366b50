//===- HeldPorts.cpp - Inputs and outputs of a rank -----------------------===//

#include "HeldPorts.h"

namespace autopar::runtime {

/// True if no rank before this one holds the same block of an output or check.
static bool isFirstHolder(const Manifest &manifest, const Port &port,
                          int rank) {
  std::vector<int64_t> mine = manifest.coordinates(rank, 0);
  for (int other = 0; other < rank; ++other) {
    bool holds = false;
    for (const PortPlacement &place : port.stages)
      holds |= place.stage == other / manifest.devicesPerStage;
    std::vector<int64_t> theirs = manifest.coordinates(other, 0);
    for (const DimSlice &dim : port.dims)
      holds &= dim.blockIndex(mine) == dim.blockIndex(theirs);
    if (holds)
      return false;
  }
  return true;
}

template <typename Wanted>
static std::vector<LocalPort> portsOf(const Manifest &manifest, int rank,
                                      const std::vector<Port> &ports,
                                      const Wanted &wanted) {
  std::vector<LocalPort> found;
  for (size_t i = 0; i < ports.size(); ++i)
    for (const PortPlacement &place : ports[i].stages)
      if (place.stage == rank / manifest.devicesPerStage && wanted(i))
        found.push_back({i, place.arenaOffset, place.persistent});
  return found;
}

std::vector<LocalPort> inputsOfRank(const Manifest &manifest, int rank) {
  return portsOf(manifest, rank, manifest.inputs, [](size_t) { return true; });
}

std::vector<LocalPort> outputsOfRank(const Manifest &manifest, int rank,
                                     const std::vector<bool> &wanted) {
  return portsOf(manifest, rank, manifest.outputs, [&](size_t i) {
    return wanted[i] && isFirstHolder(manifest, manifest.outputs[i], rank);
  });
}

std::vector<LocalPort> checksOfRank(const Manifest &manifest, int rank) {
  std::vector<Port> ports;
  for (const Check &check : manifest.checks)
    ports.push_back(check.port);
  return portsOf(manifest, rank, ports, [&](size_t i) {
    return isFirstHolder(manifest, ports[i], rank);
  });
}

} // namespace autopar::runtime
