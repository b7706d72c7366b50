//===- BuiltExecutable.h - Executables made from C programs -----*- C++ -*-===//

#ifndef AUTOPAR_TEST_RUNTIME_BUILTEXECUTABLE_H
#define AUTOPAR_TEST_RUNTIME_BUILTEXECUTABLE_H

#include "TemporaryFolder.h"
#include "core/Futex.h"
#include "core/Npy.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sys/wait.h>

namespace autopar::runtime {

inline uint64_t checksum(const std::string &bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char byte : bytes)
    hash = (hash ^ uint8_t(byte)) * 0x100000001b3u;
  return hash;
}

/// A manifest of one rank as that of `ranks`, which share the rows of its
/// first persistent tensor, 5 in all.
inline nlohmann::json manifestOnRanks(const char *text, int ranks) {
  nlohmann::json result = nlohmann::json::parse(text);
  result["mesh"][0][1] = ranks;
  for (int rank = 1; rank < ranks; ++rank)
    result["communicators"][0]["groups"][0].push_back(rank);
  int64_t block = (5 + ranks - 1) / ranks;
  nlohmann::json &weight = result["persistent"][0][0];
  weight["shape"][0] = block;
  weight["dims"][0]["step"] = weight["dims"][0]["length"] = block;
  weight["dims"][0]["split"][0][2] = ranks;
  return result;
}

struct Outcome {
  int code = -1; // exit code, or 1000 + signal
  std::string text;
  double seconds = 0;
};

/// A program of Inputs/ appended to the stub, in a folder of its own.
class BuiltExecutable : public ::testing::Test {
protected:
  /// Compiles Inputs/`source` with the manifest and appends it to the stub.
  void build(const char *source, const nlohmann::json &manifest, int ranks) {
    compile(source, manifest, ranks);
    append(checksum(program));
  }
  void compile(const char *source, const nlohmann::json &manifest, int ranks) {
    std::string quoted = nlohmann::json(manifest.dump()).dump();
    folder.write("manifest.h", "#define MANIFEST " + quoted + "\n");
    std::string library = folder.path("program.so");
    std::string command =
        std::string(AUTOPAR_TEST_CC) + " -shared -fPIC -O1 -include " +
        folder.path("manifest.h") + " -DRANKS=" + std::to_string(ranks) +
        " -I" + folder.path("") + " -I" + folder.path("") +
        " -I" AUTOPAR_TEST_INCLUDE " " AUTOPAR_TEST_INPUTS "/" + source +
        " -o " + library;
    ASSERT_EQ(std::system(command.c_str()), 0);
    program = folder.read("program.so");
  }
  /// Appends it to what was appended before: another entry.
  void appendEntry() {
    std::string bytes = folder.read("exe");
    uint64_t trailer[3] = {bytes.size(), program.size(), checksum(program)};
    folder.write("exe",
                 bytes + program + "AUTOPAR2" +
                     std::string(reinterpret_cast<const char *>(trailer), 24));
  }
  void append(uint64_t sum) {
    std::ifstream file(AUTOPAR_TEST_STUB, std::ios::binary);
    std::ostringstream stub;
    stub << file.rdbuf();
    std::string bytes = stub.str();
    bytes.resize((bytes.size() + 4095) / 4096 * 4096);
    uint64_t trailer[3] = {bytes.size(), program.size(), sum};
    bytes += program + "AUTOPAR2" +
             std::string(reinterpret_cast<const char *>(trailer), 24);
    folder.write("exe", bytes);
    std::filesystem::permissions(folder.path("exe"),
                                 std::filesystem::perms::owner_all);
  }
  Outcome run(const std::string &arguments,
              const std::string &environment = "") {
    Outcome outcome;
    double start = monotonicSeconds();
    std::string command = "cd " + folder.path("") + " && " + environment +
                          " ./exe " + arguments + " > log 2>&1";
    int status = std::system(command.c_str());
    outcome.seconds = monotonicSeconds() - start;
    outcome.code =
        WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    outcome.text = folder.read("log");
    return outcome;
  }
  void expectFailure(const Outcome &outcome,
                     std::initializer_list<const char *> parts) {
    EXPECT_GE(outcome.code, 1) << outcome.text;
    EXPECT_LE(outcome.code, 99) << outcome.text;
    for (const char *part : parts)
      EXPECT_NE(outcome.text.find(part), std::string::npos)
          << "no '" << part << "' in: " << outcome.text;
  }

  TemporaryFolder folder;
  std::string program;
};

} // namespace autopar::runtime

#endif // AUTOPAR_TEST_RUNTIME_BUILTEXECUTABLE_H
