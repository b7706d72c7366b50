//===- PlanPage.h - A plan as one page of HTML ----------------------------===//
//
// Report comes after Planning and Simulate, because it shows facts of both; it
// decides nothing. The page is a fixed template, lib/Report/PlanPage.html, with
// the facts as one JSON object in it.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_PLANPAGE_H
#define AUTOPAR_REPORT_PLANPAGE_H

#include "autopar/Planning/Search/Search.h"
#include "autopar/Simulate/Simulate.h"

namespace autopar {

/// The facts that a page shows about the plan of one entry.
struct PlanReport {
  std::string entry; // "": the only one
  const Plan &plan;
  const ModelGraph &graph;
  std::string table;                 // the plan as `autopar plan` prints it
  llvm::ArrayRef<SearchTrial> tried; // empty if the plan was given
  int64_t memoryLimit = 0;           // bytes per device; 0: none
  const SimulatedProgram &program;
  const Timeline &timeline;
};

/// Returns all facts of the page as plain data.
llvm::json::Value factsToJSON(const PlanReport &report);

/// Makes one self-contained page with the facts of each entry.
std::string planPage(llvm::json::Array entries);

} // namespace autopar

#endif // AUTOPAR_REPORT_PLANPAGE_H
