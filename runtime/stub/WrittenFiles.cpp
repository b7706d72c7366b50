//===- WrittenFiles.cpp - Results that would replace files ----------------===//

#include "WrittenFiles.h"

#include <filesystem>
#include <utility>
#include <vector>

namespace autopar::runtime {

namespace {

/// A file and its purpose in the run.
struct NamedFile {
  std::string what, path;
};

} // namespace

static void addArrays(const char *option,
                      const std::vector<std::string> &arguments,
                      std::vector<NamedFile> &files) {
  for (const std::string &argument : arguments)
    if (ArrayFile file; parseArrayFile(argument, file).ok())
      files.push_back({option, file.path});
}

static std::vector<NamedFile> readFiles(const Run &run) {
  const Program &program = run.program;
  std::vector<NamedFile> files;
  addArrays("the run's arrays", run.options.inputs, files);
  for (const std::string &path : run.rows.shards.paths())
    files.push_back({"a shard of the run's data", path});
  if (run.evaluation)
    for (const std::string &path : run.evaluation->rows.shards.paths())
      files.push_back({"the evaluation's data", path});
  for (const WeightFileEntry &entry : program.manifest.weightFiles)
    files.push_back(
        {"what the program was compiled of", pathOf(entry, program.home)});
  files.push_back({"this program", "/proc/self/exe"});
  return files;
}

static std::vector<NamedFile> writtenFiles(const Options &options) {
  std::vector<NamedFile> files;
  for (const auto &[option, path] : {std::pair("--final", &options.final),
                                     {"--gradients", &options.gradients},
                                     {"--log", &options.log},
                                     {"--json", &options.json},
                                     {"--trace", &options.trace}})
    if (!path->empty())
      files.push_back({option, *path});
  addArrays("--outputs", options.outputs, files);
  return files;
}

/// Plain files, there already or to be: others may be written by several.
static bool isSame(const std::string &a, const std::string &b) {
  std::error_code ignored;
  if (std::filesystem::exists(a, ignored) ||
      std::filesystem::exists(b, ignored))
    return std::filesystem::is_regular_file(a, ignored) &&
           std::filesystem::equivalent(a, b, ignored);
  return a != "-" &&
         std::filesystem::absolute(a, ignored).lexically_normal() ==
             std::filesystem::absolute(b, ignored).lexically_normal();
}

Status checkWrittenFiles(const Run &run) {
  std::vector<NamedFile> others = readFiles(run);
  for (const NamedFile &written : writtenFiles(run.options)) {
    for (const NamedFile &other : others)
      if (isSame(written.path, other.path))
        return Status::error(written.what + " " + written.path +
                             " would replace " + other.what +
                             "; name another file");
    others.push_back({"the file of " + written.what, written.path});
  }
  return Status::success();
}

} // namespace autopar::runtime
