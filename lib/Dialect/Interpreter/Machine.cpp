//===- Machine.cpp - Runs a block at all points of a mesh in lockstep -----===//

#include "Waves.h"
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
                                  int64_t(buffer.getPosition()),
                                  cast<ShapedType>(buffer.getType())};
    return success();
  }
  if (isa<RecordEventOp, WaitEventOp>(op))
    return success(); // streams run in program order here
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

/// The values of a kernel's body on what its inputs hold now.
FailureOr<std::vector<Everywhere>> Machine::runBody(KernelOp kernel) {
  std::vector<Everywhere> inputs;
  for (Value input : kernel.getInputs()) {
    FailureOr<Everywhere> value = read(kernel, input);
    if (failed(value))
      return failure();
    inputs.push_back(std::move(*value));
  }
  return run(kernel.getBody().front(), inputs);
}

/// Returns whether a buffer that the kernel writes shares bytes with one that
/// it reads.
FailureOr<bool> Machine::writesOverInput(KernelOp kernel) {
  bool shares = false;
  for (Value output : kernel.getOutputs()) {
    FailureOr<Place> to = placeOf(kernel, output);
    if (failed(to))
      return failure();
    for (Value input : kernel.getInputs()) {
      FailureOr<Place> from = placeOf(kernel, input);
      if (failed(from))
        return failure();
      shares |= overlap(*to, *from);
    }
  }
  return shares;
}

LogicalResult Machine::runKernel(KernelOp kernel) {
  FailureOr<bool> inPlace = writesOverInput(kernel);
  if (failed(inPlace))
    return failure();
  Waves waves(kernel, *inPlace);
  for (int64_t wave = 0; wave < waves.count(); ++wave) {
    auto values = runBody(kernel);
    if (failed(values))
      return failure();
    for (auto [result, value] : llvm::zip(kernel->getResults(), *values))
      bind(kernel, result, value);
    for (auto [output, value] : llvm::zip(kernel.getOutputs(), *values)) {
      int64_t elements = value.front()->size();
      auto chosen = [&](int64_t number) {
        return waves.writes(wave, number, elements);
      };
      if (failed(store(kernel, *placeOf(kernel, output), value, chosen)))
        return failure();
    }
  }
  for (Value output : kernel.getOutputs())
    if (failed(keepEarly(kernel, output)))
      return failure();
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

FailureOr<Place> Machine::placeOf(Operation *user, Value buffer) {
  auto place = places.find(buffer);
  if (place == places.end())
    return user->emitError() << "uses a buffer that no autopar.buffer made";
  return place->second;
}

FailureOr<Everywhere> Machine::read(Operation *user, Value value) {
  if (isa<TensorType>(value.getType()))
    return values.lookup(value);
  FailureOr<Place> place = placeOf(user, value);
  if (failed(place))
    return failure();
  return load(user, *place);
}

void Machine::bind(Operation *op, Value result, Everywhere value) {
  if (observe)
    observe(op, value);
  values[result] = std::move(value);
}

LogicalResult Machine::write(Operation *op, Value result, Value output,
                             Everywhere value) {
  if (result) {
    bind(op, result, std::move(value));
    return success();
  }
  if (!output)
    return op->emitError() << "writes no buffer";
  FailureOr<Place> place = placeOf(op, output);
  if (failed(place))
    return failure();
  return failed(store(op, *place, value)) ? failure() : keepEarly(op, output);
}

/// `op` has written all of `output`.
LogicalResult Machine::keepEarly(Operation *op, Value output) {
  auto number = output.getDefiningOp()->getAttrOfType<IntegerAttr>(
      AutoparDialect::kValue);
  for (EarlyResult &result : early) {
    if (!number || number.getInt() != result.number)
      continue;
    FailureOr<Everywhere> value = load(op, result.place);
    if (failed(value))
      return failure();
    result.value = std::move(*value);
  }
  return success();
}

FailureOr<Everywhere> Machine::loadEarly(Operation *user, int64_t number,
                                         const Place &place) {
  for (const EarlyResult &result : early)
    if (result.number == number && result.place.type == place.type &&
        !result.value.empty())
      return result.value;
  return load(user, place);
}

static InFlightDiagnostic outside(Operation *user, StringRef what,
                                  const Place &place) {
  return user->emitError() << what << " outside its memory at "
                           << stringifyBufferSpace(place.space) << "["
                           << place.position << "]";
}

FailureOr<Everywhere> Machine::load(Operation *user, const Place &place) {
  Everywhere result;
  memory.resize(points());
  for (const Memory &bytes : memory) {
    std::optional<Tensor> tensor = bytes.load(place);
    if (!tensor)
      return outside(user, "reads", place);
    result.push_back(std::make_shared<Tensor>(std::move(*tensor)));
  }
  return result;
}

LogicalResult Machine::store(Operation *user, const Place &place,
                             const Everywhere &value, Chosen chosen) {
  memory.resize(points());
  for (auto [bytes, tensor] : llvm::zip(memory, value))
    if (!bytes.store(place, *tensor, chosen))
      return outside(user, "writes", place);
  return success();
}

} // namespace autopar::interpreter
