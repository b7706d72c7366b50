//===- RepeatedLayers.h - Layers of a model, as they repeat -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_REPORT_REPEATEDLAYERS_H
#define AUTOPAR_LIB_REPORT_REPEATEDLAYERS_H

#include "autopar/Planning/Model/ModelGraph.h"

namespace autopar {

/// Of each layer the contractions of an activation with a weight, in program
/// order. Layers are what repeats in the sequence of all such ops: the same
/// ops again and again, over as many ops as possible. Where an
/// encoder and a decoder repeat each by themselves, both are layers. Empty:
/// nothing repeats.
std::vector<llvm::SmallVector<unsigned>>
repeatedLayers(const ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_LIB_REPORT_REPEATEDLAYERS_H
