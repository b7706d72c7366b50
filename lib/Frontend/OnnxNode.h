//===- OnnxNode.h - What a builder sees of a node ---------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_ONNXNODE_H
#define AUTOPAR_LIB_FRONTEND_ONNXNODE_H

#include "OnnxOps.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Frontend/OnnxImporter.h"
#include "onnx-ml.pb.h"

namespace autopar {

using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;

class OnnxImporter;
struct OnnxTensor;

/// An ONNX node during import: its inputs as values, its attributes with
/// defaults, and a small vocabulary to build ops with. Attributes and the
/// number of inputs were checked against the row before the builder runs; types
/// and shapes are the builder's to check.
class OnnxNode {
public:
  OnnxNode(OnnxImporter &importer, const onnx::NodeProto &proto,
           const OnnxOp &op, int64_t version, mlir::Location loc);

  //===--- What the node is ---===//

  /// The op's version: the newest since-version within the model's opset.
  int64_t version;
  mlir::Location loc;
  mlir::OpBuilder &builder;

  /// "node 'x' (Softmax, version 13): " + message, at the node's location.
  LogicalResult error(const llvm::Twine &message);
  /// A warning that is told of the first node alone.
  void warnOnce(llvm::StringRef message);

  //===--- Inputs and outputs ---===//

  /// Number of inputs named, up to the last one that is not empty.
  unsigned numInputs() const { return inputs.size(); }
  unsigned numOutputs() const { return proto.output_size(); }
  bool has(unsigned i) const { return i < inputs.size() && inputs[i]; }
  bool wantsOutput(unsigned i) const {
    return i < numOutputs() && !proto.output(i).empty();
  }
  Value input(unsigned i) const { return inputs[i]; }
  RankedTensorType type(unsigned i) const { return typeOf(inputs[i]); }
  llvm::ArrayRef<int64_t> shape(unsigned i) const { return type(i).getShape(); }
  int64_t rank(unsigned i) const { return type(i).getRank(); }
  void setOutput(unsigned i, Value value) { outputs[i] = value; }
  LogicalResult finish(Value value) {
    setOutput(0, value);
    return mlir::success();
  }
  /// True if the value of input i is used by this node alone and is no output.
  bool isOnlyUse(unsigned i) const;

  /// The end of an error about a value that must be known: after "; " the
  /// inputs of the model that it comes from; "" if it comes from none.
  std::string howToBind(Value value) const;
  std::string howToBind(unsigned i) const { return howToBind(inputs[i]); }
  /// The integers of input i, which must be known while compiling.
  FailureOr<llvm::SmallVector<int64_t>> ints(unsigned i);
  FailureOr<int64_t> scalarInt(unsigned i);
  /// The numbers of input i as doubles, or none if they are not known.
  std::optional<llvm::SmallVector<double>> knownNumbers(unsigned i) {
    return knownNumbersOf(inputs[i]);
  }
  std::optional<llvm::SmallVector<double>> knownNumbersOf(Value value);

  //===--- Attributes ---===//

  const onnx::AttributeProto *attribute(llvm::StringRef name) const;
  int attributeCount() const { return proto.attribute_size(); }
  bool hasAttribute(llvm::StringRef name) const { return attribute(name); }
  int64_t getInt(llvm::StringRef name, int64_t byDefault) const;
  double getFloat(llvm::StringRef name, double byDefault) const;
  llvm::StringRef getString(llvm::StringRef name,
                            llvm::StringRef byDefault) const;
  llvm::SmallVector<int64_t> getInts(llvm::StringRef name) const;
  llvm::SmallVector<float> getFloats(llvm::StringRef name) const;
  /// `axis` counted from the front; an error if it is outside of `rank` axes.
  FailureOr<int64_t> normalizeAxis(int64_t axis, int64_t rank);
  /// Reads a list of axes, which must not repeat an axis, and sorts it.
  FailureOr<llvm::SmallVector<int64_t>>
  normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);

  //===--- Sequences ---===//

