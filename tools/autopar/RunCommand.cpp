//===- RunCommand.cpp - autopar run ---------------------------------------===//

#include "ChildProcess.h"
#include "Commands.h"
#include "RankChoice.h"
#include "TrainingTrail.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <csignal>
#include <optional>
#include <unistd.h>

using namespace llvm;

namespace autopar::driver {

namespace {

using Clock = std::chrono::steady_clock;

/// Exit codes of an executable: what it was called with is wrong, and it was
/// asked to end.
constexpr int kBadCall = 2, kInterrupted = 128 + SIGINT,
              kTerminated = 128 + SIGTERM;

class Restarts {
public:
  int64_t most = 3;
  RankChoice choice;

  /// `command`: an executable and its arguments.
  int run(std::vector<std::string> command);

private:
  Error prepare(std::vector<std::string> &command);
  Expected<int> runOnce(std::vector<std::string> command);
  std::string whyNoMore(int code, int64_t restarts,
                        const RunFailure &before) const;
  void tellStep() const;

  std::optional<TrainingTrail> trail;
  RunFailure failure;      // of the last run
  std::string mark;        // of the trail before the last run
  Clock::time_point death; // of the last run
  bool isRestart = false;
};

} // namespace

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Fails where there is no such program, by its path or on the PATH.
static Error checkProgram(StringRef name) {
  std::error_code why;
  if (!name.contains('/'))
    why = sys::findProgramByName(name).getError();
  else if (!sys::fs::exists(name))
    why = std::make_error_code(std::errc::no_such_file_or_directory);
  else if (!sys::fs::can_execute(name))
    why = std::make_error_code(std::errc::permission_denied);
  return why ? createStringError("cannot start " + name + ": " + why.message())
             : Error::success();
}

/// Fails where a folder that the command names can hold no checkpoints.
static Error checkFolder(StringRef option, StringRef folder, bool mustBeThere) {
  bool isThere = sys::fs::exists(folder);
  if (isThere ? !sys::fs::is_directory(folder) : mustBeThere)
    return createStringError(option + " " + folder + ": " +
                             (isThere ? "it is a file, but must be a folder"
                                      : "there is no such folder"));
  return Error::success();
}

Error Restarts::prepare(std::vector<std::string> &command) {
  if (Error error = checkProgram(command.front()))
    return error;
  std::string folder = valueOf(command, "--checkpoint"),
              resumed = valueOf(command, "--resume");
  if (folder.empty())
    return createStringError("what runs again goes on from its checkpoints: "
                             "add --checkpoint DIR to its arguments");
  if (Error error = checkFolder("--checkpoint", folder, /*mustBeThere=*/false))
    return error;
  if (!resumed.empty() && resumed != "auto")
    if (Error error = checkFolder("--resume", resumed, /*mustBeThere=*/true))
      return error;
  trail.emplace(folder, valueOf(command, "--log"));
  if (resumed.empty()) {
    command.push_back("--resume");
    command.push_back("auto");
  }
  return choice.prepare(command);
}

void Restarts::tellStep() const {
  errs() << formatv("autopar: note: the next step was taken {0:f2} s after the "
                    "death\n",
                    secondsSince(death));
}

/// One run; what it told of its failure is in `failure` then.
Expected<int> Restarts::runOnce(std::vector<std::string> command) {
  auto path = makeAnswerFile();
  if (!path)
    return path.takeError();
  ChildPlace place;
  place.environment.push_back("AUTOPAR_FAILURE=" + *path);
  choice.apply(command, place);
  mark = trail->mark();
  trail->awaitStep();
  auto code = runChild(command, place, [&] {
    bool isThere = isRestart && trail->hasStep();
    if (isThere)
      tellStep();
    return isRestart && !isThere;
  });
  death = Clock::now();
  isRestart = true;
  failure = readFailure(*path);
  (void)sys::fs::remove(*path);
  return code;
}

/// Why a run that ended so is not started again; "" if it is. An error that
/// comes twice before any step was taken comes a third time.
std::string Restarts::whyNoMore(int code, int64_t restarts,
                                const RunFailure &before) const {
  if (failure.hasEnded)
    return "all steps are taken, it is not started again";
  bool isTold = failure.steps >= 0;
  bool isSame = isTold ? failure.steps == 0 && before.steps == 0 &&
                             failure.message == before.message &&
                             failure.ranks == before.ranks
                       : code < 128 && restarts > 0 && before.steps < 0 &&
                             trail->mark() == mark;
  if (isSame)
    return "it ended so twice before a step was taken, and is not started "
           "again";
  if (restarts == most)
    return ("it was started again " + Twine(most) +
            (most == 1 ? " time" : " times") + " (--max-restarts), and no more")
        .str();
  return "";
}

/// The exit code of a call that is wrong, as an executable's.
static int refuse(const Twine &message) {
  (void)complain("run: " + message);
  return kBadCall;
}

int Restarts::run(std::vector<std::string> command) {
  if (Error error = prepare(command))
    return refuse(toString(std::move(error)));
  for (int64_t restarts = 0;; ++restarts) {
    RunFailure before = failure;
    auto began = Clock::now();
    auto code = runOnce(command);
    if (!code)
      return complain("run: " + toString(code.takeError()));
    if (*code == kBadCall)
      errs() << "autopar: note: run: what " << printable(command.front())
             << " was called with is wrong (exit code 2): it is not started "
                "again\n";
    if (*code == 0 || *code == kBadCall || *code == kInterrupted ||
        *code == kTerminated)
      return *code;
    if (int signal = signalThatCame())
      return 128 + signal;
    std::string ended = formatv("run: {0} ended with code {1} after {2:f1} s",
                                command.front(), *code, secondsSince(began));
    if (std::string why = whyNoMore(*code, restarts, before); !why.empty())
      return complain(ended + "; " + why);
    auto chosen = choice.chooseAgain(command, failure);
    if (!chosen)
      return complain(ended + "; " + toString(chosen.takeError()));
    errs() << "autopar: note: " << printable(ended) << "; it goes on "
           << printable(trail->textOfRestart() + *chosen) << " ("
           << restarts + 1 << " of " << most << ")\n";
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
  restarts.choice.addTo(line);
  int code = 0;
  if (dashes == arguments.end() && !arguments.empty() &&
      !StringRef(arguments.front()).starts_with("-"))
    return refuse("write -- before the program, autopar run -- " +
                  Twine(arguments.front()) + " ...");
  if (parseOrExit(line, ArrayRef(arguments.begin(), dashes), code))
    return code ? kBadCall : 0;
  if (dashes == arguments.end() || dashes + 1 == arguments.end())
    return refuse("nothing to run; usage: " + line.usage);
  passOnSignals();
  return restarts.run(std::vector<std::string>(dashes + 1, arguments.end()));
}

} // namespace autopar::driver
