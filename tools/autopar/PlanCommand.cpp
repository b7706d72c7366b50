//===- PlanCommand.cpp - autopar plan -------------------------------------===//

#include "Commands.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar::driver {

int planCommand(ArrayRef<const char *> arguments) {
  std::string model, json;
  PlanOptions options;
  CommandLine line;
  line.usage = "autopar plan MODEL --cluster SPEC [--json PLAN.json] [options]";
  line.about = "Searches the best plan for a cluster without devices and "
               "without the weights' bytes.";
  line.positional = &model;
  options.addTo(line);
  line.options.push_back(text("json", "FILE", "write the plan as JSON", json));
  int code = 0;
  if (parseOrExit(line, arguments, code))
    return code;
  if (model.empty())
    return complain("no model given; usage: " + line.usage);
  auto requests = options.requests(model);
  if (!requests)
    return complain(toString(requests.takeError()));
  auto began = std::chrono::steady_clock::now();
  std::vector<EntryPlan> plans;
  std::string tables;
  raw_string_ostream os(tables);
  for (const CompileRequest &request : *requests) {
    Compilation compilation(request);
    if (failed(compilation.runThrough(Phase::Plan)))
      return failedIn(request.entry);
    plans.push_back({request.entry, compilation.plan()});
    printPlan(os, request.entry, compilation.describePlan());
  }
  if (failed(savePlans(plans, {options.savePlan, json})))
    return 1;
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  options.messages(json) << tables
                         << format("planned in %.2f s\n", took.count());
  return 0;
}

} // namespace autopar::driver
