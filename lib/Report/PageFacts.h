//===- PageFacts.h - Parts of the facts of a page ---------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_REPORT_PAGEFACTS_H
#define AUTOPAR_LIB_REPORT_PAGEFACTS_H

#include "autopar/Report/PlanFacts.h"
#include "autopar/Report/PlanPage.h"
#include <map>

namespace autopar {

/// Stores each repeated text once; the facts refer to it by number.
class PageTexts {
public:
  unsigned number(llvm::StringRef text);
  llvm::json::Array take() { return std::move(list); }

private:
  std::map<std::string, unsigned> numbers;
  llvm::json::Array list;
};

/// Returns a text that JSON can hold, whatever bytes a model's names have.
std::string readable(llvm::StringRef text);

/// Returns a list for each stage with runs of ops in program order. Repeated
/// runs are written once with a count; stages that look alike are written once
/// too.
llvm::json::Array layersToJSON(const PlanFacts &facts, const PlanReport &report,
                               PageTexts &texts);

/// Returns nodes, links, the collectives of each communicator, and the messages
/// between stages.
llvm::json::Object devicesToJSON(const PlanFacts &facts,
                                 const PlanReport &report);

/// Returns for each stage the activities of its streams with their times in
/// whole nanoseconds, the memory of a device, and sums in seconds. There are at
/// most some thousand numbers, however long the step is: activities too short
/// to be seen are merged with their neighbours.
llvm::json::Array timelineToJSON(const PlanReport &report, PageTexts &texts);

} // namespace autopar

#endif // AUTOPAR_LIB_REPORT_PAGEFACTS_H
