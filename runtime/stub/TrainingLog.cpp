//===- TrainingLog.cpp - What is told of each training step ---------------===//

#include "TrainingLog.h"

#include "../core/Futex.h"
#include "../files/OutputFile.h"
#include "../files/Text.h"
#include "RunOrigin.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace autopar::runtime {

namespace {
/// The lines of an existing log that a run keeps.
struct KeptLines {
  int64_t bytes = 0;
  int64_t last = -1;  // step of the last one
  bool isLog = true;  // the file is empty, or its first line is of a step
  bool isAll = false; // no line follows them
};
} // namespace

/// Returns the step of a line, or -1 if it is no line of a log.
static int64_t stepOf(const std::string &line) {
  nlohmann::json value =
      nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  auto step = value.is_object() ? value.find("step") : value.end();
  return step != value.end() && step->is_number_integer() ? step->get<int64_t>()
                                                          : -1;
}

/// Returns the lines of the steps before `first`. The log of a resumed run is
/// truncated after them.
static KeptLines linesBefore(const std::string &path, int64_t first) {
  std::ifstream log(path);
  KeptLines kept;
  std::string line;
  for (bool isFirst = true; std::getline(log, line); isFirst = false) {
    int64_t step = stepOf(line);
    if (isFirst)
      kept.isLog = step >= 0;
    if (step < 0 || step >= first || log.eof())
      return kept;
    kept.bytes += int64_t(line.size()) + 1;
    kept.last = step;
  }
  kept.isAll = true;
  return kept;
}

/// Tells how the lines that a resumed run keeps differ from those of the steps
/// before it.
static void tellKept(const std::string &path, int64_t first,
                     const KeptLines &kept) {
  std::string about = printable("--log " + path);
  if (first > 0 && !kept.isAll)
    std::fprintf(stderr, "note: %s: the lines from step %lld on are removed\n",
                 about.c_str(), static_cast<long long>(first));
  if (kept.last >= 0 && kept.last + 1 < first)
    std::fprintf(stderr,
                 "warning: %s: its last line is of step %lld, and the run goes "
                 "on with step %lld: the lines between them are missing\n",
                 about.c_str(), static_cast<long long>(kept.last),
                 static_cast<long long>(first));
}

/// Opens the log. A plain file is locked, and it is an error if another run
/// writes it. `first` is the first step of the run; `end` is the number of
/// bytes of the lines before it.
static Status openLog(const std::string &path, int64_t first, int &file,
                      int64_t &end) {
  auto fail = [&](const std::string &what) {
    return Status::error("--log " + path + ": " + what);
  };
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0)
    return fail(std::strerror(errno));
  struct stat info{};
  bool isRegular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  if (isRegular && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(fd);
    return fail("another run is writing this file; give each run a log of its "
                "own");
  }
  KeptLines kept = isRegular ? linesBefore(path, first) : KeptLines();
  if (!kept.isLog) {
    close(fd);
    return fail("the file is no log of a training, for its first line has no "
                "step; remove it, or name another file");
  }
  if (isRegular)
    tellKept(path, first, kept);
  end = kept.bytes;
  if (isRegular && (ftruncate(fd, end) != 0 || lseek(fd, end, SEEK_SET) < 0)) {
    Status failed = fail(std::strerror(errno));
    close(fd);
    return failed;
  }
  file = fd;
  return Status::success();
}

Status TrainingLog::open(Run &of) {
  if (!of.program.manifest.trains())
    return Status::success();
  run = &of;
  showsProgress = of.options.steps > 0;
  if (showsProgress)
    progress.begin(of.program.manifest, of.options.firstStep, of.options.steps);
  const std::string &path = of.options.log;
  if (path.empty())
    return Status::success();
  if (!goesToStdout(path))
    return openLog(path, of.options.firstStep, file, written);
  file = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  return file >= 0
             ? Status::success()
             : Status::error("--log " + path + ": " + std::strerror(errno));
}

/// Returns the line of a step. NaN becomes null, because JSON has no NaN. The
/// first line describes the run.
static std::string lineOf(const Run &run, int64_t step, double loss,
                          double seconds, double saveSeconds) {
  auto value = [&](OutputRole role) { return run.scalar(role, step); };
  nlohmann::ordered_json line = {
      {"step", run.options.firstStep + step},
      {"loss", loss},
      {"grad_norm", value(OutputRole::GradNorm)},
      {"learning_rate", value(OutputRole::LearningRate)}};
  if (double scale = value(OutputRole::LossScale); !std::isnan(scale))
    line["loss_scale"] = scale;
  if (double skips = value(OutputRole::Skipped); !std::isnan(skips))
    line["skipped"] = skips != 0;
  line["seconds"] = seconds;
  if (saveSeconds > 0)
    line["save_seconds"] = saveSeconds;
  if (step == 0)
    line["run"] = originOf(run);
  return line.dump();
}

/// Returns the largest peak memory of any rank that this one shares memory
/// with.
static int64_t mostMemory(const Run &run) {
  int64_t most = 0;
  for (int rank = 0; rank < run.worldSize(); ++rank)
    most = std::max(most, run.record(rank).peakMemoryBytes);
  return most;
}

void TrainingLog::add(int64_t step, double seconds, double saveSeconds,
                      bool waits) {
  if (!run)
    return;
  writeWaiting(step - 1, "");
  waiting = lineOf(*run, step, loss(step), seconds, saveSeconds);
  waiting.pop_back(); // its brace
  if (!waits)
    writeWaiting(step, "");
  warn(step);
  warnOfNorm(step);
  warnOfLabels(step);
  if (showsProgress && step == 0)
    progress.setMemory(mostMemory(*run));
  if (showsProgress)
    progress.show(step, loss(step), run->scalar(OutputRole::LearningRate, step),
                  seconds);
}

