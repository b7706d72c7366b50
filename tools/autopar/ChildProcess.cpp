//===- ChildProcess.cpp - A program that another one runs -----------------===//

#include "ChildProcess.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

extern char **environ;

namespace autopar::driver {

/// The process that runs; 0: none.
static std::atomic<pid_t> running{0};
static std::atomic<int> came{0};

static void passOn(int signal) {
  int none = 0;
  came.compare_exchange_strong(none, signal);
  if (pid_t child = running.load())
    kill(child, signal);
}

void passOnSignals() {
  for (int signal : {SIGINT, SIGTERM})
    std::signal(signal, passOn);
}

int signalThatCame() { return came.load(); }

static std::vector<char *> pointersTo(ArrayRef<std::string> words) {
  std::vector<char *> pointers;
  for (const std::string &word : words)
    pointers.push_back(const_cast<char *>(word.c_str()));
  return pointers;
}

/// This process's, with what the place gives instead of what is there.
static std::vector<char *> environmentOf(const ChildPlace &place) {
  std::vector<char *> entries = pointersTo(place.environment);
  for (char **entry = environ; *entry; ++entry) {
    StringRef name = StringRef(*entry).split('=').first;
    if (none_of(place.environment, [&](StringRef given) {
          return given.split('=').first == name;
        }))
      entries.push_back(*entry);
  }
  entries.push_back(nullptr);
  return entries;
}

/// Makes the new process the program, or tells `failures` why that cannot be.
[[noreturn]] static void become(char **arguments, char **environment,
                                const ChildPlace &place, pid_t parent,
                                const sigset_t &signals, int failures) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) // it ended before that
    _exit(128 + SIGTERM);
  if (place.output >= 0)
    dup2(place.output, STDOUT_FILENO);
  for (int signal : {SIGINT, SIGTERM})
    std::signal(signal, SIG_DFL);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  execvpe(arguments[0], arguments, environment);
  int why = errno;
  (void)!write(failures, &why, sizeof(why));
  _exit(127);
}

/// Why the process has not become the program; 0: it has.
static int failureOf(int failures) {
  int why = 0;
  while (read(failures, &why, sizeof(why)) < 0 && errno == EINTR)
    continue;
  return why;
}

/// 0: a signal came before. One that comes meanwhile is for the new process.
static Expected<pid_t> start(ArrayRef<std::string> command,
                             const ChildPlace &place) {
  std::vector<char *> arguments = pointersTo(command),
                      environment = environmentOf(place);
  arguments.push_back(nullptr);
  int failures[2];
  if (pipe2(failures, O_CLOEXEC) != 0)
    return createStringError(std::string("cannot make a pipe: ") +
                             std::strerror(errno));
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  bool isEnding = signalThatCame() != 0;
  pid_t parent = getpid(), child = isEnding ? 0 : fork();
  if (child == 0 && !isEnding)
    become(arguments.data(), environment.data(), place, parent, before,
           failures[1]);
  int why = child < 0 ? errno : 0;
  running.store(child < 0 ? 0 : child);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(failures[1]);
  if (child > 0)
    why = failureOf(failures[0]);
  close(failures[0]);
  if (why == 0)
    return child; // 0: none
  running.store(0);
  if (child > 0)
    waitpid(child, nullptr, 0);
  return createStringError("cannot start " + command.front() + ": " +
                           std::strerror(why));
}

Expected<int> runChild(ArrayRef<std::string> command, const ChildPlace &place,
                       function_ref<bool()> watch) {
  auto child = start(command, place);
  if (!child)
    return child.takeError();
  if (*child == 0)
    return 128 + signalThatCame();
  const timespec slice = {0, 10000000};
  int status = 0;
  bool watches = true;
  for (;;) {
    watches = watches && watch();
    pid_t ended = waitpid(*child, &status, watches ? WNOHANG : 0);
    if (ended == *child || (ended < 0 && errno != EINTR))
      break;
    if (watches)
      nanosleep(&slice, nullptr);
  }
  running.store(0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Expected<std::string> makeAnswerFile() {
  SmallString<64> path;
  int descriptor = -1;
  if (std::error_code code =
          sys::fs::createTemporaryFile("autopar", "json", descriptor, path))
    return createStringError(code,
                             "cannot make a temporary file: " + code.message());
  ::close(descriptor);
  return path.str().str();
}

} // namespace autopar::driver
