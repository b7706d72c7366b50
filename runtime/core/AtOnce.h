//===- AtOnce.h - Work on several threads -----------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_ATONCE_H
#define AUTOPAR_RUNTIME_CORE_ATONCE_H

#include <system_error>
#include <thread>
#include <vector>

namespace autopar::runtime {

/// Calls work(0) to work(count - 1) at once, the first in this thread and each
/// other in a thread of its own, and returns when all are done. `work` throws
/// nothing. Where the system refuses a thread, this thread does that part, too.
template <typename Work> void atOnce(size_t count, const Work &work) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  std::vector<size_t> own = {0};
  for (size_t i = 1; i < count; ++i) {
    try {
      threads.emplace_back([&work, i] { work(i); });
    } catch (const std::system_error &) {
      own.push_back(i);
    }
  }
  for (size_t i : own)
    work(i);
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_ATONCE_H
