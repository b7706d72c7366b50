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

std::optional<double> ReshardPrices::find(StringRef key) {
  uint32_t hash = StringMapImpl::hash(key);
  Part &part = parts[hash % parts.size()];
  std::lock_guard<std::mutex> lock(part.mutex);
  auto it = part.prices.find(key, hash);
  return it == part.prices.end() ? std::nullopt : std::optional(it->second);
}

void ReshardPrices::add(StringRef key, double seconds) {
  uint32_t hash = StringMapImpl::hash(key);
  Part &part = parts[hash % parts.size()];
  std::lock_guard<std::mutex> lock(part.mutex);
  part.prices.try_emplace_with_hash(key, hash, seconds);
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

double ReshardTable::seconds(unsigned from, unsigned to, unsigned type,
                             Prices &known) const {
  if (from == to)
    return 0;
  uint64_t key = uint64_t(from) << 42 | uint64_t(to) << 21 | type;
  auto [it, isNew] = known.try_emplace(key, kNoPath);
  if (!isNew)
    return it->second;
  std::optional<Reduced> reduced =
      reduce(shardings[from], shardings[to], types[type]);
  if (!reduced)
    return kNoPath;
  std::optional<double> price = shared->find(reduced->key);
  if (!price) {
    price = secondsOf(*reduced); // by two threads at once it is the same
    shared->add(reduced->key, *price);
  }
  return it->second = *price;
}

std::optional<ReshardTable::Reduced>
ReshardTable::reduce(const Numbered &from, const Numbered &to,
                     const Type &type) const {
  struct DimChange {
    int64_t size;
    unsigned from, to; // numbers of dimensions
  };
  SmallVector<DimChange, 6> changes;
  Reduced result;
  result.bytes = type.elementBytes;
  for (auto [size, before, after] : zip_equal(type.shape, from.dims, to.dims)) {
    if (dims[before].second.interval) // no path leads on from it
      return std::nullopt;
    if (before == after)
      result.bytes *= localSize(size, dims[before].second, mesh);
    else
      changes.push_back({size, before, after});
  }
  // The halos of several intervals are exchanged in the order of dimensions.
  if (count_if(changes, [&](const DimChange &change) {
        return dims[change.to].second.interval.has_value();
      }) < 2)
    llvm::sort(changes, [&](const DimChange &a, const DimChange &b) {
      return std::tie(a.size, dims[a.from].first, dims[a.to].first) <
             std::tie(b.size, dims[b.from].first, dims[b.to].first);
    });
  result.key = std::to_string(result.bytes) + partials[from.partial].first +
               ">" + partials[to.partial].first;
  result.from.partial = partials[from.partial].second;
  result.to.partial = partials[to.partial].second;
  for (const DimChange &change : changes) {
    result.key += ";" + std::to_string(change.size) + dims[change.from].first +
                  ">" + dims[change.to].first;
    result.from.dims.push_back(dims[change.from].second);
    result.to.dims.push_back(dims[change.to].second);
    result.sizes.push_back(change.size);
  }
  return result;
}

double ReshardTable::secondsOf(const Reduced &change) const {
  if (!price)
    return reshardSeconds(change.from, change.to, change.sizes, change.bytes,
                          mesh, cost)
        .value_or(kNoPath);
  std::optional<ReshardPath> steps =
      path(change.from, change.to, change.sizes, change.bytes);
  return steps ? autopar::secondsOf(*steps) : kNoPath;
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