  /// A sequence of tensors is a value that the builders of sequences alone see,
  /// of one type for all sequences.
  static bool isSequence(Value value) {
    return llvm::isa<mlir::TupleType>(value.getType());
  }
  /// An error if such lists become too much.
  FailureOr<Value> sequence(llvm::ArrayRef<Value> tensors);
  static llvm::SmallVector<Value> tensorsOf(Value sequence);

  //===--- Types ---===//

  static RankedTensorType typeOf(Value value) {
    return llvm::cast<RankedTensorType>(value.getType());
  }
  static mlir::Type elementOf(Value value) {
    return typeOf(value).getElementType();
  }
  static llvm::ArrayRef<int64_t> shapeOf(Value value) {
    return typeOf(value).getShape();
  }
  static int64_t rankOf(Value value) { return typeOf(value).getRank(); }
  /// The type as MLIR prints it, for messages.
  static std::string typeText(Value value);
  FailureOr<mlir::Type> elementType(int64_t onnxDataType);
  LogicalResult requireFloat(unsigned i);
  LogicalResult requireRank(unsigned i, int64_t low, int64_t high);
  /// Shape after numpy's broadcasting rules.
  FailureOr<llvm::SmallVector<int64_t>>
  broadcastShape(llvm::ArrayRef<Value> values);

  //===--- Ops: each folds to a constant where it can ---===//

