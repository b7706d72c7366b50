//===- PlanPage.h - A plan as one page of HTML ----------------------------===//
//
// Report comes after Planning and Simulate, for it shows what both know, and
// decides nothing. The page is a fixed template, lib/Report/PlanPage.html, with
// the facts as one JSON object in it.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_PLANPAGE_H
#define AUTOPAR_REPORT_PLANPAGE_H

#include "autopar/Planning/Search/Search.h"
#include "autopar/Simulate/Simulate.h"

namespace autopar {

/// What a page shows of the plan of one entry.
struct PlanReport {
  std::string entry; // "": the only one
  const Plan &plan;
  const ModelGraph &graph;
  std::string table;                 // the plan in words
  llvm::ArrayRef<SearchTrial> tried; // none where the plan was given
  int64_t memoryLimit = 0;           // bytes per device; 0: none
  const SimulatedProgram &program;
  const Timeline &timeline;
};

/// All that the page shows, as plain data.
llvm::json::Value factsToJSON(const PlanReport &report);

/// One self-contained page with the facts of each entry.
std::string planPage(llvm::json::Array entries);

} // namespace autopar

#endif // AUTOPAR_REPORT_PLANPAGE_H
