//===- ValueCandidates.cpp - Shardings that values can have ---------------===//

#include "ProblemBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// Adds a sharding as a candidate that users of a value may read. Intervals are
/// removed. A value that is partial over micro-batches is no candidate, and a
/// value that exists once for all of them is not split over time.
void ProblemBuilder::offer(unsigned valueClass, Sharding sharding) {
  for (DimSharding &dim : sharding.dims)
    dim.interval = std::nullopt;
  if (any_of(sharding.partial,
             [&](const Partial &p) { return mesh.subAxes()[p.subAxis].time; }))
    return;
  const GraphValue &value = firstValue(valueClass);
  if (value.persistent || value.setup || value.isNext)
    for (DimSharding &dim : sharding.dims)
      llvm::erase_if(dim.subAxes, [&](unsigned subAxis) {
        return mesh.subAxes()[subAxis].time;
      });
  if (!is_contained(candidates[valueClass], sharding))
    candidates[valueClass].push_back(std::move(sharding));
}

/// Returns the sharding that splits the largest dimension over all devices. It
/// takes the least memory for a parameter that every user wants whole.
static Sharding fullySplit(const GraphValue &value, const Mesh &mesh) {
  Sharding sharding = Sharding::replicated(value.shape.size());
  if (value.shape.empty())
    return sharding;
  size_t widest = llvm::max_element(value.shape) - value.shape.begin();
  for (const auto &[index, subAxis] : enumerate(mesh.subAxes()))
    if (!subAxis.time)
      sharding.dims[widest].subAxes.push_back(index);
  return sharding;
}

/// Keeps the candidates that constraints allow, each changed to what is pinned.
Error ProblemBuilder::limitCandidates(unsigned valueClass) {
  const GraphValue &value = firstValue(valueClass);
  const ValueLimit &limit = limits.values[classes.firstValue[valueClass]];
  if (limit.empty())
    return Error::success();
  // Candidates that no op proposes are added: each dimension over each axis.
  std::vector<Sharding> known = std::move(candidates[valueClass]),
                        wider = known;
  wider.push_back(Sharding::replicated(value.shape.size()));
  for (size_t dim = 0; dim < value.shape.size(); ++dim)
    for (const MeshAxis &axis : mesh.axes()) {
      if (axis.name == kTimeAxis)
        continue;
      wider.push_back(Sharding::replicated(value.shape.size()));
      append_range(wider.back().dims[dim].subAxes, *mesh.lookup(axis.name));
    }
  candidates[valueClass].clear();
  for (const Sharding &sharding : wider)
    if (Sharding fitted = limit.fit(sharding, mesh); limit.allows(fitted, mesh))
      offer(valueClass, std::move(fitted));
  if (candidates[valueClass].empty())
    return cannotShard(limits, value, limit, mesh, known);
  return Error::success();
}

Error ProblemBuilder::addCandidates(unsigned valueClass) {
  const GraphValue &value = firstValue(valueClass);
  if (value.source != ValueSource::Op)
    offer(valueClass, Sharding::replicated(value.shape.size()));
  for (const EdgeKey &key : folded.keysOfValue[valueClass])
    for (unsigned strategy : sideOf(key).distinct) {
      const Sharding &sharding =
          shardingAt(key, kindOf(key.op).strategies[strategy]);
      offer(valueClass, endPartial(sharding));
      // A value that is read from a file or kept from setup is not partial.
      if (!key.result && !sharding.partial.empty() &&
          value.source == ValueSource::Op && !value.persistent && !value.isNext)
        offer(valueClass, sharding);
    }
  if (value.persistent && problem.memoryLimit)
    offer(valueClass, fullySplit(value, mesh));
  if (candidates[valueClass].empty())
    offer(valueClass, Sharding::replicated(value.shape.size()));
  return limits.constraints ? limitCandidates(valueClass) : Error::success();
}

bool ProblemBuilder::allows(unsigned valueClass,
                            const Sharding &sharding) const {
  return !limits.constraints ||
         limits.values[classes.firstValue[valueClass]].allows(sharding, mesh);
}

/// A state and its next value are one node. Its candidates are those of both
/// values that the constraints allow for both.
Error ProblemBuilder::shareCandidates() {
  for (const std::vector<unsigned> &members : folded.stateSets) {
    std::vector<Sharding> shared;
    for (unsigned from : members)
      for (const Sharding &sharding : candidates[from])
        if (!is_contained(shared, sharding) &&
            all_of(members, [&](unsigned to) { return allows(to, sharding); }))
          shared.push_back(sharding);
    if (shared.empty())
      return createStringError(
          "constraints: state '" + firstValue(members.front()).name +
          "' and its next value '" + firstValue(members.back()).name +
          "' must be sharded alike, and no sharding is allowed for both");
    for (unsigned member : members)
      candidates[member] = shared;
  }
  return Error::success();
}

} // namespace autopar
