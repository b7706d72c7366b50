//===- Progress.h - What is seen of work that takes long --------*- C++ -*-===//

#ifndef AUTOPAR_SUPPORT_PROGRESS_H
#define AUTOPAR_SUPPORT_PROGRESS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace autopar {

/// Shows a person which part of some long work is under way: on a terminal by a
/// bar that is drawn over itself, elsewhere by a line now and then. It shows
/// nothing about work that ends within the first second.
class Progress {
public:
  struct Options {
    int descriptor = 2; // stderr
    bool isTerminal = false;
    double first = 1;   // seconds after which it begins to tell
    double redraw = .2; // seconds between two drawings of the bar
    double again = 30;  // seconds between two lines
  };
  /// Returns whether the environment has AUTOPAR_PROGRESS=off.
  static bool isOff();
  /// The settings for stderr: a bar if it is a terminal. Nothing is shown if
  /// the environment has AUTOPAR_PROGRESS=off.
  static Options ofStderr();

  Progress(llvm::ArrayRef<llvm::StringRef> parts, Options options);
  ~Progress();

  /// Says that part `number` is under way; it may be the part that was under
  /// way before.
  void begin(size_t number);
  /// Erases the bar before other text is printed. The bar comes back by itself.
  void pause();

private:
  void watch();
  void tell(double seconds);
  void write(const std::string &text) const;

  std::vector<std::string> parts;
  Options options;
  std::chrono::steady_clock::time_point began;
  std::mutex mutex; // guards the members below
  std::condition_variable changed;
  size_t part = 0;
  bool isDrawn = false, ends = false;
  std::thread watcher;
};

} // namespace autopar

#endif // AUTOPAR_SUPPORT_PROGRESS_H
