//===- Padding.h - GEMMs whose operands a plan pads -------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLAN_PADDING_H
#define AUTOPAR_PLANNING_PLAN_PADDING_H

#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// Decides which GEMMs of @step pad their operands, so that the rows in memory
/// are as the target's fast kernels take them (TargetTable's `alignedBytes`):
/// in program order those of 16-bit or tf32 numbers that gain by it and for
/// which their stage has memory left. Writes PlannedOp::padded and adds the
/// bytes to the predictions, which predictMemory has made. For example, a
/// vocabulary of 50257 words is padded to 50264 once, at load, and the result
/// of its GEMM in each step.
///
/// The bytes are an estimate: padded constants stay beside the constants that
/// they may replace, and what is padded in the step is there while one GEMM
/// runs.
void padOperands(const ModelGraph &graph, Plan &plan);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_PADDING_H
