//===- GraphBuilder.h - Adds random ops to a function -----------*- C++ -*-===//

#ifndef AUTOPAR_TEST_PROPERTY_GRAPHBUILDER_H
#define AUTOPAR_TEST_PROPERTY_GRAPHBUILDER_H

#include "Random.h"
#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace autopar::property {

/// Tensors stay this small.
inline constexpr int64_t kMaxElements = 800;
/// And have at most so many dimensions.
inline constexpr int64_t kMaxRank = 6;

/// A function under construction and the values it has so far.
class GraphBuilder {
public:
  GraphBuilder(mlir::ModuleOp module, llvm::StringRef name, Random &random,
               mlir::Type element, bool onlyParameters);

  mlir::Type floatType() const { return element; }
  mlir::Type indexType() { return builder.getI64Type(); }
  mlir::RankedTensorType type(llvm::ArrayRef<int64_t> shape, mlir::Type of) {
    return mlir::RankedTensorType::get(shape, of);
  }
  /// More than four dimensions are rare.
  llvm::SmallVector<int64_t> randomShape(int64_t minRank, int64_t maxRank);

  /// A value with this element type and rank, made so far or a new argument.
  mlir::Value pick(mlir::Type of, int64_t minRank = 0,
                   int64_t maxRank = kMaxRank);
  /// A value of this type: one there is, or a new argument.
  mlir::Value pickOf(mlir::RankedTensorType type);
  mlir::Value newArgument(mlir::RankedTensorType type);
  void addSetupResult(mlir::RankedTensorType type);
  void add(mlir::Value value) { values.push_back(value); }
  /// `value` becomes a result also where something reads it.
  void keep(mlir::Value value) { kept.insert(value); }
  int64_t opCount();

  /// tanh(value): keeps what could grow within [-1, 1].
  mlir::Value bounded(mlir::Value value);
  mlir::Value splat(mlir::RankedTensorType type, double value);

  /// Whether an element's last bits may depend on the order of a sum: then no
  /// op with steps may read it.
  bool isExact(mlir::Value value);

  /// Returns the values that nothing reads, and some of the others: their
  /// types.
  llvm::SmallVector<mlir::Type> finish();

  mlir::OpBuilder builder;
  mlir::Location loc;
  Random &random;

private:
  mlir::ModuleOp module;
  mlir::func::FuncOp func;
  mlir::Type element;
  bool onlyParameters;
  llvm::SmallVector<mlir::Value> values;
  llvm::DenseSet<mlir::Value> kept;
};

/// The shape of a tensor value.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
int64_t elementCount(llvm::ArrayRef<int64_t> shape);

mlir::Value makeUnary(GraphBuilder &graph);
mlir::Value makeSafeUnary(GraphBuilder &graph);
mlir::Value makeBinary(GraphBuilder &graph);
mlir::Value makeQuotient(GraphBuilder &graph);
mlir::Value makeIntBinary(GraphBuilder &graph);
mlir::Value makeLogical(GraphBuilder &graph);
mlir::Value makeTest(GraphBuilder &graph);
mlir::Value makeCompare(GraphBuilder &graph);
mlir::Value makeSelect(GraphBuilder &graph);
mlir::Value makeConvert(GraphBuilder &graph);
mlir::Value makeConstant(GraphBuilder &graph);
mlir::Value makeIota(GraphBuilder &graph);
mlir::Value makeBroadcast(GraphBuilder &graph);
mlir::Value makeReshape(GraphBuilder &graph);
mlir::Value makeTranspose(GraphBuilder &graph);
mlir::Value makeSlice(GraphBuilder &graph);
mlir::Value makeMovements(GraphBuilder &graph);
mlir::Value makeImageMovement(GraphBuilder &graph);
mlir::Value makePad(GraphBuilder &graph);
mlir::Value makeConcat(GraphBuilder &graph);
mlir::Value makeGather(GraphBuilder &graph);
mlir::Value makeGatherNd(GraphBuilder &graph);
mlir::Value makeGatherElements(GraphBuilder &graph);
mlir::Value makeScatter(GraphBuilder &graph);
mlir::Value makeTopK(GraphBuilder &graph);
mlir::Value makeEinsum(GraphBuilder &graph);
mlir::Value makeConvolution(GraphBuilder &graph);
mlir::Value makePool(GraphBuilder &graph);
mlir::Value makeReduce(GraphBuilder &graph);
mlir::Value makeScan(GraphBuilder &graph);
mlir::Value makeSoftmax(GraphBuilder &graph);
mlir::Value makeNormalize(GraphBuilder &graph);

} // namespace autopar::property

#endif // AUTOPAR_TEST_PROPERTY_GRAPHBUILDER_H
