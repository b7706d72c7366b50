//===- ReshardTable.cpp - Prices of reshards, remembered ------------------===//

#include "autopar/Cost/ReshardTable.h"
#include "ReshardGraph.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace llvm;

namespace autopar {

static constexpr double kNoPath = std::numeric_limits<double>::infinity();

/// Returns the number of `key`. A new key gets the next number, and `item` is
/// added to `list`.
template <typename Item>
static unsigned numberIn(StringMap<unsigned> &numbers, StringRef key,
                         std::vector<Item> &list, Item item) {
  auto [it, isNew] = numbers.try_emplace(key, list.size());
  if (isNew)
    list.push_back(std::move(item));
  return it->second;
}

uint64_t ReshardPrices::numberOf(StringRef text) {
  std::lock_guard<std::mutex> lock(mutex);
  return numbers.try_emplace(text, numbers.size()).first->second;
}

ReshardPrices::ReshardPrices() = default;
ReshardPrices::~ReshardPrices() = default;
ReshardPrices::Change::Change() = default;
ReshardPrices::Change::~Change() = default;

ReshardPrices::Change &ReshardPrices::changeOf(ArrayRef<uint64_t> key) {
  StringRef bytes(reinterpret_cast<const char *>(key.data()),
                  key.size() * sizeof(uint64_t));
  uint32_t hash = StringMapImpl::hash(bytes);
  Part &part = parts[hash % parts.size()];
  std::lock_guard<std::mutex> lock(part.mutex);
  return part.changes.try_emplace_with_hash(bytes, hash).first->second;
}

unsigned ReshardTable::numberOf(const Sharding &sharding) {
  std::string key;
  appendKey(key, sharding);
  auto [it, isNew] = shardingNumbers.try_emplace(key, shardings.size());
  if (!isNew)
    return it->second;
  Numbered numbered;
  auto partOf = [&](auto &numbers, auto &parts, const auto &what,
                    const Sharding &alone) {
    key.clear();
    appendKey(key, alone);
    return numberIn(numbers, key, parts, {key, shared->numberOf(key), what});
  };
  for (const DimSharding &dim : sharding.dims)
    numbered.dims.push_back(partOf(dimNumbers, dims, dim, {{dim}, {}}));
  numbered.partial = partOf(partialNumbers, partials, sharding.partial,
                            {{}, sharding.partial});
  shardings.push_back(std::move(numbered));
  return it->second;
}

unsigned ReshardTable::typeOf(ArrayRef<int64_t> shape, int64_t elementBytes) {
  std::string key = std::to_string(elementBytes) + ":";
  for (int64_t size : shape)
    key += std::to_string(size) + ",";
  return numberIn(typeNumbers, key, types,
                  {SmallVector<int64_t>(shape), elementBytes});
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
  ReshardPrices::Change &change = shared->changeOf(keyOf(*reduced));
  std::lock_guard<std::mutex> lock(change.mutex);
  auto [price, isFirst] = change.seconds.try_emplace(reduced->bytes, kNoPath);
  if (isFirst)
    price->second = secondsOf(*reduced, change);
  return it->second = price->second;
}

/// Replaces a dimension that divides evenly by everything it is split over on
/// the way by the smallest such dimension, with elements that are as many times
/// larger.
void ReshardTable::scaleDown(DimChange &dim, int64_t &bytes) const {
  if (dims[dim.to].what.interval)
    return;
  int64_t parts = std::lcm(mesh.product(dims[dim.from].what.subAxes),
                           mesh.product(dims[dim.to].what.subAxes));
  if (dim.size == 0 || dim.size % parts != 0)
    return;
  bytes *= dim.size / parts;
  dim.size = parts;
}

std::optional<ReshardTable::Reduced>
ReshardTable::reduce(const Numbered &from, const Numbered &to,
                     const Type &type) const {
  Reduced result{{}, from.partial, to.partial, type.elementBytes};
  for (auto [size, before, after] : zip_equal(type.shape, from.dims, to.dims)) {
    if (dims[before].what.interval) // no path leads on from it
      return std::nullopt;
    if (before == after)
      result.bytes *= localSize(size, dims[before].what, mesh);
    else
      result.dims.push_back({size, before, after});
  }
  for (DimChange &dim : result.dims)
    scaleDown(dim, result.bytes);
  // Sorts the dimensions, unless several have intervals: halos are exchanged in
  // the order of dimensions. The order is by text, because numbers depend on
  // which thread came first.
  if (count_if(result.dims, [&](const DimChange &change) {
        return dims[change.to].what.interval.has_value();
      }) < 2)
    llvm::sort(result.dims, [&](const DimChange &a, const DimChange &b) {
      return std::tie(a.size, dims[a.from].text, dims[a.to].text) <
             std::tie(b.size, dims[b.from].text, dims[b.to].text);
    });
  return result;
}

/// The key of a change: everything but the bytes.
SmallVector<uint64_t, 16> ReshardTable::keyOf(const Reduced &change) const {
  SmallVector<uint64_t, 16> key{partials[change.from].number,
                                partials[change.to].number};
  for (const DimChange &dim : change.dims)
    key.append(
        {uint64_t(dim.size), dims[dim.from].number, dims[dim.to].number});
  return key;
}

/// Computed; the caller holds `known.mutex`.
double ReshardTable::secondsOf(const Reduced &reduced,
                               ReshardPrices::Change &known) const {
  Sharding from{{}, partials[reduced.from].what},
      to{{}, partials[reduced.to].what};
  SmallVector<int64_t> sizes;
  for (const DimChange &dim : reduced.dims) {
    from.dims.push_back(dims[dim.from].what);
    to.dims.push_back(dims[dim.to].what);
    sizes.push_back(dim.size);
  }
  if (!price && !known.graph)
    known.graph = ReshardGraph::build(from, to, sizes, mesh);
  if (!price && *known.graph)
    return (*known.graph)->seconds(reduced.bytes, cost).value_or(kNoPath);
  std::optional<ReshardPath> path =
      reshardPath(from, to, sizes, reduced.bytes, mesh, cost);
  return path ? autopar::secondsOf(priced(std::move(*path))) : kNoPath;
}

ReshardPath ReshardTable::priced(ReshardPath path) const {
  if (price)
    for (ReshardStep &step : path)
      step.seconds = price(step);
  return path;
}

} // namespace autopar
