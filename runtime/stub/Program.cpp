//===- Program.cpp - The program appended to the stub ---------------------===//
//
// [stub ELF][padding to 4096][weights][trailer]([program .so][trailer])...; see
// docs/RuntimeABI.md. A program that is linked with the runtime is its only
// one.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

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

// Of a program that is linked in; null in the stub.
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

static constexpr const char *programMagic = "AUTOPAR1";
static constexpr const char *weightsMagic = "AUTOPARW";

static uint64_t checksum(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
  for (char byte : bytes)
    hash = (hash ^ uint8_t(byte)) * 0x100000001b3u;
  return hash;
}

/// The trailer of that kind that ends at `end`, if there is one.
static Status readTrailer(FileReader &file, int64_t end, const char *magic,
                          Trailer &trailer, bool &found) {
  found = end > int64_t(sizeof(Trailer));
  if (found)
    APRT_TRY(
        file.read(end - int64_t(sizeof(Trailer)), sizeof(Trailer), &trailer));
  found = found && std::memcmp(trailer.magic, magic, 8) == 0;
  return Status::success();
}

/// What the compiler wrote of weights, before the first program, which begins
/// at `end`.
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

/// The program before a trailer whose own place is `end`.
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

/// Trailers are back to back with programs: from the last one backwards.
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
    return Status::error("this is the bare runtime without a program; "
                         "`autopar compile MODEL -o EXE` makes an executable");
  std::reverse(programs.begin(), programs.end());
  return readMadeWeights(file, end, made);
}

/// Loads the shared object from memory. The file stays open until all programs
/// are loaded: dlopen takes two of the same path for one.
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
  program.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
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

static std::string ownFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

static Status useLinkedProgram(Program &program) {
  program.home.folder = ownFolder();
  program.checksum = checksum(aprt_program_manifest);
  program.stages = aprt_program_stages;
  program.deviceCode = aprt_program_device_code;
  program.devicePtx = aprt_program_device_ptx;
  program.manifestText = aprt_program_manifest;
  return parseManifest(program.manifestText, program.manifest);
}

static Status loadProgram(const std::vector<char> &bytes, Program &program) {
  program.home.folder = ownFolder();
  program.checksum = checksum({bytes.data(), bytes.size()});
  APRT_TRY(openProgram(bytes, program));
  program.stages = static_cast<const aprt_stage_functions *>(
      dlsym(program.handle, "aprt_program_stages"));
  program.manifestText =
      static_cast<const char *>(dlsym(program.handle, "aprt_program_manifest"));
  program.deviceCode = dlsym(program.handle, "aprt_program_device_code");
  program.devicePtx = dlsym(program.handle, "aprt_program_device_ptx");
  if (!program.stages || !program.manifestText)
    return Status::error("the program lacks aprt_program_stages or "
                         "aprt_program_manifest");
  return parseManifest(program.manifestText, program.manifest);
}

Status loadPrograms(std::vector<Program> &programs) {
  if (aprt_program_manifest && aprt_program_stages) {
    programs.resize(1);
    return useLinkedProgram(programs.front());
  }
  std::vector<std::vector<char>> bytes;
  MadeWeights made;
  APRT_TRY(readPrograms("/proc/self/exe", bytes, made));
  programs.resize(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    APRT_TRY(loadProgram(bytes[i], programs[i]));
    programs[i].home.made = made;
  }
  for (Program &program : programs)
    close(program.descriptor);
  return Status::success();
}

Status keepProgram(std::vector<Program> &programs, size_t chosen) {
  for (size_t i = 0; i < programs.size(); ++i)
    if (i != chosen)
      dlclose(programs[i].handle);
  return checkCpu(programs[chosen].manifest.cpuFeatures);
}

} // namespace autopar::runtime
