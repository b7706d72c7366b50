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

/// Tells a person which part of some work goes on, from the first second on: on
/// a terminal by a bar that is drawn over itself, else by a line now and then.
/// What is done within the first second is not told of.
class Progress {
public:
  struct Options {
    int descriptor = 2; // stderr
    bool isTerminal = false;
    double first = 1;   // seconds after which it begins to tell
    double redraw = .2; // seconds between two drawings of the bar
    double again = 30;  // seconds between two lines
  };
  /// Whether the environment has AUTOPAR_PROGRESS=off.
  static bool isOff();
  /// For stderr as it is; nothing where it is off.
  static Options ofStderr();

  Progress(llvm::ArrayRef<llvm::StringRef> parts, Options options);
  ~Progress();

  /// Goes on with part `number`, which may be the one that goes on already.
  void begin(size_t number);
  /// Takes the bar away, for other text; it comes back by itself.
  void pause();

private:
  void watch();
  void tell(double seconds);
  void write(const std::string &text) const;

  std::vector<std::string> parts;
  Options options;
  std::chrono::steady_clock::time_point began;
  std::mutex mutex; // of what follows
  std::condition_variable changed;
  size_t part = 0;
  bool isDrawn = false, ends = false;
  std::thread watcher;
};

} // namespace autopar

#endif // AUTOPAR_SUPPORT_PROGRESS_H
