//===- RunCommand.cpp - autopar run ---------------------------------------===//

#include "Commands.h"
#include "checkpoint/CheckpointFolder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

extern char **environ;

namespace autopar::driver {

namespace {

/// The process that runs; 0: none. A signal to this command is for it.
std::atomic<pid_t> running{0};
void passOn(int signal) {
  if (pid_t child = running.load())
    kill(child, signal);
}

/// Exit codes of an executable: what it was called with is wrong, and it was
/// asked to end.
constexpr int kBadCall = 2, kInterrupted = 128 + SIGINT,
              kTerminated = 128 + SIGTERM;

class Restarts {
public:
  int64_t most = 3;
  bool shrinks = false;

  /// `command`: an executable and its arguments.
  int run(std::vector<std::string> command);

private:
  Error prepare(std::vector<std::string> &command);
  Error readRanks(const std::string &program);
  std::string valueOf(ArrayRef<std::string> command, StringRef option) const;
  std::string stepsText() const;

  std::string folder, log;
  std::set<int64_t, std::greater<>> numbers; // of ranks, that can be chosen
  int64_t ranks = 0;                         // of those, if it shrinks
};

} // namespace

/// Starts a process; its exit code, 128 and the signal where one killed it.
/// `output`, unless it is negative, is its stdout.
static Expected<int> startAndWait(ArrayRef<std::string> command,
                                  int output = -1) {
  std::vector<char *> arguments;
  for (const std::string &word : command)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output >= 0)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t child = 0;
  int failed = posix_spawnp(&child, arguments[0], &actions, nullptr,
                            arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed)
    return createStringError("cannot start " + command.front() + ": " +
                             std::strerror(failed));
  running.store(child);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    continue;
  running.store(0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// The value of `--option VALUE` or `--option=VALUE`; "" where it is not given.
std::string Restarts::valueOf(ArrayRef<std::string> command,
                              StringRef option) const {
  for (size_t i = 1; i < command.size(); ++i) {
    StringRef word = command[i];
    if (word == option)
      return i + 1 < command.size() ? command[i + 1] : "";
    if (word.consume_front(option) && word.consume_front("="))
      return word.str();
  }
  return "";
}

/// For which numbers of ranks the program was compiled.
Error Restarts::readRanks(const std::string &program) {
  SmallString<64> path;
  int descriptor = -1;
  if (std::error_code code =
          sys::fs::createTemporaryFile("autopar", "json", descriptor, path))
    return createStringError(code,
                             "cannot make a temporary file: " + code.message());
  auto code = startAndWait({program, "--describe", "--json", path.str().str()},
                           ::open("/dev/null", O_WRONLY | O_CLOEXEC));
  auto buffer = MemoryBuffer::getFile(path);
  ::close(descriptor);
  (void)sys::fs::remove(path);
  if (!code)
    return code.takeError();
  if (*code != 0 || !buffer)
    return createStringError(program + " --describe ended with code " +
                             Twine(*code));
  auto value = json::parse((*buffer)->getBuffer());
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  const json::Array *entries = object ? object->getArray("entries") : nullptr;
  for (const json::Value &entry : entries ? *entries : json::Array())
    if (const json::Object *one = entry.getAsObject())
      if (auto number = one->getInteger("ranks"))
        numbers.insert(*number);
  return Error::success();
}

Error Restarts::prepare(std::vector<std::string> &command) {
  folder = valueOf(command, "--checkpoint");
  log = valueOf(command, "--log");
  if (folder.empty())
    return createStringError("what runs again goes on from its checkpoints: "
                             "add --checkpoint DIR to its arguments");
  if (valueOf(command, "--resume").empty()) {
    command.push_back("--resume");
    command.push_back("auto");
  }
  if (!shrinks)
    return Error::success();
  if (Error error = readRanks(command.front()))
    return error;
  std::string asked = valueOf(command, "--ranks");
  if (!asked.empty() && StringRef(asked).getAsInteger(10, ranks))
    return createStringError("--ranks " + asked + " is no number");
  if (numbers.size() < 2)
    return createStringError(
        "--shrink takes fewer ranks, but the program was compiled for one "
        "number of them: compile it with --ranks 4,3,2,1");
  if (asked.empty())
    ranks = *numbers.begin(); // the most
  return Error::success();
}

/// Tells from which step the run goes on, and how many steps that its log has
/// are taken again.
std::string Restarts::stepsText() const {
  std::vector<int64_t> steps = runtime::CheckpointFolder(folder).steps();
  int64_t saved = steps.empty() ? 0 : steps.front();
  std::string text = steps.empty() ? "from its beginning"
                                   : "from step " + std::to_string(saved);
  if (log.empty() || goesToStdout(log))
    return text;
  auto buffer = MemoryBuffer::getFile(log);
  if (!buffer)
    return text;
  int64_t taken = 0;
  for (StringRef line : split((*buffer)->getBuffer(), '\n')) {
    auto value = json::parse(line);
    if (!value) {
      consumeError(value.takeError());
      continue;
    }
    if (const json::Object *object = value->getAsObject())
      taken = std::max(taken, object->getInteger("step").value_or(-1) + 1);
  }
  int64_t again = std::max<int64_t>(0, taken - saved);
  return text + ", " + std::to_string(again) +
         (again == 1 ? " step is" : " steps are") + " taken again";
}

int Restarts::run(std::vector<std::string> command) {
  if (Error error = prepare(command))
    return complain("run: " + toString(std::move(error)));
  for (int64_t restarts = 0;; ++restarts) {
    std::vector<std::string> words = command;
    if (shrinks)
      words.insert(words.end(), {"--ranks", std::to_string(ranks)});
    auto began = std::chrono::steady_clock::now();
    auto code = startAndWait(words);
    if (!code)
      return complain("run: " + toString(code.takeError()));
    if (*code == 0 || *code == kBadCall || *code == kInterrupted ||
        *code == kTerminated)
      return *code;
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - began;
    std::string ended = formatv("run: {0} ended with code {1} after {2:f1} s",
                                command.front(), *code, took.count());
    if (restarts == most)
      return complain(ended + "; it was started again " + Twine(most) +
                      (most == 1 ? " time" : " times") +
                      " (--max-restarts), and no more");
    if (shrinks) {
      auto fewer = numbers.upper_bound(ranks);
      if (fewer == numbers.end())
        return complain(ended + "; there is no smaller number of ranks");
      ranks = *fewer;
    }
    errs() << "autopar: note: " << printable(ended) << "; it goes on "
           << printable(stepsText())
           << (shrinks ? ", on " + std::to_string(ranks) +
                             (ranks == 1 ? " rank" : " ranks")
                       : "")
           << " (" << restarts + 1 << " of " << most << ")\n";
  }
}

int runCommand(ArrayRef<const char *> arguments) {
  const auto *dashes =
      find_if(arguments, [](StringRef argument) { return argument == "--"; });
  Restarts restarts;
  CommandLine line;
  line.usage = "autopar run [options] -- EXE ARGUMENTS --checkpoint DIR";
  line.about =
      "Runs a training, and where it dies starts it again from its last "
      "checkpoint\n(docs/Checkpoints.md). At Ctrl-C and SIGTERM it ends.";
  line.options.push_back(number(
      "max-restarts", "N", "so many times at most (default 3)", restarts.most));
  line.options.push_back(
      flag("shrink",
           "each time on the next smaller number of ranks that the program "
           "was\n                             compiled for (--ranks 4,3,2,1)",
           restarts.shrinks));
  int code = 0;
  if (dashes == arguments.end() && !arguments.empty() &&
      !StringRef(arguments.front()).starts_with("-"))
    return complain("run: write -- before the program, autopar run -- " +
                    Twine(arguments.front()) + " ...");
  if (parseOrExit(line, ArrayRef(arguments.begin(), dashes), code))
    return code;
  if (dashes == arguments.end() || dashes + 1 == arguments.end())
    return complain("run: nothing to run; usage: " + line.usage);
  for (int signal : {SIGINT, SIGTERM})
    std::signal(signal, passOn);
  return restarts.run(std::vector<std::string>(dashes + 1, arguments.end()));
}

} // namespace autopar::driver
