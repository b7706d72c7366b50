//===- KernelSignals.cpp - Signals while a kernel runs --------------------===//

#include "KernelSignals.h"

namespace autopar::runtime::emulated {

// A handler takes no argument of its own: the one runner of this thread.
static thread_local KernelRunner *running = nullptr;
static thread_local char signalStack[64 * 1024];

static void handle(int signal, siginfo_t *info, void *) {
  running->signalled(signal, info->si_addr);
}

KernelSignals::KernelSignals(KernelRunner &runner) {
  running = &runner;
  stack_t stack = {};
  stack.ss_sp = signalStack;
  stack.ss_size = sizeof signalStack;
  sigaltstack(&stack, &stackBefore);
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 3; ++i)
    sigaction(signals[i], &action, &before[i]);
}

KernelSignals::~KernelSignals() {
  for (int i = 0; i < 3; ++i)
    sigaction(signals[i], &before[i], nullptr);
  sigaltstack(&stackBefore, nullptr);
  running = nullptr;
}

} // namespace autopar::runtime::emulated
