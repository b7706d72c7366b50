//===- Validate.h - Checks sharding rules by running them -------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_INTERPRETER_VALIDATE_H
#define AUTOPAR_DIALECT_INTERPRETER_VALIDATE_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Interpreter/Tensor.h"

namespace autopar::interpreter {

/// The ways in which `validateRule` splits an op: each factor and each pass
/// over 2 to 5 devices of one axis, and each pair of them over two axes of two
/// devices.
struct Split {
  Mesh mesh;
  Assignment assignment;
};
std::vector<Split> allSplits(const ShardingRule &rule);

/// Counts of what validation did.
struct ValidationCounts {
  int64_t ops = 0;
  int64_t splits = 0;  // compared with the whole
  int64_t illegal = 0; // not allowed by the rule
};

/// Runs `op`, which must have a sharding rule, on random operands, whole and
/// split in every way, and compares the results. Blocks may be uneven or empty;
/// bytes past their extent are garbage unless the rule names a mask. An op that
/// decomposes is compared with its parts, which are validated too. The
/// assumptions of kernels about its loops are checked as well. An error at `op`
/// names the split that gives another result.
mlir::LogicalResult validateRule(mlir::Operation *op, uint64_t seed,
                                 ValidationCounts &counts);
/// The same for a given rule in place of the op's own, without decomposition.
mlir::LogicalResult validateSplits(mlir::Operation *op,
                                   const ShardingRule &rule, uint64_t seed,
                                   ValidationCounts &counts);

/// Cuts operands and result into `cells` runs of row-major numbers each, and
/// reports an error at `op` if a result element reads an element of another run
/// than its own.
mlir::LogicalResult validateReads(mlir::Operation *op,
                                  llvm::ArrayRef<const Tensor *> operands,
                                  int64_t cells);
/// The same with the runs that the op's role in loops (`loopRoleOf`) promises.
mlir::LogicalResult validateRole(mlir::Operation *op,
                                 llvm::ArrayRef<const Tensor *> operands);

} // namespace autopar::interpreter

#endif // AUTOPAR_DIALECT_INTERPRETER_VALIDATE_H
