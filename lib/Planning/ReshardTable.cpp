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

double ReshardTable::seconds(unsigned from, unsigned to, unsigned type) {
  if (from == to)
    return 0;
  uint64_t key = uint64_t(from) << 42 | uint64_t(to) << 21 | type;
  auto [it, inserted] = prices.try_emplace(key, kIllegal);
  if (inserted)
    if (std::optional<double> seconds =
            paths.seconds(shardings[from], shardings[to], types[type].shape,
                          types[type].elementBytes))
      it->second = *seconds;
  return it->second;
}

} // namespace autopar
