//===- TrainingProgress.cpp - How far a training is -----------------------===//

#include "TrainingProgress.h"

#include "../core/Futex.h"
#include "../files/Text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>
#include <vector>

namespace autopar::runtime {

static constexpr double kBarEvery = 0.1, kLineEvery = 30; // seconds
static constexpr double kSmoothing = 0.95;                // of 20 steps or so
// The width of a line if the terminal's is unknown, the width of the bar, and
// its minimum.
static constexpr int kColumns = 120, kBar = 24, kLeastBar = 8;

static constexpr double kLeastFlops = 1e8; // per second

static std::string number(double value, const char *format) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

static int columnsOfTerminal() {
  winsize size{};
  bool isKnown =
      ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return isKnown ? std::min(int(size.ws_col), kColumns) : kColumns;
}

void TrainingProgress::begin(const Manifest &manifest, int64_t before,
                             int64_t count) {
  onTerminal = isatty(STDERR_FILENO);
  first = before;
  steps = count;
  begun = shown = monotonicSeconds();
  for (const Port &input : manifest.inputs) {
    bool isText = input.dtype == APRT_I64 || input.dtype == APRT_I32;
    if (samples == 0 && !input.shape.empty())
      samples = input.shape[0];
    if (isText && input.shape.size() == 2)
      tokens = std::max(tokens, input.shape[0] * input.shape[1]);
  }
  if (manifest.target == Target::Emulated)
    return; // its time is no device's
  flops = manifest.stepFlops;
  peak = manifest.peakFlops;
}

/// Returns a rate such as `1.25k samples/s`, or "" if the number of samples per
/// step is unknown.
std::string TrainingProgress::rateOf(double count, const char *what) const {
  if (count == 0)
    return "";
  double rate = count / std::max(stepSeconds, 1e-9);
  const char *unit = "";
  for (const char *larger : {"k", "M", "G"})
    if (rate >= 1000) {
      rate /= 1000;
      unit = larger;
    }
  return number(rate, "%.3g") + unit + what;
}

/// Returns the computation rate of a device and the share of its peak, such as
/// `0.081 TFLOP/s (69%)`. It is "" if the rate is unknown or negligible.
std::string TrainingProgress::computed() const {
  double rate = flops / std::max(stepSeconds, 1e-9);
  if (rate < kLeastFlops)
    return "";
  return number(rate / 1e12, "%.3g") + " TFLOP/s" +
         (peak > 0 ? " (" + number(100 * rate / peak, "%.0f") + "%)" : "");
}

namespace {

/// A part of the line. If the line is too long, parts with a high rank are
/// omitted first.
struct Part {
  int rank;
  std::string text; // "" where it is not known
};

} // namespace

static std::string join(const std::vector<Part> &parts) {
  std::string line;
  for (const Part &part : parts)
    if (!part.text.empty())
      line += (line.empty() ? "" : "  ") + part.text;
  return line;
}

/// Everything that fits into so many columns; what is told by other parts, too,
/// only if there is room for a whole bar.
std::string TrainingProgress::textOf(int64_t done, double loss,
                                     double learningRate, int columns) const {
  bool hasRate = !std::isnan(learningRate);
  double each = (monotonicSeconds() - begun) / double(done);
  std::vector<Part> parts = {
      {0, std::to_string(first + done) + "/" + std::to_string(first + steps)},
      {6, "loss " + number(loss, "%.5g")},
      {0, "mean " + number(mean, "%.5g")},
      {5, hasRate ? "rate " + number(learningRate, "%.3g") : ""},
      {2, rateOf(double(samples), " samples/s")},
      {3, rateOf(double(tokens), " tokens/s")},
      {7, number(stepSeconds * 1e3, "%.2f ms")},
      {1, computed()},
      {4, memory > 0 ? bytesText(double(memory)) : ""},
      {0, number(each * double(steps - done), "%.0f s left")}};
  std::string line = join(parts);
  for (int rank = 7; rank > 0; --rank) {
    if (int(line.size()) <= columns - (rank == 7 ? kBar + 3 : 0))
      continue;
    for (Part &part : parts)
      if (part.rank == rank)
        part.text.clear();
    line = join(parts);
  }
  return line;
}

void TrainingProgress::show(int64_t step, double loss, double learningRate,
                            double seconds) {
  double share = step == 0 ? 0 : kSmoothing;
  stepSeconds = share * stepSeconds + (1 - share) * seconds;
  if (std::isfinite(loss))
    mean = (std::isfinite(mean) && step > 0 ? kSmoothing * mean : 0) +
           (step > 0 ? 1 - kSmoothing : 1) * loss;
  double now = monotonicSeconds();
  int64_t done = step + 1;
  bool isLast = done == steps && onTerminal;
  if (!isLast && now - shown < (onTerminal ? kBarEvery : kLineEvery))
    return;
  shown = now;
  if (!onTerminal) {
    std::fprintf(
        stderr, "step %s\n",
        textOf(done, loss, learningRate, kColumns - int(sizeof("step")))
            .c_str());
    return;
  }
  int columns = columnsOfTerminal() - 1; // the cursor has one
  std::string text = textOf(done, loss, learningRate, columns);
  int width = std::min(columns - int(text.size()) - 3, kBar);
  if (width >= kLeastBar) {
    std::string bar(size_t(width * done / steps), '=');
    bar.resize(size_t(width), ' ');
    text.insert(0, "[" + bar + "] ");
  }
  std::fprintf(stderr, "\r%s\033[K%s", text.c_str(), isLast ? "\n" : "");
}

void TrainingProgress::pause() {
  if (onTerminal)
    std::fprintf(stderr, "\r\033[K");
}

void TrainingProgress::end(int64_t taken) {
  if (onTerminal && taken < steps)
    std::fprintf(stderr, "\n");
}

} // namespace autopar::runtime
