//===- LearnedScalars.h - Scalars that may be weights -----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_LEARNEDSCALARS_H
#define AUTOPAR_LIB_FRONTEND_LEARNEDSCALARS_H

#include "onnx-ml.pb.h"
#include "llvm/ADT/StringSet.h"

namespace autopar {

/// Initializers of rank 0 that a training may have changed, as scales, shifts
/// and gates: floats that arithmetic alone reads, in the graph itself, and
/// whose names no exporter makes up for numbers of the code. An inference
/// program takes their values when it runs, from the compiled file where
/// --weights lacks them; other scalars are constants of it.
llvm::StringSet<> learnedScalars(const onnx::GraphProto &graph);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_LEARNEDSCALARS_H
