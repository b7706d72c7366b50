//===- TrainingOutcome.cpp - How a training went --------------------------===//

#include "TrainingOutcome.h"

#include "../core/Finite.h"
#include "../core/Hyperparameters.h"
#include "../files/OutputFile.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

namespace autopar::runtime {

namespace {
/// The steps of a run.
struct StepCounts {
  int64_t taken = 0, skipped = 0;
  int64_t unlabelled = 0;      // skipped, for they count no label
  int64_t notFinite = 0;       // losses
  int64_t notFiniteTaken = 0;  // of steps that were not skipped
  int64_t firstNotFinite = -1; // of all
  bool lastIsFinite = true;
};
} // namespace

static StepCounts countSteps(const Run &run) {
  StepCounts counts;
  // Steps without data of their own have only the results of the last one.
  counts.taken = std::min(run.stepsTaken(), run.dataSteps());
  for (int64_t step = 0; step < counts.taken; ++step) {
    bool isSkipped = run.scalar(OutputRole::Skipped, step) == 1;
    counts.skipped += isSkipped;
    counts.unlabelled += run.scalar(OutputRole::NoLabels, step) == 1;
    counts.lastIsFinite = std::isfinite(run.scalar(OutputRole::Loss, step));
    if (counts.lastIsFinite)
      continue;
    counts.firstNotFinite = counts.notFinite++ ? counts.firstNotFinite : step;
    counts.notFiniteTaken += !isSkipped;
  }
  return counts;
}

/// Lists the parameters that are not finite, such as `'w', 'b' and 3 more`.
static std::string notFiniteParameters(const Run &run) {
  std::string text;
  int64_t more = 0;
  for (const RunResult &result : run.results) {
    if (result.when != RunResult::AtEnd || !result.wanted ||
        !hasNotFinite(result.port->dtype, result.tensor.data(),
                      result.port->globalBytes))
      continue;
    if (more > 0 || text.size() > 100)
      ++more;
    else
      text += (text.empty() ? "'" : ", '") + result.port->name + "'";
  }
  return text + (more ? " and " + std::to_string(more) + " more" : "");
}

static std::string stepsText(int64_t count, int64_t all) {
  return std::to_string(count) + " of " + std::to_string(all) + " step" +
         (all == 1 ? "" : "s");
}

static std::string skippedText(const Run &run, const StepCounts &counts) {
  char text[512];
  std::snprintf(
      text, sizeof(text),
      "all %lld steps were skipped, the model is what it was: with a "
      "loss_scale of %g their gradients were not finite; give the recipe a "
      "smaller loss_scale, or none for one that adapts, or look for what "
      "overflows with autopar compile --check-numerics",
      static_cast<long long>(counts.skipped),
      run.scalar(OutputRole::LossScale, counts.taken - 1));
  return text;
}

/// Chooses another file for parameters that are not finite, and returns the end
/// of the sentence that says so.
static std::string moveAside(const Run &run, TrainingOutcome &outcome) {
  const std::string &path = run.options.final;
  if (path.empty())
    return "";
  OutputPlace place;
  bool isFile =
      findOutput(path, place).ok() && place.kind == OutputPlace::Regular;
  outcome.final = isFile ? path + ".not-finite" : "";
  return isFile ? "; '" + path + "' stays as it was, the parameters go to '" +
                      outcome.final + "'"
                : "; the parameters are not written to '" + path + "'";
}

TrainingOutcome outcomeOf(const Run &run) {
  TrainingOutcome outcome;
  if (!run.program.manifest.trains())
    return outcome;
  outcome.final = run.options.final;
  StepCounts counts = countSteps(run);
  if (counts.skipped == counts.taken && counts.skipped > counts.unlabelled)
    outcome.warnings.push_back(skippedText(run, counts));
  std::string what, parameters = notFiniteParameters(run);
  if (counts.notFinite)
    what = "the loss was not finite in " +
           stepsText(counts.notFinite, counts.taken) + ", first in step " +
           std::to_string(run.options.firstStep + counts.firstNotFinite);
  if (!parameters.empty())
    what += (what.empty() ? "the loss was finite, but not all numbers of "
                          : "; after the last step not all numbers are finite "
                            "of ") +
            parameters + (what.empty() ? " are after the last step" : "");
  if (counts.notFiniteTaken || !counts.lastIsFinite || !parameters.empty())
    outcome.problems.push_back(what + moveAside(run, outcome));
  else if (counts.notFinite)
    outcome.warnings.push_back(what + "; these steps were skipped");
  if (run.record(0).logFailure[0])
    outcome.problems.push_back(run.record(0).logFailure);
  if (run.checkpoints.folder())
    if (const CheckpointBoard::Rank &last = run.checkpoints.board.of(0);
        last.failed.load() == run.allSteps())
      outcome.problems.push_back("the last checkpoint is not written: " +
                                 std::string(last.message));
  return outcome;
}

/// Returns the number of steps of the learning rate's schedule, or 0 if it has
/// no end.
static int64_t scheduledSteps(const Manifest &manifest) {
  for (const PersistentEntry *entry : hyperparametersOf(manifest))
    if (entry->name == "steps")
      return int64_t(fillOf(*entry));
  return manifest.scheduleSteps;
}

std::vector<std::string> doubtsOfTraining(const Run &run) {
  const Options &options = run.options;
  std::vector<std::string> doubts;
  if (!run.program.manifest.trains())
    return doubts;
  int64_t scheduled = scheduledSteps(run.program.manifest);
  std::string all = std::to_string(scheduled);
  int64_t total = options.firstStep + options.steps;
  if (total > scheduled && scheduled > 0)
    doubts.push_back("--steps " + std::to_string(total) +
                     ": the recipe's schedule has " + all +
                     " steps; the learning rate stays as it is at its end");
  if (options.steps == 0 && options.repeat == 1 && scheduled > 1)
    doubts.push_back("one step runs of the " + all +
                     " that the recipe's schedule has; --steps " + all +
                     " runs them");
  if (std::filesystem::path suffix =
          std::filesystem::path(options.final).extension();
      !suffix.empty() && suffix != ".safetensors")
    doubts.push_back("--final " + options.final +
                     ": the file is safetensors, whatever its name, which "
                     "safetensors.torch.load_file reads");
  bool takesNone = options.firstStep > 0 && options.steps == 0;
  if (options.inputs.empty() && !takesNone)
    doubts.push_back("without --data the step trains on zeros");
  if (options.steps > 1 && options.final.empty() && options.checkpoint.empty())
    doubts.push_back("the trained parameters are not written; --final FILE "
                     "writes them");
  return doubts;
}

//===----------------------------------------------------------------------===//
// States that --weights does not restore
//===----------------------------------------------------------------------===//

static void addWords(std::string &text, const std::string &words) {
  text += (text.empty() ? "" : ", ") + words;
}

/// Adds optimizer state such as moments, with the optimizer's names.
static void addMoments(const std::map<std::string, int64_t> &counts,
                       std::string &text) {
  for (const auto &[kind, count] : counts)
    addWords(text, "'" + kind + "' of " + std::to_string(count) + " parameter" +
                       (count == 1 ? "" : "s"));
}

std::string begunAnew(const Run &run) {
  std::string text, others;
  std::map<std::string, int64_t> moments;
  bool scales = false;
  for (const PersistentEntry &entry : run.program.manifest.persistent.front()) {
    if (!entry.isState || entry.isParameter)
      continue;
    size_t slash = entry.name.rfind('/');
    bool isScalar = entry.globalShape.empty();
    switch (entry.role) {
    case StateRole::Optimizer:
      if (isScalar && entry.dtype == APRT_I64)
        addWords(text, "the number of the step, by which the learning rate "
                       "goes ('" +
                           entry.name + "')");
      else
        ++moments[entry.name.substr(slash + 1)];
      break;
    case StateRole::LossScale:
      scales = true;
      break;
    case StateRole::Random:
      addWords(others, "the step of random numbers ('" + entry.name + "')");
      break;
    case StateRole::Average:        // it begins as its parameter
    case StateRole::Hyperparameter: // as --set or the recipe has it
      break;
    case StateRole::Model:
    case StateRole::Extent:
      if (!run.states.count(entry.name))
        addWords(others, "state '" + entry.name + "'");
    }
  }
  addMoments(moments, text);
  if (scales)
    addWords(text, "the loss scale");
  if (!others.empty())
    addWords(text, others);
  return text;
}

} // namespace autopar::runtime
