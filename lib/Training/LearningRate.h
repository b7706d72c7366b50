//===- LearningRate.h - The table of schedules ------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_LEARNINGRATE_H
#define AUTOPAR_LIB_TRAINING_LEARNINGRATE_H

#include "autopar/Dialect/TensorBuilder.h"
#include "autopar/Training/Recipe.h"

namespace autopar {

/// Whether the recipe's schedule is a known kind; some need the total of steps.
bool isSchedule(llvm::StringRef kind);
bool needsSteps(llvm::StringRef kind);
/// The steps after which the rate stays as it is; 0: there is no such step.
int64_t scheduleSteps(const ScheduleRecipe &schedule, int64_t steps);
/// The kinds, for messages.
std::string scheduleKinds();

/// The learning rate of step `step`, a scalar of i64 that counts from 0, as a
/// scalar of f64. `rate`: the optimizer's; `steps`: of all of them.
mlir::Value learningRate(TensorBuilder &b, const ScheduleRecipe &schedule,
                         int64_t steps, double rate, mlir::Value step);

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_LEARNINGRATE_H
