//===- TrainedModel.cpp - A model with the tensors of a training ----------===//

#include "autopar/Frontend/TrainedModel.h"
#include "EvaluationForm.h"
#include "ExternalData.h"
#include "ModelOutput.h"
#include "OnnxContents.h"
#include "OnnxMessage.h"
#include "core/DataType.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using onnx::TensorProto;

namespace autopar {

static Error error(const Twine &message) { return createStringError(message); }

/// `f32[6,4]`; a type that the runtime does not know by its file's name.
static std::string typeText(StringRef dtype, ArrayRef<int64_t> shape) {
  std::string text = runtime::describeTensor(APRT_F32, shape.vec());
  return dtype.str() + text.substr(text.find('['));
}

static bool isExternal(const TensorProto &tensor) {
  return tensor.data_location() == TensorProto::EXTERNAL;
}

//===----------------------------------------------------------------------===//
// Comparison of tensors
//===----------------------------------------------------------------------===//

namespace {
/// Compares the tensors with those of the model.
class TensorCheck {
public:
  TensorCheck(const OnnxModel::Contents &model, const TrainedTensors &trained)
      : model(model), trained(trained) {}

  Error check(TrainedModelReport &report);

private:
  Error checkTensor(StringRef name, const TrainedTensor &tensor) const;
  Error tellMissing(ArrayRef<StringRef> missing) const;

  const OnnxModel::Contents &model;
  const TrainedTensors &trained;
};
} // namespace

Error TensorCheck::check(TrainedModelReport &report) {
  StringSet<> inputs;
  for (const onnx::ValueInfoProto &input : model.proto.graph().input())
    inputs.insert(input.name());
  SmallVector<StringRef> missing;
  for (const auto &[name, tensor] : trained.tensors) {
    for (const auto &[faulty, fault] : model.faults)
      if (faulty == name)
        return error(model.path + ": tensor '" + name + "': " + fault);
    if (model.tensors.contains(name)) {
      if (Error failed = checkTensor(name, tensor))
        return failed;
      ++report.replaced;
    } else if (inputs.contains(name)) {
      report.inputs.push_back(name);
    } else {
      missing.push_back(name);
    }
  }
  if (!missing.empty())
    return tellMissing(missing);
  if (report.replaced == 0)
    return error("'" + trained.from + "' has no parameters");
  return Error::success();
}

Error TensorCheck::checkTensor(StringRef name,
                               const TrainedTensor &tensor) const {
  const OnnxTensor &own = model.tensors.find(name)->second;
  StringRef dtype = onnxElementDtype(own.dataType);
  if (dtype == tensor.dtype && own.dims == ArrayRef<int64_t>(tensor.shape))
    return Error::success();
  return error("tensor '" + name + "' is " +
               typeText(tensor.dtype, tensor.shape) + " in '" + trained.from +
               "', but " + typeText(dtype, own.dims) + " in '" + model.path +
               "': give the model that was trained");
}

Error TensorCheck::tellMissing(ArrayRef<StringRef> missing) const {
  size_t others = missing.size() - 1;
  std::string more;
  if (others > 0)
    more = " and " + std::to_string(others) + " more tensor" +
           (others > 1 ? "s" : "");
  return error("'" + trained.from + "' has '" + missing.front() + "'" + more +
               ", of which '" + model.path +
               "' has no initializer: give the model that was trained");
}

//===----------------------------------------------------------------------===//
// The copy
//===----------------------------------------------------------------------===//

namespace {
/// Fills a model's message, which lacks the data of large tensors; it is made
/// before tensors are removed.
class ModelCopy {
public:
  ModelCopy(OnnxModel::Contents &model, const TrainedTensors &trained,
            ModelOutput &output)
      : model(model), trained(trained), output(output) {
    collectRanges();
  }

  Error fill();

private:
  void collectRanges();
  Error fillTensor(TensorProto &tensor);
  Error fillExternal(TensorProto &tensor);
  Error restore(TensorProto &tensor);
  const TrainedTensor *trainedFor(const TensorProto &tensor) const;
  Expected<std::string> read(const TensorProto &tensor) const;

