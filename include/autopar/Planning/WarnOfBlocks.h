//===- WarnOfBlocks.h - Blocks of another dimension than the batch --------===//

#ifndef AUTOPAR_PLANNING_WARNOFBLOCKS_H
#define AUTOPAR_PLANNING_WARNOFBLOCKS_H

#include "autopar/Planning/Model/ModelGraph.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// Warns, by name, of inputs whose batch is not dimension 0, as in `[sequence,
/// batch, features]`: a recipe's `accumulation` cuts dimension 0 of every
/// input. `graph` was read from `module`.
void warnOfBlocks(mlir::ModuleOp module, const ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_PLANNING_WARNOFBLOCKS_H
