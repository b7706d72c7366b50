//===- Resolver.h - From names and axes to limits ---------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_CONSTRAINTS_RESOLVER_H
#define AUTOPAR_LIB_PLANNING_CONSTRAINTS_RESOLVER_H

#include "autopar/Planning/Constraints/Constraints.h"
#include "autopar/Planning/Constraints/Demands.h"
#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Support/Names.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

namespace autopar {

/// Resolves one constraint after the other, each of which narrows the limits of
/// the ops and values that it names.
class Resolver {
public:
  Resolver(const Constraints &constraints, const ModelGraph &graph,
           const Mesh &mesh, int64_t stages)
      : constraints(constraints), graph(graph), mesh(mesh), stages(stages) {
    limits.constraints = &constraints;
    limits.ops.resize(graph.ops.size());
    limits.values.resize(graph.values.size());
    limits.stages.resize(graph.ops.size());
  }
  llvm::Expected<Limits> run();

private:
  llvm::Error resolveOne();
  llvm::Error resolveValue();
  llvm::Error resolveNode();
  llvm::Error resolveStage(llvm::ArrayRef<unsigned> ops);
  llvm::Error resolveStrategy(llvm::ArrayRef<unsigned> ops,
                              llvm::StringRef axis, llvm::StringRef text);
  llvm::Error limitByName(llvm::ArrayRef<unsigned> ops,
                          llvm::ArrayRef<unsigned> subAxes, StrategyName name);
  llvm::Error limitByChoice(unsigned op, llvm::ArrayRef<unsigned> subAxes,
                            llvm::StringRef text);
  llvm::Error limitOp(unsigned op, unsigned subAxis,
                      llvm::ArrayRef<Choice> choices);
  llvm::Expected<ShardingLimit> limitOf(const GraphValue &value);
  llvm::Expected<llvm::SmallVector<unsigned>>
  subAxesOfAxis(llvm::StringRef axis);
  llvm::Expected<Choice> choiceOf(const GraphOp &op, llvm::StringRef text);
  llvm::Error refuse(unsigned op, llvm::ArrayRef<unsigned> subAxes,
                     const llvm::Twine &why);
  llvm::Error nobody(llvm::StringRef what, llvm::StringRef other, bool isOther,
                     const std::string &nearest);
  const std::vector<AxisDemand> &demands(StrategyName name, int64_t parts);
  llvm::Error fail(const llvm::Twine &what) {
    return constraints.fail(*current, what);
  }
  unsigned place() const { return current - constraints.list.data(); }

  const Constraints &constraints;
  const ModelGraph &graph;
  const Mesh &mesh;
  int64_t stages;
  const Constraint *current = nullptr;
  std::map<std::pair<StrategyName, int64_t>, std::vector<AxisDemand>> cache;
  Limits limits;
};

/// Returns the indices of the items whose name matches the pattern.
template <typename Item>
llvm::SmallVector<unsigned> namedSo(const std::vector<Item> &items,
                                    llvm::StringRef pattern) {
  llvm::SmallVector<unsigned> list;
  for (const auto &[index, item] : llvm::enumerate(items))
    if (matchesName(pattern, item.name))
      list.push_back(index);
  return list;
}

/// Returns the names that are most like `name`, which no item has.
template <typename Item>
std::string nearest(const std::vector<Item> &items, llvm::StringRef name) {
  return nearestNames(name, items.size(),
                      [&](size_t i) { return llvm::StringRef(items[i].name); });
}

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_CONSTRAINTS_RESOLVER_H
