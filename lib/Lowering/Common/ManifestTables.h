//===- ManifestTables.h - What calls of a program refer to ------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_COMMON_MANIFESTTABLES_H
#define AUTOPAR_LIB_LOWERING_COMMON_MANIFESTTABLES_H

#include "HostProgram.h"
#include "llvm/Support/JSON.h"

namespace autopar {

/// `make` of each element. An array that grows copies all that is in it, again
/// and again.
template <typename Range, typename Make>
llvm::json::Array arrayOf(const Range &range, Make make) {
  llvm::json::Array array;
  array.reserve(range.size());
  for (const auto &element : range)
    array.push_back(make(element));
  return array;
}

llvm::json::Array numbers(llvm::ArrayRef<int64_t> values);

/// Inputs that are constants of the program, with the bytes of their value, or
/// the hash of many.
llvm::json::Array fixedInputs(mlir::ModuleOp module);

/// Gives states that are hyperparameters the "range" of what they may be.
void addRanges(mlir::ModuleOp module, llvm::json::Array &persistent);

/// Adds "evaluation" (`AutoparDialect::kMetrics`), and says which input counts
/// rows; the manifest has its inputs.
void addEvaluation(mlir::ModuleOp module, llvm::json::Object &root);

/// Gives inputs that are indices, by `AutoparDialect::kIndexBounds`, their
/// "index_bounds".
void addIndexBounds(mlir::ModuleOp module, llvm::json::Array &inputs);

/// "dims" of a tensor of global shape `shape`: the digits of the block index,
/// major first; an interval is written as it is.
llvm::json::Array dimSlices(ShardingAttr attribute,
                            llvm::ArrayRef<int64_t> shape, const Mesh &mesh);

/// The mesh, and the rows that the host functions name by number.
void addTables(const HostProgram &program, llvm::json::Object &root);

/// The plan as it was chosen, what it predicts, what a step computes, and
/// hashes of what a training is made of (`AutoparDialect::kHashes`).
mlir::LogicalResult addPlan(const HostProgram &program,
                            llvm::json::Object &root);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_MANIFESTTABLES_H
