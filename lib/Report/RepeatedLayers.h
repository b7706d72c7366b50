//===- RepeatedLayers.h - Layers of a model, as they repeat -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_REPORT_REPEATEDLAYERS_H
#define AUTOPAR_LIB_REPORT_REPEATEDLAYERS_H

#include "autopar/Planning/Model/ModelGraph.h"

namespace autopar {

/// Returns, for each layer, the contractions of an activation with a weight, in
/// program order. Layers are the repeating parts of the sequence of all such
/// ops: a period of ops that recurs, over as many ops as possible. If an
/// encoder and a decoder each repeat, the layers of both are returned. The
/// result is empty if nothing repeats.
std::vector<llvm::SmallVector<unsigned>>
repeatedLayers(const ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_LIB_REPORT_REPEATEDLAYERS_H
