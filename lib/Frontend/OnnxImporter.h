//===- OnnxImporter.h - State of one import ---------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_ONNXIMPORTER_H
#define AUTOPAR_LIB_FRONTEND_ONNXIMPORTER_H

#include "OnnxContents.h"
#include "OnnxNode.h"
#include "autopar/Dialect/Interpreter/Tensor.h"
#include "autopar/Frontend/OnnxImporter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace autopar {

/// Tensors of up to this many elements that are made of shapes, constants and
/// small integer tables are computed during import.
constexpr uint64_t kSmallTensor = 64;

/// Walks a graph and builds @step. Knows no operator: the table does.
class OnnxImporter {
public:
  OnnxImporter(const OnnxModel &model, const ImportOptions &options,
               mlir::MLIRContext *context);

  mlir::OwningOpRef<mlir::ModuleOp> run();

  //===--- For OnnxNode ---===//

  /// Reports and counts an error; further ones follow.
  LogicalResult error(mlir::Location loc, const llvm::Twine &message);
  /// The dialect's type of an ONNX element type, or null.
  mlir::Type elementType(int64_t onnxDataType);
  /// The constant, made once.
  Value constant(mlir::DenseElementsAttr elements, mlir::Location loc);
  /// The value's elements if they are known while compiling: a constant, or a
  /// parameter of at most `kReadLimit` elements, whose bytes are then read.
  std::optional<interpreter::Tensor> knownTensor(Value value);
  /// How often nodes and the graph's outputs name this value.
  unsigned countUses(llvm::StringRef name) const;
  bool isAliased(Value value) const { return aliased.contains(value); }
  /// A tensor of the file as constant or parameter; null if it is not there.
  Value tensorValue(llvm::StringRef name);

  mlir::OpBuilder builder;

private:
  LogicalResult checkModel();
  LogicalResult addInputs();
  LogicalResult addInput(const onnx::ValueInfoProto &info);
  FailureOr<llvm::SmallVector<int64_t>>
  bindShape(const onnx::ValueInfoProto &info);
  FailureOr<int64_t> bindDim(const onnx::ValueInfoProto &info, int index);
  void checkBindings();
  void countAllUses();
  void importNode(const onnx::NodeProto &node, unsigned index);
  LogicalResult checkNode(const onnx::NodeProto &node, const OnnxOp &op,
                          OnnxNode &view);
  LogicalResult checkAttributes(const OnnxOp &op, OnnxNode &view);
  LogicalResult resolveInputs(const onnx::NodeProto &node, OnnxNode &view,
                              bool &poison);
  void bindOutputs(const onnx::NodeProto &node, OnnxNode &view);
  void poisonOutputs(const onnx::NodeProto &node);
  std::string valueNumber(const onnx::NodeProto &node, const OnnxNode &view);
  LogicalResult addOutputs();
  LogicalResult checkOutput(const onnx::ValueInfoProto &info, Value value);
  void finish();

  Value parameter(const OnnxTensor &tensor);
  std::optional<interpreter::Tensor> readTensor(const OnnxTensor &tensor,
                                                mlir::Location loc);
  mlir::Location nameLoc(llvm::StringRef name);

  const OnnxModel &model;
  const OnnxModel::Contents &contents;
  const ImportOptions &options;
  mlir::MLIRContext *context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp step;
  mlir::Block *body = nullptr;
  int64_t opset = 0;
  unsigned errors = 0;
  /// The node being imported, for errors about the tensors it uses.
  mlir::Location here;

  llvm::StringMap<Value> values;
  llvm::StringSet<> poisoned;
  llvm::StringSet<> initializers;
  llvm::StringMap<unsigned> useCounts;
  llvm::StringMap<llvm::SmallVector<Value>> numbered;
  llvm::DenseSet<Value> aliased;
  llvm::DenseMap<mlir::Attribute, Value> constants;
  /// Per block argument: its `autopar.source`; the tensor of a parameter.
  llvm::SmallVector<mlir::Attribute> sources;
  llvm::DenseMap<Value, const OnnxTensor *> parameters;
  llvm::SmallVector<mlir::Attribute> results;
  llvm::StringSet<> usedBindings;
};

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_ONNXIMPORTER_H
