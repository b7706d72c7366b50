//===- PlanFromJson.h - From JSON to a plan ---------------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLAN_PLANFROMJSON_H
#define AUTOPAR_PLANNING_PLAN_PLANFROMJSON_H

#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// Reads a plan from JSON. Error messages call the file `name`.
llvm::Expected<Plan> planFromJSON(const llvm::json::Value &value,
                                  llvm::StringRef name);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_PLANFROMJSON_H
