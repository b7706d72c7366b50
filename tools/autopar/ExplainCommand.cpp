//===- ExplainCommand.cpp - autopar explain -------------------------------===//

#include "Commands.h"
#include "autopar/Planning/Plan/ReadPlanFile.h"
#include "autopar/Report/Explain.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar::driver {

namespace {

struct ExplainOptions {
  PlanFileOptions plan;
  std::string tensor, op, against;
};

CommandLine commandLine(ExplainOptions &options) {
  CommandLine line;
  line.usage = "autopar explain PLAN.json [--model MODEL] [--tensor NAME | "
               "--op NAME | --against OTHER.json]";
  line.about = "Says why a plan is as it is: what each part costs, where each "
               "collective comes from,\nwhat takes most memory and when, what "
               "a step would take on another cluster, what else\nan op or a "
               "tensor could do and what that would cost.";
  options.plan.addTo(line);
  line.options.insert(
      line.options.end(),
      {text("tensor", "NAME", "alternatives for how this tensor is sharded",
            options.tensor),
       text("op", "NAME", "alternatives for what this op does", options.op),
       text("against", "FILE", "compare with this plan of the same model",
            options.against)});
  return line;
}

int explain(const ExplainOptions &options) {
  if (options.plan.file.empty())
    return complain("no plan given; usage: autopar explain PLAN.json");
  if (!options.tensor.empty() + !options.op.empty() + !options.against.empty() >
      1)
    return complain("--tensor, --op and --against exclude each other");
  auto request = options.plan.request();
  if (!request)
    return complain(toString(request.takeError()));
  Compilation compilation(*request);
  if (failed(compilation.runThrough(Phase::Plan)))
    return 1;
  auto print = [](Expected<std::string> text) {
    if (!text)
      return complain(toString(text.takeError()));
    outs() << printable(*text);
    return 0;
  };
  const Plan &chosen = compilation.plan();
  const ModelGraph &graph = compilation.graph();
  if (!options.tensor.empty())
    return print(explainTensor(chosen, graph, options.tensor));
  if (!options.op.empty())
    return print(explainOp(chosen, graph, options.op));
  if (options.against.empty())
    return print(compilation.describePlan() + explainPlan(chosen, graph));
  Expected<Plan> other = readPlanFile(options.against, options.plan.entry);
  if (!other)
    return complain(toString(other.takeError()));
  if (Error error = alignWith(*other, graph))
    return complain(options.against + ": " + toString(std::move(error)));
  if (Error error = verify(*other, graph))
    return complain(options.against + ": " + toString(std::move(error)));
  return print(explainAgainst(chosen, *other, graph));
}

} // namespace

int explainCommand(ArrayRef<const char *> arguments) {
  ExplainOptions options;
  CommandLine line = commandLine(options);
  int code = 0;
  return parseOrExit(line, arguments, code) ? code : explain(options);
}

} // namespace autopar::driver
