//===- ArrayFile.cpp - Files that options name ----------------------------===//

#include "../files/OutputFile.h"
#include "Options.h"

namespace autopar::runtime {

bool takesStdout(const Options &options) {
  for (const std::string &argument : options.outputs) {
    ArrayFile file;
    if (parseArrayFile(argument, file).ok() && goesToStdout(file.path))
      return true;
  }
  for (const std::string *path : {&options.json, &options.trace, &options.log,
                                  &options.final, &options.gradients})
    if (goesToStdout(*path))
      return true;
  return false;
}

static bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

Status parseArrayFile(const std::string &argument, ArrayFile &file) {
  size_t equals = argument.rfind('=');
  OutputPlace place;
  bool isPlain = findOutput(argument, place).failed() ||
                 place.kind == OutputPlace::Regular;
  if (endsWith(argument, ".npz") || !isPlain) {
    file.path = argument;
    return Status::success();
  }
  if (equals == std::string::npos || equals == 0 ||
      equals + 1 == argument.size())
    return Status::error("'" + argument +
                         "' is no folder that is there, and neither FILE.npz "
                         "nor NAME=FILE.npy");
  file.name = argument.substr(0, equals);
  file.path = argument.substr(equals + 1);
  return Status::success();
}

} // namespace autopar::runtime
