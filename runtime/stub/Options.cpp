//===- Options.cpp - Command line of an executable ------------------------===//

#include "Options.h"

#include "../core/Manifest.h"

#include "../files/Text.h"

#include <cerrno>
#include <cstdlib>
#include <map>

namespace autopar::runtime {

namespace {

/// One option: what it stores and the help that it prints. A flag has no value.
struct OptionRow {
  const char *name;
  const char *value;
  const char *help;
  Status (*store)(Options &options, const std::string &value);
  bool isRepeatable = false;
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

Status storeSeconds(const std::string &text, double &seconds) {
  char *end = nullptr;
  double parsed = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !(parsed > 0) || parsed > 1e9)
    return Status::error("'" + text + "' is not a number of seconds");
  seconds = parsed;
  return Status::success();
}

const OptionRow optionTable[] = {
    {"--inputs", "FILE",
     "arrays by input name: a .npz file, or NAME=FILE.npy (repeatable)",
     [](Options &o, const std::string &v) {
       o.inputs.push_back(v);
       return Status::success();
     },
     /*isRepeatable=*/true},
    {"--outputs", "FILE",
     "where the results go: a .npz file, or NAME=FILE.npy (repeatable);\n"
     "                     an output that is a state in the next step only as "
     "NAME=FILE.npy",
     [](Options &o, const std::string &v) {
       o.outputs.push_back(v);
       return Status::success();
     },
     /*isRepeatable=*/true},
    {"--weights", "FILE",
     "take the weights from this file: ONNX or safetensors (by name,\n"
     "                     type and shape), or a copy of a file that was "
     "compiled;\n"
     "                     of a folder the ONNX file of the model's name, "
     "else all\n"
     "                     safetensors, else all ONNX files",
     [](Options &o, const std::string &v) {
       o.weights = v;
       return Status::success();
     }},
    {"--verify-weights", "",
     "check all bytes of the weights' files against those that were\n"
     "                     compiled; sizes and structure are checked always",
     [](Options &o, const std::string &) {
       o.verifyWeights = true;
       return Status::success();
     }},
    {"--entry", "NAME",
     "run this entry (default: the one that the inputs' shapes fit;\n"
     "                     without inputs the first)",
     [](Options &o, const std::string &v) {
       o.entry = v;
       return Status::success();
     }},
    {"--ranks", "N",
     "of a program that was compiled for several numbers of ranks this\n"
     "                     one (default: the first, or what the launcher has "
     "started)",
     [](Options &o, const std::string &v) {
       return storeInteger(v, 1, o.ranks);
     }},
    {"--repeat", "K", "run K measured steps (default 1)",
     [](Options &o, const std::string &v) {
       return storeInteger(v, 1, o.repeat);
     }},
    {"--warm-up", "K", "run K steps before those (default 0)",
     [](Options &o, const std::string &v) {
       return storeInteger(v, 0, o.warmUp);
     }},
    {"--steps", "N",
     "run N steps with data of their own: arrays of --inputs and\n"
     "                     --outputs have a leading dimension of steps "
     "(inputs\n"
     "                     start over at its end), states go on",
     [](Options &o, const std::string &v) {
       return storeInteger(v, 1, o.steps);
     }},
    {"--data", "FILE|DIR|GLOB",
     "of a program that trains: the same as --inputs, with labels. Of a\n"
     "                     folder, or a pattern like 'data/*.npz', rows of "
     "the files are\n"
     "                     samples, read as steps need them "
     "(docs/DataAndEvaluation.md)",
     [](Options &o, const std::string &v) {
       o.inputs.push_back(v);
       return Status::success();
     },
     /*isRepeatable=*/true},
    {"--evaluation-data", "FILE|DIR|GLOB",
     "rows that the training is evaluated on, as the recipe's 'evaluation'\n"
     "                     says (default: its 'data')",
     [](Options &o, const std::string &v) {
       o.evaluationData = v;
       return v.empty() ? Status::error("its value is empty")
                        : Status::success();
     }},
    {"--shuffle", "SEED",
     "take the rows of --data DIR in another order each epoch, the same\n"
     "                     on any number of ranks (default: as they stand)",
     [](Options &o, const std::string &v) {
       int64_t seed = 0;
       APRT_TRY(storeInteger(v, 0, seed));
       o.shuffle = uint64_t(seed);
       return Status::success();
     }},
    {"--log", "FILE",
     "of a program that trains: a line of JSON per step with loss,\n"
     "                     grad_norm, learning_rate, seconds; of a scaled "
     "loss\n"
     "                     also loss_scale, skipped; the first one has what "
     "ran",
     [](Options &o, const std::string &v) {
       o.log = v;
       return Status::success();
     }},
    {"--final", "FILE",
     "write the trained parameters and running statistics after the\n"
     "                     last step (safetensors), their averages beside it",
     [](Options &o, const std::string &v) {
       o.final = v;
       return Status::success();
     }},
    {"--checkpoint", "DIR",
     "of a program that trains: save all states into this folder after\n"
     "                     the last step, at Ctrl-C and SIGTERM, and as the "
     "next option says",
     [](Options &o, const std::string &v) {
       o.checkpoint = v;
       return v.empty() ? Status::error("its value is empty")
                        : Status::success();
     }},
    {"--checkpoint-every", "N[s]",
     "save after every N steps, or every N seconds",
     [](Options &o, const std::string &v) {
       if (v.empty() || v.back() != 's')
         return storeInteger(v, 1, o.saveSteps).ok()
                    ? Status::success()
                    : Status::error("'" + v +
                                    "' is neither a number of steps, 100, nor "
                                    "of seconds, 60s");
       return storeSeconds(v.substr(0, v.size() - 1), o.saveSeconds);
     }},
    {"--keep", "K", "keep the newest K checkpoints (default: all)",
     [](Options &o, const std::string &v) {
       return storeInteger(v, 1, o.keep);
     }},
    {"--resume", "DIR|auto",
     "go on from a checkpoint, or the newest one of a folder; auto: of\n"
     "                     --checkpoint, if it has one. --steps is the total "
     "of all runs",
     [](Options &o, const std::string &v) {
       o.resume = v;
       return v.empty() ? Status::error("its value is empty")
                        : Status::success();
     }},
    {"--resume-ignoring", "ROLE",
     "go on, but begin these states anew (repeatable): optimizer, its\n"
     "                     moments and the number of the step, by which the "
     "rate\n                     goes; average; loss_scale; data: from their "
     "first row on",
     [](Options &o, const std::string &v) {
       o.ignoring.push_back(v);
       return v == kDataRole || mayBeginAnew(v)
                  ? Status::success()
                  : Status::error("'" + v +
                                  "' is none of optimizer, "
                                  "average, loss_scale, data");
     },
     /*isRepeatable=*/true},
    {"--gradients", "FILE",
     "write the gradients of the first step, before clipping\n"
     "                     (safetensors)",
     [](Options &o, const std::string &v) {
       o.gradients = v;
       return Status::success();
     }},
    {"--set", "NAME=NUMBER",
     "begin with this hyperparameter, one of the recipe's at_run_time\n"
     "                     (repeatable)",
     [](Options &o, const std::string &v) {
       o.hyperparameters.push_back(v);
       return Status::success();
     },
     /*isRepeatable=*/true},
    {"--json", "FILE",
     "write the report of the run, or what --describe tells (- is\n"
     "                     stdout, here and for the other results)",
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
       return storeSeconds(v, o.timeoutSeconds);
     }},
    {"--grace", "S",
     "of a program that trains: at Ctrl-C or SIGTERM the ranks have S\n"
     "                     seconds to end the step that they are in (default "
     "25)",
     [](Options &o, const std::string &v) {
       return storeSeconds(v, o.graceSeconds);
     }},
    {"--describe", "",
     "tell inputs, outputs, entries, plan, weights, hashes and\n"
     "                     versions; nothing runs",
     [](Options &o, const std::string &) {
       o.describe = true;
       return Status::success();
     }},
    {"--version", "", "tell the versions of program and runtime",
     [](Options &o, const std::string &) {
       o.version = true;
       return Status::success();
     }},
    {"--help", "", "this text",
     [](Options &o, const std::string &) {
       o.help = true;
       return Status::success();
     }},
};

const OptionRow *findRow(const std::string &name) {
  for (const OptionRow &row : optionTable)
    if (name == row.name)
      return &row;
  return nullptr;
}

Status unknownOption(const std::string &name) {
  std::vector<std::string> names;
  for (const OptionRow &row : optionTable)
    names.push_back(row.name);
  std::string hint = didYouMean(name, names);
  return Status::error("unknown option '" + name + "'" +
                       (hint.empty() ? "; --help lists the options" : hint));
}

/// The given values by option.
using GivenValues = std::map<std::string, std::string>;

/// Adds a note if an option was given before with another value; the last one
/// applies.
void noteGiven(const OptionRow &row, const std::string &value,
               GivenValues &given, Options &options) {
  auto [before, isFirst] = given.emplace(row.name, value);
  if (isFirst || row.isRepeatable || before->second == value)
    return;
  options.doubts.push_back(std::string("option '") + row.name +
                           "' is given twice: " + value + " holds, not " +
                           before->second);
  before->second = value;
}

/// Parses one option and its value from the front of the arguments.
Status parseOption(int &at, int count, char **arguments, GivenValues &given,
                   Options &options) {
  std::string name = arguments[at], value;
  size_t equals = name.find('=');
  bool isInline = name.compare(0, 2, "--") == 0 && equals != std::string::npos;
  if (isInline) {
    value = name.substr(equals + 1);
    name.resize(equals);
  }
  const OptionRow *row = findRow(name == "-h" ? "--help" : name);
  if (!row)
    return unknownOption(name);
  bool isFlag = !*row->value;
  if (isFlag && isInline)
    return Status::error("option " + name + " takes no value");
  if (!isFlag && !isInline) {
    if (++at == count)
      return Status::error("option " + name + " needs a value: " + row->value);
    value = arguments[at];
  }
  if (Status stored = row->store(options, value); stored.failed())
    return Status::error("option " + name + ": " + stored.message());
  noteGiven(*row, value, given, options);
  return Status::success();
}

} // namespace

