//===- Export.h - Plans as settings of other systems ----------------------===//
//
// Systems that train or serve models by a fixed scheme of parallelism take a
// few sizes where a plan has a decision for each op (docs/Export.md).
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_EXPORT_H
#define AUTOPAR_REPORT_EXPORT_H

#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

struct ExportedPlan {
  std::string text; // the file
  /// What the system cannot say of the plan, or says otherwise.
  std::vector<std::string> remarks;
};

/// The names of the systems.
llvm::ArrayRef<llvm::StringRef> exportSystems();

/// A plan that `verify` accepts for the graph, as settings of `system`. An
/// error where that is no system, where it does not do what the plan does, or
/// where nothing that the plan does with several devices is among its settings.
llvm::Expected<ExportedPlan>
exportPlan(const Plan &plan, const ModelGraph &graph, llvm::StringRef system);

} // namespace autopar

#endif // AUTOPAR_REPORT_EXPORT_H
