//===- Explain.h - Why a plan is as it is ---------------------------------===//

#ifndef AUTOPAR_REPORT_EXPLAIN_H
#define AUTOPAR_REPORT_EXPLAIN_H

#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// All take a plan that `verify` accepts for the graph.

/// Seconds by part, the dearest ops, where each collective comes from, what
/// takes most memory and when, and the step on other clusters.
std::string explainPlan(const Plan &plan, const ModelGraph &graph);

/// What an op does and costs, what else it could do, and what that would cost:
/// here, all else as it is, and of the whole step, all else searched anew.
llvm::Expected<std::string> explainOp(const Plan &plan, const ModelGraph &graph,
                                      llvm::StringRef name);
/// The same of how a tensor is sharded.
llvm::Expected<std::string>
explainTensor(const Plan &plan, const ModelGraph &graph, llvm::StringRef name);
/// The same parts of two plans side by side, and the ops and tensors that
/// differ, repeated layers told once.
std::string explainAgainst(const Plan &plan, const Plan &other,
                           const ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_REPORT_EXPLAIN_H
