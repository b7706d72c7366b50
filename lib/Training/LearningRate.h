//===- LearningRate.h - The table of schedules ------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_LEARNINGRATE_H
#define AUTOPAR_LIB_TRAINING_LEARNINGRATE_H

#include "StepNumber.h"

namespace autopar {

/// Returns whether the recipe's schedule is a known kind; some need the total
/// of steps.
bool isSchedule(llvm::StringRef kind);
bool needsSteps(llvm::StringRef kind);
/// True if the schedule depends on the recipe's number of this name: `min_lr`,
/// `steps`.
bool readsNumber(const ScheduleRecipe &schedule, llvm::StringRef name);
/// The steps after which the rate stays as it is; 0: there is no such step.
int64_t scheduleSteps(const ScheduleRecipe &schedule, int64_t steps);
/// The kinds, for messages.
std::string scheduleKinds();

/// The learning rate of step `number`, a scalar of i64 that counts from 0, as a
/// scalar of f64. `rate`: the optimizer's or a group's. Numbers that are set at
/// run time become states of `step`.
mlir::Value learningRate(TensorBuilder &b, StepFunction &step,
                         const Recipe &recipe, const StepNumber &rate,
                         mlir::Value number);

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_LEARNINGRATE_H
