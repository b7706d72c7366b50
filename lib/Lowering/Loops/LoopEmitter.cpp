//===- LoopEmitter.cpp - Code for the elements of tensors -----------------===//

#include "Emit.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace autopar::loops {

bool isHalf(Type element) { return isa<Float16Type, BFloat16Type>(element); }

Type computeType(Type element) {
  if (isHalf(element))
    return Float32Type::get(element.getContext());
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  return element;
}

Type storageType(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(),
                            std::max(8u, integer.getWidth()));
  return element;
}

LoopEmitter::LoopEmitter(OpBuilder &builder, Location loc, Block *entry,
                         ConstantTables &tables)
    : builder(builder), loc(loc), tables(tables) {
  scopes.push_back({entry, nullptr});
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// Moves the insertion point before the next deeper open loop, or to the end of
/// the block.
void LoopEmitter::moveTo(Operation *op, unsigned depth) {
  if (depth + 1 < scopes.size()) {
    op->moveBefore(scopes[depth + 1].loop);
    return;
  }
  Block *block = scopes[depth].block;
  if (block->mightHaveTerminator())
    op->moveBefore(block->getTerminator());
  else
    op->moveBefore(block, block->end());
}

Value LoopEmitter::place(Operation *op) {
  unsigned at = 0;
  for (Value operand : op->getOperands())
    at = std::max(at, depth(operand));
  moveTo(op, at);
  bool varies = llvm::any_of(op->getOperands(), [&](Value operand) {
    return varying.contains(operand);
  });
  for (Value result : op->getResults()) {
    depths[result] = at;
    if (varies)
      varying.insert(result);
  }
  return op->getNumResults() ? op->getResult(0) : Value();
}

Value LoopEmitter::constantInt(int64_t value) {
  Value &known = memo[{reinterpret_cast<const void *>(value), nullptr}];
  if (!known)
    known = make<arith::ConstantOp>(builder.getI64IntegerAttr(value));
  return known;
}

Value LoopEmitter::constant(Type type, double value) {
  if (isa<FloatType>(type))
    return make<arith::ConstantOp>(builder.getFloatAttr(type, value));
  if (value != value)
    value = 0;
  auto integer = cast<IntegerType>(type);
  APInt bits(integer.getWidth(), 0);
  if (std::abs(value) >= 9.2e18 || std::isinf(value))
    bits = value > 0 ? APInt::getSignedMaxValue(integer.getWidth())
                     : APInt::getSignedMinValue(integer.getWidth());
  else
    bits = APInt(integer.getWidth(), static_cast<int64_t>(value), true, true);
  return make<arith::ConstantOp>(builder.getIntegerAttr(integer, bits));
}

Value LoopEmitter::constantElement(DenseElementsAttr elements, Index flat) {
  Type type = computeType(elements.getElementType());
  auto number = [&](Attribute element) -> Value {
    if (auto real = dyn_cast<FloatAttr>(element))
      return constant(type, real.getValueAsDouble());
    return make<arith::ConstantOp>(
        builder.getIntegerAttr(type, cast<IntegerAttr>(element).getValue()));
  };
  if (elements.isSplat())
    return number(elements.getSplatValue<Attribute>());
  if (std::optional<int64_t> known = getConstantIntValue(value(flat)))
    return number(elements.getValues<Attribute>()[*known]);
  LLVM::GlobalOp table = tables.get(elements);
  auto pointer =
      LLVM::LLVMPointerType::get(builder.getContext(), table.getAddrSpace());
  return load(make<LLVM::AddressOfOp>(pointer, table.getSymName()), type, flat);
}

/// LLVM may compute what is rounded at once in the narrow type: there it must
/// not become one with the next operation.
static void forbidContraction(Value value) {
  auto op = value.getDefiningOp<arith::ArithFastMathInterface>();
  arith::FastMathFlagsAttr given =
      op ? op.getFastMathFlagsAttr() : arith::FastMathFlagsAttr();
  if (!given)
    return;
  arith::FastMathFlags rest =
      arith::bitEnumClear(given.getValue(), arith::FastMathFlags::contract);
  op->setAttr(op.getFastMathAttrName(),
              arith::FastMathFlagsAttr::get(op.getContext(), rest));
}

Value LoopEmitter::rounded(Value value, Type element) {
  if (!isHalf(element))
    return value;
  forbidContraction(value);
  return make<arith::ExtFOp>(value.getType(),
                             make<arith::TruncFOp>(element, value));
}

/// x and c of x + c, with a constant c; null without.
static std::pair<Value, int64_t> splitSum(Value sum) {
  auto add = sum.getDefiningOp<arith::AddIOp>();
  if (std::optional<int64_t> fixed =
          add ? getConstantIntValue(add.getRhs()) : std::nullopt)
    return {add.getLhs(), *fixed};
  return {nullptr, 0};
}

/// Constants move to the right and join there.
Value LoopEmitter::addInt(Value a, Value b) {
  std::optional<int64_t> left = getConstantIntValue(a);
  std::optional<int64_t> right = getConstantIntValue(b);
  if (left && right)
    return constantInt(*left + *right);
  if (left)
    return addInt(b, a);
  if (right == 0)
    return a;
  if (auto [base, fixed] = splitSum(a); base && right)
    return addInt(base, constantInt(fixed + *right));
  return make<arith::AddIOp>(a, b, arith::IntegerOverflowFlags::nsw);
}

Value LoopEmitter::mulInt(Value a, int64_t factor) {
  if (factor == 1)
    return a;
  if (std::optional<int64_t> known = getConstantIntValue(a))
    return constantInt(*known * factor);
  if (auto [base, fixed] = splitSum(a); base)
    return addInt(mulInt(base, factor), constantInt(fixed * factor));
  return make<arith::MulIOp>(a, constantInt(factor),
                             arith::IntegerOverflowFlags::nsw);
}

Value LoopEmitter::clamp(Value index, int64_t size) {
  IndexBlock block = blockOf(index, size);
  Value low = make<arith::MaxSIOp>(block.first, constantInt(0));
  int64_t last = std::max<int64_t>(size, 1) - block.size;
  return addInt(make<arith::MinSIOp>(low, constantInt(last)),
                constantInt(block.within));
}

Value LoopEmitter::inRange(Value index, int64_t size) {
  return make<arith::CmpIOp>(arith::CmpIPredicate::ult,
                             blockOf(index, size).first, constantInt(size));
}

Value LoopEmitter::address(Value pointer, Type stored, Value offset) {
  return make<LLVM::GEPOp>(pointer.getType(), stored, pointer,
                           ArrayRef<LLVM::GEPArg>{offset},
                           LLVM::GEPNoWrapFlags::inbounds);
}

Value LoopEmitter::load(Value pointer, Type element, Index flat) {
  Type stored = storageType(element), type = computeType(element);
  Value place = address(pointer, stored, value(flat));
  Value loaded = make<LLVM::LoadOp>(stored, place);
  if (type.isInteger(1))
    return make<arith::CmpIOp>(arith::CmpIPredicate::ne, loaded,
                               constant(stored, 0));
  if (stored != type)
    return make<arith::ExtFOp>(type, loaded);
  return loaded;
}

/// A value that was rounded to `type` and widened again, before that.
static Value beforeWidening(Value value, Type type) {
  auto wide = value.getDefiningOp<arith::ExtFOp>();
  return wide && wide.getIn().getType() == type ? wide.getIn() : value;
}

void LoopEmitter::store(Value stored, Value pointer, Type element, Index flat) {
  Type memory = storageType(element);
  stored = beforeWidening(stored, memory);
  if (stored.getType().isInteger(1))
    stored = make<arith::ExtUIOp>(memory, stored);
  else if (memory != stored.getType())
    stored = make<arith::TruncFOp>(memory, stored);
  Value place = address(pointer, memory, value(flat));
  auto op = LLVM::StoreOp::create(builder, loc, stored, place);
  unsigned at = std::max(depth(stored), depth(place));
  if (!storeGuard)
    return moveTo(op, at);
  auto guarded = scf::IfOp::create(builder, loc, storeGuard);
  op->moveBefore(guarded.thenBlock()->getTerminator());
  moveTo(guarded, std::max(at, depth(storeGuard)));
}

Value LoopEmitter::stackBuffer(Type element, int64_t size) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return make<LLVM::AllocaOp>(pointer, element, constantInt(size),
                              /*alignment=*/64);
}

