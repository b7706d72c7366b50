//===- Reshard.cpp - Shortest paths over reshard steps --------------------===//

#include "autopar/Cost/Reshard.h"
#include "ReshardSteps.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

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

bool reduces(ArrayRef<Partial> from, ArrayRef<Partial> to) {
  return any_of(
      from, [&](const Partial &partial) { return !is_contained(to, partial); });
}

bool communicates(const ReshardPath &path) {
  return any_of(path,
                [](const ReshardStep &step) { return !isLocal(step.kind); });
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
  ReshardMove move; // at the path's begin only `after` is set
  int previous = -1;
  double stepSeconds = 0, seconds = 0;
  int64_t bytes = 0;
  unsigned steps = 0;
  bool done = false;

  bool betterThan(const Reached &o) const {
    if (seconds != o.seconds)
      return seconds < o.seconds;
    return bytes != o.bytes ? bytes < o.bytes : steps < o.steps;
  }
};

/// Dijkstra's algorithm. The reached shardings are few, so the nearest is found
/// by a scan; of equally near ones the one that was found first is taken.
class PathSearch {
public:
  PathSearch(const Sharding &from, const Sharding &to, ArrayRef<int64_t> shape,
             int64_t elementBytes, const Mesh &mesh, const ReshardCost &cost)
      : runs(from, to, mesh), table(from, to, shape, elementBytes, runs),
        cost(cost) {
    Reached first;
    first.move.after = table.start();
    add(std::move(first));
  }

  std::optional<ReshardPath> run() {
    while (true) {
      int next = nearest();
      if (next < 0)
        return std::nullopt;
      if (reached[next].move.after == table.target())
        return pathTo(next);
      expand(next);
    }
  }

private:
  void add(Reached item) {
    // A sharding that costs more than a whole path is on no cheapest path.
    if (target >= 0 && item.seconds > reached[target].seconds)
      return;
    auto *known = llvm::find_if(reached, [&](const Reached &other) {
      return other.move.after == item.move.after;
    });
    if (item.move.after == table.target())
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
    for (ReshardMove &move : table.steps(reached[from].move.after)) {
      Reached item;
      item.previous = from;
      item.stepSeconds = secondsOf(move);
      item.seconds = reached[from].seconds + item.stepSeconds;
      item.bytes = reached[from].bytes + (isLocal(move.kind) ? 0 : move.bytes);
      item.steps = reached[from].steps + 1;
      item.move = std::move(move);
      add(std::move(item));
    }
  }

  double secondsOf(const ReshardMove &move) {
    priced.kind = move.kind;
    priced.bytes = move.bytes;
    priced.subAxes.clear();
    runs.append(move.runs, priced.subAxes);
    return cost(priced);
  }

  ReshardPath pathTo(int last) const {
    ReshardPath path;
    for (int at = last; reached[at].previous >= 0; at = reached[at].previous) {
      const ReshardMove &move = reached[at].move;
      ReshardStep step;
      step.kind = move.kind;
      runs.append(move.runs, step.subAxes);
      if (move.kind == ReshardKind::AllReduce ||
          move.kind == ReshardKind::KeepFirst)
        llvm::sort(step.subAxes); // no dimension gives them an order
      step.dim = move.dim;
      step.concatDim = move.concatDim;
      step.reduce = move.reduce;
      step.after = table.shardingOf(move.after);
      step.bytes = move.bytes;
      step.seconds = reached[at].stepSeconds;
      path.push_back(std::move(step));
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  SubAxisRuns runs;
  StepTable table;
  const ReshardCost &cost;
  ReshardStep priced;               // the argument of `cost`
  SmallVector<Reached, 24> reached; // seldom more: no allocation
  int target = -1;                  // the target's place in `reached`
};

/// Returns whether a dimension has an interval. No step leads on from such a
/// sharding, because intervals overlap.
bool hasInterval(const Sharding &sharding) {
  return any_of(sharding.dims, [](const DimSharding &dim) {
    return dim.interval.has_value();
  });
}

} // namespace

std::optional<ReshardPath> reshardPath(const Sharding &from, const Sharding &to,
                                       ArrayRef<int64_t> shape,
                                       int64_t elementBytes, const Mesh &mesh,
                                       const ReshardCost &cost) {
  if (from == to)
    return ReshardPath();
  if (hasInterval(from))
    return std::nullopt;
  return PathSearch(from, to, shape, elementBytes, mesh, cost).run();
}

const std::optional<ReshardPath> &ReshardCache::get(const Sharding &from,
                                                    const Sharding &to,
                                                    ArrayRef<int64_t> shape,
                                                    int64_t elementBytes) {
  std::string key;
  key.reserve(128);
  appendKey(key, from);
  appendKey(key, to);
  for (ArrayRef<int64_t> numbers : {shape, ArrayRef(elementBytes)})
    key.append(reinterpret_cast<const char *>(numbers.data()),
               numbers.size() * sizeof(int64_t));
  auto [it, inserted] = paths.try_emplace(key);
  if (inserted)
    it->second = reshardPath(from, to, shape, elementBytes, mesh, cost);
  return it->second;
}

} // namespace autopar
