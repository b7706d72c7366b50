//===- Requests.h - What tests ask of the search ----------------*- C++ -*-===//

#ifndef AUTOPAR_TEST_UNIT_PLANNING_REQUESTS_H
#define AUTOPAR_TEST_UNIT_PLANNING_REQUESTS_H

#include "autopar/Planning/Constraints/WrittenMesh.h"
#include "autopar/Planning/Search/Search.h"

namespace autopar {

inline PlanRequest requestOf(int64_t ranks) {
  PlanRequest request;
  request.cluster = llvm::cantFail(clusterOfRanks(ranks));
  return request;
}

inline PlanRequest requestOf(int64_t ranks, llvm::StringRef strategies,
                             llvm::StringRef mesh) {
  PlanRequest request = requestOf(ranks);
  request.strategies = llvm::cantFail(parseStrategies(strategies));
  if (!mesh.empty())
    request.mesh = llvm::cantFail(parseMesh(mesh));
  return request;
}

/// A plan for a cluster such as `1x4:cpu`.
inline Plan planOf(const ModelGraph &graph, llvm::StringRef cluster,
                   llvm::StringRef strategies, llvm::StringRef mesh) {
  PlanRequest request;
  request.cluster = llvm::cantFail(parseCluster(cluster));
  request.strategies = llvm::cantFail(parseStrategies(strategies));
  request.mesh = llvm::cantFail(parseMesh(mesh));
  return llvm::cantFail(searchPlan(graph, request));
}

/// The error that the search ends with; "" if it finds a plan.
inline std::string complaintOf(const ModelGraph &graph,
                               const PlanRequest &request) {
  llvm::Expected<Plan> plan = searchPlan(graph, request);
  return plan ? "" : llvm::toString(plan.takeError());
}

inline Constraints constraintsOf(llvm::StringRef list) {
  std::string text = "{\"constraints\": " + list.str() + "}";
  return llvm::cantFail(constraintsFromJSON(
      llvm::cantFail(llvm::json::parse(text)), "demands.json"));
}

} // namespace autopar

#endif // AUTOPAR_TEST_UNIT_PLANNING_REQUESTS_H
