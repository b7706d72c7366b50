//===- EvaluationForm.h - An export for training, for inference -*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_EVALUATIONFORM_H
#define AUTOPAR_LIB_FRONTEND_EVALUATIONFORM_H

#include "onnx-ml.pb.h"

namespace autopar {

/// The input of a BatchNormalization that an output beside y repeats in
/// evaluation: the running mean or the running variance.
inline int runningStatistic(int output) { return output % 2 ? 3 : 4; }

struct EvaluationChanges {
  unsigned norms = 0;          // that took the statistics of the batch
  unsigned dropouts = 0;       // nodes that are out
  unsigned dropoutTensors = 0; // that only those read, which are out, too
};

/// Makes of an export for training what `compile --evaluate` reads in it. Batch
/// norm takes its running statistics and has one output; Dropout nodes are out.
///   y = Dropout(x, ratio, mode), z = Relu(y)  ->  z = Relu(x)
/// Outputs of graphs and functions keep their names: where one was made by such
/// a node, an Identity makes it. Tensors that stay are not moved in memory.
EvaluationChanges toEvaluationForm(onnx::ModelProto &model);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_EVALUATIONFORM_H