Status parseOptions(int count, char **arguments, Options &options) {
  GivenValues given;
  for (int i = 1; i < count && !options.help; ++i)
    APRT_TRY(parseOption(i, count, arguments, given, options));
  if (options.steps == 0)
    return Status::success();
  if (options.repeat > 1 || options.warmUp > 0)
    return Status::error("--steps excludes --repeat and --warm-up: each of its "
                         "steps is measured");
  options.repeat = options.steps;
  return Status::success();
}

std::string helpText(const std::string &program) {
  std::string text =
      "usage: " + program +
      " --inputs in.npz --outputs out.npz [options]\n\n"
      "Runs the compiled model. It starts its own ranks on this host, or "
      "joins\n"
      "those of torchrun, mpirun or srun if one of them starts it. Without\n"
      "--inputs every input is zero, without --outputs no result is kept.\n\n";
  for (const OptionRow &row : optionTable) {
    std::string left = std::string("  ") + row.name;
    if (*row.value)
      left += std::string(" ") + row.value;
    constexpr size_t width = 21; // as further lines of help begin
    if (left.size() >= width)
      left += "\n";
    left.resize(left.back() == '\n' ? left.size() + width : width, ' ');
    text += left + row.help + "\n";
  }
  return text;
}

} // namespace autopar::runtime
