//===- Results.cpp - What a run is asked for ------------------------------===//

#include "../core/Safetensors.h"
#include "../files/OutputFile.h"
#include "../files/Text.h"
#include "Ports.h"

#include <algorithm>
#include <set>

namespace autopar::runtime {

/// Returns whether the output reports the progress of a training, so that it is
/// always wanted.
static bool isTold(OutputRole role) {
  return role != OutputRole::Model && role != OutputRole::Metric;
}

/// A plain file that is not committed leaves no trace; a pipe would be ended.
static Status checkWritable(const std::string &path) {
  OutputPlace place;
  APRT_TRY(findOutput(path, place));
  OutputFile file;
  return place.kind == OutputPlace::Regular ? file.open(path)
                                            : Status::success();
}

Status checkResults(const Manifest &manifest, const Options &options) {
  for (const std::string &argument : options.outputs) {
    ArrayFile file;
    APRT_TRY(parseArrayFile(argument, file));
    std::vector<Port> known = manifest.outputs;
    known.insert(known.end(), manifest.stateOutputs.begin(),
                 manifest.stateOutputs.end());
    if (!file.name.empty() && !findPort(known, file.name))
      return Status::error("the model has no output '" + file.name +
                           "'; its outputs: " + listPorts(known) +
                           meantPort(known, file.name));
  }
  for (const auto &[name, path] : {std::pair("--log", &options.log),
                                   {"--final", &options.final},
                                   {"--gradients", &options.gradients}})
    if (!path->empty() && !manifest.trains())
      return Status::error(std::string(name) +
                           ": this program does not train; compile the model "
                           "with --train RECIPE.json");
  for (const std::string *path : {&options.final, &options.gradients})
    if (!path->empty())
      APRT_TRY(checkWritable(*path));
  if (manifest.trains() && options.warmUp > 0)
    return Status::error("--warm-up: each step of this program trains");
  return Status::success();
}

/// Returns whether --outputs requests the port: by its name, or, unless
/// `byName`, with all others. Arguments that do not parse were rejected before.
static bool isAskedFor(const Port &port, const Options &options, bool byName) {
  bool asked = false;
  for (const std::string &argument : options.outputs) {
    ArrayFile file;
    bool known = parseArrayFile(argument, file).ok();
    asked |=
        known && ((file.name.empty() && !byName) || file.name == port.name);
  }
  return asked;
}

static bool isOutputWanted(const Port &port, const Options &options) {
  return isTold(port.role) || isAskedFor(port, options, /*byName=*/false);
}

std::vector<bool> wantedResults(const Manifest &manifest,
                                const Options &options) {
  std::vector<bool> wanted;
  for (const Port &port : manifest.outputs)
    wanted.push_back(isOutputWanted(port, options));
  wanted.resize(wanted.size() + manifest.gradients.size(),
                !options.gradients.empty());
  wanted.resize(wanted.size() + manifest.trained.size() +
                    manifest.averages.size(),
                !options.final.empty());
  for (const Port &port : manifest.stateOutputs)
    wanted.push_back(isAskedFor(port, options, /*byName=*/true));
  return wanted;
}

/// The wanted results of a kind; of parameters their averages, or not these.
static std::vector<ArrayView> viewsOf(const Run &run, RunResult::When when,
                                      bool averages = false) {
  std::vector<ArrayView> views;
  for (const RunResult &result : run.results)
    if (result.when == when && result.wanted && result.isAverage == averages)
      views.push_back({result.port->name, result.port->dtype,
                       when == RunResult::EveryStep && run.options.steps > 0
                           ? ofSteps(result.port->shape, run.stepsTaken())
                           : result.port->shape,
                       result.tensor.data()});
  return views;
}

/// Returns the outputs that are not states of the next step.
static std::vector<ArrayView> withoutStates(const Manifest &manifest,
                                            std::vector<ArrayView> views) {
  auto isState = [&](const ArrayView &view) {
    return findPort(manifest.stateOutputs, view.name) != nullptr;
  };
  views.erase(std::remove_if(views.begin(), views.end(), isState), views.end());
  return views;
}

/// Returns the path for averages beside the file of the parameters:
/// `final.average.safetensors`.
static std::string averagePath(const std::string &final) {
  size_t slash = final.rfind('/'), dot = final.rfind('.');
  size_t name = slash == std::string::npos ? 0 : slash + 1;
  bool hasExtension = dot != std::string::npos && dot > name;
  return std::string(final).insert(hasExtension ? dot : final.size(),
                                   ".average");
}

/// Returns the results that --final writes, with averages in place of
/// parameters. Running statistics have no averages and stay as they are.
static std::vector<ArrayView> averagedViews(const Run &run) {
  std::vector<ArrayView> views = viewsOf(run, RunResult::AtEnd, true);
  std::set<std::string> averaged;
  for (const ArrayView &view : views)
    averaged.insert(view.name);
  for (ArrayView &view : viewsOf(run, RunResult::AtEnd))
    if (averaged.count(view.name) == 0)
      views.push_back(std::move(view));
  return views;
}

/// Writes the parameters first, so that later failures do not lose them.
std::vector<std::string> writeResults(const Run &run,
                                      const std::string &final) {
  const Options &options = run.options;
  std::vector<std::string> problems;
  auto note = [&](const Status &status) {
    if (status.failed())
      problems.push_back(status.message());
  };
  if (!final.empty())
    note(writeSafetensors(final, viewsOf(run, RunResult::AtEnd),
                          {{"step", std::to_string(run.allSteps())}}));
  if (!final.empty() && !run.program.manifest.averages.empty())
    note(writeSafetensors(averagePath(final), averagedViews(run),
                          {{"step", std::to_string(run.allSteps())}}));
  if (!options.gradients.empty())
    note(writeSafetensors(options.gradients,
                          viewsOf(run, RunResult::FirstStep)));
  std::vector<ArrayView> outputs = viewsOf(run, RunResult::EveryStep);
  for (const std::string &argument : options.outputs) {
    ArrayFile file;
    note(parseArrayFile(argument, file));
    if (file.name.empty()) {
      note(writeNpz(file.path, withoutStates(run.program.manifest, outputs)));
      continue;
    }
    for (const ArrayView &view : outputs)
      if (view.name == file.name)
        note(writeNpy(file.path, view));
  }
  return problems;
}

} // namespace autopar::runtime
