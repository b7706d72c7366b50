//===- Program.cpp - The programs of an executable ------------------------===//
//
// [stub ELF][padding to 4096][weights][trailer]([program .so][trailer])...; see
// docs/RuntimeABI.md. A program that is linked with the runtime is its only
// one.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "../core/Api.h"
#include "../files/FileReader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

// These symbols belong to a program that is linked in; they are null in the
// stub.
extern "C" {
extern const aprt_stage_functions aprt_program_stages[] __attribute__((weak));
extern const char aprt_program_manifest[] __attribute__((weak));
extern const char aprt_program_device_code[] __attribute__((weak));
extern const char aprt_program_device_ptx[] __attribute__((weak));
}

namespace autopar::runtime {

namespace {
struct Trailer {
  char magic[8];
  uint64_t offset;
  uint64_t size;
  uint64_t checksum;
};
static_assert(sizeof(Trailer) == 32);
} // namespace

static constexpr const char *ownPath = "/proc/self/exe";
static constexpr const char *programMagic = "AUTOPAR2";
/// Older programs, which looked the runtime's functions up by name, end so.
static constexpr const char *olderProgramMagic = "AUTOPAR1";
static constexpr const char *weightsMagic = "AUTOPARW";

static uint64_t checksum(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
  for (char byte : bytes)
    hash = (hash ^ uint8_t(byte)) * 0x100000001b3u;
  return hash;
}

/// Reads the trailer of that kind that ends at `end`, if there is one.
static Status readTrailer(FileReader &file, int64_t end, const char *magic,
                          Trailer &trailer, bool &found) {
  found = end > int64_t(sizeof(Trailer));
  if (found)
    APRT_TRY(
        file.read(end - int64_t(sizeof(Trailer)), sizeof(Trailer), &trailer));
  found = found && std::memcmp(trailer.magic, magic, 8) == 0;
  return Status::success();
}

/// Reads the trailer of the weights that the compiler wrote before the first
/// program, which begins at `end`.
static Status readMadeWeights(FileReader &file, int64_t end,
                              MadeWeights &made) {
  Trailer trailer{};
  APRT_TRY(readTrailer(file, end, weightsMagic, trailer, made.isKnown));
  if (!made.isKnown)
    return Status::success();
  uint64_t room = uint64_t(end) - sizeof(Trailer);
  bool isEmbedded = trailer.offset > 0;
  if (trailer.size > uint64_t(INT64_MAX) / 2 ||
      (isEmbedded &&
       (trailer.offset > room || trailer.size != room - trailer.offset)))
    return Status::error("the executable is damaged: its weights are not "
                         "where their trailer says");
  made.offset = int64_t(trailer.offset);
  made.size = int64_t(trailer.size);
  made.content = trailer.checksum;
  return Status::success();
}

/// Reads the program before a trailer, which begins at `end`.
static Status readProgram(FileReader &file, int64_t end, const Trailer &trailer,
                          std::vector<char> &bytes) {
  if (trailer.offset > uint64_t(end) || trailer.size == 0 ||
      trailer.size != uint64_t(end) - trailer.offset)
    return Status::error("the executable is damaged: its program is not "
                         "where its trailer says");
  bytes.resize(trailer.size);
  APRT_TRY(
      file.read(int64_t(trailer.offset), int64_t(trailer.size), bytes.data()));
  if (checksum({bytes.data(), bytes.size()}) != trailer.checksum)
    return Status::error("the executable is damaged: the checksum of its "
                         "program is wrong; copy or compile it again");
  return Status::success();
}

/// Explains why a file has no program that this runtime loads.
static Status noProgram(FileReader &file) {
  Trailer trailer{};
  bool isOlder = false;
  APRT_TRY(readTrailer(file, file.size(), olderProgramMagic, trailer, isOlder));
  if (isOlder)
    return Status::error("the program was compiled for ABI 5 or less of the "
                         "runtime, not " +
                         std::to_string(APRT_ABI_VERSION) +
                         "; compile the model again");
  std::string what = file.path() == ownPath
                         ? "this is the bare runtime without a program"
                         : "'" + file.path() + "' has no program of autopar";
  return Status::error(what +
                       "; `autopar compile MODEL -o EXE` makes an executable");
}

/// Reads the programs. Each is followed by its trailer, so they are found
/// backwards from the last one.
static Status readPrograms(const std::string &path,
                           std::vector<std::vector<char>> &programs,
                           MadeWeights &made) {
  FileReader file;
  APRT_TRY(file.open(path));
  int64_t end = file.size();
  for (;;) {
    Trailer trailer{};
    bool found = false;
    APRT_TRY(readTrailer(file, end, programMagic, trailer, found));
    if (!found)
      break;
    programs.emplace_back();
    APRT_TRY(readProgram(file, end - int64_t(sizeof(Trailer)), trailer,
                         programs.back()));
    end = int64_t(trailer.offset);
  }
  if (programs.empty())
    return noProgram(file);
  std::reverse(programs.begin(), programs.end());
  return readMadeWeights(file, end, made);
}

/// Loads the shared object from memory. The file stays open for as long as the
/// program is loaded: dlopen takes two of the same path for one. Names are
/// looked up as they are called: kernels of the emulated GPU find theirs in the
/// stub only, but what else the program says of itself can be read anywhere.
static Status openProgram(const std::vector<char> &bytes, Program &program) {
  int &descriptor = program.descriptor;
  descriptor = memfd_create("autopar-program", MFD_CLOEXEC);
  if (descriptor < 0)
    return Status::error(std::string("cannot load the program: ") +
                         std::strerror(errno));
  std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t put = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return Status::error(std::string("cannot load the program: ") +
                           std::strerror(errno));
    done += size_t(put);
  }
  program.handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!program.handle)
    return Status::error(std::string("cannot load the program: ") + dlerror());
  return Status::success();
}

