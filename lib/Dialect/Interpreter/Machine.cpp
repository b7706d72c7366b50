//===- Machine.cpp - Runs a block at all points of a mesh in lockstep -----===//

#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace autopar::interpreter {

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

FailureOr<std::vector<Everywhere>>
Machine::run(Block &block, ArrayRef<Everywhere> arguments) {
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = value;
  for (Operation &op : block.without_terminator())
    if (failed(execute(&op)))
      return failure();
  std::vector<Everywhere> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(values.lookup(value));
  return results;
}

LogicalResult Machine::execute(Operation *op) {
  if (auto buffer = dyn_cast<BufferOp>(op)) {
    places[buffer.getResult()] = {buffer.getSpace(),
                                  int64_t(buffer.getPosition())};
    return success();
  }
  if (auto kernel = dyn_cast<KernelOp>(op))
    return runKernel(kernel);
  if (auto sendOp = dyn_cast<SendOp>(op))
    return send(sendOp);
  FailureOr<Everywhere> value = evaluateEverywhere(op);
  if (failed(value))
    return failure();
  Value output;
  if (isCollective(op) && op->getNumOperands() == 2)
    output = op->getOperand(1);
  else if (isa<RecvOp>(op) && op->getNumOperands() == 1)
    output = op->getOperand(0);
  Value result = op->getNumResults() ? op->getResult(0) : Value();
  return write(op, result, output, std::move(*value));
}

/// Type of what an op computes, in tensor and in buffer form.
static RankedTensorType valueType(Type type) {
  auto shaped = cast<ShapedType>(type);
  return RankedTensorType::get(shaped.getShape(), shaped.getElementType());
}

