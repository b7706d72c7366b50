//===- Passes.h - Kernels, order and buffers --------------------*- C++ -*-===//

#ifndef AUTOPAR_SCHEDULE_PASSES_H
#define AUTOPAR_SCHEDULE_PASSES_H

#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace autopar {

#define GEN_PASS_DECL
#include "autopar/Schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "autopar/Schedule/Passes.h.inc"

/// The passes from the IR after partition to the IR after schedule, which is
/// verified.
void buildSchedulePipeline(mlir::OpPassManager &manager);

/// Registers `--autopar-schedule-pipeline`.
void registerSchedulePipeline();

} // namespace autopar

#endif // AUTOPAR_SCHEDULE_PASSES_H
