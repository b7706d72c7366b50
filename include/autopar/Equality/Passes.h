//===- Passes.h - Proof that local programs compute the whole ---*- C++ -*-===//
//
// The equality checker is a library of its own. It knows the dialect and its
// sharding rules, and none of the passes that make local programs.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EQUALITY_PASSES_H
#define AUTOPAR_EQUALITY_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace autopar {

#define GEN_PASS_DECL
#include "autopar/Equality/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "autopar/Equality/Passes.h.inc"

} // namespace autopar

#endif // AUTOPAR_EQUALITY_PASSES_H
