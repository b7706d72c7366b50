//===- CudaKernelValues.cpp - Values as variables or expressions ----------===//

#include "CudaKernelPrinter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace autopar::gpu {

/// The longest expression that is not given a name.
static constexpr size_t kLongestExpression = 64;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string CudaKernelPrinter::freshName(StringRef stem) {
  unsigned number = names[stem]++;
  return number == 0 ? stem.str() : (stem + Twine(number)).str();
}

static StringRef stemOfFloat(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("arith.addf", "total")
      .Case("arith.subf", "difference")
      .Case("arith.mulf", "product")
      .Case("arith.divf", "ratio")
      .Cases({"arith.maximumf", "arith.maxnumf"}, "larger")
      .Cases({"arith.minimumf", "arith.minnumf"}, "smaller")
      .Case("arith.select", "chosen")
      .Case("math.exp", "exponential")
      .Cases({"math.sqrt", "math.rsqrt"}, "root")
      .Case("gpu.shuffle", "other")
      .Default("x");
}

static StringRef stemOfInteger(Operation *op) {
  if (isa<arith::DivUIOp, arith::DivSIOp>(op))
    return "outer";
  if (isa<arith::RemUIOp, arith::RemSIOp>(op))
    return "inner";
  if (isa<LLVM::LoadOp>(op))
    return "n";
  return "at";
}

