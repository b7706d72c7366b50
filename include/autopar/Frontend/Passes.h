//===- Passes.h - From the imported graph to setup and step -----*- C++ -*-===//

#ifndef AUTOPAR_FRONTEND_PASSES_H
#define AUTOPAR_FRONTEND_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace autopar {

#define GEN_PASS_DECL
#include "autopar/Frontend/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "autopar/Frontend/Passes.h.inc"

} // namespace autopar

#endif // AUTOPAR_FRONTEND_PASSES_H
