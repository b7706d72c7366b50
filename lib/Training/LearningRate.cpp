//===- LearningRate.cpp - The table of schedules --------------------------===//
//
// With w warm-up steps, n steps and rate lr: in step i < w it is lr*(i+1)/w;
// then, with f = min(1, (i-w)/max(1, n-w)), what the row says.
//
//===----------------------------------------------------------------------===//

#include "LearningRate.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;

namespace autopar {

namespace {

/// What a row of the table computes with.
struct ScheduleInput {
  TensorBuilder &b;
  const ScheduleRecipe &schedule;
  double rate;    // lr
  Value after;    // i - w, of f64
  Value fraction; // f
};

struct ScheduleRow {
  StringLiteral kind;
  bool needsSteps;
  Value (*build)(ScheduleInput &in);
};

Value constant(ScheduleInput &in) { return in.b.splatLike(in.after, in.rate); }

/// max(min_lr, lr * gamma^floor((i-w)/step_size)).
Value steps(ScheduleInput &in) {
  Value times =
      in.b.unary(UnaryKind::Floor,
                 in.b.binary(BinaryKind::Div, in.after, in.schedule.stepSize));
  Value factor = in.b.binary(
      BinaryKind::Pow, in.b.splatLike(in.after, in.schedule.gamma), times);
  return in.b.binary(BinaryKind::Max, in.b.mul(factor, in.rate),
                     in.schedule.minimum);
}

/// min_lr + (lr - min_lr) * part.
Value between(ScheduleInput &in, Value part) {
  return in.b.binary(BinaryKind::Add,
                     in.b.mul(part, in.rate - in.schedule.minimum),
                     in.schedule.minimum);
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
  return between(in, in.b.binary(BinaryKind::Pow, rest(in), in.schedule.power));
}

constexpr ScheduleRow table[] = {
    {"constant", false, constant},    {"step", false, steps},
    {"cosine", true, cosine},         {"linear", true, linear},
    {"polynomial", true, polynomial}, {"warmup_cosine", true, cosine},
    {"warmup_linear", true, linear}};

const ScheduleRow *findSchedule(StringRef kind) {
  for (const ScheduleRow &row : table)
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
  return row && row->needsSteps;
}

int64_t scheduleSteps(const ScheduleRecipe &schedule, int64_t steps) {
  if (!schedule.perStep.empty())
    return schedule.perStep.size();
  return needsSteps(schedule.kind) ? steps : 0;
}

std::string scheduleKinds() {
  return llvm::join(
      llvm::map_range(table,
                      [](const ScheduleRow &row) { return row.kind.str(); }),
      ", ");
}

Value learningRate(TensorBuilder &b, const ScheduleRecipe &schedule,
                   int64_t steps, double rate, Value step) {
  if (!schedule.perStep.empty())
    return listed(b, schedule.perStep, step);
  double warmup = schedule.warmupSteps;
  Value number = b.convert(step, b.builder.getF64Type());
  Value after = b.binary(BinaryKind::Sub, number, warmup);
  Value fraction = b.binary(
      BinaryKind::Min,
      b.binary(BinaryKind::Div, after, std::max(1.0, steps - warmup)), 1);
  ScheduleInput in{b, schedule, rate, after, fraction};
  Value later = findSchedule(schedule.kind)->build(in);
  if (warmup == 0)
    return later;
  Value early =
      b.binary(BinaryKind::Div,
               b.mul(b.binary(BinaryKind::Add, number, 1), rate), warmup);
  return b.select(b.compare(ComparePredicate::Lt, after, 0.0), early, later);
}

} // namespace autopar
