//===- HeldPorts.cpp - Inputs and results of a rank -----------------------===//

#include "HeldPorts.h"

#include <cstring>

namespace autopar::runtime {

/// Returns whether no rank before this one holds the same block of a result or
/// check.
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

/// Adds the places of port number `index` of its list on the rank's stage.
static void addPlaces(const Manifest &manifest, int rank, const Port &port,
                      size_t index, std::vector<LocalPort> &to) {
  for (const PortPlacement &place : port.stages)
    if (place.stage == rank / manifest.devicesPerStage)
      to.push_back({index, place.arenaOffset, place.persistent, place.after});
}

std::vector<LocalPort> inputsOfRank(const Manifest &manifest, int rank) {
  std::vector<LocalPort> found;
  for (size_t i = 0; i < manifest.inputs.size(); ++i)
    addPlaces(manifest, rank, manifest.inputs[i], i, found);
  return found;
}

std::vector<ResultPort> resultPorts(const Manifest &manifest) {
  std::vector<ResultPort> results;
  auto add = [&](const std::vector<Port> &ports, ResultPort::When when,
                 bool isAverage = false) {
    for (const Port &port : ports)
      results.push_back({&port, when, isAverage});
  };
  add(manifest.outputs, ResultPort::EveryStep);
  add(manifest.gradients, ResultPort::FirstStep);
  add(manifest.trained, ResultPort::AtEnd);
  add(manifest.averages, ResultPort::AtEnd, /*isAverage=*/true);
  add(manifest.stateOutputs, ResultPort::EveryStep);
  return results;
}

std::vector<LocalPort> resultsOfRank(const Manifest &manifest,
                                     const std::vector<ResultPort> &ports,
                                     const std::vector<bool> &wanted,
                                     int rank) {
  std::vector<LocalPort> found;
  for (size_t i = 0; i < ports.size(); ++i)
    if (wanted[i] && isFirstHolder(manifest, *ports[i].port, rank))
      addPlaces(manifest, rank, *ports[i].port, i, found);
  return found;
}

std::vector<LocalPort> checksOfRank(const Manifest &manifest, int rank) {
  std::vector<LocalPort> found;
  for (size_t i = 0; i < manifest.checks.size(); ++i)
    if (isFirstHolder(manifest, manifest.checks[i].port, rank))
      addPlaces(manifest, rank, manifest.checks[i].port, i, found);
  return found;
}

std::optional<int64_t> pieceOffset(const std::vector<Interval> &intervals) {
  int64_t elements = elementsOf(intervals);
  std::optional<int64_t> offset;
  (void)forEachRun(intervals, [&](const SliceRun &first) {
    if (first.count == elements)
      offset = first.globalOffset;
    return false;
  });
  return offset;
}

Status findPieces(const Manifest &manifest, int rank, const Port &port,
                  std::vector<int64_t> &offsets) {
  for (int64_t time = 0; time < manifest.microBatches; ++time) {
    std::optional<int64_t> offset =
        pieceOffset(intervalsOf(port.dims, manifest.coordinates(rank, time)));
    if (!offset && port.localBytes > 0)
      return Status::error("a rank's part of input '" + port.name +
                           "' is not one piece: it must be copied");
    offsets.push_back(offset.value_or(0) * elementBytes(port.dtype));
  }
  return Status::success();
}

std::string violation(const Check &check, const char *value) {
  if (check.places.empty())
    return *value == 0 ? "" : check.message;
  int32_t number;
  std::memcpy(&number, value, sizeof(number));
  if (number <= 0)
    return "";
  bool isKnown = size_t(number) <= check.places.size();
  return check.message + " " +
         (isKnown ? check.places[size_t(number) - 1]
                  : "place " + std::to_string(number));
}

} // namespace autopar::runtime