  template <typename Op, typename... Args> Value create(Args &&...args) {
    return fold(Op::create(builder, loc, std::forward<Args>(args)...));
  }
  Value splat(RankedTensorType type, double value);
  Value splatLike(Value like, double value) {
    return splat(typeOf(like), value);
  }
  Value scalarInts(llvm::ArrayRef<int64_t> values,
                   llvm::ArrayRef<int64_t> shape);
  /// A table of numbers of a float type.
  Value floats(llvm::ArrayRef<double> values, mlir::Type element);
  Value denseConstant(mlir::DenseElementsAttr elements);
  /// A constant of the bits of input i as a type of the same width; nothing if
  /// its elements are not known.
  std::optional<Value> bitsOf(unsigned i, mlir::Type element);
  /// The tensor of a Constant node, as constant or parameter.
  Value ownTensor();
  /// The outputs of the subgraph that attribute `name` holds, imported here.
  /// `place` tells its values' names from those of other imports.
  FailureOr<llvm::SmallVector<Value>> importGraph(llvm::StringRef name,
                                                  llvm::ArrayRef<Value> inputs,
                                                  const llvm::Twine &place);
  /// Imports a branch of an If on `condition` in the same way; see
  /// OnnxImporter.
  FailureOr<llvm::SmallVector<Value>> tryBranch(llvm::StringRef name,
                                                Value condition, bool taken,
                                                const llvm::Twine &place,
                                                std::string &problem);
  void requireAtRun(Value condition, bool expected, const llvm::Twine &message);
  /// Requires the same of a condition that is known, if it could be different
  /// at another size of the model.
  void requireKnown(Value condition, bool expected, const llvm::Twine &message);
  /// `result` reads or writes input `table` along `dim` where input `indices`
  /// says: a run ends if an input of the model brings others there.
  void recordIndices(Value result, unsigned table, unsigned indices,
                     int64_t dim);
  /// Records indices whose last dimension has an index for each dimension of
  /// the table from `firstDim` on.
  void recordIndexRows(Value result, unsigned table, unsigned indices,
                       int64_t firstDim);
  /// The options of the training, if the model is trained.
  const std::optional<TrainingOptions> &trained() const;
  /// Returns whether the model is one for training that is compiled for
  /// inference.
  bool evaluates() const;
  /// See OnnxImporter.
  bool hasModulesModes() const;
  /// See OnnxImporter.
  Value randomStep();
  unsigned nextRandomNumber();
  /// Makes the parameter that input i is a state; an error if it is none.
  LogicalResult setNextValue(unsigned i, Value next);
  /// Makes the parameter that input i is a state that stays what it is, which
  /// is not trained; nothing if it is none.
  void keepValue(unsigned i);
  /// Output i, which only training asks for, is not one of the model's.
  void leaveOutOutput(unsigned i);
  /// Counts what the builder is about to unroll; an error if it is too much.
  LogicalResult unroll(uint64_t nodes);
  Value unary(UnaryKind kind, Value x);
  /// Operands of one shape.
  Value binary(BinaryKind kind, Value a, Value b);
  Value binary(BinaryKind kind, Value a, double b) {
    return binary(kind, a, splatLike(a, b));
  }
  Value compare(ComparePredicate predicate, Value a, Value b);
  Value select(Value condition, Value a, Value b);
  Value convert(Value x, mlir::Type element);
  /// Aligned at the last dimension, as numpy does; the shapes must agree.
  Value broadcastTo(Value x, llvm::ArrayRef<int64_t> shape);
  /// Dimension i of x becomes dimension dims[i].
  Value broadcastDims(Value x, llvm::ArrayRef<int64_t> shape,
                      llvm::ArrayRef<int64_t> dims);
  Value reshape(Value x, llvm::ArrayRef<int64_t> shape);
  /// Inserts a dimension of size 1 at `dim`.
  Value insertDim(Value x, int64_t dim);
  /// Drops dimension `dim`, whose size is 1.
  Value dropDim(Value x, int64_t dim);
  /// Element `at` along dimension `dim`, which disappears.
  Value take(Value x, int64_t dim, int64_t at);
  Value transpose(Value x, llvm::ArrayRef<int64_t> perm);
  /// Dimensions `a` and `b` exchanged.
  Value swapDims(Value x, int64_t a, int64_t b);
  Value slice(Value x, llvm::ArrayRef<int64_t> starts,
              llvm::ArrayRef<int64_t> sizes,
              llvm::ArrayRef<int64_t> steps = {});
  Value concat(llvm::ArrayRef<Value> values, int64_t dim);
  Value gather(Value data, Value indices, int64_t dim);
  /// Gathers by an index per element; data and indices agree in the other
  /// dimensions.
  Value gatherElements(Value data, Value indices, int64_t dim);
  Value iota(RankedTensorType type, int64_t dim);
  Value reduce(ReduceKind kind, Value x, llvm::ArrayRef<int64_t> dims);
  Value mean(Value x, llvm::ArrayRef<int64_t> dims);
  /// x in a type that its sums and powers fit into where the result is small
  /// again: f32 for floats of 16 bits, else x itself.
  Value widened(Value x) { return convert(x, widened(elementOf(x))); }
  mlir::Type widened(mlir::Type element);
  /// Runs `build` with its 16-bit float inputs widened and its results
  /// converted back, so that a node of several ops rounds its result once.
  /// Inputs of several float types are left to `build`.
  LogicalResult buildWidened(OnnxBuilder build);
  /// `value` as one function of `inputs`, whose gradients the row `derivative`
  /// of lib/Training/Derivatives/Functions.cpp builds; where nobody asks for
  /// gradients, `value` itself. `parameters`: what the row reads by name.
  Value function(llvm::StringRef derivative, llvm::ArrayRef<Value> inputs,
                 Value value,
                 llvm::ArrayRef<mlir::NamedAttribute> parameters = {});
  /// Parameters of a function.
  mlir::NamedAttribute number(llvm::StringRef name, double value);
  mlir::NamedAttribute dims(llvm::ArrayRef<int64_t> values);
  Value einsum(llvm::StringRef lhs, llvm::StringRef rhs, llvm::StringRef result,
               Value a, Value b);
  /// x op v, with v[i] along dimension i of x: biases and scales of channels.
  Value binaryAlong(BinaryKind kind, Value x, Value v, int64_t dim);

private:
  friend class OnnxImporter;
  Value fold(mlir::Operation *op);

  OnnxImporter &importer;
  const onnx::NodeProto &proto;
  const OnnxOp &op;
  llvm::SmallVector<Value> inputs;
  llvm::SmallVector<Value> outputs;
};

/// For a row of the table: a builder of several ops that are computed in f32 if
/// the node's type has 16 bits. Matrix multiplications never use it: they are
/// fast in 16 bits, with sums in f32.
template <OnnxBuilder build> LogicalResult widen(OnnxNode &node) {
  return node.buildWidened(build);
}

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_ONNXNODE_H
