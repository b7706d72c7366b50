//===- Demands.h - What a named strategy asks of each op ------------------===//
//
// `data`, `row`, `column`, ... are demands on the plan: every op that a name
// covers and that can follow is split so. No op is named here: what covers what
// follows from rules, kernel classes and where values come from.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_DEMANDS_H
#define AUTOPAR_PLANNING_CONSTRAINTS_DEMANDS_H

#include "autopar/Planning/Model/ModelGraph.h"
#include "llvm/Support/Error.h"

namespace autopar {

enum class StrategyName {
  Auto,
  Replicated,
  Data,
  Row,
  Column,
  Tensor,
  Channel,
  Spatial,
  Layer,
};
llvm::StringRef stringifyStrategy(StrategyName name);
/// `data,tensor`
std::string stringifyStrategies(llvm::ArrayRef<StrategyName> names);
/// The inverse; the error lists the names.
llvm::Expected<llvm::SmallVector<StrategyName>>
parseStrategies(llvm::StringRef text);

/// What the sub-axes of one axis have to do in an op: one of these choices.
/// None listed: the search decides.
using AxisDemand = llvm::SmallVector<Choice, 2>;
/// Per axis of the mesh.
using OpDemand = llvm::SmallVector<AxisDemand>;

/// What is demanded of each op, and what tells ops apart: that, and what passes
/// through memory.
struct OpDemands {
  OpDemands(const ModelGraph &graph, std::vector<OpDemand> ofOps);

  std::vector<OpDemand> ofOps;
  std::vector<unsigned> marks; // per op, alike for those that are alike
};

/// What `name` demands of each op along an axis of `parts` devices.
std::vector<AxisDemand> demandsOf(const ModelGraph &graph, StrategyName name,
                                  int64_t parts);

/// Whether some op follows.
bool anyFollows(llvm::ArrayRef<AxisDemand> demands);

/// `"data" cannot be followed by any op of this model; "row", ... can`.
llvm::Error cannotFollow(const ModelGraph &graph, StrategyName name,
                         int64_t parts);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_DEMANDS_H