Value LoopEmitter::pin(Value pointer, unsigned depth) {
  auto same =
      LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(),
                          pointer, ArrayRef<LLVM::GEPArg>{0});
  moveTo(same, depth);
  depths[same] = depth;
  if (varying.contains(pointer))
    varying.insert(same);
  return same;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value LoopEmitter::openLoop(Value lower, Value upper) {
  auto loop = scf::ForOp::create(builder, loc, lower, upper, constantInt(1));
  moveTo(loop, scopes.size() - 1);
  scopes.push_back({loop.getBody(), loop});
  depths[loop.getInductionVar()] = scopes.size() - 1;
  return loop.getInductionVar();
}

void LoopEmitter::closeLoop() { scopes.pop_back(); }

Index LoopEmitter::openBlock(Index number, int64_t block, int64_t size) {
  Value inside = openLoop(constantInt(0), constantInt(block));
  Value first = mulInt(value(number), block);
  if (size % block != 0)
    first = make<arith::MinSIOp>(first, constantInt(size - block));
  return {addInt(first, inside)};
}

unsigned LoopEmitter::depth(ArrayRef<Index> indices) {
  unsigned result = 0;
  for (const Index &index : indices) {
    if (!spaces.contains(index.value)) {
      result = std::max(result, depth(index.value));
      continue;
    }
    for (const Part &part : partsOf(index))
      result = std::max(result, depth(ArrayRef(part.index)));
  }
  return result;
}

