//===- BatchSize.h - The batch dimension of a model -------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_MODEL_BATCHSIZE_H
#define AUTOPAR_PLANNING_MODEL_BATCHSIZE_H

#include "autopar/Planning/Model/ModelGraph.h"

namespace autopar {

/// Fills in which dimension of each input is the batch: the first one of the
/// first input that the forward graph carries to all its ends (outputs, or the
/// operands of a loss's reduction) without an op that mixes it. If there is
/// none, the batch is dimension 0 of the inputs of one size, which is found by
/// vote: the size, of those above 1 that inputs have, that the most ends have
/// in dimension 0. Among equals it is the one that divides dimension 0 of the
/// most ends, then of the most inputs, then the least.
void findBatch(ModelGraph &graph);
/// Returns the size of the batch; 1 if there is none.
int64_t batchSize(const ModelGraph &graph);
/// Returns whether `value` has a batch dimension, if the batch has several
/// rows.
bool hasBatch(const GraphValue &value, int64_t batch);

} // namespace autopar

#endif // AUTOPAR_PLANNING_MODEL_BATCHSIZE_H
