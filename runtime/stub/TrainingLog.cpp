//===- TrainingLog.cpp - What is told of each training step ---------------===//

#include "TrainingLog.h"

#include "../core/Futex.h"
#include "../files/OutputFile.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace autopar::runtime {

static constexpr double kShowEvery = 0.1; // seconds

/// A plain file that this run alone writes: one that another run writes is an
/// error before anything in it is lost.
static Status openLog(const std::string &path, FILE *&file) {
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
  if (isRegular && ftruncate(fd, 0) != 0) {
    Status failed = fail(std::strerror(errno));
    close(fd);
    return failed;
  }
  file = fdopen(fd, "w");
  return Status::success();
}

Status TrainingLog::open(const Run &of) {
  if (!of.program.manifest.trains())
    return Status::success();
  run = &of;
  onTerminal = showsProgress(of.program.manifest, of.options);
  begun = monotonicSeconds();
  const std::string &path = of.options.log;
  if (path.empty())
    return Status::success();
  FILE *opened = nullptr;
  if (goesToStdout(path))
    opened = fdopen(dup(STDOUT_FILENO), "w");
  else
    APRT_TRY(openLog(path, opened));
  file.reset(opened);
  return file ? Status::success()
              : Status::error("--log " + path + ": " + std::strerror(errno));
}

double TrainingLog::value(const char *output, int64_t step) const {
  for (size_t i = 0; i < run->results.size(); ++i) {
    const RunResult &result = run->results[i];
    if (!result.wanted || result.when != RunResult::EveryStep ||
        result.port->name != output ||
        result.port->globalBytes != elementBytes(result.port->dtype))
      continue;
    const char *bytes = run->result(i, step);
    if (result.port->dtype == APRT_F64) {
      double value;
      std::memcpy(&value, bytes, sizeof(value));
      return value;
    }
    if (result.port->dtype == APRT_BOOL)
      return bytes[0] != 0;
    if (result.port->dtype != APRT_F32)
      return NAN;
    float value;
    std::memcpy(&value, bytes, sizeof(value));
    return value;
  }
  return NAN;
}

Status TrainingLog::add(int64_t step, double seconds) {
  if (!run)
    return Status::success();
  skipped += value("skipped", step) == 1;
  if (file) {
    // JSON has no NaN: null stands for it.
    nlohmann::ordered_json line = {
        {"step", step},
        {"loss", value("loss", step)},
        {"grad_norm", value("grad_norm", step)},
        {"learning_rate", value("learning_rate", step)}};
    if (double scale = value("loss_scale", step); !std::isnan(scale)) {
      line["loss_scale"] = scale;
      line["skipped"] = value("skipped", step) != 0;
    }
    line["seconds"] = seconds;
    std::string text = line.dump() + "\n";
    if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
        std::fflush(file.get()) != 0)
      return Status::error("--log " + run->options.log + ": " +
                           std::strerror(errno));
  }
  if (onTerminal)
    show(step, seconds);
  return Status::success();
}

void TrainingLog::end() const {
  if (!run || skipped == 0 || skipped < run->options.repeat)
    return;
  std::fprintf(
      stderr,
      "warning: all %lld steps were skipped, the model is what it was: "
      "with a loss_scale of %g their gradients were not finite; give "
      "the recipe a smaller loss_scale, or none for one that adapts, "
      "or look for what overflows with autopar compile "
      "--check-numerics\n",
      static_cast<long long>(skipped),
      value("loss_scale", run->options.repeat - 1));
}

void TrainingLog::show(int64_t step, double seconds) {
  double now = monotonicSeconds();
  int64_t done = step + 1, all = run->options.steps;
  if (done < all && now - shown < kShowEvery)
    return;
  shown = now;
  constexpr int width = 24;
  int filled = int(width * done / all);
  std::string bar(size_t(filled), '=');
  bar.resize(width, ' ');
  std::fprintf(stderr,
               "\r[%s] %lld/%lld  loss %.6g  %.2f ms  %.0f s left \033[K%s",
               bar.c_str(), static_cast<long long>(done),
               static_cast<long long>(all), value("loss", step), seconds * 1e3,
               (now - begun) / double(done) * double(all - done),
               done == all ? "\n" : "");
}

} // namespace autopar::runtime
