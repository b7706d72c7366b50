//===- PlanFileOptions.cpp - Commands that take a plan file ---------------===//

#include "Commands.h"
#include "autopar/Planning/Plan/ReadPlanFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace autopar::driver {

void PlanFileOptions::addTo(CommandLine &line) {
  line.positional = &file;
  line.options.insert(
      line.options.end(),
      {text("model", "MODEL",
            "the model (default: the plan's, in the plan's folder)", model),
       text("entry", "NAME", "of a file with plans of several entries", entry),
       text("train", "RECIPE.json", "the recipe of a plan of a training step",
            recipe),
       flag("evaluate", "the plan is of an export for training, for inference",
            evaluates),
       texts("bind", "NAME=INT",
             "size of a symbolic dimension, or an input's value (repeatable; "
             "default: as planned)",
             bindings),
       texts("state", "IN=OUT",
             "output OUT is input IN of the next step (repeatable; default: as "
             "planned)",
             states),
       flag("allow-linked-weights",
            "follow links to external data inside the model's folder",
            allowLinkedWeights)});
}

static std::string modelBeside(StringRef planFile, StringRef model) {
  SmallString<128> path = sys::path::parent_path(planFile);
  sys::path::append(path, model);
  return path.str().str();
}

/// Makes the request one for the evaluation of what its recipe trains.
Error PlanFileOptions::readTrained(CompileRequest &request) const {
  request.trained = std::make_shared<TrainedStates>();
  CompileRequest train = request;
  train.entry = kTrainEntry.str();
  train.planName.replace(0, kEvaluateEntry.size(), kTrainEntry);
  train.import.evaluates = false;
  Compilation compilation(train);
  if (failed(compilation.runThrough(Phase::Training)))
    return createStringError("--train " + recipe +
                             ": what it trains cannot be told");
  request.recipe.clear();
  request.import.evaluates = true;
  return Error::success();
}

Expected<CompileRequest> PlanFileOptions::request() const {
  Expected<Plan> plan = readPlanFile(file, entry);
  if (!plan)
    return plan.takeError();
  std::string path = model.empty() ? modelBeside(file, plan->model) : model;
  if (!sys::fs::exists(path))
    return createStringError("no model '" + path + "': add --model MODEL");
  Expected<CompileRequest> request =
      requestForPlan(path, file, bindings, states, recipe, entry);
  if (request) {
    request->import.read.allowLinkedWeights = allowLinkedWeights;
    request->import.evaluates = evaluates;
    if (request->entry == kEvaluateEntry && !recipe.empty())
      if (Error error = readTrained(*request))
        return std::move(error);
  }
  return request;
}

} // namespace autopar::driver