static Status checkCpu(const std::vector<std::string> &needed) {
  std::ifstream info("/proc/cpuinfo");
  std::set<std::string> present;
  for (std::string line; std::getline(info, line);) {
    if (line.compare(0, 5, "flags") != 0)
      continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;)
      present.insert(word);
    break;
  }
  std::string missing;
  for (const std::string &feature : needed)
    if (!present.count(feature))
      missing += (missing.empty() ? "" : ", ") + feature;
  if (missing.empty())
    return Status::success();
  return Status::error("this host's CPU lacks " + missing +
                       ", for which the program was compiled; compile it again "
                       "for this host: on it, or with --cpu NAME of a CPU "
                       "that is no newer (x86-64-v3, x86-64)");
}

/// Returns the folder of the file that a path leads to after following links.
static std::string folderOf(const std::string &path) {
  std::error_code error;
  std::filesystem::path file = std::filesystem::canonical(path, error);
  if (error) // such as an executable that was removed since
    file = std::filesystem::read_symlink(path, error);
  return file.parent_path();
}

static Status useLinkedProgram(Program &program) {
  program.home.folder = folderOf(ownPath);
  program.checksum = checksum(aprt_program_manifest);
  program.stages = aprt_program_stages;
  program.deviceCode = aprt_program_device_code;
  program.devicePtx = aprt_program_device_ptx;
  program.manifestText = aprt_program_manifest;
  return parseManifest(program.manifestText, program.manifest);
}

static Status loadProgram(const std::vector<char> &bytes, Program &program) {
  program.checksum = checksum({bytes.data(), bytes.size()});
  APRT_TRY(openProgram(bytes, program));
  program.stages = static_cast<const aprt_stage_functions *>(
      dlsym(program.handle, "aprt_program_stages"));
  program.manifestText =
      static_cast<const char *>(dlsym(program.handle, "aprt_program_manifest"));
  program.deviceCode = dlsym(program.handle, "aprt_program_device_code");
  program.devicePtx = dlsym(program.handle, "aprt_program_device_ptx");
  auto **runtime = static_cast<const aprt_runtime **>(
      dlsym(program.handle, "aprt_program_runtime"));
  if (!program.stages || !program.manifestText || !runtime)
    return Status::error("the program lacks aprt_program_stages, "
                         "aprt_program_manifest or aprt_program_runtime");
  *runtime = &functionTable;
  return parseManifest(program.manifestText, program.manifest);
}

Status loadPrograms(const std::string &path, std::vector<Program> &programs) {
  std::vector<std::vector<char>> bytes;
  MadeWeights made;
  APRT_TRY(readPrograms(path, bytes, made));
  programs.resize(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    programs[i].home.folder = folderOf(path);
    programs[i].home.made = made;
    programs[i].home.program = path;
    APRT_TRY(loadProgram(bytes[i], programs[i]));
  }
  return Status::success();
}

Status loadOwnPrograms(std::vector<Program> &programs) {
  if (!aprt_program_manifest || !aprt_program_stages)
    return loadPrograms(ownPath, programs);
  programs.resize(1);
  return useLinkedProgram(programs.front());
}

Status checkRanks(const std::vector<Program> &programs, int64_t ranks) {
  std::vector<int> numbers;
  for (const Program &program : programs)
    if (int number = program.manifest.worldSize();
        std::count(numbers.begin(), numbers.end(), number) == 0)
      numbers.push_back(number);
  if (std::count(numbers.begin(), numbers.end(), ranks) > 0)
    return Status::success();
  std::string text;
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i == 0                   ? ""
             : i + 1 < numbers.size() ? ", "
                                      : " or ") +
            std::to_string(numbers[i]);
  return Status::error("the program was compiled for " + text + " rank" +
                       (text == "1" ? "" : "s") + ", not for " +
                       std::to_string(ranks));
}

void unloadProgram(Program &program) {
  if (program.handle)
    dlclose(program.handle);
  if (program.descriptor >= 0)
    close(program.descriptor);
  program.handle = nullptr;
  program.descriptor = -1;
}

Status keepPrograms(std::vector<Program> &programs,
                    const std::vector<size_t> &numbers) {
  std::vector<Program> kept;
  for (size_t i = 0; i < programs.size(); ++i)
    if (std::count(numbers.begin(), numbers.end(), i) > 0)
      kept.push_back(std::move(programs[i]));
    else
      unloadProgram(programs[i]);
  programs = std::move(kept);
  for (const Program &program : programs)
    APRT_TRY(checkCpu(program.manifest.cpuFeatures));
  return Status::success();
}

} // namespace autopar::runtime
