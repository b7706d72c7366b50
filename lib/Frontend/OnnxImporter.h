//===- OnnxImporter.h - State of one import ---------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_ONNXIMPORTER_H
#define AUTOPAR_LIB_FRONTEND_ONNXIMPORTER_H

#include "IndexBounds.h"
#include "KnownValues.h"
#include "OnnxContents.h"
#include "OnnxNode.h"
#include "OnnxScope.h"
#include "autopar/Dialect/Interpreter/Tensor.h"
#include "autopar/Frontend/OnnxImporter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace autopar {

/// Tensors of up to this many elements that are made of shapes, constants and
/// small integer tables become constants during import.
constexpr uint64_t kSmallTensor = 64;

/// Nodes and steps of recurrences that an import may unroll.
constexpr uint64_t kUnrollLimit = 200000;

/// Walks a graph and builds @step. Knows no operator: the table does.
class OnnxImporter {
public:
  /// `keepsAll` keeps ops that the values of constants or sizes make needless,
  /// so that the model at another size has the same ops.
  OnnxImporter(const OnnxModel &model, const ImportOptions &options,
               mlir::MLIRContext *context, bool keepsAll = false);

  mlir::OwningOpRef<mlir::ModuleOp> run();

  //===--- For OnnxNode ---===//

  /// Reports and counts an error; further ones follow.
  LogicalResult error(mlir::Location loc, const llvm::Twine &message);
  void warnOnce(mlir::Location loc, llvm::StringRef message);
  /// The dialect's type of an ONNX element type, or null.
  mlir::Type elementType(int64_t onnxDataType);
  /// The constant, made once.
  Value constant(mlir::DenseElementsAttr elements, mlir::Location loc);
  /// Values that follow from constants and parameters.
  KnownValues known;
  /// The end of a message about a value that must be known: after "; " the
  /// inputs of the model that it comes from, and how they get a value; "" if it
  /// comes from none.
  std::string howToBind(Value value) const;
  /// Returns whether one node of this body alone names the value that another
  /// made.
  bool isOnlyUse(llvm::StringRef name, Value value) const;
  /// The constant or parameter of a tensor of the file; null if it is faulty.
  Value tensorValue(const onnx::TensorProto &proto);
  /// The attribute, or what the caller of this function gives for it; null if
  /// it gives nothing.
  const onnx::AttributeProto *
  resolve(const onnx::AttributeProto &attribute) const;
  /// Imports a subgraph in place of a node; its outputs. `place` is put in
  /// front of its names.
  FailureOr<llvm::SmallVector<Value>> importGraph(const onnx::GraphProto &graph,
                                                  llvm::ArrayRef<Value> inputs,
                                                  llvm::StringRef place,
                                                  mlir::Location loc);
  /// Imports a branch of an If that runs where `condition`, a scalar, has the
  /// value `taken`. Failure with the first error as text in `problem`, of which
  /// nobody was told; what was made of it is dead.
  FailureOr<llvm::SmallVector<Value>>
  tryBranch(const onnx::GraphProto &graph, Value condition, bool taken,
            llvm::StringRef place, mlir::Location loc, std::string &problem);
  /// The program shall end with `message` if `condition` does not have the
  /// value `expected` where this body runs.
  void requireAtRun(Value condition, bool expected, const llvm::Twine &message,
                    mlir::Location loc);
  /// `result` is there only if `indices` are indices of dimension `dim` of
  /// `table`, where this body always runs.
  void recordIndices(Value result, const TensorPart &indices,
                     llvm::StringRef tableName, Value table, int64_t dim);
  const std::optional<TrainingOptions> &trained() const {
    return options.trained;
  }
  /// Returns whether later phases read which ops are one function: its
  /// derivative is its own, and its parts are not looked at for NaN and
  /// infinities.
  bool keepsFunctions() const {
    return options.trained || options.checksNumerics;
  }
  bool evaluates() const { return options.evaluates; }
  /// Returns whether the file has the modes of its module's parts, as
  /// autopar.export_for_training writes them.
  bool hasModulesModes() const { return tellsModes; }
  /// Leaves out the output of that name, which only training asks for.
  void leaveOutOutput(llvm::StringRef name) { leftOut.insert(name); }
  /// The number of the step in the sequence of random numbers: a state.
  Value randomStep();
  /// Tells nodes that draw random numbers, and their copies, apart.
  unsigned nextRandomNumber() { return randomNumbers++; }
  /// Makes the parameter a state, whose next value this is. False if it is no
  /// parameter, or a state already.
  bool setNextValue(Value parameter, Value next);
  /// Counts `nodes` as unrolled; an error once they are too many.
  LogicalResult unroll(uint64_t nodes, mlir::Location loc);

