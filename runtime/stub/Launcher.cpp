//===- Launcher.cpp - The processes of a run ------------------------------===//

#include "../core/Futex.h"
#include "Run.h"
#include "SignalWatch.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace autopar::runtime {

namespace {

constexpr double graceSeconds = 3; // for ranks to end by themselves

class Launcher {
public:
  Launcher(Run &run, SignalWatch &watch)
      : run(run), watch(watch), children(run.worldSize(), 0) {}
  int launch(std::string &message);

private:
  Status forkAll(const sigset_t &oldMask);
  void waitForAll(const sigset_t &ended);
  /// Collects ended children; returns how many are still running.
  int collect();
  void died(int rank, int status);
  void killAll();

  Run &run;
  SignalWatch &watch;
  std::vector<pid_t> children; // 0: not running
};

} // namespace

Status Launcher::forkAll(const sigset_t &oldMask) {
  pid_t parent = getpid();
  for (int rank = 0; rank < run.worldSize(); ++rank) {
    pid_t child = fork();
    if (child < 0)
      return Status::error(std::string("cannot start a rank: ") +
                           std::strerror(errno));
    if (child > 0) {
      children[rank] = child;
      continue;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(1);
    sigprocmask(SIG_SETMASK, &oldMask, nullptr);
    _exit(runRank(run, rank) ? 0 : 1);
  }
  return Status::success();
}

void Launcher::died(int rank, int status) {
  RankRecord &record = run.record(rank);
  if (record.failed.load() || (record.finished.load() && WIFEXITED(status)))
    return;
  run.died(rank, howItEnded(status));
}

int Launcher::collect() {
  int running = 0;
  for (size_t rank = 0; rank < children.size(); ++rank) {
    if (children[rank] == 0)
      continue;
    int status = 0;
    pid_t ended = waitpid(children[rank], &status, WNOHANG);
    if (ended == 0) {
      ++running;
      continue;
    }
    children[rank] = 0;
    if (ended > 0)
      died(int(rank), status);
  }
  return running;
}

void Launcher::killAll() {
  for (pid_t child : children)
    if (child > 0)
      kill(child, SIGKILL);
  for (pid_t &child : children) {
    if (child > 0)
      waitpid(child, nullptr, 0);
    child = 0;
  }
}

void Launcher::waitForAll(const sigset_t &ended) {
  double abortedAt = 0;
  while (collect() > 0) {
    timespec slice = {0, 100000000};
    sigtimedwait(&ended, nullptr, &slice);
    if (!run.fabric.aborted().load())
      continue;
    if (abortedAt == 0)
      abortedAt = monotonicSeconds();
    if (monotonicSeconds() - abortedAt > graceSeconds)
      killAll();
  }
}

int Launcher::launch(std::string &message) {
  sigset_t ended, oldMask;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &ended, &oldMask);
  Status started = forkAll(oldMask);
  if (started.ok())
    started = watch.start();
  if (started.failed()) {
    killAll();
    message = started.message();
    return 1;
  }
  waitForAll(ended);
  int first = run.firstFailure().load();
  if (first < 0)
    return 0;
  message = run.record(first).message;
  return 1;
}

int launchRanks(Run &run, SignalWatch &watch, std::string &message) {
  if (run.worldSize() > 1)
    return Launcher(run, watch).launch(message);
  Status started = watch.start();
  if (started.ok() && runRank(run, 0))
    return 0;
  message = started.failed() ? started.message() : run.record(0).message;
  return 1;
}

} // namespace autopar::runtime
