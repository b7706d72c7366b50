//===- CudaKernelPrinter.cpp - The statements of one kernel ---------------===//

#include "CudaKernelPrinter.h"
#include "CudaSource.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace autopar::gpu {

/// The longest expression that is not given a name.
static constexpr size_t kLongestExpression = 64;
/// Names of the indices of loops from the outermost.
static constexpr StringRef kLoopNames = "ijklmn";

LogicalResult CudaKernelPrinter::unknown(Operation *op) {
  return op->emitError("has no form in CUDA C++ (--emit cuda-source)");
}

void CudaKernelPrinter::line(const Twine &text) {
  body += wrapped(std::string(2 * indent, ' ') + text.str()) + "\n";
}

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

/// Whether select(a > b, a, b) keeps the larger one; nothing if it does
/// neither.
static std::optional<bool> keepsLarger(Operation *op) {
  auto select = dyn_cast_if_present<arith::SelectOp>(op);
  Operation *compare = select ? select.getCondition().getDefiningOp() : nullptr;
  if (!compare || compare->getNumOperands() != 2 ||
      compare->getOperand(0) != select.getTrueValue() ||
      compare->getOperand(1) != select.getFalseValue())
    return std::nullopt;
  if (auto floats = dyn_cast<arith::CmpFOp>(compare))
    return stringifyCmpFPredicate(floats.getPredicate()).contains("g");
  if (auto floats = dyn_cast<LLVM::FCmpOp>(compare))
    return stringifyFCmpPredicate(floats.getPredicate()).contains("g");
  return std::nullopt;
}

