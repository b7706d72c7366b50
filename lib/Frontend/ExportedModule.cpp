//===- ExportedModule.cpp - The module that a file came from --------------===//

#include "ExportedModule.h"
#include "OnnxImporter.h"
#include "autopar/Support/Json.h"

using namespace mlir;

namespace autopar {

/// A JSON list of names, which python/autopar/export.py writes.
static constexpr llvm::StringLiteral kParameters = "autopar.parameters";
static constexpr llvm::StringLiteral kSignature =
    "pkg.torch.export.ExportedProgram.graph_signature";

ExportedModule::ExportedModule(const onnx::ModelProto &model) {
  StringRef list = metadataOf(model, kParameters);
  if (list.empty())
    readSignature(metadataOf(model.graph(), kSignature));
  else
    readList(list, model.graph());
}

void ExportedModule::readList(StringRef text, const onnx::GraphProto &graph) {
  auto value = parseJson(text);
  if (!value)
    return llvm::consumeError(value.takeError()); // another tool's key
  const llvm::json::Array *names = value->getAsArray();
  if (!names)
    return;
  tellsAll = true;
  for (const onnx::TensorProto &tensor : graph.initializer())
    tensors[tensor.name()] = false;
  for (const llvm::json::Value &name : *names)
    if (auto text = name.getAsString(); text && tensors.contains(*text))
      tensors[*text] = true;
  for (const auto &entry : tensors)
    if (!entry.getValue())
      untrained.insert(entry.getKey());
  for (const onnx::NodeProto &node : graph.node())
    if (node.op_type() == "BatchNormalization")
      for (const std::string &name : llvm::drop_begin(node.input(), 3))
        untrained.erase(name);
}

/// Lines as `p_fc_weight: PARAMETER target='fc.weight'`.
void ExportedModule::readSignature(StringRef text) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    auto [called, what] = line.split(": ");
    auto [kind, target] = what.split(" target='");
    target = target.split('\'').first;
    bool isParameter = kind == "PARAMETER";
    if (target.empty() ||
        !(isParameter || kind == "BUFFER" || kind == "CONSTANT_TENSOR"))
      continue;
    tensors[target] = isParameter;
    if (isParameter)
      this->called[called] = target.str();
  }
}

void OnnxImporter::readModule() {
  if (!options.trained && !options.evaluates)
    return;
  ExportedModule exported(contents.proto);
  moduleTensors = std::move(exported.tensors);
  tellsModes = exported.tellsAll;
  untrained = std::move(exported.untrained);
}

DictionaryAttr OnnxImporter::describeModuleTensors() {
  SmallVector<NamedAttribute> entries;
  for (const auto &entry : moduleTensors)
    entries.push_back(builder.getNamedAttr(
        entry.getKey(), builder.getBoolAttr(entry.getValue())));
  return builder.getDictionaryAttr(entries);
}

void OnnxImporter::warnOfNoDropout() {
  if (hasDropout || !options.trained ||
      options.trained->dropout.value_or(0) <= 0)
    return;
  emitWarning(here)
      << "recipe: dropout: the model has no Dropout node, so that "
         "nothing is dropped; exports of models in eval mode "
         "have none, those of autopar.export_for_training do";
}

} // namespace autopar
