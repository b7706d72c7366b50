//===- PlanQuality.h - Searched plans against all plans ---------*- C++ -*-===//

#ifndef AUTOPAR_TEST_PROPERTY_PLANQUALITY_H
#define AUTOPAR_TEST_PROPERTY_PLANQUALITY_H

#include "mlir/IR/BuiltinOps.h"

namespace autopar::property {

struct PlanCounts {
  int64_t problems = 0;
  int64_t skipped = 0;    // of these; none of the others' counts has them
  int64_t withMemory = 0; // where a limit rules out the fastest plan
  int64_t withStages = 0;
  int64_t withNone = 0;  // where nothing fits the limit
  int64_t best = 0;      // whose plan is the best of all
  int64_t aboveBest = 0; // whose lower bound is above that
  double worstRatio = 1; // of a plan's seconds to those of the best
  int64_t failed = 0;
};

/// Random programs on random clusters of two to four devices, with and without
/// stages and a memory limit, that have 10,000 to 10,000,000 plans each: what
/// the search finds against the best of all plans. It fails where it is 2%
/// worse or its lower bound is above the best, and prints that. Skipped are
/// problems whose enumeration takes too long. The first is drawn from `seed`,
/// each other one from the next.
PlanCounts testPlanQuality(mlir::MLIRContext &context, uint64_t seed,
                           int64_t problems);

} // namespace autopar::property

#endif // AUTOPAR_TEST_PROPERTY_PLANQUALITY_H