/// What a loop carries is named after what it adds up.
static StringRef stemOfCarried(Value next) {
  Operation *op = next.getDefiningOp();
  if (auto larger = keepsLarger(op))
    return *larger ? "largest" : "smallest";
  if (isa_and_nonnull<arith::AddFOp, arith::AddIOp, math::FmaOp>(op))
    return "sum";
  if (isa_and_nonnull<arith::MulFOp, arith::MulIOp>(op))
    return "product";
  if (isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp,
                      arith::MaxUIOp>(op))
    return "largest";
  if (isa_and_nonnull<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp,
                      arith::MinUIOp>(op))
    return "smallest";
  return "result";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// From now on the value is the variable `name`.
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

/// Whether an expression may stand where its value is used.
static bool isUsedOnceNearby(Value value) {
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
  // All lanes of one variable are that variable.
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

/// Where a shuffle stands decides which threads take part.
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

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The scalar type behind arrays and vectors.
static Type scalarOf(Type type) {
  while (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    type = array.getElementType();
  return getElementTypeOrSelf(type);
}

static int64_t scalarsIn(Type type) {
  int64_t count = 1;
  while (auto array = dyn_cast<LLVM::LLVMArrayType>(type)) {
    count *= array.getNumElements();
    type = array.getElementType();
  }
  return count * laneCount(type);
}

static bool isZero(LLVM::GEPOp op) {
  return llvm::all_of(op.getRawConstantIndices(),
                      [](int32_t index) { return index == 0; });
}

/// What is read and written through a pointer; null if that differs.
Type CudaKernelPrinter::elementOf(Value pointer) {
  Type found;
  bool differs = false;
  SmallVector<Value> list{pointer};
  auto note = [&](Type type) {
    differs |= found && found != scalarOf(type);
    found = scalarOf(type);
  };
  while (!list.empty()) {
    Value now = list.pop_back_val();
    for (Operation *user : now.getUsers()) {
      if (auto address = dyn_cast<LLVM::GEPOp>(user)) {
        if (!isZero(address))
          note(address.getElemType());
        list.push_back(address.getResult());
      }
      if (auto load = dyn_cast<LLVM::LoadOp>(user))
        note(load.getType());
      if (auto store = dyn_cast<LLVM::StoreOp>(user))
        note(store.getValue().getType());
    }
  }
  return differs ? Type() : found;
}

static Text scaled(const Text &index, int64_t by) {
  if (by == 1)
    return index;
  return binaryText(index, "*", {std::to_string(by)}, Binding::Product, true);
}

LogicalResult CudaKernelPrinter::address(LLVM::GEPOp op) {
  if (isa<VectorType>(op.getType()))
    return unknown(op);
  Place place = places.lookup(op.getBase());
  if (isZero(op)) {
    places[op] = place;
    return success();
  }
  Type type = op.getElemType();
  Text offset;
  auto add = [&](const Text &more) {
    offset = offset.text.empty()
                 ? more
                 : binaryText(offset, "+", more, Binding::Sum, true);
  };
  bool first = true;
  for (auto index : op.getIndices()) {
    if (!first) {
      auto array = dyn_cast<LLVM::LLVMArrayType>(type);
      if (!array)
        return unknown(op);
      type = array.getElementType();
    }
    first = false;
    int64_t stride = scalarsIn(type);
    if (auto constant = llvm::dyn_cast_if_present<IntegerAttr>(index)) {
      if (constant.getInt() != 0)
        add({std::to_string(constant.getInt() * stride)});
      continue;
    }
    Value value = cast<Value>(index);
    if (lane(value, 0).text != "0")
      add(scaled(lane(value, 0), stride));
  }
  bool cheap = offset.isName();
  if (!offset.text.empty() && !cheap &&
      (offset.reads || !isUsedOnceNearby(op))) {
    std::string variable = freshName("at");
    line("const int64_t " + variable + " = " + offset.text + ";");
    offset = {variable};
  }
  Type element = scalarOf(op.getElemType());
  if (place.element != element) {
    std::string inside = place.offset.text.empty()
                             ? place.base
                             : "&" + place.base + "[" + place.offset.text + "]";
    place.base = llvm::formatv("(({0}{1} *){2})", place.isConst ? "const " : "",
                               *typeText(element), inside);
    place.element = element;
    place.offset = {};
  }
  if (place.offset.text.empty())
    place.offset = offset;
  else if (!offset.text.empty())
    place.offset = binaryText(place.offset, "+", offset, Binding::Sum, true);
  places[op] = place;
  return success();
}

/// The variable in memory.
std::string CudaKernelPrinter::access(Value pointer, Type type, bool &reads) {
  Place place = places.lookup(pointer);
  std::string offset = place.offset.text.empty() ? "0" : place.offset.text;
  reads |= place.offset.reads;
  if (place.element == type)
    return place.base + "[" + offset + "]";
  std::string inside =
      place.element ? "&" + place.base + "[" + offset + "]" : place.base;
  if (place.element && place.offset.text.empty())
    inside = place.base;
  return llvm::formatv("*({0}{1} *){2}", place.isConst ? "const " : "",
                       *typeText(type), inside);
}

LogicalResult CudaKernelPrinter::load(LLVM::LoadOp op) {
  if (!typeText(op.getType()))
    return unknown(op);
  bool reads = true;
  Type type = op.getType();
  std::string memory = access(op.getAddr(), type, reads);
  if (!isa<VectorType>(type)) {
    Binding binding = memory.front() == '*' ? Binding::Prefix : Binding::Whole;
    define(op, {Text{memory, binding, true}});
    return success();
  }
  if (op->use_empty())
    return success();
  if (typeText(type)->front() == 'P')
    helpers.insert(Helper::Pack);
  std::string variable = freshName("x");
  line("const " + *typeText(type) + " " + variable + " = " + memory + ";");
  name(op, variable);
  return success();
}

LogicalResult CudaKernelPrinter::store(LLVM::StoreOp op) {
  Type type = op.getValue().getType();
  if (!typeText(type))
    return unknown(op);
  if (typeText(type)->front() == 'P')
    helpers.insert(Helper::Pack);
  Text value = whole(op.getValue());
  bool reads = false;
  std::string memory = access(op.getAddr(), type, reads);
  flush(op);
  line(memory + " = " + value.text + ";");
  return success();
}

LogicalResult CudaKernelPrinter::stack(LLVM::AllocaOp op) {
  APInt count;
  if (!matchPattern(op.getArraySize(), m_ConstantInt(&count)))
    return unknown(op);
  Type element = scalarOf(op.getElemType());
  if (!typeText(element))
    return unknown(op);
  std::string variable = freshName("row");
  line(*typeText(element) + " " + variable + "[" +
       Twine(count.getSExtValue() * scalarsIn(op.getElemType())) + "];");
  places[op] = {variable, element, {}};
  return success();
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

/// The variable that a loop carries from `initial` on. What nobody else uses
/// goes on under its own name.
std::string CudaKernelPrinter::carry(Value initial, Operation *op,
                                     Value carried, Value next) {
  Text begin = whole(initial);
  auto owner = dyn_cast_if_present<RegionBranchOpInterface>(
      initial.getDefiningOp() ? initial.getDefiningOp()
                              : initial.getParentBlock()->getParentOp());
  bool isVariable = owner && begin.isName() &&
                    begin.text.find('.') == std::string::npos &&
                    !begin.text.empty() && llvm::isAlpha(begin.text.front());
  bool isIndex = isa<BlockArgument>(initial) &&
                 isa<scf::ForOp>(initial.getParentBlock()->getParentOp()) &&
                 cast<BlockArgument>(initial).getArgNumber() == 0;
  if (isVariable && !isIndex && initial.hasOneUse() &&
      initial.getParentBlock() == op->getBlock()) {
    name(carried, begin.text);
    return begin.text;
  }
  std::string variable = freshName(stemOfCarried(next));
  line(*typeText(initial.getType()) + " " + variable + " = " + begin.text +
       ";");
  name(carried, variable);
  return variable;
}

/// "sum += x" for "sum = sum + x".
static std::string updateText(StringRef variable, StringRef next, Value value) {
  Operation *op = value.getDefiningOp();
  StringRef symbol = isa_and_nonnull<arith::AddFOp, arith::AddIOp>(op)   ? "+"
                     : isa_and_nonnull<arith::MulFOp, arith::MulIOp>(op) ? "*"
                                                                         : "";
  StringRef rest = next;
  if (!symbol.empty() && rest.consume_front(variable) &&
      rest.consume_front((" " + symbol + " ").str()) &&
      isa<FloatType>(value.getType()))
    return (variable + " " + symbol + "= " + rest).str();
  return (variable + " = " + next).str();
}

/// All at once: no value sees another variable's new contents.
void CudaKernelPrinter::assign(ArrayRef<std::string> variables,
                               ValueRange values) {
  SmallVector<Text> next;
  for (Value value : values)
    next.push_back(whole(value));
  bool crosses = false;
  for (size_t early = 0; early < next.size(); ++early)
    for (size_t late = early + 1; late < next.size(); ++late)
      crosses |= next[early].text != variables[early] &&
                 mentions(next[late].text, variables[early]);
  if (crosses)
    for (auto [text, value, variable] : llvm::zip(next, values, variables)) {
      if (text.text == variable)
        continue;
      std::string kept = freshName("next");
      line("const " + *typeText(value.getType()) + " " + kept + " = " +
           text.text + ";");
      text = {kept};
    }
  for (auto [text, value, variable] : llvm::zip(next, values, variables))
    if (text.text != variable)
      line(updateText(variable, text.text, value) + ";");
}

LogicalResult CudaKernelPrinter::loop(scf::ForOp op) {
  for (Type type : op.getResultTypes())
    if (!typeText(type))
      return unknown(op);
  SmallVector<std::string> carried;
  ValueRange yielded = op.getBody()->getTerminator()->getOperands();
  for (auto [initial, argument, next] :
       llvm::zip(op.getInitArgs(), op.getRegionIterArgs(), yielded))
    carried.push_back(carry(initial, op, argument, next));
  Text lower = lane(op.getLowerBound(), 0), upper = lane(op.getUpperBound(), 0);
  Text step = lane(op.getStep(), 0);
  flush(op);
  std::string index = loops < kLoopNames.size()
                          ? freshName(kLoopNames.substr(loops, 1))
                          : freshName("index");
  name(op.getInductionVar(), index);
  std::string bump =
      step.text == "1" ? "++" + index : index + " += " + step.text;
  line(llvm::formatv("for ({0} {1} = {2}; {1} < {3}; {4}) {{",
                     *typeText(op.getInductionVar().getType()), index,
                     lower.text, inParentheses(upper, Binding::Sum), bump));
  ++indent, ++loops;
  if (failed(block(*op.getBody())))
    return failure();
  assign(carried, yielded);
  --indent, --loops;
  line("}");
  for (auto [result, variable] : llvm::zip(op.getResults(), carried))
    name(result, variable);
  return success();
}

/// do { before } while (condition) with what `before` hands on.
LogicalResult CudaKernelPrinter::whileLoop(scf::WhileOp op) {
  Block *before = op.getBeforeBody(), *after = op.getAfterBody();
  SmallVector<std::string> carried, handed;
  auto yield = op.getYieldOp();
  for (auto [initial, argument, next] :
       llvm::zip(op.getInits(), before->getArguments(), yield.getOperands()))
    carried.push_back(carry(initial, op, argument, next));
  for (auto [result, argument] :
       llvm::zip(op.getResults(), after->getArguments())) {
    handed.push_back(freshName("result"));
    line(*typeText(result.getType()) + " " + handed.back() + ";");
    name(result, handed.back());
    name(argument, handed.back());
  }
  flush(op);
  line("while (true) {");
  ++indent;
  if (failed(block(*before)))
    return failure();
  auto condition = op.getConditionOp();
  Text goesOn = lane(condition.getCondition(), 0);
  assign(handed, condition.getArgs());
  line("if (!" + inParentheses(goesOn, Binding::Prefix) + ")");
  line("  break;");
  if (failed(block(*after)))
    return failure();
  assign(carried, yield.getOperands());
  --indent;
  line("}");
  return success();
}

LogicalResult CudaKernelPrinter::branch(scf::IfOp op) {
  SmallVector<std::string> results;
  for (Value result : op.getResults()) {
    if (!typeText(result.getType()))
      return unknown(op);
    results.push_back(freshName("chosen"));
    line(*typeText(result.getType()) + " " + results.back() + ";");
  }
  Text condition = lane(op.getCondition(), 0);
  flush(op);
  line("if (" + condition.text + ") {");
  for (Region *region : {&op.getThenRegion(), &op.getElseRegion()}) {
    if (region->empty())
      continue;
    Block &inside = region->front();
    bool isElse = region == &op.getElseRegion();
    if (isElse && results.empty() && llvm::hasSingleElement(inside))
      continue;
    if (isElse)
      line("} else {");
    ++indent;
    if (failed(block(inside)))
      return failure();
    assign(results, inside.getTerminator()->getOperands());
    --indent;
  }
  line("}");
  for (auto [result, variable] : llvm::zip(op.getResults(), results))
    name(result, variable);
  return success();
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// threadIdx.x and its kin.
void CudaKernelPrinter::position(Operation *op, StringRef stem,
                                 StringRef builtin) {
  auto dimension = op->getAttrOfType<mlir::gpu::DimensionAttr>("dimension");
  std::string letter =
      mlir::gpu::stringifyDimension(dimension.getValue()).str();
  std::string text = (builtin + "." + letter).str();
  std::string variable =
      letter == "x" ? stem.str() : (stem + "_" + letter).str();
  if (names[variable]++ == 0)
    line("const int64_t " + variable + " = " + text + ";");
  name(op->getResult(0), variable);
}

LogicalResult CudaKernelPrinter::statement(Operation *op) {
  using namespace mlir::gpu;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return success();
  StringRef name = op->getName().getStringRef();
  if (name == "nvvm.bar.warp.sync") {
    Text mask = lane(op->getOperand(0), 0);
    flush(op);
    line(mask.text == "-1" ? "__syncwarp();"
                           : "__syncwarp(" + mask.text + ");");
    return success();
  }
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ThreadIdOp id) {
        return position(id, "thread", "threadIdx"), success();
      })
      .Case([&](BlockIdOp id) {
        return position(id, "block", "blockIdx"), success();
      })
      .Case([&](BlockDimOp id) {
        return position(id, "threads", "blockDim"), success();
      })
      .Case([&](GridDimOp id) {
        return position(id, "blocks", "gridDim"), success();
      })
      .Case([&](BarrierOp) {
        flush(op);
        return line("__syncthreads();"), success();
      })
      .Case([&](ShuffleOp shuffled) { return shuffle(shuffled); })
      .Case([&](scf::ForOp found) { return loop(found); })
      .Case([&](scf::WhileOp found) { return whileLoop(found); })
      .Case([&](scf::IfOp found) { return branch(found); })
      .Case([&](LLVM::GEPOp found) { return address(found); })
      .Case([&](LLVM::AllocaOp found) { return stack(found); })
      .Case([&](LLVM::LoadOp found) { return load(found); })
      .Case([&](LLVM::StoreOp found) { return store(found); })
      .Case<LLVM::AddressOfOp, LLVM::PoisonOp, LLVM::UndefOp, LLVM::ZeroOp>(
          [&](auto) { return success(); })
      .Case<vector::ExtractOp, vector::InsertOp, vector::BroadcastOp,
            vector::FromElementsOp, LLVM::ExtractElementOp,
            LLVM::InsertElementOp>([&](auto) { return lanes(op); })
      .Default([&](Operation *) { return expression(op); });
}

LogicalResult CudaKernelPrinter::block(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(statement(&op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The head
//===----------------------------------------------------------------------===//

std::string CudaKernelPrinter::comment() {
  std::string text;
  auto description = function->getAttrOfType<StringAttr>(kDescription);
  SmallVector<StringRef> lines;
  if (description)
    description.getValue().trim().split(lines, '\n');
  for (StringRef each : lines)
    text += ("/// " + each + "\n").str();
  text += llvm::formatv("/// {0} threads in a block", row.threads);
  if (row.sharedBytes != 0)
    text += llvm::formatv(", {0} bytes of shared memory", row.sharedBytes);
  return text + ".\n";
}

std::string CudaKernelPrinter::signature() {
  SmallVector<std::string> parameters;
  unsigned pointers = 0;
  for (BlockArgument argument : function.getArguments()) {
    if (!isa<LLVM::LLVMPointerType>(argument.getType())) {
      std::string variable = freshName("position");
      name(argument, variable);
      parameters.push_back(*typeText(argument.getType()) + " " + variable);
      continue;
    }
    const ProgramKernel::Buffer &buffer = row.buffers[pointers++];
    StringRef stem = !buffer.writes ? "in" : buffer.reads ? "inout" : "out";
    Place place{(stem + Twine(argument.getArgNumber())).str(),
                elementOf(argument),
                {},
                !buffer.writes};
    parameters.push_back(llvm::formatv(
        "{0}{1} *__restrict__ {2}", place.isConst ? "const " : "",
        place.element ? *typeText(place.element) : "void", place.base));
    places[argument] = place;
  }
  std::string head = llvm::formatv("{0}({1}) {{", function.getName(),
                                   llvm::join(parameters, ", "));
  return llvm::formatv(
      "extern \"C\" __global__ void __launch_bounds__({0})\n{1}\n", row.threads,
      wrapped(head));
}

/// Shared memory that the kernel uses, in the order of its first use.
LogicalResult CudaKernelPrinter::declareShared() {
  llvm::StringMap<std::string> known;
  WalkResult walked = function.walk([&](LLVM::AddressOfOp op) {
    auto module = function->getParentOfType<mlir::gpu::GPUModuleOp>();
    auto global = module.lookupSymbol<LLVM::GlobalOp>(op.getGlobalName());
    if (!global || !typeText(scalarOf(global.getType())))
      return WalkResult(unknown(op));
    Type element = scalarOf(global.getType());
    std::string &variable = known[op.getGlobalName()];
    if (variable.empty()) {
      variable = freshName("shared");
      line(llvm::formatv(
          "__shared__ {0}{1} {2}[{3}];",
          global.getAlignment().value_or(0) > 8
              ? llvm::formatv("__align__({0}) ", *global.getAlignment()).str()
              : "",
          *typeText(element), variable, scalarsIn(global.getType())));
    }
    places[op] = {variable, element, {}};
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

FailureOr<std::string> CudaKernelPrinter::print() {
  if (!llvm::hasSingleElement(function.getBody()))
    return unknown(function);
  std::string head = comment() + signature();
  if (failed(declareShared()) || failed(block(function.getBody().front())))
    return failure();
  return head + body + "}\n";
}

} // namespace autopar::gpu
