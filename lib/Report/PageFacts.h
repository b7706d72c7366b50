//===- PageFacts.h - Parts of the facts of a page ---------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_REPORT_PAGEFACTS_H
#define AUTOPAR_LIB_REPORT_PAGEFACTS_H

#include "autopar/Report/PlanFacts.h"
#include "autopar/Report/PlanPage.h"
#include <map>

namespace autopar {

/// Texts that occur again and again, once each: facts have their numbers.
class PageTexts {
public:
  unsigned number(llvm::StringRef text);
  llvm::json::Array take() { return std::move(list); }

private:
  std::map<std::string, unsigned> numbers;
  llvm::json::Array list;
};

/// Whatever bytes a model's names have.
std::string readable(llvm::StringRef text);

/// Runs of ops in the order of the program, a list per stage; what repeats is
/// told once, with a count, and so are stages that look alike.
llvm::json::Array layersToJSON(const PlanFacts &facts, const PlanReport &report,
                               PageTexts &texts);

/// Nodes, links, the collectives of each communicator and what stages send.
llvm::json::Object devicesToJSON(const PlanFacts &facts,
                                 const PlanReport &report);

/// For each stage the activities of its streams with their times in whole
/// nanoseconds, the memory of a device, and sums in seconds. There are at most
/// some thousand numbers, however long the step is: activities too short to be
/// seen are merged with their neighbours.
llvm::json::Array timelineToJSON(const PlanReport &report, PageTexts &texts);

} // namespace autopar

#endif // AUTOPAR_LIB_REPORT_PAGEFACTS_H
