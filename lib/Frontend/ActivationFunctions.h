//===- ActivationFunctions.h - Activations of several operators -*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_ACTIVATIONFUNCTIONS_H
#define AUTOPAR_LIB_FRONTEND_ACTIVATIONFUNCTIONS_H

#include "OnnxNode.h"

namespace autopar {

/// x where x > 0, else alpha * x
Value leakyReluOf(OnnxNode &node, Value x, double alpha);
/// x where x > 0, else alpha * (exp(x) - 1)
Value eluOf(OnnxNode &node, Value x, double alpha);
/// x where x > alpha, else 0
Value thresholdedReluOf(OnnxNode &node, Value x, double alpha);
/// log(1 + exp(x))
Value softplusOf(OnnxNode &node, Value x);
/// x / (1 + |x|)
Value softsignOf(OnnxNode &node, Value x);
/// max(0, min(1, alpha * x + beta))
Value hardSigmoidOf(OnnxNode &node, Value x, double alpha, double beta);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_ACTIVATIONFUNCTIONS_H
