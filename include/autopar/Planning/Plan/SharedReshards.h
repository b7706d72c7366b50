//===- SharedReshards.h - Reshards that several readers share ---*- C++ -*-===//
//
//   %1 = softmax ...                  rows split
//   %2 = einsum %1, %w                reads %1 whole
//   %3 = einsum %1, %v                reads %1 whole
// has one reshard of %1 from rows split to whole, unless the plan says that %3
// makes it again. Planning counts reshards and Partition makes them; both ask
// here which reshards are the same one. Reshards of a value to different
// shardings share equal first steps as well (CSE).
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLANNING_PLAN_SHAREDRESHARDS_H
#define AUTOPAR_PLANNING_PLAN_SHAREDRESHARDS_H

#include "autopar/Interfaces/Sharding.h"
#include "llvm/ADT/DenseMap.h"

namespace autopar {

/// The form in which a reader wants a value.
struct WantedSharding {
  Sharding sharding;
  /// Per dimension, the fill of positions outside its interval; empty if the
  /// sharding has no interval.
  llvm::SmallVector<double, 0> fill;

  bool operator==(const WantedSharding &o) const {
    return sharding == o.sharding && fill == o.fill;
  }
};

/// Returns the sharding and the fills in which an op wants an operand that has
/// these factors.
inline WantedSharding wantedSharding(const Sharding &sharding,
                                     const TensorFactors &operand) {
  WantedSharding wanted{sharding, {}};
  for (const auto &[index, dim] : llvm::enumerate(sharding.dims)) {
    if (!dim.interval)
      continue;
    wanted.fill.resize(sharding.dims.size(), 0.0);
    if (operand[index].window)
      wanted.fill[index] = operand[index].window->fill;
  }
  return wanted;
}

/// Returns the stage that reshards a value for a reader in stage `reader`. It
/// is the stage of the op that makes the value, so that stages send values in
/// the sharding that is wanted. An argument has no `maker` and is resharded
/// where it is read.
inline int64_t reshardStage(std::optional<int64_t> maker, int64_t reader) {
  return maker.value_or(reader);
}

/// The reshards of a function: one per value, wanted sharding and stage, and
/// one more for each reader that makes it again.
template <typename Value, typename Made> class SharedReshards {
public:
  /// Returns the newest copy. It is `Made()` if no reader was there before, or
  /// if this reader makes the copy `again`.
  Made &find(Value value, const WantedSharding &wanted, int64_t stage,
             bool again = false) {
    llvm::SmallVector<Reshard, 1> &list = reshards[{value, stage}];
    for (Reshard &known : list)
      if (known.wanted == wanted)
        return again ? known.made = Made() : known.made;
    list.push_back({wanted, Made()});
    return list.back().made;
  }

private:
  struct Reshard {
    WantedSharding wanted;
    Made made;
  };
  llvm::DenseMap<std::pair<Value, int64_t>, llvm::SmallVector<Reshard, 1>>
      reshards;
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_SHAREDRESHARDS_H
