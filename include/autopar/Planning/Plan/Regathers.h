//===- Regathers.h - Copies that are made again -----------------*- C++ -*-===//
//
// A weight is stored in blocks, and read whole by an op of task forward and by
// one of task input_gradient. The plan either holds the whole copy in between,
// or the second op makes the reshard again (ZeRO-3, Rajbhandari et al. 2020,
// section 5.3):
//
//                        held              made again
//   layer 1              gather w1         gather w1
//   layer 2              gather w2         gather w2; w1's copy is gone
//   gradient of layer 2  reads w2's copy   gather w2
//   gradient of layer 1  reads w1's copy   gather w1
//   at most in memory    two copies        one copy
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLANNING_PLAN_REGATHERS_H
#define AUTOPAR_PLANNING_PLAN_REGATHERS_H

#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// Lets each op make a reshard again whose copy, or whose first step, the
/// reader before it shared in another task, and returns whether there is one.
/// Both tasks of gradients count as one. The plan then holds no copy from task
/// to task. `plan` must be legal and of one stage.
bool regatherInEachTask(const ModelGraph &graph, Plan &plan);

/// Lets all ops share reshards.
void shareReshards(Plan &plan);

/// Lets `plan` hold copies that it made again: those first that save the most
/// seconds per byte, up to one that does not fit. `fits` writes the plan's
/// predicted memory and returns whether that fits. Returns whether the plan
/// fits, which it may not do even if it holds none of them.
bool holdCopiesThatFit(const ModelGraph &graph, Plan &plan,
                       llvm::function_ref<bool(Plan &)> fits);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_REGATHERS_H
