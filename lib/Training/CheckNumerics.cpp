//===- CheckNumerics.cpp - @step finds its first NaN or Inf ---------------===//
//
// Ops of the dialect do it, so that it is sharded, proved and run as anything
// else, and bytes past the extents of blocks are not looked at. Each float
// value has a code: 2 if it has a NaN, 1 if it has an infinity but no NaN, 0
// else. All codes are one vector; of an op whose code is above those of its
// operands one of both began there. The first such op is a number, which the
// program's check turns into a message.
//
// A function of the model is looked at as one (`autopar.function`): what it is
// made of has no code. What a `select` does not take counts as finite.
//
//===----------------------------------------------------------------------===//

#include "FunctionParts.h"
#include "StepFunction.h"
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

/// A value by its number in the vector of codes, those that it is made of, and
/// what a message says of it.
struct Suspect {
  int64_t code;
  SmallVector<int64_t> from;
  std::string text;
};

/// The codes of more operands than these are combined into one, the largest.
constexpr size_t kMostOperands = 4;

class NumericsChecker {
public:
  explicit NumericsChecker(func::FuncOp function)
      : step(function), builder(step.builder()),
        b(builder, NameLoc::get(builder.getStringAttr("numerics"))),
        i32(builder.getI32Type()), parts(findFunctionParts(step.body())) {}
  void run(bool onlyLoss);

private:
  int64_t constantCode(Code code) { return add(b.scalar(i32, code)); }
  int64_t add(Value code);
  int64_t codeOf(Value value);
  Value codeOfElements(Value value);
  Value largestOf(ArrayRef<int64_t> numbers);
  SmallVector<int64_t> codesOfOperands(Operation &op);
  void findChosen();
  void suspectArguments();
  void suspect(Operation &op);
  Value choose(Value vector, ArrayRef<int64_t> numbers);
  Value firstSuspect();
  void addCheck(Value number);

  StepFunction step;
  OpBuilder builder;
  TensorBuilder b;
  Type i32;
  SmallVector<Value> codes; // of rank 1 and size 1
  llvm::DenseMap<Value, int64_t> codeOfValue;
  DenseSet<Value> parts; // of functions
  std::vector<Suspect> suspects;
};

} // namespace

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

int64_t NumericsChecker::add(Value code) {
  codes.push_back(b.reshape(code, {1}));
  return codes.size() - 1;
}

/// The largest code of the elements.
Value NumericsChecker::codeOfElements(Value value) {
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
  value = behindMovement(value);
  auto found = codeOfValue.find(value);
  if (found != codeOfValue.end())
    return found->second;
  int64_t code = add(codeOfElements(value));
  return codeOfValue[value] = code;
}

Value NumericsChecker::largestOf(ArrayRef<int64_t> numbers) {
  SmallVector<Value> chosen;
  for (int64_t number : numbers)
    chosen.push_back(codes[number]);
  return b.reduce(ReduceKind::Max, b.concat(chosen, 0), {0});
}

/// None where no operand is a float. A function's are those of its inputs.
SmallVector<int64_t> NumericsChecker::codesOfOperands(Operation &op) {
  llvm::SmallSetVector<int64_t, kMostOperands> numbers;
  for (Value operand : op.getOperands())
    if (isFloat(operand) && !parts.contains(operand))
      numbers.insert(codeOf(operand));
  if (numbers.size() > kMostOperands)
    return {add(largestOf(numbers.getArrayRef()))};
  return SmallVector<int64_t>(numbers.begin(), numbers.end());
}

/// Finds the values that a select chooses from. They count only as the result
/// says, so that a number which is not finite and not taken does not matter. It
/// goes from the last value to the first, because a chosen value may be chosen
/// from again.
void NumericsChecker::findChosen() {
  llvm::DenseMap<Value, SmallVector<Value>> chosen;
  for (auto select : step.body().getOps<SelectOp>())
    if (isFloat(select.getResult()) && !parts.contains(select.getResult()))
      for (Value from : {select.getOnTrue(), select.getOnFalse()})
        chosen[behindMovement(from)].push_back(select.getResult());
  for (const StepFunction::Result &result : step.results)
    chosen.erase(behindMovement(result.value));
  auto visit = [&](Value from) {
    SmallVector<int64_t> numbers;
    for (Value result : chosen.lookup(from))
      numbers.push_back(codeOf(result));
    if (!numbers.empty())
      codeOfValue[from] = add(
          b.binary(BinaryKind::Min, codeOfElements(from), largestOf(numbers)));
  };
  SmallVector<Operation *> ops;
  for (Operation &op : llvm::reverse(step.body().without_terminator()))
    if (!isa<ConstantOp>(op))
      ops.push_back(&op);
  for (Operation *op : ops)
    llvm::for_each(op->getResults(), visit);
  llvm::for_each(step.body().getArguments(), visit);
}

