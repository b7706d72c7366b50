//===- RankChoice.cpp - With which ranks a training goes on ---------------===//

#include "RankChoice.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace autopar::driver {

constexpr char kGpuVariable[] = "CUDA_VISIBLE_DEVICES";
constexpr int64_t kMostDeaths = 2; // of ranks on a device

std::string valueOf(ArrayRef<std::string> command, StringRef option) {
  std::string value; // the last one, as executables take it
  for (size_t i = 1; i < command.size(); ++i) {
    StringRef word = command[i];
    if (word == option)
      value = i + 1 < command.size() ? command[i + 1] : "";
    else if (word.consume_front(option) && word.consume_front("="))
      value = word.str();
  }
  return value;
}

static std::string countOf(int64_t ranks) {
  return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
}

void RankChoice::addTo(CommandLine &line) {
  line.options.push_back(
      flag("shrink",
           "at once on the next smaller number of ranks that the program was\n"
           "compiled for (--ranks 4,3,2,1)",
           shrinks));
  line.options.push_back(number("min-ranks", "M",
                                "not on fewer ranks than these (default 1)",
                                leastRanks));
}

/// Asks the program for which numbers of ranks it was compiled.
Error RankChoice::readNumbers(StringRef program) {
  auto path = makeAnswerFile();
  if (!path)
    return path.takeError();
  ChildPlace place;
  place.output = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  auto code = runChild({program.str(), "--describe", "--json", *path}, place);
  auto buffer = MemoryBuffer::getFile(*path);
  ::close(place.output);
  (void)sys::fs::remove(*path);
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
      if (auto count = one->getInteger("ranks"))
        numbers.insert(*count);
  return Error::success();
}

Error RankChoice::prepare(ArrayRef<std::string> command) {
  std::string asked = valueOf(command, "--ranks");
  int64_t given = 0;
  if (!asked.empty() && StringRef(asked).getAsInteger(10, given))
    return createStringError("--ranks " + asked + " is no number");
  if (given > 0 && given < leastRanks)
    return createStringError("--ranks " + asked + " is below --min-ranks " +
                             Twine(leastRanks));
  if (!shrinks && leastRanks <= 1)
    return Error::success();
  if (Error error = readNumbers(command.front())) {
    if (shrinks)
      return error;
    consumeError(std::move(error)); // a script cannot be asked
  }
  if (!numbers.empty() && *numbers.begin() < leastRanks)
    return createStringError("the program was compiled for at most " +
                             countOf(*numbers.begin()) +
                             ", and --min-ranks is " + Twine(leastRanks));
  if (!shrinks)
    return Error::success();
  if (numbers.size() < 2)
    return createStringError(
        "--shrink takes fewer ranks, but the program was compiled for one "
        "number of them: compile it with --ranks 4,3,2,1");
  ranks = given > 0 ? given : *numbers.begin(); // the most
  return Error::success();
}

/// The next smaller number that may be chosen; 0: there is none.
int64_t RankChoice::fewerThan(int64_t most) const {
  auto fewer = numbers.upper_bound(most);
  return fewer == numbers.end() || *fewer < leastRanks ? 0 : *fewer;
}

/// Ranks are numbered anew.
std::string RankChoice::shrinkTo(int64_t number) {
  ranks = number;
  deaths.clear();
  return ", on " + countOf(number);
}

/// The GPUs that ranks may have, as CUDA_VISIBLE_DEVICES calls them.
static std::vector<std::string> visibleGpus() {
  std::vector<std::string> names;
  if (const char *listed = std::getenv(kGpuVariable)) {
    for (StringRef name : split(StringRef(listed), ','))
      names.push_back(name.trim().str());
    return names;
  }
  for (int number = 0; sys::fs::exists("/dev/nvidia" + std::to_string(number));
       ++number)
    names.push_back(std::to_string(number));
  return names;
}

/// A GPU by its name; a rank of the CPU has no core of its own and stands for
/// itself.
std::string RankChoice::deviceOf(const RunFailure &failure) {
  if (failure.target == "cuda" && gpus.empty())
    gpus = visibleGpus();
  size_t number = size_t(failure.rank);
  return number < gpus.size() ? "GPU " + gpus[number]
                              : "rank " + std::to_string(number);
}

/// Leaves out the device of the rank that failed.
Expected<std::string> RankChoice::takeOut(const RunFailure &failure,
                                          const std::string &device) {
  std::string why = ", rank " + std::to_string(failure.rank) + " has died " +
                    std::to_string(kMostDeaths) + " times";
  int64_t fewer = fewerThan(failure.ranks);
  if (size_t(failure.rank) >= gpus.size())
    return fewer ? why + shrinkTo(fewer) : std::string();
  gpus.erase(gpus.begin() + failure.rank);
  isLimited = true;
  why += " on " + device + ", which is left out";
  if (gpus.size() >= size_t(failure.ranks))
    return why;
  if (fewer)
    return why + shrinkTo(fewer);
  return createStringError(
      StringRef(why).drop_front(2) +
      ", and the program was not compiled for fewer than " +
      countOf(failure.ranks) + ", or --min-ranks asks for them");
}

Expected<std::string> RankChoice::chooseAgain(ArrayRef<std::string> command,
                                              const RunFailure &failure) {
  if (shrinks) {
    int64_t fewer = fewerThan(ranks);
    return fewer ? shrinkTo(fewer)
                 : ", on " + countOf(ranks) + ", the fewest that may be";
  }
  if (failure.rank < 0 || failure.ranks < 2)
    return "";
  std::string device = deviceOf(failure);
  if (++deaths[device] < kMostDeaths)
    return "";
  deaths.erase(device);
  // A script that runs the program cannot be asked: the ranks stay as they are.
  if (numbers.empty())
    if (Error error = readNumbers(command.front()))
      consumeError(std::move(error));
  return takeOut(failure, device);
}

void RankChoice::apply(std::vector<std::string> &command,
                       ChildPlace &place) const {
  if (isLimited)
    place.environment.push_back(std::string(kGpuVariable) + "=" +
                                join(gpus, ","));
  if (ranks == 0)
    return;
  for (size_t i = 1; i < command.size();)
    if (StringRef word = command[i]; word == "--ranks")
      command.erase(command.begin() + i,
                    command.begin() + std::min(i + 2, command.size()));
    else if (word.starts_with("--ranks="))
      command.erase(command.begin() + i);
    else
      ++i;
  command.push_back("--ranks");
  command.push_back(std::to_string(ranks));
}

} // namespace autopar::driver
