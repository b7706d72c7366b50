//===- RunCheckpoints.cpp - Where a training goes on, and saves -----------===//

#include "RunCheckpoints.h"

#include <algorithm>

namespace autopar::runtime {

static Status checkOptions(const Options &options) {
  if (options.checkpoint.empty() &&
      (options.saveSteps > 0 || options.saveSeconds > 0 || options.keep > 0))
    return Status::error("--checkpoint-every and --keep are of --checkpoint "
                         "DIR, which is missing");
  if (options.checkpoint.empty() && options.resume.empty() &&
      options.ignoring.empty())
    return Status::success();
  if (options.steps == 0)
    return Status::error("--checkpoint and --resume are of a training with "
                         "--steps N, the total number of its steps");
  if (!options.ignoring.empty() && options.resume.empty())
    return Status::error("--resume-ignoring is of --resume, which is missing");
  if (options.resume == "auto" && options.checkpoint.empty())
    return Status::error("--resume auto goes on from the newest checkpoint of "
                         "--checkpoint DIR, which is missing");
  return Status::success();
}

Status RunCheckpoints::findResumed(const Options &options,
                                   std::vector<std::string> &notes) {
  bool isAuto = options.resume == "auto";
  const std::string &path = isAuto ? options.checkpoint : options.resume;
  if (!isAuto || hasCheckpoint(path))
    return openCheckpoint(path, /*readsAll=*/true, from.emplace(), notes);
  notes.push_back("--resume auto: '" + path +
                  "' has no checkpoint, the training begins");
  return Status::success();
}

/// Rejects a folder with later checkpoints of another run, because a run that
/// begins or resumes from elsewhere would mix its checkpoints with them.
Status RunCheckpoints::checkUsed(const Options &options) const {
  std::vector<int64_t> steps = to->steps();
  int64_t first = from ? from->step() : 0;
  if (options.resume == "auto" || steps.empty() || steps.front() <= first)
    return Status::success();
  return Status::error("'" + to->where() + "' has a checkpoint of step " +
                       std::to_string(steps.front()) +
                       " already: --resume auto goes on from it, or name "
                       "another folder");
}

Status RunCheckpoints::open(Options &options, std::vector<std::string> &notes) {
  APRT_TRY(checkOptions(options));
  if (!options.checkpoint.empty()) {
    to = std::make_unique<CheckpointFolder>(options.checkpoint);
    APRT_TRY(to->lock());
  }
  if (!options.resume.empty())
    APRT_TRY(findResumed(options, notes));
  if (to)
    APRT_TRY(checkUsed(options));
  if (!from)
    return Status::success();
  return goOn(options);
}

Status RunCheckpoints::follow(Options &options, int64_t step) {
  if (!options.checkpoint.empty())
    to = std::make_unique<CheckpointFolder>(options.checkpoint);
  if (step < 0)
    return Status::success();
  const std::string &path =
      options.resume == "auto" ? options.checkpoint : options.resume;
  APRT_TRY(from.emplace().open(
      isCheckpoint(path) ? path : CheckpointFolder(path).folderOf(step),
      /*readsAll=*/false));
  if (from->step() != step)
    return Status::error("the checkpoint '" + from->path() + "' is of " +
                         std::to_string(from->step()) + " steps here, and of " +
                         std::to_string(step) + " where rank 0 reads it");
  return goOn(options);
}

/// The steps that were taken are no longer to be taken.
Status RunCheckpoints::goOn(Options &options) const {
  std::string step = std::to_string(from->step());
  if (from->step() > options.steps)
    return Status::error("the checkpoint '" + from->path() + "' is of " + step +
                         " steps, and --steps " +
                         std::to_string(options.steps) +
                         " is the total of all runs: give more");
  options.firstStep = from->step();
  options.steps -= options.firstStep;
  options.repeat = options.steps;
  return Status::success();
}

std::string RunCheckpoints::goesOn(const Options &options) const {
  return from ? "the training goes on from '" + from->path() + "' after " +
                    std::to_string(options.firstStep) + " steps"
              : "";
}

std::optional<BestPlace> RunCheckpoints::bestOn(uint64_t rows) const {
  std::optional<BestPlace> best =
      from ? from->about().place.best : std::nullopt;
  bool isOther = best && best->shards != 0 && best->shards != rows;
  return isOther ? std::nullopt : best;
}

void RunCheckpoints::checkBest(uint64_t rows,
                               std::vector<std::string> &doubts) const {
  if (from && from->about().place.best && !bestOn(rows))
    doubts.push_back("--evaluation-data has other rows than those of which '" +
                     from->path() +
                     "' knows the best evaluation: the best one and the "
                     "patience begin anew");
}

/// Resumes the rows. They begin at the first one if the run that wrote the
/// checkpoint read arrays of all steps, or a Trainer's data.
static Status resumeRows(const Checkpoint &from, const Options &options,
                         RowStream &rows, std::vector<std::string> &doubts) {
  const std::optional<DataPlace> &place = from.about().place.data;
  bool isIgnored = std::count(options.ignoring.begin(), options.ignoring.end(),
                              kDataRole) > 0;
  if (isIgnored)
    return Status::success();
  if (place)
    return rows.resume(*place);
  if (rows.isOpen() && from.step() > 0)
    doubts.push_back("the checkpoint '" + from.path() +
                     "' has no position in the rows of --data, for its run "
                     "read no shards: rows are read from the first one on. "
                     "--resume-ignoring data says that this is meant");
  return Status::success();
}

Status RunCheckpoints::check(const Manifest &program, const Options &options,
                             RowStream &rows,
                             std::vector<std::string> &doubts) {
  rows.firstStep = options.firstStep;
  if (!from && !to)
    return Status::success();
  if (!program.trains())
    return Status::error("--checkpoint and --resume are of programs that "
                         "train; this one was compiled without --train");
  if (!from)
    return Status::success();
  for (const std::string &text : options.hyperparameters)
    from->leaveOut(
        stateKey(StateRole::Hyperparameter, text.substr(0, text.find('='))));
  for (const std::string &role : options.ignoring)
    from->leaveOut(role + "/");
  APRT_TRY(checkStates(*from, program));
  for (std::string doubt :
       {doubtOfHashes(*from, program), doubtOfNumbers(*from)})
    if (!doubt.empty())
      doubts.push_back(std::move(doubt));
  return resumeRows(*from, options, rows, doubts);
}

} // namespace autopar::runtime
