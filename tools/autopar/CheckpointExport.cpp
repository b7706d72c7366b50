//===- CheckpointExport.cpp - autopar checkpoint export -------------------===//

#include "CheckpointCommand.h"
#include "autopar/Frontend/TrainedModel.h"
#include "core/Safetensors.h"
#include "files/OutputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using autopar::runtime::ArrayBytes;
using autopar::runtime::Checkpoint;
using autopar::runtime::FileReader;
using autopar::runtime::StateBlock;

namespace autopar::driver {

namespace {

constexpr StringLiteral kModelRole = "model/", kAverageRole = "average/";

Error error(const Twine &message) { return createStringError(message); }

/// `'a', 'b' and 2 more`
std::string listOf(ArrayRef<std::string> names) {
  constexpr size_t kShown = 3;
  std::string text;
  for (const std::string &name : names.take_front(kShown))
    text += (text.empty() ? "'" : ", '") + name + "'";
  if (names.size() > kShown)
    text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

std::string counted(size_t count, StringRef noun) {
  return std::to_string(count) + " " + noun.str() + (count == 1 ? "" : "s");
}

/// The checkpoint or --final file that is exported; it stays open.
class Source {
public:
  Error open(const CheckpointOptions &options);
  /// An error if the output would be a part of the source.
  Error checkOutput(const std::string &output) const;

  TrainedTensors trained;
  std::map<std::string, std::string> metadata;
  std::vector<std::string> notes;

private:
  Error openFile(const std::string &path);
  Error openCheckpoint(const CheckpointOptions &options);
  void addState(StringRef name, const StateBlock &state);
  void noteAverages(size_t averages, ArrayRef<std::string> without);

  Checkpoint checkpoint;
  FileReader file;
  bool isFile = false;
};

Error Source::open(const CheckpointOptions &options) {
  isFile = sys::fs::is_regular_file(options.place);
  if (!isFile)
    return openCheckpoint(options);
  if (options.averages)
    return error("checkpoint export: --averages is for checkpoints; '" +
                 options.place +
                 "' is a file, and a training with averages writes them into "
                 "one with '.average' before its extension: give that one");
  return openFile(options.place);
}

Error Source::openFile(const std::string &path) {
  std::string folder = sys::path::parent_path(path).str();
  if (runtime::isCheckpoint(folder.empty() ? "." : folder))
    return error("'" + path + "' is a part of a checkpoint: give its folder");
  if (Error failed = toError(file.open(path)))
    return failed;
  if (!looksLikeSafetensors(file))
    return error("'" + path +
                 "' is neither a checkpoint's folder nor a safetensors file, "
                 "as --final writes it");
  runtime::TensorIndex index;
  if (Error failed = toError(readSafetensorsIndex(file, index, &metadata)))
    return failed;
  trained.from = path;
  for (const auto &[name, tensor] : index)
    trained.tensors[name] = {
        tensor.dtype, tensor.shape,
        [this, offset = tensor.offset, bytes = tensor.bytes](char *to) {
          return toError(file.readDirect(offset, bytes, to));
        }};
  return Error::success();
}

void Source::addState(StringRef name, const StateBlock &state) {
  trained.tensors[name.str()] = {
      runtime::dtypeName(state.dtype), state.shape, [this, &state](char *to) {
        return toError(readWhole(checkpoint, state, to));
      }};
}

Error Source::openCheckpoint(const CheckpointOptions &options) {
  std::vector<std::string> doubts, without;
  if (Error failed = toError(openWhole(options.place, checkpoint, doubts)))
    return failed;
  trained.from = checkpoint.path();
  metadata["step"] = std::to_string(checkpoint.step());
  size_t averages = 0;
  for (const auto &[key, state] : checkpoint.states()) {
    StringRef name = key;
    if (!name.consume_front(kModelRole))
      continue;
    auto average = checkpoint.states().find((kAverageRole + name).str());
    bool isAveraged = options.averages && average != checkpoint.states().end();
    addState(name, isAveraged ? average->second : state);
    averages += isAveraged;
    if (!isAveraged)
      without.push_back(name.str());
  }
  if (options.averages)
    noteAverages(averages, without);
  return Error::success();
}

void Source::noteAverages(size_t averages, ArrayRef<std::string> without) {
  if (averages == 0)
    notes.push_back("the checkpoint has no averages, for its recipe has no "
                    "'average': all tensors are those of the last step");
  else if (!without.empty())
    notes.push_back("of the last step, without an average: " + listOf(without));
}

/// The folder that a file is in, or will be in, after links.
SmallString<128> folderOf(StringRef path) {
  SmallString<128> file(path), folder;
  sys::fs::make_absolute(file);
  (void)sys::fs::real_path(sys::path::parent_path(file), folder);
  return folder;
}

Error Source::checkOutput(const std::string &output) const {
  runtime::OutputPlace place;
  if (Error failed = toError(runtime::findOutput(output, place)))
    return failed;
  if (place.kind != runtime::OutputPlace::Regular)
    return Error::success();
  SmallString<128> folder;
  if (isFile ? sys::fs::equivalent(place.path, file.path())
             : !sys::fs::real_path(checkpoint.path(), folder) &&
                   folderOf(place.path) == folder)
    return error(
        "checkpoint export: -o " + output + " is " +
        (isFile ? "the file that is read" : "within the checkpoint itself") +
        "; name another place");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Safetensors
//===----------------------------------------------------------------------===//

Error writeTensors(const Source &source, const std::string &output) {
  std::vector<ArrayBytes> kept;
  std::vector<runtime::ArrayView> views;
  for (const auto &[name, tensor] : source.trained.tensors) {
    aprt_dtype dtype = APRT_F32;
    int64_t bytes = 0;
    runtime::parseDtype(tensor.dtype, dtype);
    runtime::tensorBytes(dtype, tensor.shape, bytes);
    if (Error failed = tensor.read(kept.emplace_back(size_t(bytes)).data()))
      return failed;
    views.push_back({name, dtype, tensor.shape, nullptr});
  }
  for (auto [view, bytes] : zip(views, kept))
    view.data = bytes.data();
  return toError(
      runtime::writeSafetensors(output, std::move(views), source.metadata));
}

//===----------------------------------------------------------------------===//
// ONNX
//===----------------------------------------------------------------------===//

/// Tells what may surprise in the copy.
void tellModel(const TrainedModelReport &report,
               std::vector<std::string> &notes) {
  notes.insert(notes.begin(), counted(report.replaced, "tensor") + " replaced");
  auto add = [&](size_t count, StringRef noun, StringRef what) {
    if (count)
      notes.push_back(counted(count, noun) + what.str());
  };
  if (!report.untouched.empty())
    notes.push_back("initializers as in the model, for the training has no "
                    "state of them: " +
                    listOf(report.untouched));
  if (!report.inputs.empty())
    notes.push_back("states that are inputs of the model are left out: " +
                    listOf(report.inputs));
  add(report.norms, "BatchNormalization node",
      " on running statistics (training_mode 0)");
  add(report.dropouts, "Dropout node", " taken out");
  add(report.dropoutTensors, "tensor", " taken out that only Dropout read");
  if (!report.dataFile.empty())
    notes.push_back("external data in '" + report.dataFile + "'");
}

Error writeModel(Source &source, const CheckpointOptions &options) {
  ReadOptions read;
  read.allowLinkedWeights = options.allowLinkedWeights;
  Expected<std::unique_ptr<OnnxModel>> model =
      OnnxModel::read(options.model, read);
  if (!model)
    return model.takeError();
  Expected<TrainedModelReport> report =
      writeTrainedModel(std::move(*model), source.trained, options.output);
  if (!report)
    return report.takeError();
  tellModel(*report, source.notes);
  return Error::success();
}

/// Checks what -o and --model ask for together.
Error checkRequest(const CheckpointOptions &options) {
  StringRef output = options.output;
  if (output.empty())
    return error("checkpoint export: no output given; add -o FILE");
  bool asksForModel = output.ends_with(".onnx") || output.ends_with(".onnx.gz");
  if (options.model.empty() && asksForModel)
    return error("checkpoint export: -o " + output +
                 " is to be an ONNX model; add --model with the one that was "
                 "trained, of which it becomes a copy");
  if (options.model.empty() && sys::fs::is_regular_file(options.place))
    return error("checkpoint export: '" + options.place +
                 "' is a file of tensors already; add --model with the ONNX "
                 "model that was trained, of which -o becomes a copy");
  if (options.model.empty() && !output.ends_with(".safetensors") &&
      sys::path::has_extension(output))
    return error(
        "checkpoint export: -o " + output +
        ": tensors are written as safetensors; name it .safetensors, "
        "which safetensors.torch.load_file and safetensors.numpy read");
  if (!options.model.empty() && output.ends_with(".safetensors"))
    return error("checkpoint export: with --model a copy of the model is "
                 "written; name it .onnx, or leave --model out");
  return Error::success();
}

Error exportAll(const CheckpointOptions &options) {
  if (Error failed = checkRequest(options))
    return failed;
  Source source;
  if (Error failed = source.open(options))
    return failed;
  if (Error failed = source.checkOutput(options.output))
    return failed;
  Error failed = options.model.empty() ? writeTensors(source, options.output)
                                       : writeModel(source, options);
  if (failed)
    return failed;
  if (!source.notes.empty())
    errs() << "autopar: note: " << printable(join(source.notes, "; ")) << "\n";
  return Error::success();
}

} // namespace

int exportTensors(const CheckpointOptions &options) {
  if (Error failed = exportAll(options))
    return complain(toString(std::move(failed)));
  return 0;
}

} // namespace autopar::driver
