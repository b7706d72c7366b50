//===- Workers.cpp - The workers of a session -----------------------------===//

#include "Workers.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
/// The thread sanitizer takes each call of clone for a fork.
extern "C" int __clone(int (*)(void *), void *, int, void *, ...);
#define clone __clone
#endif
#endif

namespace autopar::runtime {

static constexpr int64_t stackBytes = 64 << 10;

//===----------------------------------------------------------------------===//
// Starting
//===----------------------------------------------------------------------===//

namespace {
/// The arguments of new processes, and their results.
struct Birth {
  const char *program;
  int socket;
  char *stack; // of the process that starts
  int process; // its pidfd
  int error;   // errno
};
} // namespace

/// Runs in the new process, which shares the owner's memory until it runs the
/// program, as after vfork: nothing here may change that memory.
static int becomeProgram(void *argument) {
  const Birth &birth = *static_cast<const Birth *>(argument);
  setpgid(0, 0);
  // The owner's handlers are of no use here, and it may ignore the ends of
  // children, which the program waits for.
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action;
    if (sigaction(signal, nullptr, &action) == 0 &&
        action.sa_handler != SIG_DFL &&
        (action.sa_handler != SIG_IGN || signal == SIGCHLD)) {
      action = {};
      action.sa_handler = SIG_DFL;
      sigaction(signal, &action, nullptr);
    }
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0)
    dup2(nothing, STDIN_FILENO);
  bool moved = birth.socket == workerSocket
                   ? fcntl(birth.socket, F_SETFD, 0) == 0
                   : dup2(birth.socket, workerSocket) == workerSocket;
  if (!moved)
    _exit(127);
  syscall(SYS_close_range, unsigned(workerSocket + 1), ~0U, 0);
  const char *arguments[] = {birth.program, workerArgument, nullptr};
  execve(birth.program, const_cast<char *const *>(arguments), environ);
  _exit(127);
}

/// Runs in a process between the two, with the owner's memory and descriptors:
/// as it ends, its child is nobody's that could get signals of it.
static int startProgram(void *argument) {
  Birth &birth = *static_cast<Birth *>(argument);
  int started = clone(becomeProgram, birth.stack + stackBytes,
                      CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, argument,
                      &birth.process);
  birth.error = started < 0 ? errno : 0;
  _exit(0);
}

static Status failure(const std::string &what, int error) {
  return Status::error("cannot start the ranks' processes: " + what + ": " +
                       std::strerror(error));
}

/// Starts the program with the socket.
static Status start(const std::string &program, int socket, int &process) {
  Buffer stacks;
  APRT_TRY(stacks.allocate(2 * stackBytes, "the start of a process", nullptr));
  char *stack = static_cast<char *>(stacks.data());
  Birth birth = {program.c_str(), socket, stack, -1, 0};
  // A handler of the owner's must not run in a process with its memory.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // The owner gets no signal of its end.
  pid_t between = clone(startProgram, stack + 2 * stackBytes,
                        CLONE_VM | CLONE_VFORK | CLONE_FILES, &birth);
  int error = between < 0 ? errno : birth.error;
  while (between > 0 && waitpid(between, nullptr, __WALL) < 0 && errno == EINTR)
    ;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  process = birth.process;
  return error ? failure("clone", error) : Status::success();
}

Status Workers::start(const std::string &program, WorkerSetup setup,
                      const SharedMemory &memory) {
  firstRank = setup.first;
  setup.bytes = memory.size();
  wake = eventfd(0, EFD_CLOEXEC);
  int sockets[2];
  if (wake < 0 ||
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return failure("its descriptors", errno);
  socket = sockets[0];
  Status status = runtime::start(program, sockets[1], process);
  close(sockets[1]);
  APRT_TRY(status);
  int owner = int(syscall(SYS_pidfd_open, getpid(), 0));
  if (owner < 0)
    return failure("pidfd_open", errno);
  status = sendSetup(socket, setup, memory.descriptor(), owner);
  close(owner);
  thread = std::thread([this] { watch(); });
  // A process that has ended takes no setup; it has said why.
  return status.failed() && death().empty() ? status : Status::success();
}

//===----------------------------------------------------------------------===//
// Watching
//===----------------------------------------------------------------------===//

/// Their process ends when all ranks have; before its time that is a failure.
void Workers::watch() {
  pollfd waits[] = {{wake, POLLIN, 0}, {process, POLLIN, 0}};
  while (poll(waits, 2, -1) < 0)
    ;
  if (!waits[1].revents)
    return;
  // An owner that inherits orphans has it as a child after all.
  siginfo_t info;
  waitid(P_PIDFD, id_t(process), &info, WEXITED | WNOHANG | __WALL);
  char text[RankRecord::messageBytes];
  ssize_t got = recv(socket, text, sizeof(text), MSG_DONTWAIT);
  std::lock_guard<std::mutex> lock(mutex);
  deathText = got > 0 ? std::string(text, size_t(got))
                      : "the process of the session's ranks has ended";
  world.endWaits();
}

std::string Workers::death() {
  std::lock_guard<std::mutex> lock(mutex);
  return deathText;
}

void Workers::end(double seconds) {
  pollfd wait = {process, POLLIN, 0};
  if (process >= 0)
    poll(&wait, 1, int(seconds * 1000));
}

Workers::~Workers() {
  if (process >= 0)
    syscall(SYS_pidfd_send_signal, process, SIGKILL, nullptr, 0);
  if (thread.joinable()) {
    eventfd_write(wake, 1);
    thread.join();
  }
  if (process >= 0) {
    siginfo_t info;
    waitid(P_PIDFD, id_t(process), &info, WEXITED | WNOHANG | __WALL);
  }
  for (int descriptor : {process, socket, wake})
    if (descriptor >= 0)
      close(descriptor);
}

} // namespace autopar::runtime
