//===- ExportWarnings.cpp - What an exporter made of parameters -----------===//
//
// Exporters compute what depends on parameters alone, drop biases of zeros,
// merge tensors that are equal and fold batch norm into the layer before it.
// Inference is as before; a training trains something else than the module.
//
//===----------------------------------------------------------------------===//

#include "autopar/Frontend/ExportWarnings.h"
#include "ExportedModule.h"
#include "OnnxContents.h"
#include "files/MadeUpNames.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

static constexpr StringLiteral kAdvice =
    "; autopar.export_for_training(module, example, path) exports what the "
    "module has (docs/Training.md)";

static std::vector<std::string> textsOf(const SetVector<StringRef> &names) {
  return std::vector<std::string>(names.begin(), names.end());
}

static std::string quoted(StringRef name) {
  return name.contains('\'') ? name.str() : "'" + name.str() + "'";
}

/// `'a', 'b', 'c' and 2 more`
static std::string listOf(ArrayRef<std::string> names) {
  constexpr size_t kShown = 3;
  std::string text;
  for (const std::string &name : names.take_front(kShown))
    text += (text.empty() ? "" : ", ") + quoted(name);
  if (names.size() > kShown)
    text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

namespace {

using Names = std::set<std::string>;
using Found = SetVector<StringRef>;

class ExportReader {
public:
  ExportReader(const OnnxModel::Contents &contents, const Names &trained)
      : contents(contents), graph(contents.proto.graph()),
        module(contents.proto), trained(trained) {}

  std::vector<std::string> read(bool byDefault);

private:
  bool isMadeUp(StringRef name) const;
  void readNode(const onnx::NodeProto &node);
  void followUses(const onnx::NodeProto &node);
  void findFoldedNorm(const onnx::NodeProto &node);
  void findScale(const onnx::NodeProto &node);
  std::vector<std::string> madeUp() const;
  std::vector<std::string> replaced() const;
  std::vector<std::string> shared() const;
  std::vector<std::string> scalars() const;
  std::vector<std::string> perhapsBuffers() const;
  bool isUnlisted() const;

  const OnnxModel::Contents &contents;
  const onnx::GraphProto &graph;
  ExportedModule module;
  const Names &trained;
  /// The initializer that a value is, through Identity.
  StringMap<std::string> same;
  /// The modules that read an initializer, as paths.
  StringMap<SetVector<StringRef>> readers;
  StringSet<> named; // what calls on nodes name
  Found folded, scales;
};

} // namespace

static bool isFloatType(int32_t type) {
  return is_contained({onnx::TensorProto::FLOAT, onnx::TensorProto::DOUBLE,
                       onnx::TensorProto::FLOAT16, onnx::TensorProto::BFLOAT16},
                      type);
}

bool ExportReader::isMadeUp(StringRef name) const {
  return module.tensors.empty() ? runtime::isMadeUpName(name.str())
                                : !module.tensors.contains(name);
}

/// The path of the module that a node is of: `enc.layers.0.norm1` by the list
/// of paths that dynamo=True keeps, `/enc/layers.0/norm1` by the node's name.
static StringRef moduleOf(const onnx::NodeProto &node) {
  StringRef paths = metadataOf(node, "pkg.torch.onnx.name_scopes");
  if (!paths.empty()) // the last one is the call in it
    return paths.rsplit(", ").first.rsplit(", ").second.trim("['\"]");
  StringRef name = node.name();
  return name.starts_with("/") ? name.rsplit('/').first : StringRef();
}

/// Identity stands for parameters that were merged; tables that are read by
/// index are tied to heads on purpose.
void ExportReader::followUses(const onnx::NodeProto &node) {
  for (const std::string &input : node.input()) {
    std::string name = same.lookup(input);
    if (name.empty())
      name = input;
    if (!trained.count(name))
      continue;
    if (node.op_type() == "Identity")
      same[node.output(0)] = name;
    else if (StringRef path = moduleOf(node);
             !path.empty() && node.op_type() != "Gather")
      readers[name].insert(path);
  }
}

void ExportReader::findFoldedNorm(const onnx::NodeProto &node) {
  StringRef op = node.op_type();
  bool isLayer = op.starts_with("Conv") || op == "Gemm" || op == "MatMul";
  if (!isLayer || node.input_size() < 2 || !trained.count(node.input(1)))
    return;
  StringRef classes = metadataOf(node, "pkg.torch.onnx.class_hierarchy");
  bool isKnown = classes.contains(".BatchNorm");
  bool seemsSo = op.starts_with("Conv") && node.input_size() > 2 &&
                 isMadeUp(node.input(1)) && isMadeUp(node.input(2));
  if (isKnown || seemsSo)
    folded.insert(node.name().empty() ? StringRef(node.output(0))
                                      : StringRef(node.name()));
}

void ExportReader::findScale(const onnx::NodeProto &node) {
  if (node.op_type() != "Mul" && node.op_type() != "Div")
    return;
  for (const std::string &input : node.input())
    if (trained.count(input) && !module.tensors.lookup(input) &&
        contents.tensors.find(input)->second.elements == 1)
      scales.insert(input);
}

void ExportReader::readNode(const onnx::NodeProto &node) {
  followUses(node);
  findFoldedNorm(node);
  findScale(node);
  // `args = (%conv2d, %p_bn_weight, ...)`
  StringRef call = metadataOf(node, "pkg.torch.onnx.fx_node");
  while (call.contains('%')) {
    call = call.split('%').second;
    named.insert(
        call.take_while([](char c) { return isAlnum(c) || c == '_'; }));
  }
}

std::vector<std::string> ExportReader::madeUp() const {
  std::vector<std::string> names;
  for (const std::string &name : trained)
    if (isMadeUp(name))
      names.push_back(name);
  return names;
}

/// Parameters that a node's call names, but no tensor of the file is.
std::vector<std::string> ExportReader::replaced() const {
  StringSet<> there;
  for (const onnx::TensorProto &tensor : graph.initializer())
    there.insert(tensor.name());
  std::vector<std::string> names;
  for (const auto &entry : module.called)
    if (named.contains(entry.getKey()) && !there.contains(entry.getValue()))
      names.push_back(entry.getValue());
  llvm::sort(names);
  return names;
}

/// `/cell` for `/cell_1`, a further call of it, if that is among the paths: the
/// suffix may be a module's name as well.
static bool isFurtherCall(StringRef path, const SetVector<StringRef> &paths) {
  SmallVector<StringRef> parts;
  path.split(parts, '/');
  SmallVector<StringRef> without(parts);
  auto isThere = [&](ArrayRef<StringRef> of) {
    std::string text = llvm::join(of, "/");
    return text != path && paths.contains(StringRef(text));
  };
  for (auto [i, part] : enumerate(parts)) {
    StringRef stem = part.rtrim("0123456789");
    if (stem.size() == part.size() || !stem.consume_back("_"))
      continue;
    without[i] = stem;
    SmallVector<StringRef> one(parts);
    one[i] = stem;
    if (isThere(one))
      return true;
  }
  return isThere(without);
}

/// The modules of their own among those that read a tensor: a module that
/// others are in may hand the tensor on to them.
static std::vector<std::string>
distinctModules(const SetVector<StringRef> &paths) {
  std::vector<std::string> distinct;
  for (StringRef path : paths) {
    bool isAround = any_of(paths, [&](StringRef other) {
      return other.size() > path.size() && other.starts_with(path) &&
             (other[path.size()] == '.' || other[path.size()] == '/');
    });
    if (!isAround && !isFurtherCall(path, paths))
      distinct.push_back(path.str());
  }
  return distinct;
}

/// `'a.weight' (of 'a', 'b')` for each initializer of several modules.
std::vector<std::string> ExportReader::shared() const {
  std::vector<std::string> texts;
  for (const std::string &name : trained) {
    auto paths = readers.find(name);
    if (paths == readers.end())
      continue;
    std::vector<std::string> modules = distinctModules(paths->second);
    if (modules.size() > 1)
      texts.push_back("'" + name + "' (of " + listOf(modules) + ")");
  }
  return texts;
}

/// Returns whether the file is of torch.onnx.export with dynamo=False, which
/// does not tell parameters and buffers apart.
bool ExportReader::isUnlisted() const {
  return contents.proto.producer_name() == "pytorch" && module.tensors.empty();
}

/// The tensors whose names are no weight's or bias's: they may be buffers, such
/// as a table of positions.
std::vector<std::string> ExportReader::perhapsBuffers() const {
  std::vector<std::string> names;
  for (const std::string &name : trained) {
    StringRef last = StringRef(name).rsplit('.').second;
    last = last.empty() ? StringRef(name) : last;
    if (isUnlisted() && !isMadeUp(name) && !last.contains("weight") &&
        !last.contains("bias") && !last.starts_with("original"))
      names.push_back(name);
  }
  return names;
}

/// The scalars of the module. With dynamo=False constants are nodes, so a
/// scalar initializer is the module's, such as the temperature of a softmax,
/// and it is a constant of the step.
std::vector<std::string> ExportReader::scalars() const {
  std::vector<std::string> names;
  if (isUnlisted())
    for (const onnx::TensorProto &tensor : graph.initializer())
      if (tensor.dims().empty() && isFloatType(tensor.data_type()) &&
          !trained.count(tensor.name()))
        names.push_back(tensor.name());
  return names;
}

std::vector<std::string> ExportReader::read(bool byDefault) {
  if (module.tellsAll)
    return {};
  for (const onnx::NodeProto &node : graph.node())
    readNode(node);
  std::vector<std::string> texts;
  auto tell = [&](ArrayRef<std::string> names, const Twine &before,
                  const Twine &after) {
    if (!names.empty())
      texts.push_back((before + listOf(names) + after + kAdvice).str());
  };
  tell(madeUp(), "trains ",
       ": an exporter made up such names for what it computed from parameters "
       "(transposed or folded weights, scales), which is trained instead of "
       "them");
  tell(replaced(), "the file has no tensor for the module's ",
       ": the exporter computed something from these parameters, dropped "
       "zeros or merged equal tensors");
  if (module.called.empty())
    tell(shared(), "several layers share ",
         ": an exporter merges parameters that are equal when it exports, and "
         "they are trained as one, unless the module shares them");
  tell(textsOf(scales), "trains ",
       ", one number that is multiplied or divided by: is it a constant, as "
       "an attention's scale, name what is trained in the recipe's "
       "'trainable'");
  if (byDefault)
    tell(perhapsBuffers(), "trains ",
         ", by the name no weight: is it a buffer, as a table of positions, "
         "name what is trained in the recipe's 'trainable'");
  if (byDefault)
    tell(scalars(), "does not train ",
         ": scalars are constants of the step, unless the recipe's 'trainable' "
         "names what is trained");
  tell(textsOf(folded), "batch norm is folded into ",
       ": it is trained without statistics, scale and bias of its own");
  return texts;
}

std::vector<std::string> exportWarnings(const OnnxModel &model,
                                        const std::set<std::string> &trained,
                                        bool byDefault) {
  return ExportReader(model.contents(), trained).read(byDefault);
}

} // namespace autopar
