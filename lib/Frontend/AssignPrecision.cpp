//===- AssignPrecision.cpp - Convert to a low type where it is safe -------===//
//
//   %1 = einsum %x, %w : f32;  %2 = binary add %1, %bias;  %3 = softmax %2
// becomes for bf16
//   %l = convert %x : bf16;  %v = convert %w : bf16;  %1 = einsum %l, %v : bf16
//   %c = convert %bias : bf16;  %2 = binary add %1, %c
//   %f = convert %2 : f32;  %3 = softmax %f : f32
//
// Later phases see types and know no policy.
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/Precision.h"
#include "autopar/Frontend/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

namespace autopar {
#define GEN_PASS_DEF_ASSIGNPRECISION
#include "autopar/Frontend/Passes.h.inc"
} // namespace autopar

using namespace mlir;

namespace autopar {
namespace {

class PrecisionAssigner {
public:
  PrecisionAssigner(func::FuncOp step, FloatType low)
      : body(step.getBody().front()), builder(step.getContext()), low(low),
        full(builder.getF32Type()) {}
  void run();

private:
  void findIndependent();
  void assign(Operation *op);
  void setOperands(Operation *op, FloatType type);
  void setResults(Operation *op, FloatType type);
  Value as(Value value, FloatType type, Location loc);
  Value makeAs(Value value, FloatType type, Location loc);
  bool adapts(Value value) const;
  bool isTable(Value value) const;
  bool fits(DenseFPElementsAttr constant) const;

