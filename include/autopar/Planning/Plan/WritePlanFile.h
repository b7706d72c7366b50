//===- WritePlanFile.h - From plans to JSON -------------------------------===//

#ifndef AUTOPAR_PLANNING_PLAN_WRITEPLANFILE_H
#define AUTOPAR_PLANNING_PLAN_WRITEPLANFILE_H

#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// The `format` of the files that are written; older ones can be read, too.
inline constexpr int64_t kPlanFormat = 2;

llvm::json::Value toJSON(const Plan &plan);
/// Return the values of the keys `collectives` and `program` of a plan file.
llvm::json::Array collectivesToJSON(llvm::ArrayRef<PlannedCollective> list,
                                    const Mesh &mesh);
llvm::json::Array countsToJSON(llvm::ArrayRef<StageCounts> stages);
/// Returns the plan without `tensors` and `ops`, as a planned module carries
/// it.
llvm::json::Value summaryToJSON(const Plan &plan);
/// The end of the name of a plan if there are plans for several numbers of
/// ranks: `2-ranks`, `batch=1,2-ranks`.
inline constexpr llvm::StringLiteral kRanksSuffix = "-ranks";

/// The plan of one entry of an executable; the name is "" if there is only one.
struct EntryPlan {
  std::string entry; // with the number of ranks if plans differ by it
  Plan plan;
};
/// Writes one plan without a name as it is, and plans of entries under
/// `{"entries": {NAME: PLAN}}`.
llvm::Error writePlanFile(llvm::ArrayRef<EntryPlan> plans,
                          llvm::StringRef path);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_WRITEPLANFILE_H
