//===- SignalWatch.cpp - Ctrl-C and SIGTERM -------------------------------===//

#include "SignalWatch.h"

#include "../core/Futex.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace autopar::runtime {

/// Terminals, launchers and `timeout` send a signal to the process and to its
/// group: what comes so soon after the first one is the same one.
static constexpr double kSameSignalSeconds = 0.5;

SignalWatch::SignalWatch(Run &run) : run(run) {
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Status SignalWatch::start() {
  signalled = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (signalled < 0 || wake < 0)
    return Status::error(std::string("cannot watch for signals: ") +
                         std::strerror(errno));
  thread = std::thread([this] { serve(); });
  return Status::success();
}

SignalWatch::~SignalWatch() {
  if (wake >= 0)
    eventfd_write(wake, 1);
  if (thread.joinable())
    thread.join();
  for (int descriptor : {signalled, wake})
    if (descriptor >= 0)
      close(descriptor);
}

void SignalWatch::serve() {
  for (;;) {
    pollfd waits[] = {{signalled, POLLIN, 0}, {wake, POLLIN, 0}};
    poll(waits, 2, since > 0 ? 100 : -1);
    if (waits[1].revents)
      return;
    signalfd_siginfo info;
    if (read(signalled, &info, sizeof(info)) == ssize_t(sizeof(info)))
      take(int(info.ssi_signo));
    double grace = run.options.graceSeconds;
    if (since > 0 && steps.load() && monotonicSeconds() - since > grace) {
      char text[160];
      std::snprintf(
          text, sizeof(text),
          ": the step did not end within %g s (--grace sets this "
          "limit), nothing is written%s",
          grace,
          run.checkpoints.folder() ? "; the checkpoints before it stay" : "");
      end(run.endRequest.signal(), text);
    }
  }
}

void SignalWatch::take(int signal) {
  const RankRecord &record = run.record(run.place.rank);
  if (!run.program.manifest.trains() || !record.began.load())
    end(signal, "");
  if (since == 0) {
    since = monotonicSeconds();
    run.endRequest.note(signal);
    if (steps.load())
      std::fprintf(stderr,
                   "%s: the training ends after the step that it is in; once "
                   "more ends it at once\n",
                   strsignal(signal));
    return;
  }
  if (monotonicSeconds() - since > kSameSignalSeconds)
    end(signal, ": the second signal, nothing more is written");
}

/// Forked ranks end with this process.
void SignalWatch::end(int signal, const std::string &why) {
  std::fprintf(stderr, "error: ended by signal %s%s\n", strsignal(signal),
               why.c_str());
  _exit(128 + signal);
}

} // namespace autopar::runtime