void TrainingLog::addEvaluation(int64_t steps,
                                const std::vector<double> &values,
                                double seconds, bool isBest) {
  const std::vector<Metric> &metrics = run->evaluation->about().metrics;
  nlohmann::ordered_json numbers;
  std::string text;
  for (size_t i = 0; i < metrics.size(); ++i) {
    numbers[metrics[i].name] = values[i];
    char number[64];
    std::snprintf(number, sizeof(number), "%.6g",
                  std::isnan(values[i]) ? NAN : values[i]);
    text += (i ? ", " : "") + metrics[i].name + " " + number;
  }
  nlohmann::ordered_json rest = {{"evaluation", std::move(numbers)},
                                 {"evaluation_seconds", seconds}};
  writeWaiting(steps - 1 - run->options.firstStep, "," + rest.dump().substr(1));
  progress.pause();
  std::fprintf(stderr, "evaluation after %lld steps: %s%s\n",
               static_cast<long long>(steps), text.c_str(),
               isBest ? " (the best)" : "");
}

/// `rest` has further fields of the line and its closing brace; it is empty if
/// there are none.
void TrainingLog::writeWaiting(int64_t step, const std::string &rest) {
  std::string line = std::exchange(waiting, "");
  if (file >= 0 && !line.empty())
    write(step, line + (rest.empty() ? "}" : rest) + "\n");
}

void TrainingLog::write(int64_t step, const std::string &line) {
  for (size_t at = 0; at < line.size();) {
    ssize_t put = ::write(file, &line[at], line.size() - at);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return fail(step);
    at += size_t(put);
  }
  written += int64_t(line.size());
}

/// Cuts off an incomplete line if possible, because no reader of JSON accepts
/// it.
void TrainingLog::fail(int64_t step) {
  RankRecord &record = run->record(0);
  std::snprintf(record.logFailure, sizeof(record.logFailure),
                "--log %s: %s: it lacks what came from step %lld on",
                run->options.log.c_str(), std::strerror(errno), numberOf(step));
  std::fprintf(stderr, "warning: %s; the training goes on\n",
               record.logFailure);
  (void)!ftruncate(file, off_t(written));
  (void)closeFile();
}

bool TrainingLog::closeFile() {
  int descriptor = std::exchange(file, -1);
  return descriptor < 0 || ::close(descriptor) == 0;
}

void TrainingLog::close() {
  if (!run)
    return;
  int64_t taken = run->stepsTaken();
  writeWaiting(taken - 1, "");
  if (!closeFile())
    fail(taken);
  if (unlabelled > 1)
    std::fprintf(stderr, "warning: %lld steps counted no label\n",
                 static_cast<long long>(unlabelled));
  if (showsProgress)
    progress.end(taken);
}

/// Warns at the first step with a loss that is not finite. If losses are
/// scaled, such steps are skipped.
void TrainingLog::warn(int64_t step) {
  double loss = run->scalar(OutputRole::Loss, step);
  bool isTaken = run->scalar(OutputRole::Skipped, step) != 1;
  if (warned || std::isfinite(loss) || !isTaken)
    return;
  warned = true;
  progress.pause();
  std::fprintf(stderr,
               "warning: step %lld: the loss is %s; the training goes on. "
               "Look for the first number that is not finite with autopar "
               "compile --check-numerics, or give the recipe a smaller 'lr', "
               "'warmup_steps' or 'clip_global_norm'\n",
               numberOf(step), std::isnan(loss) ? "NaN" : "infinite");
}

/// Warns at the first step with gradients that are not finite although its loss
/// is.
void TrainingLog::warnOfNorm(int64_t step) {
  double norm = run->scalar(OutputRole::GradNorm, step);
  bool isTaken = run->scalar(OutputRole::Skipped, step) != 1;
  bool isTold =
      run->program.manifest.outputOf(OutputRole::GradNorm).has_value();
  if (warned || warnedOfNorm || std::isfinite(norm) || !isTaken || !isTold ||
      !std::isfinite(run->scalar(OutputRole::Loss, step)))
    return;
  warnedOfNorm = true;
  progress.pause();
  std::fprintf(stderr,
               "warning: step %lld: grad_norm is %s though the loss is finite; "
               "the training goes on, with parameters that may not be finite. "
               "Look for the first number that is not with autopar compile "
               "--check-numerics, or give the recipe a smaller 'lr', or "
               "'warmup_steps'\n",
               numberOf(step), std::isnan(norm) ? "NaN" : "infinite");
}

/// Returns a step's number among those of all runs.
long long TrainingLog::numberOf(int64_t step) const {
  return run->options.firstStep + step;
}

/// Returns the loss of a step, or NaN if the step has no labels.
double TrainingLog::loss(int64_t step) const {
  return run->scalar(OutputRole::NoLabels, step) == 1
             ? NAN
             : run->scalar(OutputRole::Loss, step);
}

void TrainingLog::warnOfLabels(int64_t step) {
  if (run->scalar(OutputRole::NoLabels, step) != 1 || unlabelled++ > 0)
    return;
  progress.pause();
  std::fprintf(stderr,
               "warning: step %lld counts no label: its loss is the mean of "
               "nothing, null in the log, and it changes no parameter\n",
               numberOf(step));
}

} // namespace autopar::runtime
