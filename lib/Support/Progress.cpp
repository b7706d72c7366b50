//===- Progress.cpp - What is seen of work that takes long ----------------===//

#include "autopar/Support/Progress.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include <cstdlib>
#include <unistd.h>

namespace autopar {

static constexpr double kNever = 1e9; // seconds

bool Progress::isOff() {
  const char *asked = std::getenv("AUTOPAR_PROGRESS");
  return asked && llvm::StringRef(asked) == "off";
}

Progress::Options Progress::ofStderr() {
  Options options;
  options.isTerminal = llvm::sys::Process::StandardErrIsDisplayed();
  if (isOff())
    options.first = kNever;
  return options;
}

Progress::Progress(llvm::ArrayRef<llvm::StringRef> names, Options options)
    : options(options), began(std::chrono::steady_clock::now()) {
  for (llvm::StringRef name : names)
    parts.push_back(name.str());
  watcher = std::thread([this] { watch(); });
}

Progress::~Progress() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ends = true;
  }
  changed.notify_one();
  watcher.join();
  pause();
}

void Progress::begin(size_t number) {
  std::lock_guard<std::mutex> lock(mutex);
  part = number;
}

void Progress::pause() {
  std::lock_guard<std::mutex> lock(mutex);
  if (isDrawn)
    write("\r\033[K");
  isDrawn = false;
}

void Progress::watch() {
  auto seconds = [](double count) {
    return std::chrono::duration<double>(count);
  };
  std::unique_lock<std::mutex> lock(mutex);
  double wait = options.first;
  while (!changed.wait_for(lock, seconds(wait), [this] { return ends; })) {
    std::chrono::duration<double> since =
        std::chrono::steady_clock::now() - began;
    tell(since.count());
    wait = options.isTerminal ? options.redraw : options.again;
  }
}

/// `[=====     ] plan 12 s`, or `autopar: plan       ... 12 s`.
void Progress::tell(double seconds) {
  if (!options.isTerminal)
    return write(
        llvm::formatv("autopar: {0,-10} ... {1:f0} s\n", parts[part], seconds));
  constexpr size_t kWidth = 24;
  std::string bar(kWidth * part / parts.size(), '=');
  bar.resize(kWidth, ' ');
  write(llvm::formatv("\r[{0}] {1} {2:f0} s\033[K", bar, parts[part], seconds));
  isDrawn = true;
}

/// Writes at once, without a buffer. A failure is ignored: the text is only for
/// a person.
void Progress::write(const std::string &text) const {
  [[maybe_unused]] ssize_t ignored =
      ::write(options.descriptor, text.data(), text.size());
}

} // namespace autopar
