//===- LearningRate.cpp - The table of schedules --------------------------===//
//
// The schedules, with w warm-up steps, n steps and rate lr. The rate of a step
// i < w is lr*(i+1)/w; after that a row of the table computes it from f =
// min(1, (i-w)/max(1, n-w)).
//
//===----------------------------------------------------------------------===//

#include "LearningRate.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;

namespace autopar {

namespace {

/// The numbers with which a row of the table computes.
struct ScheduleInput {
  TensorBuilder &b;
  StepFunction &step;
  const Recipe &recipe;
  StepNumber rate; // lr
  Value after;     // i - w, of f64
  Value fraction;  // f; null: the schedule does not depend on `steps`

  const ScheduleRecipe &schedule() const { return recipe.schedule; }
  StepNumber number(StringRef name, double otherwise) {
    return numberOf(step, recipe, name, otherwise);
  }
  StepNumber minimum() { return number("min_lr", schedule().minimum); }
};

struct ScheduleRow {
  StringLiteral kind;
  Value (*build)(ScheduleInput &in);
  /// The recipe's numbers that it depends on, beside `lr` and `warmup_steps`.
  std::vector<StringRef> reads;
};

Value constant(ScheduleInput &in) { return in.rate.like(in.b, in.after); }

/// max(min_lr, lr * gamma^floor((i-w)/step_size)).
Value steps(ScheduleInput &in) {
  StepNumber size = in.number("step_size", in.schedule().stepSize),
             gamma = in.number("gamma", in.schedule().gamma);
  Value times = in.b.unary(UnaryKind::Floor,
                           size.applyTo(in.b, BinaryKind::Div, in.after));
  Value factor =
      in.b.binary(BinaryKind::Pow, gamma.like(in.b, in.after), times);
  Value rate = in.rate.applyTo(in.b, BinaryKind::Mul, factor);
  return in.minimum().applyTo(in.b, BinaryKind::Max, rate);
}

/// min_lr + (lr - min_lr) * part.
Value between(ScheduleInput &in, Value part) {
  StepNumber minimum = in.minimum(),
             range = in.rate.combine(in.b, BinaryKind::Sub, minimum);
  return minimum.applyTo(in.b, BinaryKind::Add,
                         range.applyTo(in.b, BinaryKind::Mul, part));
}

Value rest(ScheduleInput &in) {
  return in.b.sub(in.b.splatLike(in.fraction, 1), in.fraction);
}

Value cosine(ScheduleInput &in) {
  Value wave = in.b.unary(UnaryKind::Cos, in.b.mul(in.fraction, M_PI));
  return between(in, in.b.mul(in.b.binary(BinaryKind::Add, wave, 1), 0.5));
}

Value linear(ScheduleInput &in) { return between(in, rest(in)); }

Value polynomial(ScheduleInput &in) {
  StepNumber power = in.number("power", in.schedule().power);
  return between(in, power.applyTo(in.b, BinaryKind::Pow, rest(in)));
}

ArrayRef<ScheduleRow> schedules() {
  static const std::vector<StringRef> ofTotal = {"steps", "min_lr"};
  static const std::vector<ScheduleRow> table = {
      {"constant", constant, {}},
      {"step", steps, {"step_size", "gamma", "min_lr"}},
      {"cosine", cosine, ofTotal},
      {"linear", linear, ofTotal},
      {"polynomial", polynomial, {"steps", "min_lr", "power"}},
      {"warmup_cosine", cosine, ofTotal},
      {"warmup_linear", linear, ofTotal}};
  return table;
}

const ScheduleRow *findSchedule(StringRef kind) {
  for (const ScheduleRow &row : schedules())
    if (row.kind == kind)
      return &row;
  return nullptr;
}

/// The number of the list at the step, the last one after it.
Value listed(TensorBuilder &b, ArrayRef<double> rates, Value step) {
  auto type =
      RankedTensorType::get(int64_t(rates.size()), b.builder.getF64Type());
  Value list =
      ConstantOp::create(b.builder, b.loc, DenseElementsAttr::get(type, rates));
  return GatherOp::create(b.builder, b.loc,
                          RankedTensorType::get({}, b.builder.getF64Type()),
                          list, step, Value(), 0, IntegerAttr());
}

} // namespace

bool isSchedule(StringRef kind) { return findSchedule(kind); }

bool needsSteps(StringRef kind) {
  const ScheduleRow *row = findSchedule(kind);
  return row && llvm::is_contained(row->reads, "steps");
}

bool readsNumber(const ScheduleRecipe &schedule, StringRef name) {
  return schedule.perStep.empty() &&
         (name == "warmup_steps" ||
          llvm::is_contained(findSchedule(schedule.kind)->reads, name));
}

int64_t scheduleSteps(const ScheduleRecipe &schedule, int64_t steps) {
  if (!schedule.perStep.empty())
    return schedule.perStep.size();
  return needsSteps(schedule.kind) ? steps : 0;
}

std::string scheduleKinds() {
  return llvm::join(
      llvm::map_range(schedules(),
                      [](const ScheduleRow &row) { return row.kind.str(); }),
      ", ");
}

/// (i-w)/max(1, n-w), at most 1.
static Value fractionOf(ScheduleInput &in, const StepNumber &warmup) {
  TensorBuilder &b = in.b;
  StepNumber all = in.number("steps", in.recipe.steps),
             later = all.combine(b, BinaryKind::Sub, warmup).atLeast(b, 1);
  return b.binary(BinaryKind::Min, later.applyTo(b, BinaryKind::Div, in.after),
                  1);
}

Value learningRate(TensorBuilder &b, StepFunction &step, const Recipe &recipe,
                   const StepNumber &rate, Value number) {
  const ScheduleRecipe &schedule = recipe.schedule;
  if (!schedule.perStep.empty())
    return listed(b, schedule.perStep, number);
  StepNumber warmup =
      numberOf(step, recipe, "warmup_steps", schedule.warmupSteps);
  Value wide = b.convert(number, b.builder.getF64Type());
  Value after = warmup.applyTo(b, BinaryKind::Sub, wide);
  ScheduleInput in{b, step, recipe, rate, after, {}};
  if (needsSteps(schedule.kind))
    in.fraction = fractionOf(in, warmup);
  Value later = findSchedule(schedule.kind)->build(in);
  if (warmup.is(0))
    return later;
  Value risen =
      rate.applyTo(b, BinaryKind::Mul, b.binary(BinaryKind::Add, wide, 1));
  Value early = warmup.atLeast(b, 1).applyTo(b, BinaryKind::Div, risen);
  return b.select(b.compare(ComparePredicate::Lt, after, 0.0), early, later);
}

} // namespace autopar
