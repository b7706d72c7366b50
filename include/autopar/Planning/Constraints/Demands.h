//===- Demands.h - What a named strategy asks of each op ------------------===//
//
// `data`, `row`, `column`, ... are demands on the plan: every op that a name
// covers and that can follow is split as the name says. This code names no op:
// sharding rules, kernel classes and the sources of values tell which ops a
// name covers.
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
/// Returns the names as the command line has them, such as `data,tensor`.
std::string stringifyStrategies(llvm::ArrayRef<StrategyName> names);
/// Parses a text such as `data,tensor`. An error lists the known names.
llvm::Expected<llvm::SmallVector<StrategyName>>
parseStrategies(llvm::StringRef text);

/// The choices that an op has for the sub-axes of one axis: each must make one
/// of these. If the list is empty, the search decides.
using AxisDemand = llvm::SmallVector<Choice, 2>;
/// The demand on one op, per axis of the mesh.
using OpDemand = llvm::SmallVector<AxisDemand>;

/// The demands on all ops, and marks that tell ops apart. Two ops have the same
/// mark if the same is demanded of them and the same operands and results pass
/// through memory.
struct OpDemands {
  OpDemands(const ModelGraph &graph, std::vector<OpDemand> ofOps);

  std::vector<OpDemand> ofOps;
  std::vector<unsigned> marks; // equal for equal ops
};

/// Returns what `name` demands of each op along an axis of `parts` devices.
std::vector<AxisDemand> demandsOf(const ModelGraph &graph, StrategyName name,
                                  int64_t parts);

/// Returns whether at least one op follows.
bool anyFollows(llvm::ArrayRef<AxisDemand> demands);

/// Returns an error: no op of the model can follow `name`. Its message lists
/// the strategies that can be followed.
llvm::Error cannotFollow(const ModelGraph &graph, StrategyName name,
                         int64_t parts);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_DEMANDS_H
