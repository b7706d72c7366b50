//===- WarnOfBlocks.h - Blocks of another dimension than the batch --------===//

#ifndef AUTOPAR_PLANNING_WARNOFBLOCKS_H
#define AUTOPAR_PLANNING_WARNOFBLOCKS_H

#include "autopar/Planning/Model/ModelGraph.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// A recipe's `accumulation` cuts dimension 0 of the inputs. Warns of inputs
/// whose batch is another one, as in `[sequence, batch, features]`, by name.
/// `graph` was read from the module.
void warnOfBlocks(mlir::ModuleOp module, const ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_PLANNING_WARNOFBLOCKS_H
