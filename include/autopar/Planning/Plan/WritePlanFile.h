//===- WritePlanFile.h - From plans to JSON -------------------------------===//

#ifndef AUTOPAR_PLANNING_PLAN_WRITEPLANFILE_H
#define AUTOPAR_PLANNING_PLAN_WRITEPLANFILE_H

#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// The `format` of what is written; older ones are read too.
inline constexpr int64_t kPlanFormat = 2;

llvm::json::Value toJSON(const Plan &plan);
/// All but `tensors` and `ops`: what a planned module carries.
llvm::json::Value summaryToJSON(const Plan &plan);
/// Ends the name of a plan for one of several numbers of ranks: `2-ranks`,
/// `batch=1,2-ranks`.
inline constexpr llvm::StringLiteral kRanksSuffix = "-ranks";

/// The plan of one entry of an executable; "" where there is only one.
struct EntryPlan {
  std::string entry; // and for how many ranks, if there are several numbers
  Plan plan;
};
/// One plan as it is; plans of entries under `{"entries": {NAME: PLAN}}`.
llvm::Error writePlanFile(llvm::ArrayRef<EntryPlan> plans,
                          llvm::StringRef path);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_WRITEPLANFILE_H
