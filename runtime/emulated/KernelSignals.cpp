//===- KernelSignals.cpp - Signals while a kernel runs --------------------===//

#include "KernelSignals.h"

#include "Gpu.h"

#include <csignal>
#include <unistd.h>

namespace autopar::runtime::emulated {

// A handler takes no argument of its own: the one runner of this thread.
static thread_local KernelRunner *running = nullptr;
alignas(64) static thread_local char handlerStack[64 * 1024];
static thread_local bool hasStack = false;

static constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE};
static struct sigaction before[3];

static void handle(int signal, siginfo_t *info, void *) {
  if (running)
    running->signalled(signal, info->si_addr); // does not return
  if (signal == SIGSEGV &&
      isDeviceAddress(reinterpret_cast<CUdeviceptr>(info->si_addr))) {
    static const char text[] =
        "autopar: the host touched memory of the emulated GPU\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
  }
  // The access is made again, and meets what was there before.
  for (int i = 0; i < 3; ++i)
    if (signals[i] == signal)
      sigaction(signal, &before[i], nullptr);
}

static void install() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  // The handler leaves by a jump: the signal must not stay blocked.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 3; ++i)
    sigaction(signals[i], &action, &before[i]);
}

/// A fiber without stack left cannot take a signal on it.
static void giveStack() {
  stack_t stack = {};
  stack.ss_sp = handlerStack;
  stack.ss_size = sizeof handlerStack;
  hasStack = sigaltstack(&stack, nullptr) == 0;
}

KernelSignals::KernelSignals(KernelRunner &runner) {
  static const bool installed = (install(), true);
  (void)installed;
  if (!hasStack)
    giveStack();
  running = &runner;
}

KernelSignals::~KernelSignals() { running = nullptr; }

} // namespace autopar::runtime::emulated
