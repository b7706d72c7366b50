//===- Reshard.cpp - Shortest paths over reshard steps --------------------===//

#include "autopar/Cost/Reshard.h"
#include "ReshardSteps.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

StringRef stringifyReshardKind(ReshardKind kind) {
  static constexpr StringLiteral names[] = {
      "slice_block", "keep_first", "all_gather", "reduce_scatter",
      "all_to_all",  "all_reduce", "halo"};
  return names[unsigned(kind)];
}

void appendKey(std::string &key, const Sharding &sharding) {
  auto number = [&](int64_t value) {
    key += std::to_string(value);
    key += ',';
  };
  for (const DimSharding &dim : sharding.dims) {
    for (unsigned subAxis : dim.subAxes)
      key += char('A' + subAxis);
    if (dim.interval) {
      number(dim.interval->step);
      number(dim.interval->offset);
      number(dim.interval->length);
    }
    key += ';';
  }
  for (const Partial &partial : sharding.partial) {
    key += char('A' + partial.subAxis);
    key += char('0' + unsigned(partial.kind));
  }
  key += '.';
}

double secondsOf(const ReshardPath &path) {
  double seconds = 0;
  for (const ReshardStep &step : path)
    seconds += step.seconds;
  return seconds;
}

//===----------------------------------------------------------------------===//
// The shortest path
//===----------------------------------------------------------------------===//

namespace {

/// A sharding that the search has reached, and by which step.
struct Reached {
  ReshardStep step; // of where the path begins only what is after it
  int previous = -1;
  double seconds = 0;
  int64_t bytes = 0;
  unsigned steps = 0;
  bool done = false;

  bool betterThan(const Reached &o) const {
    if (seconds != o.seconds)
      return seconds < o.seconds;
    return bytes != o.bytes ? bytes < o.bytes : steps < o.steps;
  }
};

/// Dijkstra; the reached shardings are few and are scanned: ties go to the one
/// that was found first.
class PathSearch {
public:
  PathSearch(const Sharding &from, const Sharding &to, StepTable table,
             const ReshardCost &cost)
      : to(to), table(std::move(table)), cost(cost) {
    reached.reserve(32); // seldom more
    Reached first;
    first.step.after = from;
    add(std::move(first));
  }

  std::optional<ReshardPath> run() {
    while (true) {
      int next = nearest();
      if (next < 0)
        return std::nullopt;
      if (reached[next].step.after == to)
        return pathTo(next);
      expand(next);
    }
  }

private:
  void add(Reached item) {
    // No path through what costs more than the whole of one.
    if (target >= 0 && item.seconds > reached[target].seconds)
      return;
    auto *known = llvm::find_if(reached, [&](const Reached &other) {
      return other.step.after == item.step.after;
    });
    if (item.step.after == to)
      target = known - reached.begin();
    if (known == reached.end())
      reached.push_back(std::move(item));
    else if (item.betterThan(*known))
      *known = std::move(item);
  }

  int nearest() const {
    int best = -1;
    for (const auto &[i, item] : enumerate(reached))
      if (!item.done && (best < 0 || item.betterThan(reached[best])))
        best = i;
    return best;
  }

  void expand(int from) {
    reached[from].done = true;
    for (ReshardStep &step : table.steps(reached[from].step.after)) {
      step.seconds = cost(step);
      Reached item;
      item.previous = from;
      item.seconds = reached[from].seconds + step.seconds;
      item.bytes = reached[from].bytes + (isLocal(step.kind) ? 0 : step.bytes);
      item.steps = reached[from].steps + 1;
      item.step = std::move(step);
      add(std::move(item));
    }
  }

  ReshardPath pathTo(int last) {
    ReshardPath path;
    for (; reached[last].previous >= 0; last = reached[last].previous)
      path.push_back(std::move(reached[last].step));
    std::reverse(path.begin(), path.end());
    return path;
  }

  const Sharding &to;
  StepTable table;
  const ReshardCost &cost;
  SmallVector<Reached, 0> reached;
  int target = -1; // where `to` is in `reached`
};

} // namespace

std::optional<ReshardPath> reshardPath(const Sharding &from, const Sharding &to,
                                       ArrayRef<int64_t> shape,
                                       int64_t elementBytes, const Mesh &mesh,
                                       const ReshardCost &cost) {
  if (from == to)
    return ReshardPath();
  if (any_of(from.dims,
             [](const DimSharding &dim) { return dim.interval.has_value(); }))
    return std::nullopt;
  StepTable table(from, to, shape, elementBytes, mesh);
  return PathSearch(from, to, std::move(table), cost).run();
}

const std::optional<ReshardPath> &ReshardCache::get(const Sharding &from,
                                                    const Sharding &to,
                                                    ArrayRef<int64_t> shape,
                                                    int64_t elementBytes) {
  std::string key;
  appendKey(key, from);
  appendKey(key, to);
  for (int64_t size : shape)
    key += std::to_string(size) + ",";
  key += std::to_string(elementBytes);
  auto [it, inserted] = paths.try_emplace(key);
  if (inserted)
    it->second = reshardPath(from, to, shape, elementBytes, mesh, cost);
  return it->second;
}

} // namespace autopar
