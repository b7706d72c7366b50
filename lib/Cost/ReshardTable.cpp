//===- ReshardTable.cpp - Prices of reshards, remembered ------------------===//

#include "autopar/Cost/ReshardTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

static constexpr double kNoPath = std::numeric_limits<double>::infinity();

/// The number of `key`, a new one with `item` added to `list` if there is none.
template <typename List, typename Item>
static unsigned numberIn(StringMap<unsigned> &numbers, StringRef key,
                         List &list, Item &&item) {
  auto [it, isNew] = numbers.try_emplace(key, list.size());
  if (isNew)
    list.push_back(std::forward<Item>(item));
  return it->second;
}

double ReshardPrices::of(StringRef key, function_ref<double()> compute) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto it = prices.find(key); it != prices.end())
      return it->second;
  }
  double seconds = compute(); // by two threads at once it is the same
  std::lock_guard<std::mutex> lock(mutex);
  return prices.try_emplace(key, seconds).first->second;
}

unsigned ReshardTable::numberOf(const Sharding &sharding) {
  std::string key;
  appendKey(key, sharding);
  auto [it, isNew] = shardingNumbers.try_emplace(key, shardings.size());
  if (!isNew)
    return it->second;
  Numbered numbered;
  for (const DimSharding &dim : sharding.dims) {
    key.clear();
    appendKey(key, Sharding{{dim}, {}});
    numbered.dims.push_back(
        numberIn(dimNumbers, key, dims, std::pair(key, dim)));
  }
  key.clear();
  appendKey(key, Sharding{{}, sharding.partial});
  numbered.partial =
      numberIn(partialNumbers, key, partials, std::pair(key, sharding.partial));
  shardings.push_back(std::move(numbered));
  return it->second;
}

unsigned ReshardTable::typeOf(ArrayRef<int64_t> shape, int64_t elementBytes) {
  std::string key = std::to_string(elementBytes) + ":";
  for (int64_t size : shape)
    key += std::to_string(size) + ",";
  return numberIn(typeNumbers, key, types,
                  Type{SmallVector<int64_t>(shape), elementBytes});
}

double ReshardTable::seconds(unsigned from, unsigned to, unsigned type) {
  if (from == to)
    return 0;
  uint64_t key = uint64_t(from) << 42 | uint64_t(to) << 21 | type;
  auto [it, isNew] = prices.try_emplace(key, kNoPath);
  if (isNew)
    it->second = secondsOfChange(shardings[from], shardings[to], types[type]);
  return it->second;
}

double ReshardTable::secondsOfChange(const Numbered &from, const Numbered &to,
                                     const Type &type) {
  struct Change {
    int64_t size;
    unsigned from, to; // numbers of dimensions
  };
  SmallVector<Change, 6> changes;
  int64_t bytes = type.elementBytes;
  for (auto [size, before, after] : zip_equal(type.shape, from.dims, to.dims)) {
    if (dims[before].second.interval) // no path leads on from it
      return kNoPath;
    if (before == after)
      bytes *= localSize(size, dims[before].second, mesh);
    else
      changes.push_back({size, before, after});
  }
  // The halos of several intervals are exchanged in the order of dimensions.
  if (count_if(changes, [&](const Change &change) {
        return dims[change.to].second.interval.has_value();
      }) < 2)
    llvm::sort(changes, [&](const Change &a, const Change &b) {
      return std::tie(a.size, dims[a.from].first, dims[a.to].first) <
             std::tie(b.size, dims[b.from].first, dims[b.to].first);
    });
  std::string key = std::to_string(bytes) + partials[from.partial].first + ">" +
                    partials[to.partial].first;
  Sharding before{{}, partials[from.partial].second},
      after{{}, partials[to.partial].second};
  SmallVector<int64_t, 6> sizes;
  for (const Change &change : changes) {
    key += ";" + std::to_string(change.size) + dims[change.from].first + ">" +
           dims[change.to].first;
    before.dims.push_back(dims[change.from].second);
    after.dims.push_back(dims[change.to].second);
    sizes.push_back(change.size);
  }
  return shared->of(key, [&] {
    if (!price)
      return reshardSeconds(before, after, sizes, bytes, mesh, cost)
          .value_or(kNoPath);
    std::optional<ReshardPath> steps = path(before, after, sizes, bytes);
    return steps ? secondsOf(*steps) : kNoPath;
  });
}

std::optional<ReshardPath> ReshardTable::path(const Sharding &from,
                                              const Sharding &to,
                                              ArrayRef<int64_t> shape,
                                              int64_t elementBytes) const {
  std::optional<ReshardPath> path =
      reshardPath(from, to, shape, elementBytes, mesh, cost);
  if (path && price)
    for (ReshardStep &step : *path)
      step.seconds = price(step);
  return path;
}

} // namespace autopar
