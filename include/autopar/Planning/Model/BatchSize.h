//===- BatchSize.h - Which dimensions are the batch -----------------------===//

#ifndef AUTOPAR_PLANNING_MODEL_BATCHSIZE_H
#define AUTOPAR_PLANNING_MODEL_BATCHSIZE_H

#include "autopar/Planning/Model/ModelGraph.h"

namespace autopar {

/// Fills in which dimension of each input is the batch: the first one of the
/// first input that the forward graph carries to all its ends (outputs, or what
/// a loss reduces) without an op that mixes it. Where there is none, dimension
/// 0, of a size by vote: of the sizes above one of the inputs' dimension 0 the
/// one that the most ends have there, or else that divides the most ends' and
/// then the most inputs' dimension 0; the least of equals.
void findBatch(ModelGraph &graph);
/// The batch; 1 if there is none.
int64_t batchSize(const ModelGraph &graph);
/// Whether it is an input of which `batchDim` is the batch.
bool hasBatch(const GraphValue &value, int64_t batch);

} // namespace autopar

#endif // AUTOPAR_PLANNING_MODEL_BATCHSIZE_H
