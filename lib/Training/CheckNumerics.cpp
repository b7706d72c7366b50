//===- CheckNumerics.cpp - @step finds its first NaN or Inf ---------------===//
//
// Ops of the dialect do it, so that it is sharded, proved and run as anything
// else, and bytes past the extents of blocks are not looked at. Each float
// value has a code: 2 if it has a NaN, 1 if it has an infinity but no NaN, 0
// else. All codes are one vector; of an op whose code is above those of its
// operands one of both began there. The first such op is a number, which the
// program's check turns into a message.
//
//===----------------------------------------------------------------------===//

#include "StepFunction.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/TensorBuilder.h"
#include "autopar/Frontend/OnnxImporter.h"
#include "autopar/Training/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace autopar {
#define GEN_PASS_DEF_CHECKNUMERICS
#include "autopar/Training/Passes.h.inc"
} // namespace autopar

using namespace mlir;

namespace autopar {
namespace {

enum Code : int32_t { kFinite, kInfinite, kNan };

/// The code of one value and the largest of those that it is made of, as places
/// in the vector.
struct Suspect {
  int64_t code;
  SmallVector<int64_t> from;
  std::string place;
};

class NumericsChecker {
public:
  explicit NumericsChecker(func::FuncOp function)
      : step(function), builder(step.builder()),
        b(builder, NameLoc::get(builder.getStringAttr("numerics"))),
        i32(builder.getI32Type()) {}
  void run(bool onlyLoss);

private:
  int64_t constantCode(Code code) { return add(b.scalar(i32, code)); }
  int64_t add(Value code);
  int64_t codeOf(Value value);
  Value compute(Value value);
  SmallVector<int64_t> codesOfOperands(Operation &op);
  void suspectInputs();
  void suspect(Operation &op);
  Value choose(Value vector, ArrayRef<int64_t> places);
  Value firstSuspect();
  void addCheck(Value number);