/// The name of the first node that does more than to move the argument; "" if
/// there is none.
static StringRef readerOf(BlockArgument argument) {
  SmallVector<Value> moved{argument};
  Operation *first = nullptr;
  for (size_t i = 0; i < moved.size(); ++i)
    for (Operation *user : moved[i].getUsers())
      if (movedBy(user))
        moved.push_back(user->getResult(0));
      else if (!first || user->isBeforeInBlock(first))
        first = user;
  return first ? nodeName(first->getLoc()) : StringRef();
}

/// The name of an argument in messages; "" if a NaN in it means nothing.
static std::string textOf(Attribute source) {
  auto named = [](const char *what, auto attr) {
    return (Twine(what) + " '" + attr.getName().getValue() + "'").str();
  };
  if (auto input = dyn_cast_or_null<InputAttr>(source))
    return named("input", input);
  if (auto state = dyn_cast_or_null<StateAttr>(source))
    return named("state", state);
  if (auto parameter = dyn_cast_or_null<ParameterAttr>(source))
    return named("parameter", parameter);
  return "";
}

/// A NaN of an argument begins there; infinities, which masks have, are the
/// user's.
void NumericsChecker::suspectArguments() {
  for (BlockArgument argument : step.body().getArguments()) {
    std::string text = textOf(step.source(argument));
    if (text.empty() || !isFloat(argument) || argument.use_empty())
      continue;
    if (StringRef reader = readerOf(argument); !reader.empty())
      text += (", which node '" + reader + "' reads").str();
    suspects.push_back({codeOf(argument), {constantCode(kInfinite)}, text});
  }
}

/// The op, or the one that a function ends with.
static StringRef kindOf(Operation &op) {
  auto function = dyn_cast<FunctionOp>(op);
  Operation *last = function ? function.getValue().getDefiningOp() : nullptr;
  return (last ? last : &op)->getName().stripDialect();
}

void NumericsChecker::suspect(Operation &op) {
  if (isa<ConstantOp>(op) || movedBy(&op) ||
      llvm::any_of(op.getResults(),
                   [&](Value result) { return parts.contains(result); }))
    return;
  auto names = op.getAttrOfType<ArrayAttr>(AutoparDialect::kNames);
  SmallVector<int64_t> from = codesOfOperands(op);
  for (OpResult result : op.getResults()) {
    if (!isFloat(result))
      continue;
    std::string text =
        ("node '" + nodeName(op.getLoc()) + "' (" + kindOf(op) + ")").str();
    unsigned number = result.getResultNumber();
    if (names && number < names.size())
      if (auto name = dyn_cast<StringAttr>(names[number]))
        text = "tensor '" + name.str() + "' of " + text;
    suspects.push_back({codeOf(result), from, text});
  }
}

/// The codes of these numbers.
Value NumericsChecker::choose(Value vector, ArrayRef<int64_t> numbers) {
  auto type =
      RankedTensorType::get({int64_t(numbers.size())}, builder.getI64Type());
  Value indices =
      ConstantOp::create(builder, b.loc, DenseElementsAttr::get(type, numbers));
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
  auto chosen = [&](llvm::function_ref<int64_t(const Suspect &)> number) {
    return choose(vector, llvm::map_to_vector(suspects, number));
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
  step.results.push_back(
      {number, OutputAttr::get(context, name, OutputRole::Check)});
  std::vector<std::string> places;
  for (const Suspect &suspect : suspects)
    for (StringRef what : {"Inf", "NaN"})
      places.push_back((what + " in " + suspect.text).str());
  autopar::addCheck(step.function->getParentOfType<ModuleOp>(), name,
                    "the first number that is not finite:", places);
}

void NumericsChecker::run(bool onlyLoss) {
  llvm::SetVector<Operation *> cone;
  for (const StepFunction::Result &result : step.results)
    if (auto output = dyn_cast_or_null<OutputAttr>(result.what);
        !onlyLoss || (output && output.getRole() == OutputRole::Loss))
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
  findChosen();
  suspectArguments();
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
    if (!getOperation()->hasAttr(AutoparDialect::kCheckNumerics) || !step ||
        step.isExternal())
      return;
    auto trained = trainedModule(getOperation());
    if (failed(trained))
      return signalPassFailure();
    NumericsChecker(step).run(*trained &&
                              !(*trained)->recipe.lossScale.isOne());
  }
};
} // namespace

} // namespace autopar