  OnnxModel::Contents &model;
  const TrainedTensors &trained;
  ModelOutput &output;
  /// The file has data there that the message may lack.
  DenseMap<const TensorProto *, DataRange> ranges;
};
} // namespace

void ModelCopy::collectRanges() {
  const onnx::GraphProto &graph = model.proto.graph();
  for (auto [i, range] : enumerate(model.skeleton.initializers))
    if (range)
      ranges[&graph.initializer(int(i))] = *range;
  for (const auto &[place, range] : model.skeleton.attributes)
    ranges[&graph.node(place.first).attribute(place.second).t()] = range;
}

Error ModelCopy::fill() {
  Error result = Error::success();
  visitTensors(model.proto, [&](TensorProto &tensor) {
    if (result)
      return;
    Error failed = fillTensor(tensor);
    if (failed)
      result = error(model.path + ": tensor '" + tensor.name() +
                     "': " + toString(std::move(failed)));
  });
  return result;
}

const TrainedTensor *ModelCopy::trainedFor(const TensorProto &tensor) const {
  const OnnxTensor *known = model.byMessage.lookup(&tensor);
  auto found =
      known ? trained.tensors.find(known->name) : trained.tensors.end();
  return found == trained.tensors.end() ? nullptr : &found->second;
}

static void clearData(TensorProto &tensor) {
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_double_data();
  tensor.clear_uint64_data();
  tensor.clear_raw_data();
}

Error ModelCopy::fillTensor(TensorProto &tensor) {
  if (isExternal(tensor))
    return fillExternal(tensor);
  if (!trainedFor(tensor))
    return restore(tensor);
  Expected<std::string> bytes = read(tensor);
  if (!bytes)
    return bytes.takeError();
  clearData(tensor);
  tensor.set_raw_data(std::move(*bytes));
  return Error::success();
}

/// The bytes that the copy has: as trained, or what the model's files have.
Expected<std::string> ModelCopy::read(const TensorProto &tensor) const {
  const OnnxTensor *known = model.byMessage.lookup(&tensor);
  if (const TrainedTensor *changed = trainedFor(tensor)) {
    std::string bytes(known->bytes, 0);
    if (Error failed = changed->read(bytes.data()))
      return std::move(failed);
    return bytes;
  }
  OnnxTensor stored;
  if (!known) { // of a type that no program takes
    Expected<ExternalPlace> place = parseExternalPlace(tensor);
    if (!place)
      return place.takeError();
    if (!place->length)
      return error("external data: its length is not given");
    stored.place = OnnxTensor::External;
    stored.file = place->file;
    stored.offset = place->offset;
    stored.bytes = *place->length;
  }
  Expected<std::vector<char>> bytes = model.read(known ? *known : stored);
  if (!bytes)
    return bytes.takeError();
  return std::string(bytes->begin(), bytes->end());
}

static void setEntry(TensorProto &tensor, StringRef key,
                     const std::string &value) {
  onnx::StringStringEntryProto &entry = *tensor.add_external_data();
  entry.set_key(key.str());
  entry.set_value(value);
}

Error ModelCopy::fillExternal(TensorProto &tensor) {
  Expected<std::string> bytes = read(tensor);
  if (!bytes)
    return bytes.takeError();
  uint64_t offset = 0;
  if (Error failed = output.append(*bytes, offset))
    return failed;
  tensor.clear_external_data();
  setEntry(tensor, "location", sys::path::filename(output.dataPath()).str());
  setEntry(tensor, "offset", std::to_string(offset));
  setEntry(tensor, "length", std::to_string(bytes->size()));
  return Error::success();
}

template <typename Element, typename Field>
static void setNumbers(Field &field, const std::vector<char> &bytes) {
  field.Resize(int(bytes.size() / sizeof(Element)), Element());
  memcpy(field.mutable_data(), bytes.data(), field.size() * sizeof(Element));
}

/// Puts data back that the message lacks.
Error ModelCopy::restore(TensorProto &tensor) {
  auto found = ranges.find(&tensor);
  if (found == ranges.end() || tensor.has_raw_data() ||
      tensor.float_data_size() || tensor.double_data_size())
    return Error::success();
  const DataRange &range = found->second;
  Expected<std::vector<char>> bytes = model.readOwn(range.offset, range.length);
  if (!bytes)
    return bytes.takeError();
  switch (range.field) {
  case DataRange::Raw:
    tensor.set_raw_data(std::string(bytes->begin(), bytes->end()));
    break;
  case DataRange::Floats:
    setNumbers<float>(*tensor.mutable_float_data(), *bytes);
    break;
  case DataRange::Doubles:
    setNumbers<double>(*tensor.mutable_double_data(), *bytes);
    break;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

static Expected<std::string> serialize(const onnx::ModelProto &proto,
                                       StringRef path) {
  if (proto.ByteSizeLong() > size_t(INT32_MAX))
    return error("'" + path +
                 "' would be larger than 2 GiB, which ONNX files cannot be: "
                 "store the model's weights as external data (onnx.save_model "
                 "with save_as_external_data=True) and export into that one");
  std::string message;
  if (!proto.SerializeToString(&message))
    return error("'" + path + "': its message cannot be written");
  return message;
}

static void describe(const onnx::GraphProto &graph,
                     const TrainedTensors &trained,
                     const EvaluationChanges &changes,
                     TrainedModelReport &report) {
  for (const TensorProto &tensor : graph.initializer()) {
    StringRef dtype = onnxElementDtype(tensor.data_type());
    bool isFloat = dtype.starts_with("f") || dtype.starts_with("bf");
    if (isFloat && !trained.tensors.count(tensor.name()))
      report.untouched.push_back(tensor.name());
  }
  report.norms = changes.norms;
  report.dropouts = changes.dropouts;
  report.dropoutTensors = changes.dropoutTensors;
}

Expected<TrainedModelReport> writeTrainedModel(std::unique_ptr<OnnxModel> model,
                                               const TrainedTensors &trained,
                                               StringRef path) {
  OnnxModel::Contents &contents = model->contents();
  TrainedModelReport report;
  if (Error failed = TensorCheck(contents, trained).check(report))
    return std::move(failed);
  ModelOutput output(contents, path);
  ModelCopy copy(contents, trained, output);
  EvaluationChanges changes = toEvaluationForm(contents.proto);
  bool hasData = false;
  visitTensors(contents.proto,
               [&](TensorProto &tensor) { hasData |= isExternal(tensor); });
  if (Error failed = output.open(hasData))
    return std::move(failed);
  if (Error failed = copy.fill())
    return std::move(failed);
  describe(contents.proto.graph(), trained, changes, report);
  report.dataFile = output.dataPath();
  Expected<std::string> message = serialize(contents.proto, path);
  if (!message)
    return message.takeError();
  if (Error failed = model->checkUnchanged())
    return std::move(failed);
  if (Error failed = output.finish(*message))
    return std::move(failed);
  return report;
}

} // namespace autopar
