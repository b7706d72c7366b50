//===- Arena.cpp - Static offsets for buffers with lifetimes --------------===//

#include "autopar/Cost/Arena.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <functional>
#include <numeric>

using namespace llvm;

namespace autopar {
namespace {

/// Placed requests by lifetime: a segment tree over times, each request listed
/// at the O(log T) nodes that make up its lifetime.
class Lifetimes {
public:
  explicit Lifetimes(int64_t times)
      : size(PowerOf2Ceil(std::max<int64_t>(times, 1))), lists(2 * size),
        below(2 * size) {}

  void insert(unsigned id, int64_t first, int64_t last) {
    walk(first, last, [&](size_t node) {
      lists[node].push_back(id);
      for (; node >= 1; node /= 2)
        ++below[node];
    });
  }

  /// Calls `visit` for each placed request alive at some time in first..last,
  /// for some of them several times.
  void overlapping(int64_t first, int64_t last,
                   function_ref<void(unsigned)> visit) const {
    auto report = [&](size_t node) { for_each(lists[node], visit); };
    SmallVector<size_t> open;
    size_t ancestor = 0; // the last one whose ancestors were reported
    walk(first, last, [&](size_t node) {
      open.push_back(node);
      for (size_t up = node / 2; up >= 1 && up != ancestor; up /= 2)
        report(up);
      ancestor = node / 2;
    });
    while (!open.empty()) {
      size_t node = open.pop_back_val();
      if (below[node] == 0)
        continue;
      report(node);
      if (node < size)
        open.append({2 * node, 2 * node + 1});
    }
  }

private:
  /// The nodes that together make up the times first..last.
  void walk(int64_t first, int64_t last,
            function_ref<void(size_t)> visit) const {
    size_t low = first + size, high = last + size + 1;
    for (; low < high; low /= 2, high /= 2) {
      if (low & 1)
        visit(low++);
      if (high & 1)
        visit(--high);
    }
  }

  size_t size;
  std::vector<SmallVector<unsigned, 2>> lists;
  std::vector<unsigned> below; // entries in the node's subtree
};
} // namespace

static int64_t rounded(int64_t bytes) {
  return alignTo(std::max<int64_t>(bytes, 1), kArenaAlignment);
}

namespace {

/// Counts how many of some times come before a given one, by a Fenwick tree.
class TimeCounts {
public:
  explicit TimeCounts(int64_t times) : sums(times + 1, 0) {}
  void add(int64_t time) {
    for (size_t i = time + 1; i < sums.size(); i += i & -i)
      ++sums[i];
  }
  size_t before(int64_t time) const {
    size_t sum = 0;
    for (size_t i = time; i > 0; i -= i & -i)
      sum += sums[i];
    return sum;
  }

private:
  std::vector<size_t> sums;
};

/// A request that has its place.
struct Placed {
  int64_t offset, end; // bytes
  int64_t first, last;
  bool operator<(const Placed &other) const { return offset < other.offset; }
};

/// Finds the smallest gap between requests that come by their offsets.
class BestFit {
public:
  explicit BestFit(int64_t bytes) : bytes(bytes) {}
  void pass(const Placed &taken) {
    int64_t gap = taken.offset - end;
    if (gap >= bytes && (best < 0 || gap < bestGap)) {
      best = end;
      bestGap = gap;
    }
    end = std::max(end, taken.end);
  }
  /// The offset behind all of them if there is no gap.
  int64_t offset() const { return best < 0 ? end : best; }

private:
  int64_t bytes, end = 0, best = -1, bestGap = 0;
};

/// The requests that have places, which are looked up by lifetime. If few of
/// them are alive, the lookup goes over these; otherwise it passes over all.
class Places {
public:
  Places(size_t requests, int64_t times)
      : lifetimes(times), begins(times), ends(times), stamps(requests, ~0u) {}

  int64_t bestFit(const ArenaRequest &request, unsigned id) {
    BestFit fit(rounded(request.bytes));
    size_t alive = begins.before(request.last + 1) - ends.before(request.first);
    if (alive * Log2_64_Ceil(alive + 2) < byOffset.size() + recent.size()) {
      SmallVector<Placed> taken;
      lifetimes.overlapping(request.first, request.last, [&](unsigned other) {
        if (std::exchange(stamps[other], id) != id)
          taken.push_back(ofId[other]);
      });
      sort(taken, std::less<>()); // else by qsort, slower
      for (const Placed &other : taken)
        fit.pass(other);
    } else {
      mergeRecent();
      for (const Placed &other : byOffset)
        if (other.first <= request.last && request.first <= other.last)
          fit.pass(other);
    }
    return fit.offset();
  }

  void insert(const ArenaRequest &request, unsigned id, int64_t offset) {
    Placed placed{offset, offset + rounded(request.bytes), request.first,
                  request.last};
    lifetimes.insert(id, request.first, request.last);
    begins.add(request.first);
    ends.add(request.last);
    ofId.resize(std::max<size_t>(ofId.size(), id + 1));
    ofId[id] = placed;
    recent.push_back(placed);
  }

private:
  /// Merges the newest requests into the sorted list. Most requests are placed
  /// without it.
  void mergeRecent() {
    size_t sorted = byOffset.size();
    sort(recent, std::less<>());
    append_range(byOffset, recent);
    recent.clear();
    std::inplace_merge(byOffset.begin(), byOffset.begin() + sorted,
                       byOffset.end());
  }

  Lifetimes lifetimes;
  TimeCounts begins, ends;
  std::vector<unsigned> stamps; // the last request that met each
  std::vector<Placed> ofId;
  std::vector<Placed> byOffset, recent; // sorted requests, and newer ones
};

} // namespace

ArenaPlan planArena(ArrayRef<ArenaRequest> requests) {
  int64_t times = 0;
  for (const ArenaRequest &request : requests)
    times = std::max(times, request.last + 1);
  std::vector<unsigned> order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  stable_sort(order, [&](unsigned a, unsigned b) {
    const ArenaRequest &x = requests[a], &y = requests[b];
    int64_t xLength = x.last - x.first, yLength = y.last - y.first;
    return std::tie(y.bytes, yLength, x.first) <
           std::tie(x.bytes, xLength, y.first);
  });

  ArenaPlan plan;
  plan.offsets.resize(requests.size());
  Places places(requests.size(), times);
  for (unsigned id : order) {
    plan.offsets[id] = places.bestFit(requests[id], id);
    plan.bytes =
        std::max(plan.bytes, plan.offsets[id] + rounded(requests[id].bytes));
    places.insert(requests[id], id, plan.offsets[id]);
  }
  return plan;
}

int64_t arenaLowerBound(ArrayRef<ArenaRequest> requests) {
  std::vector<std::pair<int64_t, int64_t>> changes; // time, bytes
  for (const ArenaRequest &request : requests) {
    changes.push_back({request.first, rounded(request.bytes)});
    changes.push_back({request.last + 1, -rounded(request.bytes)});
  }
  sort(changes); // ends before begins of the same time: they are negative
  int64_t alive = 0, most = 0;
  for (auto [time, bytes] : changes)
    most = std::max(most, alive += bytes);
  return most;
}

} // namespace autopar