FailureOr<Everywhere> Machine::evaluateEverywhere(Operation *op) {
  if (auto recv = dyn_cast<RecvOp>(op))
    return receive(recv);
  if (isCollective(op)) {
    FailureOr<Everywhere> input = read(op, op->getOperand(0));
    if (failed(input))
      return failure();
    Value to = op->getNumResults() ? op->getResult(0) : op->getOperand(1);
    return evaluateCollective(op, *input, valueType(to.getType()), mesh);
  }
  if (op->getNumResults() != 1)
    return op->emitError() << "the interpreter does not know this op";
  SmallVector<Everywhere *> operands;
  for (Value operand : op->getOperands()) {
    auto value = values.find(operand);
    if (value == values.end())
      return op->emitError() << "reads a value that no op computed";
    operands.push_back(&value->second);
  }
  Everywhere results;
  for (int64_t point = 0; point < points(); ++point) {
    // Points that share their operands share the result.
    auto sharesOperands = [&](int64_t other) {
      return llvm::all_of(operands, [&](Everywhere *operand) {
        return (*operand)[point] == (*operand)[other];
      });
    };
    if (!isPosition(op) && point > 0 && sharesOperands(0)) {
      results.push_back(results[0]);
      continue;
    }
    SmallVector<const Tensor *> local;
    for (Everywhere *operand : operands)
      local.push_back((*operand)[point].get());
    FailureOr<Tensor> result = isPosition(op)
                                   ? evaluatePosition(op, local, mesh, point)
                                   : evaluate(op, local);
    if (failed(result))
      return failure();
    results.push_back(std::make_shared<Tensor>(std::move(*result)));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Kernels and channels
//===----------------------------------------------------------------------===//

LogicalResult Machine::runKernel(KernelOp kernel) {
  std::vector<Everywhere> inputs;
  for (Value input : kernel.getInputs()) {
    FailureOr<Everywhere> value = read(kernel, input);
    if (failed(value))
      return failure();
    inputs.push_back(std::move(*value));
  }
  auto results = run(kernel.getBody().front(), inputs);
  if (failed(results))
    return failure();
  for (auto [i, value] : llvm::enumerate(*results)) {
    bool tensors = kernel->getNumResults() != 0;
    Value result = tensors ? kernel->getResult(i) : Value();
    Value output = tensors ? Value() : kernel.getOutputs()[i];
    if (failed(write(kernel, result, output, std::move(value))))
      return failure();
  }
  return success();
}

LogicalResult Machine::send(SendOp op) {
  FailureOr<Everywhere> value = read(op, op.getInput());
  if (failed(value))
    return failure();
  if (!channels.try_emplace(op.getChannel(), *value).second)
    return op.emitError() << "channel " << op.getChannel()
                          << " is used by an earlier send";
  return success();
}

FailureOr<Everywhere> Machine::receive(RecvOp op) {
  auto sent = channels.find(op.getChannel());
  if (sent == channels.end())
    return op.emitError() << "nothing was sent over channel " << op.getChannel()
                          << " by an earlier stage";
  Type to = op.getResult() ? Type(op.getResult().getType())
                           : Type(op.getOutput().getType());
  if (sent->second.front()->type != valueType(to))
    return op.emitError() << "channel " << op.getChannel() << " carries "
                          << sent->second.front()->type;
  return sent->second;
}

//===----------------------------------------------------------------------===//
// Values and bytes
//===----------------------------------------------------------------------===//

FailureOr<Everywhere> Machine::read(Operation *user, Value value) {
  if (isa<TensorType>(value.getType()))
    return values.lookup(value);
  auto place = places.find(value);
  if (place == places.end())
    return user->emitError() << "reads a buffer that no autopar.buffer made";
  return load(user, cast<ShapedType>(value.getType()), place->second);
}

LogicalResult Machine::write(Operation *op, Value result, Value output,
                             Everywhere value) {
  if (result) {
    if (observe)
      observe(op, value);
    values[result] = std::move(value);
    return success();
  }
  auto place = output ? places.find(output) : places.end();
  if (place == places.end())
    return op->emitError() << "writes no buffer that autopar.buffer made";
  return store(op, cast<ShapedType>(output.getType()), place->second, value);
}

/// Calls visit(element number, byte offset) for the elements of a strided
/// memref.
template <typename Visit>
static LogicalResult forEachElement(ShapedType type, Visit visit) {
  SmallVector<int64_t> strides = stridesOf(type.getShape());
  int64_t offset = 0;
  if (auto memref = dyn_cast<MemRefType>(type))
    if (failed(memref.getStridesAndOffset(strides, offset)))
      return failure();
  if (ShapedType::isDynamic(offset) || ShapedType::isDynamicShape(strides))
    return failure();
  int64_t bytes = elementBytes(type.getElementType());
  forEachIndex(type.getShape(), [&](ArrayRef<int64_t> index, int64_t i) {
    int64_t at = offset;
    for (auto [k, stride] : llvm::zip_equal(index, strides))
      at += k * stride;
    visit(i, at * bytes);
  });
  return success();
}

/// The bytes of a place, from its first byte on.
static MutableArrayRef<uint8_t> bytesOf(Memory &memory, Place place) {
  if (place.space == BufferSpace::Arena)
    return MutableArrayRef<uint8_t>(memory.arena)
        .drop_front(std::min<size_t>(place.position, memory.arena.size()));
  if (size_t(place.position) >= memory.persistent.size())
    return {};
  return memory.persistent[place.position];
}

FailureOr<Everywhere> Machine::load(Operation *user, ShapedType type,
                                    Place place) {
  Everywhere result;
  bool inside = true;
  for (int64_t point = 0; point < points(); ++point) {
    auto tensor = std::make_shared<Tensor>(valueType(type));
    MutableArrayRef<uint8_t> bytes = bytesOf(memory[point], place);
    int64_t width = elementBytes(type.getElementType());
    LogicalResult visited =
        forEachElement(type, [&](int64_t i, int64_t offset) {
          inside &= offset >= 0 && offset + width <= int64_t(bytes.size());
          if (inside)
            loadElement(*tensor, i, bytes.data() + offset);
        });
    if (failed(visited) || !inside)
      return user->emitError() << "reads outside its memory at "
                               << stringifyBufferSpace(place.space) << "["
                               << place.position << "]";
    result.push_back(std::move(tensor));
  }
  return result;
}

LogicalResult Machine::store(Operation *user, ShapedType type, Place place,
                             const Everywhere &value) {
  bool inside = true;
  for (int64_t point = 0; point < points(); ++point) {
    MutableArrayRef<uint8_t> bytes = bytesOf(memory[point], place);
    int64_t width = elementBytes(type.getElementType());
    LogicalResult visited =
        forEachElement(type, [&](int64_t i, int64_t offset) {
          inside &= offset >= 0 && offset + width <= int64_t(bytes.size());
          if (inside)
            storeElement(*value[point], i, bytes.data() + offset);
        });
    if (failed(visited) || !inside)
      return user->emitError() << "writes outside its memory at "
                               << stringifyBufferSpace(place.space) << "["
                               << place.position << "]";
  }
  return success();
}

} // namespace autopar::interpreter
