//===- ModelHash.h - Which graph a model file holds -------------*- C++ -*-===//

#ifndef AUTOPAR_FRONTEND_MODELHASH_H
#define AUTOPAR_FRONTEND_MODELHASH_H

#include "autopar/Frontend/OnnxReader.h"

namespace autopar {

/// Returns a hash that identifies the graph. It covers the message without the
/// values of its weights (initializers of floats that are not scalars),
/// regardless of where they are stored, and without anything that computes
/// nothing (texts, metadata, inferred shapes).
uint64_t graphHash(const OnnxModel &model);

} // namespace autopar

#endif // AUTOPAR_FRONTEND_MODELHASH_H
