//===- Validate.h - Checks sharding rules by running them -------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_INTERPRETER_VALIDATE_H
#define AUTOPAR_DIALECT_INTERPRETER_VALIDATE_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Interpreter/Tensor.h"

namespace autopar::interpreter {

/// Every way that `validateRule` splits an op: each factor and each pass over 2
/// to 5 devices of one axis, each pair of them over two axes of two.
struct Split {
  Mesh mesh;
  Assignment assignment;
};
std::vector<Split> allSplits(const ShardingRule &rule);

/// What validation did.
struct ValidationCounts {
  int64_t ops = 0;
  int64_t splits = 0;  // compared with the whole
  int64_t illegal = 0; // that the rule does not allow
};

/// Runs `op` (of one that has a sharding rule) on random operands, whole and
/// split in every way, and compares. Blocks may be uneven or empty; bytes past
/// their extent are garbage unless the rule names a mask. An op that decomposes
/// is compared with its parts, which are validated too. So is what kernels
/// assume of its loops. An error at `op` names
/// the split that gives something else.
mlir::LogicalResult validateRule(mlir::Operation *op, uint64_t seed,
                                 ValidationCounts &counts);
/// The same for another rule than the op's own; without decomposition.
mlir::LogicalResult validateSplits(mlir::Operation *op,
                                   const ShardingRule &rule, uint64_t seed,
                                   ValidationCounts &counts);

/// Operands and result, each cut into `cells` runs of row-major numbers: an
/// error at `op` if a result element reads another run than its own.
mlir::LogicalResult validateReads(mlir::Operation *op,
                                  llvm::ArrayRef<const Tensor *> operands,
                                  int64_t cells);
/// The same with the cells that the op's role in loops (`loopRoleOf`) promises.
mlir::LogicalResult validateRole(mlir::Operation *op,
                                 llvm::ArrayRef<const Tensor *> operands);

} // namespace autopar::interpreter

#endif // AUTOPAR_DIALECT_INTERPRETER_VALIDATE_H
