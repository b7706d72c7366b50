//===- Passes.h - Passes that run IR ----------------------------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_INTERPRETER_PASSES_H
#define AUTOPAR_DIALECT_INTERPRETER_PASSES_H

#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace autopar {

#define GEN_PASS_DECL
#include "autopar/Dialect/Interpreter/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "autopar/Dialect/Interpreter/Passes.h.inc"

} // namespace autopar

#endif // AUTOPAR_DIALECT_INTERPRETER_PASSES_H
