//===- OnnxScope.h - Names that a body can use ------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_ONNXSCOPE_H
#define AUTOPAR_LIB_FRONTEND_ONNXSCOPE_H

#include "mlir/IR/Value.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace autopar {

struct OnnxTensor;

inline bool isStandardDomain(llvm::StringRef domain) {
  return domain.empty() || domain == "ai.onnx";
}

using OpsetImports =
    google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>;

/// The version of the standard operators that is imported; 0 if none is.
int64_t standardOpset(const OpsetImports &imports);

/// Nodes, tensors and outputs of the model's graph, of a subgraph (the body of
/// an If, a Loop or a Scan) or of a function.
struct OnnxBody {
  explicit OnnxBody(const onnx::GraphProto &graph);
  explicit OnnxBody(const onnx::FunctionProto &function);

  const google::protobuf::RepeatedPtrField<onnx::NodeProto> *nodes;
  const google::protobuf::RepeatedPtrField<onnx::TensorProto> *tensors;
  llvm::SmallVector<llvm::StringRef> inputs, outputs;
};

/// The names that a body can use while it is imported. Every import of a body
/// (a call, an iteration) has its own.
struct OnnxScope {
  /// The scope around a subgraph, whose names it can use, too.
  OnnxScope *parent = nullptr;
  int64_t opset = 0;
  /// A prefix for the names of nodes and values, so that those of two imports
  /// differ.
  std::string prefix;
  /// Within a function: what its caller gives for its attributes.
  llvm::StringMap<const onnx::AttributeProto *> attributes;
  llvm::StringMap<mlir::Value> values;
  /// Inputs of a function that its caller leaves out.
  llvm::StringSet<> absent;
  /// Values that could not be made; the error was reported.
  llvm::StringSet<> poisoned;
  llvm::StringMap<const onnx::TensorProto *> initializers;
  /// The number of times that nodes (including those of subgraphs) and outputs
  /// name a value.
  llvm::StringMap<unsigned> useCounts;

  /// Counts uses and enters initializers.
  void enter(const OnnxBody &body);
};

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_ONNXSCOPE_H
