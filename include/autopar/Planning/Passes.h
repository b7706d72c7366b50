//===- Passes.h - From whole programs to planned ones -----------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PASSES_H
#define AUTOPAR_PLANNING_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace autopar {

#define GEN_PASS_DECL
#include "autopar/Planning/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "autopar/Planning/Passes.h.inc"

} // namespace autopar

#endif // AUTOPAR_PLANNING_PASSES_H
