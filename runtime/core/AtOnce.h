//===- AtOnce.h - Work on several threads -----------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_ATONCE_H
#define AUTOPAR_RUNTIME_CORE_ATONCE_H

#include "QuietThread.h"

#include <exception>
#include <vector>

namespace autopar::runtime {

/// Calls work(0) to work(count - 1) at once, the first in this thread and each
/// other in a thread of its own, and returns when all are done. `count` is 1 or
/// more; `work` throws nothing. If the system refuses a thread, this thread
/// does that part and the parts after it.
template <typename Work> void atOnce(size_t count, const Work &work) {
  std::vector<std::thread> threads;
  size_t started = 1;
  try {
    threads.reserve(count);
    for (; started < count; ++started)
      threads.push_back(
          startQuietThread([&work, part = started] { work(part); }));
  } catch (const std::exception &) { // this thread does what is left
  }
  work(0);
  for (; started < count; ++started)
    work(started);
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_ATONCE_H
