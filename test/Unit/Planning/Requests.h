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

inline Constraints constraintsOf(llvm::StringRef list) {
  std::string text = "{\"constraints\": " + list.str() + "}";
  return llvm::cantFail(constraintsFromJSON(
      llvm::cantFail(llvm::json::parse(text)), "demands.json"));
}

} // namespace autopar

#endif // AUTOPAR_TEST_UNIT_PLANNING_REQUESTS_H
