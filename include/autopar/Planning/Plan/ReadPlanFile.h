//===- ReadPlanFile.h - Plans in files --------------------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLAN_READPLANFILE_H
#define AUTOPAR_PLANNING_PLAN_READPLANFILE_H

#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// Reads the plan of `entry` from a file; `entry` is empty if the file has one
/// plan without entries.
llvm::Expected<Plan> readPlanFile(llvm::StringRef path,
                                  llvm::StringRef entry = "");
/// Reads an old plan whose decisions are kept. If the file has no entries, its
/// plan serves every entry.
llvm::Expected<Plan> readOldPlanFile(llvm::StringRef path,
                                     llvm::StringRef entry);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_READPLANFILE_H
