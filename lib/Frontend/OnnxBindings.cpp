//===- OnnxBindings.cpp - What --bind gives sizes and inputs --------------===//

#include "BoundValues.h"
#include "OnnxImporter.h"
#include "SymbolicSize.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The size that --bind gives under a name; nothing if it gives none. A size
/// that is wrong is an error.
FailureOr<std::optional<int64_t>> OnnxImporter::boundSize(StringRef name) {
  auto bound = options.bindings.find(name.str());
  if (name.empty() || bound == options.bindings.end() ||
      shapeOfBound(options, name)) { // of an input that is called the same
    auto size = sizesOfValues.find(name);
    return size == sizesOfValues.end() ? std::optional<int64_t>()
                                       : std::optional(size->second);
  }
  usedBindings.insert(name);
  int64_t size;
  if (StringRef(bound->second).getAsInteger(10, size) || size < 0)
    return error(here, "--bind " + name + "=" + bound->second +
                           ": sizes are integers of 0 or more");
  return std::optional(size);
}

/// An input's value gives its symbolic dimensions their sizes.
void OnnxImporter::takeSizesOfValues() {
  for (const onnx::ValueInfoProto &info : contents.proto.graph().input()) {
    auto shape = shapeOfBound(options, info.name());
    const auto &dims = info.type().tensor_type().shape().dim();
    if (shape && dims.size() == int(shape->size()))
      for (auto [dim, size] : llvm::zip_equal(dims, *shape))
        if (!dim.dim_param().empty())
          sizesOfValues.try_emplace(dim.dim_param(), size);
  }
}

/// The size of a dimension's name: what --bind gives, or what it is by
/// arithmetic on names to which --bind gives sizes.
FailureOr<std::optional<int64_t>> OnnxImporter::namedSize(StringRef name) {
  FailureOr<std::optional<int64_t>> given = boundSize(name);
  if (failed(given) || *given)
    return given;
  bool wrong = false;
  std::optional<int64_t> computed =
      evaluateSize(name, [&](StringRef part) -> std::optional<int64_t> {
        FailureOr<std::optional<int64_t>> size = boundSize(part);
        wrong |= failed(size);
        return size.value_or(std::nullopt);
      });
  if (wrong)
    return failure();
  return computed;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns whether the value's shape is what the model and other bindings say.
LogicalResult OnnxImporter::checkBoundShape(const onnx::ValueInfoProto &info,
                                            ArrayRef<int64_t> shape) {
  const onnx::TypeProto_Tensor &type = info.type().tensor_type();
  auto wrong = [&](const Twine &what) {
    return error(here, "--bind " + info.name() + "=" +
                           options.bindings.at(info.name()) + ": " + what);
  };
  if (!type.has_shape())
    return success();
  if (type.shape().dim_size() != int(shape.size()))
    return wrong("its value has rank " + Twine(shape.size()) +
                 ", but the input rank " + Twine(type.shape().dim_size()));
  for (auto [i, size] : llvm::enumerate(shape)) {
    std::string place = info.name() + "." + std::to_string(i);
    const auto &dim = type.shape().dim(i);
    bool open = !dim.has_dim_value() || dim.dim_value() < 0;
    FailureOr<std::optional<int64_t>> known = boundSize(place);
    if (succeeded(known) && !*known && open)
      known = namedSize(dim.dim_param());
    if (failed(known))
      return failure();
    int64_t expected = known->value_or(open ? size : dim.dim_value());
    if (expected != size)
      return wrong("dimension " + Twine(i) + " of its value is " + Twine(size) +
                   ", but that of the input " + Twine(expected));
  }
  return success();
}

/// The input is a constant; the program is told which, so that it can refuse
/// another value.
LogicalResult OnnxImporter::fixInput(const onnx::ValueInfoProto &info,
                                     ArrayRef<int64_t> shape, Type element) {
  StringRef name = info.name(), text = options.bindings.at(info.name());
  usedBindings.insert(name);
  if (failed(checkBoundShape(info, shape)))
    return failure();
  if (!countElements(shape, 16))
    return error(here, "input '" + name + "' is too large");
  auto value = boundValue(options, name, RankedTensorType::get(shape, element));
  if (!value)
    return error(here, "--bind " + name + "=" + text + ": " +
                           llvm::toString(value.takeError()));
  DenseElementsAttr elements = interpreter::toElements(*value);
  scope->poisoned.erase(info.name());
  scope->values[name] = constant(elements, nameLoc(name));
  fixedInputs.push_back(
      FixedInputAttr::get(context, builder.getStringAttr(name),
                          builder.getStringAttr(text), elements));
  return success();
}

/// Operations that are looked at to say which inputs a value comes from.
static constexpr size_t kSearchedValues = 256;

std::string OnnxImporter::howToBind(Value value) const {
  llvm::SetVector<Value> seen;
  seen.insert(value);
  std::string names;
  for (size_t i = 0; i < seen.size() && i < kSearchedValues; ++i) {
    if (Operation *op = seen[i].getDefiningOp()) {
      seen.insert(op->operand_begin(), op->operand_end());
      continue;
    }
    auto argument = cast<BlockArgument>(seen[i]);
    if (argument.getOwner() != body)
      continue;
    if (auto input = dyn_cast<InputAttr>(sources[argument.getArgNumber()]))
      names += (names.empty() ? "" : " and ") + input.getName().str();
  }
  return names.empty() ? ""
                       : "; it comes from input " + names +
                             ": give --bind INPUT=VALUE, [0,2] or @FILE";
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// `'batch', 'seq'`: the names of sizes that inputs leave open.
static std::string symbolicSizes(const onnx::GraphProto &graph) {
  llvm::SetVector<StringRef> names;
  for (const onnx::ValueInfoProto &info : graph.input())
    for (const auto &dim : info.type().tensor_type().shape().dim())
      if (!dim.dim_param().empty())
        names.insert(dim.dim_param());
  return names.empty() ? "" : "'" + llvm::join(names, "', '") + "'";
}

void OnnxImporter::checkBindings() {
  std::string known = symbolicSizes(contents.proto.graph());
  for (const auto &[name, value] : options.bindings) {
    if (usedBindings.contains(name))
      continue;
    std::string binding = "--bind " + name + "=" + value + ": ";
    if (Value input = scope->values.lookup(name); input)
      (void)error(here, binding + "input '" + name + "' is " +
                            OnnxNode::typeText(input) +
                            ", not one element; write a list of its values, "
                            "[0,2], or @FILE");
    else
      (void)error(here, binding + "no input has a symbolic dimension '" + name +
                            "' or is called so; " +
                            (known.empty() ? "no dimension is symbolic"
                                           : "symbolic are " + known));
  }
}

} // namespace autopar
