//===- TrainingProgress.cpp - How far a training is -----------------------===//

#include "TrainingProgress.h"

#include "../core/Futex.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace autopar::runtime {

static constexpr double kBarEvery = 0.1, kLineEvery = 30; // seconds
static constexpr double kSmoothing = 0.95;                // of 20 steps or so

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
}

/// `1250 samples/s, 160000 tokens/s`.
std::string TrainingProgress::rates() const {
  std::string text;
  for (auto [count, what] :
       {std::pair(samples, "samples/s"), {tokens, "tokens/s"}})
    if (count > 0) {
      char number[32];
      std::snprintf(number, sizeof(number), "%.4g ",
                    double(count) / std::max(stepSeconds, 1e-9));
      text += (text.empty() ? "" : "  ") + std::string(number) + what;
    }
  return text;
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
  char text[256], rate[32] = "";
  if (!std::isnan(learningRate))
    std::snprintf(rate, sizeof(rate), "  rate %.3g", learningRate);
  std::snprintf(text, sizeof(text),
                "%lld/%lld  loss %.6g  mean %.6g%s  %s  %.2f ms  %.0f s left",
                static_cast<long long>(first + done),
                static_cast<long long>(first + steps), loss, mean, rate,
                rates().c_str(), stepSeconds * 1e3,
                (now - begun) / double(done) * double(steps - done));
  if (!onTerminal) {
    std::fprintf(stderr, "step %s\n", text);
    return;
  }
  constexpr int width = 24;
  std::string bar(size_t(width * done / steps), '=');
  bar.resize(width, ' ');
  std::fprintf(stderr, "\r[%s] %s \033[K%s", bar.c_str(), text,
               isLast ? "\n" : "");
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
