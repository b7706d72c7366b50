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
  /// Differences between the settings and the plan that the system cannot
  /// express.
  std::vector<std::string> remarks;
};

/// Returns the names of the systems.
llvm::ArrayRef<llvm::StringRef> exportSystems();

/// Returns a plan, which `verify` must accept for the graph, as settings of
/// `system`. It fails if there is no such system, if the system does not
/// support what the plan does, or if its settings cover nothing that the plan
/// does with several devices.
llvm::Expected<ExportedPlan>
exportPlan(const Plan &plan, const ModelGraph &graph, llvm::StringRef system);

} // namespace autopar

#endif // AUTOPAR_REPORT_EXPORT_H
