//===- ReshardTable.cpp - Prices of reshards, remembered ------------------===//

#include "ReshardTable.h"
#include "autopar/Planning/Problem.h"

namespace autopar {

uint64_t ReshardTable::number(std::string key) {
  return numbers.try_emplace(std::move(key), numbers.size()).first->second;
}

double ReshardTable::seconds(const Sharding &from, const Sharding &to,
                             const GraphValue &value) {
  if (from == to)
    return 0;
  std::string fromKey, toKey, type = std::to_string(value.elementBytes) + ":";
  appendKey(fromKey, from);
  appendKey(toKey, to);
  for (int64_t size : value.shape)
    type += std::to_string(size) + ",";
  uint64_t key = number(std::move(fromKey)) << 42 |
                 number(std::move(toKey)) << 21 | number(std::move(type));
  auto [it, inserted] = prices.try_emplace(key, 0);
  if (inserted) {
    std::optional<ReshardPath> steps = path(from, to, value);
    it->second = steps ? secondsOf(*steps) : kIllegal;
  }
  return it->second;
}

} // namespace autopar