  mlir::OpBuilder builder;
  const bool keepsAll;

private:
  LogicalResult checkModel();
  LogicalResult addInputs();
  LogicalResult addInput(const onnx::ValueInfoProto &info);
  FailureOr<llvm::SmallVector<int64_t>>
  bindShape(const onnx::ValueInfoProto &info);
  FailureOr<int64_t> bindDim(const onnx::ValueInfoProto &info, int index);
  FailureOr<std::optional<int64_t>> boundSize(llvm::StringRef name);
  FailureOr<std::optional<int64_t>> namedSize(llvm::StringRef name);
  void takeSizesOfValues();
  LogicalResult checkBoundShape(const onnx::ValueInfoProto &info,
                                llvm::ArrayRef<int64_t> shape);
  LogicalResult fixInput(const onnx::ValueInfoProto &info,
                         llvm::ArrayRef<int64_t> shape, mlir::Type element);
  void checkBindings();
  /// The row of a node that calls no function, as findOnnxOp gives it.
  const OnnxOp *findOp(const onnx::NodeProto &node, int64_t &version) const;
  void importNode(const onnx::NodeProto &node, unsigned index);
  Value holds(Value condition, bool expected, mlir::Location loc);
  LogicalResult collectFunctions();
  const onnx::FunctionProto *findFunction(const onnx::NodeProto &node) const;
  LogicalResult importCall(const onnx::FunctionProto &function, OnnxNode &view);
  void bindAttributes(const onnx::FunctionProto &function, const OnnxNode &view,
                      OnnxScope &inner);
  FailureOr<llvm::SmallVector<Value>>
  importBody(OnnxScope &inner, const OnnxBody &body, mlir::Location loc);
  /// The value of that name in this body or one around it, or null.
  Value lookup(llvm::StringRef name);
  bool isPoisoned(llvm::StringRef name) const;
  /// Returns whether it is an input that the caller of this function leaves
  /// out.
  bool isAbsent(llvm::StringRef name) const;
  LogicalResult checkNode(const onnx::NodeProto &node, const OnnxOp &op,
                          OnnxNode &view);
  LogicalResult checkAttributes(const OnnxOp &op, OnnxNode &view);
  LogicalResult resolveInputs(const onnx::NodeProto &node, OnnxNode &view,
                              bool &poison);
  void bindOutputs(const onnx::NodeProto &node, OnnxNode &view);
  void markFunctions(OnnxNode &view, mlir::Operation *before);
  void poisonOutputs(const onnx::NodeProto &node);
  void reuseOutputs(OnnxNode &view, llvm::ArrayRef<Value> known);
  std::string valueNumber(const onnx::NodeProto &node, const OnnxNode &view);
  mlir::Attribute resultOf(llvm::StringRef output, Value value);
  LogicalResult addOutputs();
  LogicalResult checkOutput(const onnx::ValueInfoProto &info, Value value);
  void warnOfNoDropout();
  void readModule();
  mlir::DictionaryAttr describeModuleTensors();
  void finish();
  llvm::Error describeKnown();

  bool becomesConstant(const OnnxTensor &tensor, mlir::Type element) const;
  Value parameter(const OnnxTensor &tensor);
  FailureOr<interpreter::Tensor> readTensor(const OnnxTensor &tensor,
                                            mlir::Location loc);
  mlir::Location nameLoc(llvm::StringRef name);

  const OnnxModel &model;
  const OnnxModel::Contents &contents;
  const ImportOptions &options;
  mlir::MLIRContext *context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp step;
  mlir::Block *body = nullptr;
  unsigned errors = 0;
  llvm::StringSet<> warnings; // that were told
  llvm::StringSet<> leftOut;  // outputs of the model
  bool hasDropout = false;
  uint64_t unrolled = 0;
  unsigned randomNumbers = 0;
  Value randomState;
  /// The node being imported, for errors about the tensors it uses.
  mlir::Location here;

  OnnxScope graphScope;
  OnnxScope *scope = &graphScope;
  llvm::StringMap<const onnx::FunctionProto *> functions;
  /// The functions that are being inlined.
  llvm::SmallVector<const onnx::FunctionProto *> calls;
  llvm::StringMap<llvm::SmallVector<Value>> numbered;
  llvm::DenseSet<Value> aliased;
  llvm::DenseMap<mlir::Attribute, Value> constants;
  llvm::DenseMap<const OnnxTensor *, Value> tensors;
  /// For each block argument its `autopar.source`, and the tensor if it is a
  /// parameter.
  llvm::SmallVector<mlir::Attribute> sources;
  llvm::DenseMap<Value, const OnnxTensor *> parameters;
  llvm::SmallVector<mlir::Attribute> results;
  llvm::StringSet<> usedBindings;
  llvm::StringMap<int64_t> sizesOfValues; // by names of dimensions
  llvm::SmallVector<mlir::Attribute> fixedInputs;
  /// Tells whether tensors are trained, where the file lists parameters.
  llvm::StringMap<bool> moduleTensors;
  /// The file's modes of training are the module's if this is true.
  bool tellsModes = false;
  /// Tensors that no training changes: a file of trained parameters lacks them.
  llvm::StringSet<> untrained;
  /// Tells whether the body that is imported runs, a scalar; null: it does.
  Value runs;
  /// Results of @step that must be false, their outputs and messages.
  llvm::SmallVector<Value> violations;
  llvm::SmallVector<mlir::Attribute> checks;
  llvm::SmallVector<IndexUse> indexUses;
  /// Next values of states that no output is, by their `autopar.result`.
  llvm::SmallVector<std::pair<mlir::Attribute, Value>> nextValues;
  /// Names of scalars that are parameters.
  llvm::StringSet<> learned;
};

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_ONNXIMPORTER_H
