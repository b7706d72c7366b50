//===- Options.cpp - Command line of an executable ------------------------===//

#include "Options.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace autopar::runtime {

namespace {

/// One option: what it stores and the help that it prints.
struct OptionRow {
  const char *name;
  const char *value;
  const char *help;
  Status (*store)(Options &options, const std::string &value);
};

Status storeInteger(const std::string &text, int64_t least, int64_t &value) {
  char *end = nullptr;
  errno = 0;
  long long parsed = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || parsed < least || parsed > 1000000000)
    return Status::error("'" + text + "' is not an integer of at least " +
                         std::to_string(least));
  value = parsed;
  return Status::success();
}

const OptionRow optionTable[] = {
    {"--inputs", "FILE",
     "arrays by input name: a .npz file, or NAME=FILE.npy (repeatable)",
     [](Options &o, const std::string &v) {
       o.inputs.push_back(v);
       return Status::success();
     }},
    {"--outputs", "FILE",
     "where the results go: a .npz file, or NAME=FILE.npy (repeatable)",
     [](Options &o, const std::string &v) {
       o.outputs.push_back(v);
       return Status::success();
     }},
    {"--weights", "FILE",
     "take the weights from this file or folder: the model's own data\n"
     "                     file, the ONNX file, or safetensors (by name)",
     [](Options &o, const std::string &v) {
       o.weights = v;
       return Status::success();
     }},
    {"--entry", "NAME",
     "run this entry (default: the one that the inputs' shapes fit;\n"
     "                     without inputs the first)",
     [](Options &o, const std::string &v) {
       o.entry = v;
       return Status::success();
     }},
    {"--repeat", "K", "run K measured steps (default 1)",
     [](Options &o, const std::string &v) {
       return storeInteger(v, 1, o.repeat);
     }},
    {"--warm-up", "K", "run K steps before those (default 0)",
     [](Options &o, const std::string &v) {
       return storeInteger(v, 0, o.warmUp);
     }},
    {"--json", "FILE", "write the report of the run",
     [](Options &o, const std::string &v) {
       o.json = v;
       return Status::success();
     }},
    {"--trace", "FILE",
     "write a Chrome trace of the measured steps, a row per rank",
     [](Options &o, const std::string &v) {
       o.trace = v;
       return Status::success();
     }},
    {"--threads", "T",
     "threads per rank (default: the host's cores shared out)",
     [](Options &o, const std::string &v) {
       return storeInteger(v, 1, o.threads);
     }},
    {"--graphs", "on|off",
     "repeat steps of a GPU as CUDA graphs (default on); off: call by\n"
     "                     call, which names the op that fails",
     [](Options &o, const std::string &v) {
       o.graphs = v == "on";
       return v == "on" || v == "off"
                  ? Status::success()
                  : Status::error("'" + v + "' is neither on nor off");
     }},
    {"--timeout", "S",
     "seconds that a rank waits for the others in one operation\n"
     "                     (default 60); past it every rank ends",
     [](Options &o, const std::string &v) {
       char *end = nullptr;
       o.timeoutSeconds = std::strtod(v.c_str(), &end);
       if (v.empty() || *end || !(o.timeoutSeconds > 0) ||
           o.timeoutSeconds > 1e9)
         return Status::error("'" + v + "' is not a number of seconds");
       return Status::success();
     }},
};

} // namespace

Status parseOptions(int count, char **arguments, Options &options) {
  for (int i = 1; i < count; ++i) {
    std::string name = arguments[i], value;
    if (name == "--help" || name == "-h") {
      options.help = true;
      return Status::success();
    }
    size_t equals = name.find('=');
    bool inlineValue =
        name.compare(0, 2, "--") == 0 && equals != std::string::npos;
    if (inlineValue) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    const OptionRow *row = nullptr;
    for (const OptionRow &candidate : optionTable)
      if (name == candidate.name)
        row = &candidate;
    if (!row)
      return Status::error("unknown option '" + name +
                           "'; --help lists the options");
    if (!inlineValue && ++i == count)
      return Status::error("option " + name + " needs a value: " + row->value);
    if (!inlineValue)
      value = arguments[i];
    Status stored = row->store(options, value);
    if (stored.failed())
      return Status::error("option " + name + ": " + stored.message());
  }
  return Status::success();
}

std::string helpText(const std::string &program) {
  std::string text =
      "usage: " + program +
      " --inputs in.npz --outputs out.npz [options]\n\n"
      "Runs the compiled model. It starts its own ranks on this host; a "
      "program\n"
      "for GPUs joins torchrun, mpirun or srun if one of them starts it. "
      "Without\n"
      "--inputs every input is zero, without --outputs no result is kept.\n\n";
  for (const OptionRow &row : optionTable) {
    std::string left = std::string("  ") + row.name + " " + row.value;
    left.resize(std::max<size_t>(left.size() + 1, 21), ' ');
    text += left + row.help + "\n";
  }
  return text + "  --help             this text\n";
}

static bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

Status parseArrayFile(const std::string &argument, ArrayFile &file) {
  size_t equals = argument.rfind('=');
  if (endsWith(argument, ".npz")) {
    file.path = argument;
    return Status::success();
  }
  if (equals == std::string::npos || equals == 0 ||
      equals + 1 == argument.size())
    return Status::error("'" + argument +
                         "' is neither FILE.npz nor NAME=FILE.npy");
  file.name = argument.substr(0, equals);
  file.path = argument.substr(equals + 1);
  return Status::success();
}

} // namespace autopar::runtime