  StepFunction step;
  OpBuilder builder;
  TensorBuilder b;
  Type i32;
  SmallVector<Value> codes; // of rank 1 and size 1
  llvm::DenseMap<Value, int64_t> codeOfValue;
  std::vector<Suspect> suspects;
};

} // namespace

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// The operand whose elements, and no others, the op's result has; null if it
/// computes.
static Value movedBy(Operation *op) {
  KernelClass kernel = cast<KernelOpInterface>(op).getKernelClass();
  bool moves = kernel == KernelClass::View || kernel == KernelClass::Movement;
  SmallVector<Value> floats =
      llvm::to_vector(llvm::make_filter_range(op->getOperands(), isFloat));
  return moves && floats.size() == 1 ? floats.front() : Value();
}

int64_t NumericsChecker::add(Value code) {
  codes.push_back(b.reshape(code, {1}));
  return codes.size() - 1;
}

/// The largest code of the elements.
Value NumericsChecker::compute(Value value) {
  auto shape = cast<ShapedType>(value.getType()).getShape();
  auto all = [&](Code code) {
    return b.splat(RankedTensorType::get(shape, i32), code);
  };
  Value isNan = b.unary(UnaryKind::IsNan, value);
  Value isInf = b.unary(UnaryKind::IsInf, value);
  Value nan = all(kNan), infinite = all(kInfinite), finite = all(kFinite);
  Value code = b.select(isNan, nan, b.select(isInf, infinite, finite));
  if (shape.empty())
    return code;
  return b.reduce(ReduceKind::Max, code,
                  llvm::to_vector(llvm::seq<int64_t>(shape.size())));
}

int64_t NumericsChecker::codeOf(Value value) {
  auto found = codeOfValue.find(value);
  if (found != codeOfValue.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  Value moved = op ? movedBy(op) : Value();
  int64_t code = moved ? codeOf(moved) : add(compute(value));
  return codeOfValue[value] = code;
}

/// Where none is a float: of a place that is finite.
SmallVector<int64_t> NumericsChecker::codesOfOperands(Operation &op) {
  llvm::SmallSetVector<int64_t, 4> places;
  for (Value operand : op.getOperands())
    if (isFloat(operand))
      places.insert(codeOf(operand));
  return places.takeVector();
}

/// Infinities of inputs, which masks have, are the user's.
void NumericsChecker::suspectInputs() {
  for (BlockArgument argument : step.body().getArguments()) {
    auto input = dyn_cast_or_null<InputAttr>(step.source(argument));
    if (!input || !isFloat(argument) || argument.use_empty())
      continue;
    Operation *reader = *argument.getUsers().begin();
    for (Operation *user : argument.getUsers())
      if (user->isBeforeInBlock(reader))
        reader = user;
    suspects.push_back(
        {codeOf(argument),
         {constantCode(kInfinite)},
         ("input '" + input.getName().getValue() + "', which node '" +
          nodeName(reader->getLoc()) + "' reads")
             .str()});
  }
}

void NumericsChecker::suspect(Operation &op) {
  if (isa<ConstantOp>(op) || movedBy(&op))
    return;
  auto names = op.getAttrOfType<ArrayAttr>(AutoparDialect::kNames);
  SmallVector<int64_t> from = codesOfOperands(op);
  for (OpResult result : op.getResults()) {
    if (!isFloat(result))
      continue;
    std::string place = ("node '" + nodeName(op.getLoc()) + "' (" +
                         op.getName().stripDialect() + ")")
                            .str();
    unsigned number = result.getResultNumber();
    if (names && number < names.size())
      if (auto name = dyn_cast<StringAttr>(names[number]))
        place = "tensor '" + name.str() + "' of " + place;
    suspects.push_back({codeOf(result), from, place});
  }
}

/// The codes at these places.
Value NumericsChecker::choose(Value vector, ArrayRef<int64_t> places) {
  auto type =
      RankedTensorType::get({int64_t(places.size())}, builder.getI64Type());
  Value indices =
      ConstantOp::create(builder, b.loc, DenseElementsAttr::get(type, places));
  return GatherOp::create(
      builder, b.loc,
      cast<RankedTensorType>(vector.getType()).clone(type.getShape()), vector,
      indices, Value(), 0, IntegerAttr());
}

/// Twice the number of the first suspect and its code, or 0.
Value NumericsChecker::firstSuspect() {
  size_t most = 0;
  for (const Suspect &suspect : suspects)
    most = std::max(most, suspect.from.size());
  int64_t finite = constantCode(kFinite);
  Value vector = codes.size() == 1 ? codes.front() : b.concat(codes, 0);
  auto chosen = [&](llvm::function_ref<int64_t(const Suspect &)> place) {
    return choose(vector, llvm::map_to_vector(suspects, place));
  };
  Value own = chosen([](const Suspect &suspect) { return suspect.code; });
  Value before = b.splatLike(own, kFinite);
  for (size_t i = 0; i < most; ++i)
    before = b.binary(BinaryKind::Max, before, chosen([&](const Suspect &it) {
                        return i < it.from.size() ? it.from[i] : finite;
                      }));
  Value isFirst = b.compare(ComparePredicate::Gt, own, before);
  Value places = b.mul(b.iota({int64_t(suspects.size())}, i32, 0), 2);
  Value number = b.add(places, own);
  constexpr double kNone = 1 << 30;
  Value first = b.reduce(
      ReduceKind::Min, b.select(isFirst, number, b.splatLike(own, kNone)), {0});
  Value none = b.compare(ComparePredicate::Eq, first, kNone);
  return b.select(none, b.splatLike(first, 0), first);
}

void NumericsChecker::addCheck(Value number) {
  MLIRContext *context = builder.getContext();
  StringAttr name = builder.getStringAttr("numerics/first");
  step.results.push_back({number, OutputAttr::get(context, name)});
  std::vector<std::string> places;
  for (const Suspect &suspect : suspects)
    for (StringRef what : {"Inf", "NaN"})
      places.push_back((what + " in " + suspect.place).str());
  autopar::addCheck(step.function->getParentOfType<ModuleOp>(), name,
                    "the first number that is not finite:", places);
}

void NumericsChecker::run(bool onlyLoss) {
  llvm::SetVector<Operation *> cone;
  for (const StepFunction::Result &result : step.results)
    if (auto output = dyn_cast_or_null<OutputAttr>(result.what);
        !onlyLoss || (output && output.getName() == "loss"))
      if (Operation *op = result.value.getDefiningOp())
        cone.insert(op);
  for (size_t i = 0; i < cone.size(); ++i)
    for (Value operand : cone[i]->getOperands())
      if (Operation *op = operand.getDefiningOp())
        cone.insert(op);
  SmallVector<Operation *> ops;
  for (Operation &op : step.body().without_terminator())
    if (cone.contains(&op))
      ops.push_back(&op);
  suspectInputs();
  for (Operation *op : ops)
    suspect(*op);
  if (suspects.empty())
    return;
  addCheck(firstSuspect());
  step.finish();
}

namespace {
struct CheckNumerics : impl::CheckNumericsBase<CheckNumerics> {
  void runOnOperation() final {
    auto step = getOperation().lookupSymbol<func::FuncOp>("step");
    if (!getOperation()->hasAttr(kCheckNumerics) || !step || step.isExternal())
      return;
    auto trained = trainedModule(getOperation());
    if (failed(trained))
      return signalPassFailure();
    NumericsChecker(step).run(*trained && (*trained)->recipe.lossScale.dynamic);
  }
};
} // namespace

} // namespace autopar
