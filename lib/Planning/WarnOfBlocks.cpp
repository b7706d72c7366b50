//===- WarnOfBlocks.cpp - Blocks of another dimension than the batch ------===//

#include "autopar/Planning/WarnOfBlocks.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace autopar {

void warnOfBlocks(ModuleOp module, const ModelGraph &graph) {
  constexpr size_t kShown = 3;
  const GraphValue *first = nullptr;
  SmallVector<std::string> names;
  for (unsigned argument : graph.stepArguments) {
    const GraphValue &input = graph.values[argument];
    if (input.rowDim == 0 || input.batchDim < int(input.rowDim))
      continue;
    // The first input decides, because the batch of the labels is derived from
    // that of the model.
    if (!first)
      first = &input;
    if (input.batchDim == int(input.rowDim))
      continue;
    if (input.batchDim - input.rowDim == first->batchDim - first->rowDim)
      names.push_back("'" + input.name + "'");
  }
  if (!first || first->batchDim == int(first->rowDim))
    return;
  size_t more = names.size() - std::min(names.size(), kShown);
  names.truncate(names.size() - more);
  InFlightDiagnostic warning = module.emitWarning()
                               << "recipe: accumulation: cuts dimension 0 of "
                               << llvm::join(names, ", ");
  if (more)
    warning << " and " << more << " more";
  warning << " into " << first->shape.front()
          << " blocks, but the batch is dimension "
          << first->batchDim - int(first->rowDim)
          << ": the data must have the blocks one after the other in dimension "
             "0, each of whole samples; to cut the batch, export the model "
             "with the batch as dimension 0";
}

} // namespace autopar
