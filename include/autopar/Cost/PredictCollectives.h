//===- PredictCollectives.h - Collectives of a table ------------*- C++ -*-===//

#ifndef AUTOPAR_COST_PREDICTCOLLECTIVES_H
#define AUTOPAR_COST_PREDICTCOLLECTIVES_H

#include "autopar/Support/Csv.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace autopar {

/// Adds the column `predicted_us` to a table of measured collectives. It reads
/// the columns `device` (a type of the device table), `collective`, `algo`
/// (default, or one of NCCL's algorithms), `ranks`, `nodes`, `inter_node`
/// (none, or as in `EFA 8x50GB/s`: the network, and a node's adapters),
/// `size_bytes` (of the whole tensor) and, if there is one, `source` (`list
/// form`, `host clock`: more than the collective was measured). A row that
/// cannot be predicted gets an empty cell, and `warn` gets the reason. The
/// error names a column that is missing.
llvm::Error predictCollectives(CsvTable &table,
                               llvm::function_ref<void(llvm::StringRef)> warn);

} // namespace autopar

#endif // AUTOPAR_COST_PREDICTCOLLECTIVES_H
