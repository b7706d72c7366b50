//===- LearnedScalars.cpp - Scalars that may be weights -------------------===//

#include "LearnedScalars.h"
#include "OnnxTensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

/// Operators that read a learned scalar as they read a tensor.
static constexpr StringLiteral kArithmetic[] = {
    "Add",  "Cast", "Div", "Exp",     "Expand",   "Identity",
    "Log",  "Mul",  "Neg", "Reshape", "Sigmoid",  "Softplus",
    "Sqrt", "Sub",  "Sum", "Tanh",    "Unsqueeze"};

/// The names that exporters give to numbers of the code, without the `_12` at
/// the end.
static constexpr StringLiteral kNumberNames[] = {"_tensor_constant",
                                                 "const_fold_opt_",
                                                 "full",
                                                 "lifted_tensor",
                                                 "ones",
                                                 "scalar_tensor_default",
                                                 "val",
                                                 "zeros"};

static bool isNumberName(StringRef name) {
  if (name.starts_with("onnx::") || name.starts_with("/") ||
      name.contains("const_fold_opt") || name.starts_with("Const"))
    return true;
  StringRef word = name.rtrim("0123456789");
  word.consume_back("_");
  return word.empty() || is_contained(kNumberNames, word) ||
         is_contained(kNumberNames, name);
}

/// Takes out what a graph reads otherwise than by arithmetic; of a nested graph
/// all that it reads.
static void dropReads(const onnx::GraphProto &graph, bool isNested,
                      StringSet<> &names) {
  for (const onnx::NodeProto &node : graph.node()) {
    bool isArithmetic = !isNested && node.domain().empty() &&
                        is_contained(kArithmetic, StringRef(node.op_type()));
    for (const std::string &input : node.input())
      if (!isArithmetic)
        names.erase(input);
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        dropReads(attribute.g(), /*isNested=*/true, names);
      for (const onnx::GraphProto &inner : attribute.graphs())
        dropReads(inner, /*isNested=*/true, names);
    }
  }
  for (const onnx::ValueInfoProto &output : graph.output())
    names.erase(output.name());
}

StringSet<> learnedScalars(const onnx::GraphProto &graph) {
  StringSet<> names;
  for (const onnx::TensorProto &tensor : graph.initializer())
    if (tensor.dims_size() == 0 && !isNumberName(tensor.name()) &&
        (tensor.data_type() == onnx::TensorProto::FLOAT ||
         tensor.data_type() == onnx::TensorProto::DOUBLE ||
         tensor.data_type() == onnx::TensorProto::FLOAT16 ||
         tensor.data_type() == onnx::TensorProto::BFLOAT16))
      names.insert(tensor.name());
  if (!names.empty())
    dropReads(graph, /*isNested=*/false, names);
  return names;
}

} // namespace autopar
