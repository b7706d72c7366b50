//===- MemoryFailure.cpp - Memory that runs out ---------------------------===//

#include "autopar/Support/MemoryFailure.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

/// A function of tcmalloc, null unless that is linked: it says whether malloc
/// calls the new handler, too.
// NOLINTNEXTLINE(readability-identifier-naming): tcmalloc's name
extern "C" int tc_set_new_mode(int flag) __attribute__((weak));

namespace autopar {

// A handler that gets no argument finds these.
static const char *toolName = "autopar";
static char activity[512] = "starting";

void setActivity(llvm::StringRef doing) {
  size_t length = std::min(doing.size(), sizeof(activity) - 1);
  std::memcpy(activity, doing.data(), length);
  activity[length] = 0;
  for (size_t i = 0; i < length; ++i) // a name may be anything
    if (static_cast<unsigned char>(activity[i]) < 0x20 || activity[i] == 0x7f)
      activity[i] = '?';
}

/// Takes no memory. Of several threads the first one speaks.
[[noreturn]] static void endProcess(const char *what) {
  static std::atomic_flag isEnding = ATOMIC_FLAG_INIT;
  while (isEnding.test_and_set())
    pause();
  char text[1024];
  int length = std::snprintf(
      text, sizeof(text),
      "%s: error: %s while %s; free memory on this host, raise the process's "
      "limit (ulimit -v, the job's memory), or make the model smaller\n",
      toolName, what, activity);
  (void)!write(STDERR_FILENO, text, size_t(length));
  llvm::sys::RunInterruptHandlers(); // which remove temporary files
  _exit(1);
}

[[noreturn]] static void onNoMemory() { endProcess("memory ran out"); }

static void onBadAllocation(void *, const char *, bool) { onNoMemory(); }

/// LLVM's own threads fail so, for want of memory for a stack; all else is as
/// LLVM says it.
static void onFatalError(void *, const char *reason, bool) {
  if (llvm::StringRef(reason).contains("pthread_"))
    endProcess("the system refused a thread");
  (void)std::fprintf(stderr, "LLVM ERROR: %s\n", reason);
}

/// A thread that cannot be started, and a container larger than any memory.
[[noreturn]] static void onTerminate() {
  try {
    if (std::exception_ptr thrown = std::current_exception())
      std::rethrow_exception(thrown);
  } catch (const std::bad_alloc &) {
    onNoMemory();
  } catch (const std::length_error &) {
    onNoMemory();
  } catch (const std::system_error &) {
    endProcess("the system refused a thread");
  } catch (...) {
    std::abort(); // nobody caught it: a fault of ours
  }
  std::abort();
}

void installMemoryFailure(const char *tool) {
  toolName = tool;
  std::set_new_handler(onNoMemory);
  std::set_terminate(onTerminate);
  if (tc_set_new_mode)
    tc_set_new_mode(1); // MLIR looks at no answer of malloc
  llvm::install_bad_alloc_error_handler(onBadAllocation);
  llvm::install_fatal_error_handler(onFatalError);
}

} // namespace autopar
