//===- PlanCommand.cpp - autopar plan -------------------------------------===//

#include "Commands.h"
#include "autopar/Report/Export.h"
#include "autopar/Report/PlanPage.h"
#include "autopar/Simulate/ReadSchedule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar::driver {

namespace {

/// `--export SYSTEM FILE`
struct ExportOption {
  std::string system, file;

  Error parse(StringRef given) {
    auto [first, second] = given.split(' ');
    system = first.str();
    file = second.str();
    if (!is_contained(exportSystems(), first))
      return createStringError(
          "'" + first +
          "' is none of the systems that a plan is exported to: " +
          join(exportSystems(), ", ") + didYouMean(first, exportSystems()));
    return Error::success();
  }
  /// Writes the file; what it cannot say becomes warnings.
  Error write(const Compilation &compilation) const {
    Expected<ExportedPlan> exported =
        exportPlan(compilation.plan(), compilation.graph(), system);
    if (!exported)
      return createStringError("--export " + system + ": " +
                               toString(exported.takeError()));
    for (const std::string &remark : exported->remarks)
      errs() << "autopar: warning: --export " << system << ": " << remark
             << "\n";
    return writeFile(file, exported->text);
  }
};

/// What `--html` shows of a plan: its program is made up to the schedule, and
/// replayed.
mlir::FailureOr<json::Value> factsOfEntry(Compilation &compilation,
                                          StringRef entry) {
  if (failed(compilation.runPlanned(Phase::Schedule)))
    return mlir::failure();
  auto program = readSchedule(compilation.module());
  if (failed(program))
    return mlir::failure();
  Timeline timeline = simulate(*program);
  const Plan &plan = compilation.plan();
  int64_t limit = plan.askedMemoryLimit();
  return factsToJSON({entry.str(), plan, compilation.graph(),
                      compilation.describePlan(), compilation.tried(),
                      limit ? limit : plan.cluster.memoryBytes(), *program,
                      timeline});
}

} // namespace

int planCommand(ArrayRef<const char *> arguments) {
  std::string model, json, html;
  PlanOptions options;
  CommandLine line;
  ExportOption exported;
  line.usage = "autopar plan MODEL --cluster SPEC [--json PLAN.json] "
               "[--html PAGE.html] [--from OLD.json] [options]";
  line.about = "Searches the best plan for a cluster without devices and "
               "without the weights' bytes.";
  line.positional = &model;
  options.addTo(line);
  line.options.push_back(text("json", "FILE", "write the plan as JSON", json));
  line.options.push_back(text("o", "FILE", "the same as --json", json));
  line.options.push_back(text(
      "from", "OLD.json",
      "keep what still fits of this plan, of other sizes, another cluster,\n"
      "precision or model, search the rest, and tell what was dropped",
      options.fromPlan));
  line.options.push_back(
      {"export", "SYSTEM FILE",
       "write the plan as settings of megatron, vllm or deepspeed, and warn of "
       "what\n"
       "they cannot say (docs/Export.md)",
       [&](StringRef given) { return exported.parse(given); }});
  line.options.push_back(text("html", "FILE",
                              "write one page that draws the plan: layers, "
                              "devices and links, a step's\n"
                              "timeline, memory, costs, alternatives",
                              html));
  int code = 0;
  if (parseOrExit(line, arguments, code))
    return code;
  if (model.empty())
    return complain("no model given; usage: " + line.usage);
  auto requests = options.requests(model);
  if (!requests)
    return complain(toString(requests.takeError()));
  if (!exported.file.empty() && requests->size() > 1)
    return complain("--export " + exported.system +
                    ": a plan of one entry, not of " + Twine(requests->size()) +
                    "; plan each for itself");
  auto began = std::chrono::steady_clock::now();
  std::vector<EntryPlan> plans;
  json::Array facts;
  std::string tables;
  raw_string_ostream os(tables);
  for (const CompileRequest &request : *requests) {
    Compilation compilation(request);
    if (failed(compilation.runThrough(Phase::Plan)))
      return failedIn(request);
    plans.push_back({request.planName, compilation.plan()});
    printPlan(os, request, compilation.describePlan());
    if (!exported.file.empty())
      if (Error error = exported.write(compilation))
        return complain(toString(std::move(error)));
    if (html.empty())
      continue;
    auto shown = factsOfEntry(compilation, request.planName);
    if (failed(shown))
      return failedIn(request);
    facts.push_back(std::move(*shown));
  }
  if (failed(savePlans(plans, {options.savePlan, json})))
    return 1;
  if (!html.empty())
    if (Error error = writeFile(html, planPage(std::move(facts))))
      return complain(toString(std::move(error)));
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  options.messages({json, exported.file, html})
      << printable(tables) << format("planned in %.2f s\n", took.count());
  return 0;
}

} // namespace autopar::driver