std::string CudaKernelPrinter::stemOf(Value value) {
  Operation *op = value.getDefiningOp();
  Type element = getElementTypeOrSelf(value.getType());
  if (!op)
    return "x";
  if (element.isInteger(1))
    return "holds";
  return (isa<FloatType>(element) ? stemOfFloat(op) : stemOfInteger(op)).str();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Makes the value the variable `name` from now on.
void CudaKernelPrinter::name(Value value, StringRef name) {
  SmallVector<Text> &known = texts[value];
  known.clear();
  for (unsigned lane = 0; lane < laneCount(value.getType()); ++lane)
    known.push_back({laneText(value.getType(), name, lane)});
}

void CudaKernelPrinter::materialize(Value value) {
  llvm::erase(waiting, value);
  std::string variable = freshName(stemOf(value));
  line("const " + *typeText(value.getType()) + " " + variable + " = " +
       whole(value).text + ";");
  name(value, variable);
}

bool CudaKernelPrinter::isUsedOnceNearby(Value value) {
  return value.hasOneUse() &&
         (*value.getUsers().begin())->getBlock() == value.getParentBlock();
}

void CudaKernelPrinter::define(Value value, SmallVector<Text> lanes,
                               bool mayWait) {
  if (value.use_empty())
    return;
  bool simple = llvm::all_of(lanes, [](const Text &text) {
    return !text.reads && (text.isName() || text.text.size() < 4);
  });
  bool brief = llvm::all_of(lanes, [](const Text &text) {
    return text.text.size() <= kLongestExpression;
  });
  bool reads = llvm::any_of(lanes, [](const Text &text) { return text.reads; });
  texts[value] = std::move(lanes);
  if (simple)
    return;
  bool isBound = reads && isUsedOnceNearby(value) &&
                 isa<scf::ForOp>(*value.getUsers().begin());
  if (!mayWait || !brief || isBound || !isUsedOnceNearby(value))
    return materialize(value);
  if (reads)
    waiting.push_back(value);
}

/// Reads that were put off come before what may write.
void CudaKernelPrinter::flush(Operation *before) {
  SmallVector<Value> due;
  std::swap(due, waiting);
  for (Value value : due)
    materialize(value);
}

Text CudaKernelPrinter::lane(Value value, unsigned number) {
  if (Attribute constant; matchPattern(value, m_Constant(&constant))) {
    if (auto dense = dyn_cast<DenseElementsAttr>(constant))
      constant = dense.isSplat() ? dense.getSplatValue<Attribute>()
                                 : dense.getValues<Attribute>()[number];
    if (auto text = literalText(constant))
      return {*text, text->front() == '-' ? Binding::Prefix : Binding::Whole};
  }
  llvm::erase(waiting, value);
  const SmallVector<Text> &known = texts[value];
  return number < known.size() ? known[number] : Text{"0"};
}

Text CudaKernelPrinter::whole(Value value) {
  unsigned count = laneCount(value.getType());
  SmallVector<Text> lanes;
  for (unsigned number = 0; number < count; ++number)
    lanes.push_back(lane(value, number));
  if (!isa<VectorType>(value.getType()))
    return lanes.front();
  // A vector of all lanes of one variable, in order, is that variable.
  StringRef first = lanes.front().text;
  StringRef variable = first.take_until([](char c) { return c == '.'; });
  bool same = llvm::all_of(llvm::enumerate(lanes), [&](const auto &entry) {
    return entry.value().text ==
           laneText(value.getType(), variable, entry.index());
  });
  if (same)
    return {variable.str()};
  bool reads = llvm::any_of(lanes, [](const Text &text) { return text.reads; });
  return {makeVectorText(value.getType(), lanes), Binding::Whole, reads};
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

LogicalResult CudaKernelPrinter::expression(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return unknown(op);
  Value result = op->getResult(0);
  if (result.use_empty())
    return success();
  SmallVector<Text> lanes;
  for (unsigned number = 0; number < laneCount(result.getType()); ++number) {
    auto text = expressionText(
        op,
        [&](Value operand) {
          return lane(operand, isa<VectorType>(operand.getType()) ? number : 0);
        },
        helpers);
    if (!text)
      return unknown(op);
    lanes.push_back(std::move(*text));
  }
  define(result, std::move(lanes));
  return success();
}

/// Constant position of an insert or extract, or nothing.
static std::optional<int64_t> positionOf(Operation *op) {
  if (auto extract = dyn_cast<vector::ExtractOp>(op))
    if (extract.getStaticPosition().size() == 1 &&
        !extract.hasDynamicPosition())
      return extract.getStaticPosition().front();
  if (auto insert = dyn_cast<vector::InsertOp>(op))
    if (insert.getStaticPosition().size() == 1 && !insert.hasDynamicPosition())
      return insert.getStaticPosition().front();
  Value position;
  if (auto extract = dyn_cast<LLVM::ExtractElementOp>(op))
    position = extract.getPosition();
  if (auto insert = dyn_cast<LLVM::InsertElementOp>(op))
    position = insert.getPosition();
  APInt number;
  if (position && matchPattern(position, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

/// Ops that only put lanes together.
LogicalResult CudaKernelPrinter::lanes(Operation *op) {
  Value result = op->getResult(0);
  if (isa<vector::BroadcastOp>(op)) {
    if (isa<VectorType>(op->getOperand(0).getType()))
      return unknown(op);
    Text text = lane(op->getOperand(0), 0);
    if (!text.isName() && text.text.size() > 8) {
      materialize(op->getOperand(0));
      text = lane(op->getOperand(0), 0);
    }
    define(result, SmallVector<Text>(laneCount(result.getType()), text));
    return success();
  }
  if (isa<vector::FromElementsOp>(op)) {
    SmallVector<Text> parts;
    for (Value element : op->getOperands())
      parts.push_back(lane(element, 0));
    define(result, std::move(parts));
    return success();
  }
  auto position = positionOf(op);
  if (!position)
    return unknown(op);
  if (isa<vector::ExtractOp, LLVM::ExtractElementOp>(op)) {
    define(result, {lane(op->getOperand(0), *position)});
    return success();
  }
  bool isVector = isa<vector::InsertOp>(op);
  Value from = op->getOperand(isVector ? 1 : 0);
  SmallVector<Text> parts;
  for (unsigned number = 0; number < laneCount(result.getType()); ++number)
    parts.push_back(number == *position
                        ? lane(op->getOperand(isVector ? 0 : 1), 0)
                        : lane(from, number));
  bool feedsInsert =
      isUsedOnceNearby(result) &&
      isa<LLVM::InsertElementOp, vector::InsertOp>(*result.getUsers().begin());
  if (feedsInsert) { // not a value of its own
    texts[result] = std::move(parts);
    return success();
  }
  define(result, std::move(parts));
  return success();
}

/// A shuffle becomes a statement, because its place decides which threads take
/// part.
LogicalResult CudaKernelPrinter::shuffle(mlir::gpu::ShuffleOp op) {
  if (!op.getValid().use_empty() || isa<VectorType>(op.getValue().getType()))
    return unknown(op);
  StringRef function;
  switch (op.getMode()) {
  case mlir::gpu::ShuffleMode::XOR:
    function = "__shfl_xor_sync";
    break;
  case mlir::gpu::ShuffleMode::UP:
    function = "__shfl_up_sync";
    break;
  case mlir::gpu::ShuffleMode::DOWN:
    function = "__shfl_down_sync";
    break;
  case mlir::gpu::ShuffleMode::IDX:
    function = "__shfl_sync";
    break;
  }
  SmallVector<Text> arguments{
      {"0xffffffffu"}, lane(op.getValue(), 0), lane(op.getOffset(), 0)};
  APInt width;
  if (!matchPattern(op.getWidth(), m_ConstantInt(&width)) || width != 32)
    arguments.push_back(lane(op.getWidth(), 0));
  define(op.getShuffleResult(), {callText(function, arguments)},
         /*mayWait=*/false);
  return success();
}

} // namespace autopar::gpu
