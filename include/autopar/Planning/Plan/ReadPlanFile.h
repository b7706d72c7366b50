//===- ReadPlanFile.h - From JSON to plans --------------------------------===//

#ifndef AUTOPAR_PLANNING_PLAN_READPLANFILE_H
#define AUTOPAR_PLANNING_PLAN_READPLANFILE_H

#include "autopar/Planning/Plan/WritePlanFile.h"

namespace autopar {

/// `name` is what messages call the file.
llvm::Expected<Plan> planFromJSON(const llvm::json::Value &value,
                                  llvm::StringRef name);

/// Of a file with several entries the plan of `entry`.
llvm::Expected<Plan> readPlanFile(llvm::StringRef path,
                                  llvm::StringRef entry = "");
/// The same of a plan to keep decisions of: one without entries serves each.
llvm::Expected<Plan> readOldPlanFile(llvm::StringRef path,
                                     llvm::StringRef entry);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_READPLANFILE_H
