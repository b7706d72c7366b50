//===- ReshardTable.cpp - Prices of reshards, remembered ------------------===//

#include "ReshardTable.h"
#include "autopar/Planning/Problem.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

unsigned ReshardTable::numberOf(const Sharding &sharding) {
  std::string key;
  appendKey(key, sharding);
  auto [it, inserted] =
      shardingNumbers.try_emplace(std::move(key), shardings.size());
  if (inserted)
    shardings.push_back(sharding);
  return it->second;
}

unsigned ReshardTable::typeOf(const GraphValue &value) {
  std::string key = std::to_string(value.elementBytes) + ":";
  for (int64_t size : value.shape)
    key += std::to_string(size) + ",";
  auto [it, inserted] = typeNumbers.try_emplace(std::move(key), types.size());
  if (inserted)
    types.push_back({value.shape, value.elementBytes});
  return it->second;
}

namespace {

/// What a price depends on: the dimensions that either side splits, and the
/// bytes of one element of these. Values of other shapes that are split alike
/// have one price.
struct Question {
  Sharding from, to;
  SmallVector<int64_t, 3> shape;
  int64_t elementBytes;

  Question(const Sharding &from, const Sharding &to, ArrayRef<int64_t> shape,
           int64_t elementBytes)
      : elementBytes(elementBytes) {
    this->from.partial = from.partial;
    this->to.partial = to.partial;
    for (auto [size, before, after] : zip_equal(shape, from.dims, to.dims))
      if (before == after && before.subAxes.empty() && !before.interval)
        this->elementBytes *= size;
      else
        add(size, before, after);
  }

  std::string key() const {
    std::string key = std::to_string(elementBytes);
    for (int64_t size : shape)
      key += ',' + std::to_string(size);
    key += ':';
    appendKey(key, from);
    appendKey(key, to);
    return key;
  }

private:
  void add(int64_t size, const DimSharding &before, const DimSharding &after) {
    from.dims.push_back(before);
    to.dims.push_back(after);
    shape.push_back(size);
  }
};

} // namespace

double ReshardTable::search(unsigned from, unsigned to, const Type &type) {
  Question question(shardings[from], shardings[to], type.shape,
                    type.elementBytes);
  auto [it, inserted] = searched.try_emplace(question.key(), kIllegal);
  if (!inserted)
    return it->second;
  if (std::optional<ReshardPath> steps =
          reshardPath(question.from, question.to, question.shape,
                      question.elementBytes, mesh, cost))
    it->second = secondsOf(*steps);
  return it->second;
}

double ReshardTable::seconds(unsigned from, unsigned to, unsigned type) {
  if (from == to)
    return 0;
  uint64_t key = uint64_t(from) << 42 | uint64_t(to) << 21 | type;
  auto [it, inserted] = prices.try_emplace(key, 0);
  if (inserted)
    it->second = search(from, to, types[type]);
  return it->second;
}

} // namespace autopar