LoopEmitter::Key LoopEmitter::key(const void *what, ArrayRef<Index> at) {
  Key result{what};
  for (const Index &index : at) {
    result.push_back(index.value.getAsOpaquePointer());
    result.push_back(reinterpret_cast<const void *>(index.divisor));
    result.push_back(reinterpret_cast<const void *>(index.modulus));
  }
  return result;
}

Value LoopEmitter::readMemory(Value tensor, ArrayRef<Index> at) {
  auto type = cast<RankedTensorType>(tensor.getType());
  const Memory &place = memory.find(tensor)->second;
  auto places = inMemoryOrder(at, place.layout);
  auto shape = inMemoryOrder(type.getShape(), place.layout);
  noteRead(places, shape);
  return load(place.pointer, type.getElementType(), linearize(places, shape));
}

Value LoopEmitter::element(Value tensor, ArrayRef<Index> at) {
  Key what = key(tensor.getAsOpaquePointer(), at);
  auto known = memo.find(what);
  if (known != memo.end())
    return known->second;
  Value result = memory.contains(tensor) ? readMemory(tensor, at)
                                         : compute(tensor.getDefiningOp(), at);
  return memo[what] = result;
}

static const EmitTable &elementTable() {
  static const EmitTable table = [] {
    EmitTable all;
    for (auto *add : {addElementwise, addMovement, addReduction})
      add(all);
    return all;
  }();
  return table;
}

bool hasLoops(Operation *op) {
  return isa<YieldOp>(op) || elementTable().find(op);
}

/// Emits the element as memory would hold it, so that results do not depend on
/// which ops are one kernel.
Value LoopEmitter::compute(Operation *op, ArrayRef<Index> at) {
  Value result = (*elementTable().find(op))(op, *this, at);
  return cast<KernelOpInterface>(op).roundsResult()
             ? rounded(result, getElementTypeOrSelf(op->getResult(0)))
             : result;
}

} // namespace autopar::loops
