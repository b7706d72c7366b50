//===- Explain.h - Why a plan is as it is ---------------------------------===//

#ifndef AUTOPAR_REPORT_EXPLAIN_H
#define AUTOPAR_REPORT_EXPLAIN_H

#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// All functions take a plan that `verify` accepts for the graph.

/// Lists the seconds by part, the dearest ops, the origin of each collective,
/// the tensors that take most memory and when, and the step on other clusters.
std::string explainPlan(const Plan &plan, const ModelGraph &graph);

/// Describes an op, its cost and its alternatives. Each alternative has its
/// local cost with all else unchanged; for some the whole step is searched
/// anew.
llvm::Expected<std::string> explainOp(const Plan &plan, const ModelGraph &graph,
                                      llvm::StringRef name);
/// Describes the sharding of a tensor in the same way.
llvm::Expected<std::string>
explainTensor(const Plan &plan, const ModelGraph &graph, llvm::StringRef name);
/// Compares the parts of two plans side by side, and lists the ops and tensors
/// that differ. Repeated layers are listed once.
std::string explainAgainst(const Plan &plan, const Plan &other,
                           const ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_REPORT_EXPLAIN_H
