//===- CheckpointCommand.cpp - autopar checkpoint -------------------------===//

#include "CheckpointCommand.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;
using autopar::runtime::ArrayBytes;
using autopar::runtime::Checkpoint;
using autopar::runtime::StateBlock;
using autopar::runtime::Status;

namespace autopar::driver {

Status openWhole(const std::string &path, Checkpoint &checkpoint,
                 std::vector<std::string> &doubts) {
  Status status =
      runtime::openCheckpoint(path, /*readsAll=*/false, checkpoint, doubts);
  std::string notFinite = status.ok() ? doubtOfNumbers(checkpoint) : "";
  for (const std::string &doubt : doubts)
    errs() << "autopar: warning: " << printable(doubt) << "\n";
  if (!notFinite.empty())
    errs() << "autopar: warning: " << printable(notFinite) << "\n";
  return status;
}

Status readWhole(const Checkpoint &checkpoint, const StateBlock &state,
                 char *to) {
  runtime::LoadedState loaded;
  Status status = checkpoint.read(state.key, state.intervals(), loaded);
  if (status.ok())
    loaded.copy(state.intervals(), to);
  return status;
}

namespace {

constexpr StringLiteral kVerbs[] = {"inspect", "verify", "export", "diff"};

int fail(const Status &status) { return complain(status.message()); }

std::string typeText(const StateBlock &state) {
  std::string text = std::string(runtime::dtypeName(state.dtype)) + "[";
  for (auto [d, size] : enumerate(state.shape))
    text += (d ? "," : "") + std::to_string(size);
  return text + "]";
}

/// Tells where the training was in its data, and how good it was.
void describePlace(const runtime::TrainingPlace &place, raw_ostream &os) {
  if (place.data) {
    os << "data        row " << place.data->row << " of " << place.data->rows
       << " in epoch " << place.data->epoch;
    if (place.data->seed)
      os << ", --shuffle " << *place.data->seed;
    os << "\n";
  }
  if (!place.iterable.empty())
    os << "data        the Trainer's iterable, " << place.iterable.size()
       << " bytes of state\n";
  if (place.best)
    os << "best        " << place.best->metric << " "
       << format("%g", place.best->value) << " after " << place.best->step
       << " steps\n";
}

/// "" of a hash that is not known.
std::string hashText(const std::string &hash, const char *before,
                     const char *after = "") {
  return hash.empty() ? "" : before + hash + after;
}

int inspect(const Checkpoint &checkpoint) {
  const runtime::CheckpointManifest &about = checkpoint.about();
  int64_t bytes = 0;
  size_t keys = 5, types = 4;
  for (const auto &[key, state] : checkpoint.states()) {
    bytes += state.bytes();
    keys = std::max(keys, key.size());
    types = std::max(types, typeText(state).size());
  }
  std::string text;
  raw_string_ostream os(text);
  os << "checkpoint  " << checkpoint.path() << "\n"
     << "steps       " << about.step << "\n";
  describePlace(about.place, os);
  os << "model       " << about.model
     << hashText(about.hashes.model, ", graph ") << "\n"
     << hashText(about.hashes.recipe, "recipe      ", "\n") << "written by  "
     << about.compiler << ", " << about.files.size()
     << (about.files.size() == 1 ? " rank" : " ranks")
     << (about.mesh.empty() ? "" : ", mesh " + about.mesh) << "\n"
     << "states      " << checkpoint.states().size() << ", " << bytes
     << " bytes\n\n"
     << left_justify("state", unsigned(keys) + 2)
     << left_justify("type", unsigned(types) + 2) << "blocks\n";
  for (const auto &[key, state] : checkpoint.states())
    os << left_justify(key, unsigned(keys) + 2)
       << left_justify(typeText(state), unsigned(types) + 2)
       << checkpoint.blocksOf(key) << "\n";
  outs() << printable(text);
  return 0;
}

/// Compares all bytes with their hashes.
int verify(const Checkpoint &checkpoint) {
  size_t wrong = 0;
  for (const auto &[key, state] : checkpoint.states()) {
    ArrayBytes bytes(size_t(state.bytes()));
    if (Status status = readWhole(checkpoint, state, bytes.data());
        status.failed()) {
      complain(status.message());
      ++wrong;
    }
  }
  if (wrong)
    return complain(Twine(wrong) + " of " + Twine(checkpoint.states().size()) +
                    " states of '" + checkpoint.path() + "' are damaged");
  outs() << "all " << checkpoint.states().size() << " states of "
         << printable(checkpoint.path()) << " are as they were written\n";
  return 0;
}

/// The largest difference of two tensors of the same type and shape.
double differenceOf(const StateBlock &state, const ArrayBytes &a,
                    const ArrayBytes &b) {
  double largest = 0;
  runtime::visitDtype(state.dtype, [&](auto example) {
    using T = decltype(example);
    using E = runtime::Element<T>;
    auto *x = reinterpret_cast<const T *>(a.data());
    auto *y = reinterpret_cast<const T *>(b.data());
    for (int64_t i = 0, count = state.elements(); i < count; ++i) {
      double difference =
          std::abs(double(E::load(x[i])) - double(E::load(y[i])));
      largest =
          std::isnan(difference) ? INFINITY : std::max(largest, difference);
    }
  });
  return largest;
}

/// Tells the states that are not in both, or differ. The exit code is 1 then.
int diff(const Checkpoint &one, const Checkpoint &other) {
  std::string text;
  raw_string_ostream os(text);
  for (const auto &[key, state] : one.states())
    if (other.states().count(key) == 0)
      os << key << ": only in " << one.path() << "\n";
  for (const auto &[key, theirs] : other.states()) {
    auto found = one.states().find(key);
    if (found == one.states().end()) {
      os << key << ": only in " << other.path() << "\n";
      continue;
    }
    const StateBlock &mine = found->second;
    if (typeText(mine) != typeText(theirs)) {
      os << key << ": " << typeText(mine) << " and " << typeText(theirs)
         << "\n";
      continue;
    }
    ArrayBytes a(size_t(mine.bytes())), b(size_t(mine.bytes()));
    for (auto [checkpoint, state, bytes] :
         {std::tuple(&one, &mine, &a), {&other, &theirs, &b}})
      if (Status status = readWhole(*checkpoint, *state, bytes->data());
          status.failed())
        return fail(status);
    if (a != b)
      os << key << ": differs by at most "
         << format("%.3g", differenceOf(mine, a, b)) << "\n";
  }
  if (text.empty())
    text = "the states are equal\n";
  outs() << printable(text);
  return text == "the states are equal\n" ? 0 : 1;
}

int run(StringRef verb, const CheckpointOptions &options) {
  if (options.place.empty())
    return complain("checkpoint " + verb + ": no folder given");
  if (!options.against.empty() && verb != "diff")
    return complain("checkpoint " + verb +
                    ": --against is an option of checkpoint diff");
  if (verb != "export" &&
      (!options.output.empty() || !options.model.empty() || options.averages))
    return complain("checkpoint " + verb +
                    ": -o, --model and --averages are options of checkpoint "
                    "export");
  if (verb == "export")
    return exportTensors(options);
  if (sys::fs::is_regular_file(options.place))
    return complain("checkpoint " + verb + ": '" + options.place +
                    "' is a file; give the folder of a checkpoint, or of a "
                    "run's checkpoints");
  Checkpoint checkpoint, other;
  std::vector<std::string> doubts, others;
  if (Status status = openWhole(options.place, checkpoint, doubts);
      status.failed())
    return fail(status);
  if (verb == "inspect")
    return inspect(checkpoint);
  if (verb == "verify")
    return verify(checkpoint) || !doubts.empty();
  if (options.against.empty())
    return complain("checkpoint diff: add --against DIR");
  if (Status status = openWhole(options.against, other, others);
      status.failed())
    return fail(status);
  return diff(checkpoint, other);
}

} // namespace

int checkpointCommand(ArrayRef<const char *> arguments) {
  if (arguments.empty())
    return complain("checkpoint: write one of inspect, verify, export, diff, "
                    "and the folder of a checkpoint; --help tells more");
  StringRef verb = arguments.front();
  bool isVerb = is_contained(kVerbs, verb);
  if (!isVerb && verb != "--help" && verb != "-h")
    return complain("checkpoint " + verb +
                    ": write one of inspect, verify, "
                    "export, diff" +
                    didYouMean(verb, ArrayRef<StringRef>({"inspect", "verify",
                                                          "export", "diff"})));
  CheckpointOptions options;
  CommandLine line;
  line.usage = "autopar checkpoint inspect|verify|export|diff DIR [options]";
  line.about =
      "Looks into a checkpoint, or the newest one of a folder of them "
      "(docs/Checkpoints.md).\n\n"
      "  inspect   lists its states\n"
      "  verify    compares all bytes with the hashes that were written\n"
      "  export    writes parameters and running statistics as safetensors, or "
      "with\n            --model into a copy of the ONNX model, for inference; "
      "DIR "
      "may be\n            what --final wrote\n"
      "  diff      tells the states that differ from those of another one";
  line.positional = &options.place;
  line.options = {
      text("o", "FILE", "export: where to", options.output),
      text("model", "MODEL", "export: the ONNX model that was trained",
           options.model),
      flag("averages",
           "export: averages in place of the parameters that have them",
           options.averages),
      flag("allow-linked-weights",
           "export: follow links to the model's external data",
           options.allowLinkedWeights),
      text("against", "DIR", "diff: the other checkpoint", options.against)};
  int code = 0;
  if (parseOrExit(line, arguments.drop_front(isVerb), code))
    return code;
  return run(verb, options);
}

} // namespace autopar::driver
