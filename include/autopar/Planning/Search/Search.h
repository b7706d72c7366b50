//===- Search.h - The best plan for what was asked ------------------------===//

#ifndef AUTOPAR_PLANNING_SEARCH_SEARCH_H
#define AUTOPAR_PLANNING_SEARCH_SEARCH_H

#include "autopar/Planning/Constraints/PlanRequest.h"
#include "autopar/Planning/Search/SearchTrial.h"

namespace autopar {

/// Tries the meshes that the request allows and returns the verified plan with
/// the least predicted seconds by the objective. `trace` gets lines for each
/// trial; `tried` gets the trials in their order.
llvm::Expected<Plan> searchPlan(const ModelGraph &graph,
                                const PlanRequest &request,
                                llvm::raw_ostream *trace = nullptr,
                                std::vector<SearchTrial> *tried = nullptr);

/// Lets the plan of a search, whose program exceeds the memory, make copies
/// again that it held, until it leaves request.reservedBytes free by its
/// estimate. Returns whether it then does; if not, the plan is of no use.
/// `tried` are the trials of its search.
bool holdFewerCopies(const ModelGraph &graph, const PlanRequest &request,
                     Plan &plan, llvm::MutableArrayRef<SearchTrial> tried);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SEARCH_SEARCH_H
