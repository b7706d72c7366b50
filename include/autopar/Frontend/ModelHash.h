//===- ModelHash.h - Which graph a model file holds -------------*- C++ -*-===//

#ifndef AUTOPAR_FRONTEND_MODELHASH_H
#define AUTOPAR_FRONTEND_MODELHASH_H

#include "autopar/Frontend/OnnxReader.h"

namespace autopar {

/// Tells which graph it is: a hash of the message without the values of its
/// weights (initializers of floats that are no scalars), wherever they are, and
/// without what computes nothing (texts, metadata, inferred shapes).
uint64_t graphHash(const OnnxModel &model);

} // namespace autopar

#endif // AUTOPAR_FRONTEND_MODELHASH_H