  Block &body;
  OpBuilder builder;
  FloatType low, full;
  DenseSet<Value> independent; // of inputs
  DenseSet<Value> computed;    // from no more than scalars and vectors
  DenseMap<std::pair<Value, Type>, Value> converted;
};

Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

/// A scalar or a vector.
bool isNarrow(Value value) {
  auto wide = [](int64_t size) { return size != 1; };
  return llvm::count_if(cast<RankedTensorType>(value.getType()).getShape(),
                        wide) <= 1;
}

/// Costs nothing and only repeats or renames elements.
bool isSeenThrough(Operation *op) {
  LoopRole role = loopRoleOf(op);
  return role == LoopRole::Spread || role == LoopRole::View;
}
} // namespace

void PrecisionAssigner::findIndependent() {
  auto func = cast<func::FuncOp>(body.getParentOp());
  for (BlockArgument argument : body.getArguments())
    if (isa_and_nonnull<ParameterAttr>(
            func.getArgAttr(argument.getArgNumber(), AutoparDialect::kSource)))
      independent.insert(argument);
  auto addIfAll = [](Operation &op, DenseSet<Value> &values) {
    if (llvm::all_of(op.getOperands(),
                     [&](Value operand) { return values.contains(operand); }))
      values.insert(op.result_begin(), op.result_end());
  };
  for (Operation &op : body.without_terminator()) {
    addIfAll(op, independent);
    DenseElementsAttr constant;
    bool isMatrix = matchPattern(&op, m_Constant(&constant)) &&
                    !constant.isSplat() && !isNarrow(op.getResult(0));
    if (!isMatrix)
      addIfAll(op, computed);
  }
}

/// Returns whether the low type holds all of a constant: a mask's -3e38 must
/// not become an infinity, nor an epsilon of 1e-9 zero, or a number of few
/// digits.
bool PrecisionAssigner::fits(DenseFPElementsAttr constant) const {
  auto inFull = [&](APFloat number) {
    bool loses = false;
    number.convert(full.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &loses);
    return number;
  };
  APFloat most = inFull(APFloat::getLargest(low.getFloatSemantics()));
  APFloat least =
      inFull(APFloat::getSmallestNormalized(low.getFloatSemantics()));
  auto inside = [&](const APFloat &element) {
    return !element.isFiniteNonZero() ||
           (abs(element) <= most && abs(element) >= least);
  };
  return constant.isSplat()
             ? inside(constant.getSplatValue<APFloat>())
             : llvm::all_of(constant.getValues<APFloat>(), inside);
}

static Value behindViews(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isSeenThrough(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Computed from scalars and vectors of constants, as the turns of a Fourier
/// transform: no weights, which a low type suits.
bool PrecisionAssigner::isTable(Value value) const {
  return computed.contains(value) &&
         !matchPattern(behindViews(value), m_Constant());
}

/// Scalars and vectors of parameters and constants (biases, scales) take the
/// type of what they are added to or multiplied with.
bool PrecisionAssigner::adapts(Value value) const {
  if (!independent.contains(value))
    return false;
  value = behindViews(value);
  DenseFPElementsAttr constant;
  bool known = matchPattern(value, m_Constant(&constant));
  if (known && !fits(constant))
    return false;
  return (known && constant.isSplat()) || isNarrow(value);
}

/// Below what only repeats elements of a weight, so that this stays free.
Value PrecisionAssigner::makeAs(Value value, FloatType type, Location loc) {
  Operation *source = value.getDefiningOp();
  if (source && independent.contains(value) && isSeenThrough(source)) {
    Value operand = as(source->getOperand(0), type, loc);
    builder.setInsertionPointAfter(source);
    Operation *copy = builder.clone(*source);
    copy->setOperand(0, operand);
    copy->removeAttr(
        AutoparDialect::kNames); // the ONNX names are the original's
    setResults(copy, type);
    return copy->getResult(0);
  }
  builder.setInsertionPointAfterValue(value);
  return convertTo(builder, loc, value, type);
}

Value PrecisionAssigner::as(Value value, FloatType type, Location loc) {
  if (elementOf(value) == type)
    return value;
  auto known = converted.find({value, type});
  if (known != converted.end())
    return known->second;
  Value made = makeAs(value, type, loc);
  if (independent.contains(value))
    independent.insert(made);
  return converted[{value, type}] = made;
}

/// Gives each operand of one of the two types `type`.
void PrecisionAssigner::setOperands(Operation *op, FloatType type) {
  for (OpOperand &operand : op->getOpOperands()) {
    Type element = elementOf(operand.get());
    if (element == low || element == full)
      operand.set(as(operand.get(), type, op->getLoc()));
  }
}

void PrecisionAssigner::setResults(Operation *op, FloatType type) {
  for (Value result : op->getResults())
    if (Type element = elementOf(result); element == low || element == full)
      result.setType(cast<RankedTensorType>(result.getType()).clone(type));
}

/// Returns whether an op's results become integers: what was summed are whole
/// numbers, as products of quantized values, which the low type does not hold.
static bool makesIntegers(Operation *op) {
  SmallVector<Operation *> open(op->getUsers());
  for (unsigned i = 0; i < open.size(); ++i) {
    if (auto convert = dyn_cast<ConvertOp>(open[i]);
        convert && isa<IntegerType>(elementOf(convert.getResult())))
      continue;
    auto unary = dyn_cast<UnaryOp>(open[i]);
    bool passes = loopRoleOf(open[i]) == LoopRole::View ||
                  (unary && unary.getKind() == UnaryKind::Round);
    if (!passes)
      return false;
    open.append(open[i]->user_begin(), open[i]->user_end());
  }
  return !op->use_empty();
}

void PrecisionAssigner::assign(Operation *op) {
  if (auto function = dyn_cast<FunctionOp>(op))
    return function.getResult().setType(function.getValue().getType());
  PrecisionClass kind = precisionClassOf(op);
  if (kind == PrecisionClass::Fixed)
    return;
  if (kind == PrecisionClass::Low && makesIntegers(op))
    kind = PrecisionClass::Full;
  bool byTable = kind == PrecisionClass::Low &&
                 llvm::any_of(op->getOperands(),
                              [&](Value operand) { return isTable(operand); });
  if (kind == PrecisionClass::Operands || byTable) {
    bool anyLow = false, anyFull = false;
    for (Value operand : op->getOperands()) {
      anyLow |= elementOf(operand) == low;
      anyFull |= elementOf(operand) == full && !adapts(operand) &&
                 !(byTable && isTable(operand));
    }
    if (!anyLow)
      return;
    kind = anyFull ? PrecisionClass::Full : PrecisionClass::Low;
  }
  FloatType type = kind == PrecisionClass::Low ? low : full;
  setOperands(op, type);
  setResults(op, type);
}

void PrecisionAssigner::run() {
  findIndependent();
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  for (Operation *op : ops)
    if (op->getNumResults() > 0 && !independent.contains(op->getResult(0)))
      assign(op);
  Operation *end = body.getTerminator();
  auto types = cast<func::FuncOp>(body.getParentOp()).getResultTypes();
  for (auto [operand, type] : llvm::zip_equal(end->getOpOperands(), types)) {
    auto element = cast<RankedTensorType>(type).getElementType();
    if (elementOf(operand.get()) != element)
      operand.set(as(operand.get(), cast<FloatType>(element), end->getLoc()));
  }
}

/// The low type of the module's `autopar.precision`; null: all stays fp32.
static FailureOr<FloatType> lowTypeOf(ModuleOp module) {
  auto precision =
      module->getAttrOfType<StringAttr>(AutoparDialect::kPrecision);
  if (!precision || precision == "fp32" || precision == "tf32")
    return FloatType();
  if (precision == "bf16")
    return FloatType(BFloat16Type::get(module.getContext()));
  if (precision == "fp16")
    return FloatType(Float16Type::get(module.getContext()));
  return module.emitError()
         << "unknown " << AutoparDialect::kPrecision << " " << precision
         << ": fp32, tf32, bf16 and fp16 are known";
}

namespace {
struct AssignPrecision : impl::AssignPrecisionBase<AssignPrecision> {
  void runOnOperation() final {
    FailureOr<FloatType> low = lowTypeOf(getOperation());
    if (failed(low))
      return signalPassFailure();
    auto step = getOperation().lookupSymbol<func::FuncOp>("step");
    if (*low && step && !step.isExternal())
      PrecisionAssigner(step, *low).run();
  }
};
} // namespace
} // namespace autopar
