//===- OnnxFunctions.cpp - Which ops are one function of the model --------===//
//
// The ops into which a node is split compute its value with more digits or
// without overflow. But the derivatives, or values, of some parts are not those
// of the node: sign(x) * log(...) has no derivative at 0, where that of asinh
// is 1. The op `autopar.function` says that the parts are one function.
//
//===----------------------------------------------------------------------===//

#include "OnnxImporter.h"
#include "autopar/Dialect/KernelFacts.h"

using namespace mlir;

namespace autopar {

NamedAttribute OnnxNode::number(StringRef name, double value) {
  return builder.getNamedAttr(name, builder.getF64FloatAttr(value));
}

NamedAttribute OnnxNode::dims(ArrayRef<int64_t> values) {
  return builder.getNamedAttr("dims", builder.getDenseI64ArrayAttr(values));
}

Value OnnxNode::function(StringRef derivative, ArrayRef<Value> inputs,
                         Value value, ArrayRef<NamedAttribute> parameters) {
  if (!importer.keepsFunctions() ||
      importer.known.followsFromConstants(value) ||
      !isa<FloatType>(elementOf(value)))
    return value;
  DictionaryAttr named;
  if (!parameters.empty())
    named = builder.getDictionaryAttr(parameters);
  return FunctionOp::create(builder, loc, value.getType(), value, inputs,
                            builder.getStringAttr(derivative), named);
}

/// Returns whether the op may give a finite number of one that is not, as
/// exp(-inf) does, or choose between numbers.
static bool mayBecomeFinite(Operation &op) {
  if (auto binary = dyn_cast<BinaryOp>(op))
    return binary.getKind() != BinaryKind::Add &&
           binary.getKind() != BinaryKind::Sub &&
           binary.getKind() != BinaryKind::Mul;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() != ReduceKind::Sum;
  return isa<UnaryOp, SelectOp>(op);
}

/// Returns whether each element of the result is an element of an operand.
static bool movesElements(Operation &op) {
  LoopRole role = loopRoleOf(&op);
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return role == LoopRole::Spread || role == LoopRole::View ||
         (kernel && kernel.getKernelClass() == KernelClass::Movement);
}

/// Makes each float output of a node that was built since `before` one function
/// of the node's inputs, if a part of it might not be finite where it is.
void OnnxImporter::markFunctions(OnnxNode &view, Operation *before) {
  auto first = before ? std::next(before->getIterator()) : body->begin();
  llvm::SmallPtrSet<Operation *, 16> parts;
  unsigned computing = 0;
  bool hides = false;
  for (Operation &op : llvm::make_range(first, body->end())) {
    if (isa<ConstantOp>(op))
      continue;
    parts.insert(&op);
    computing += !movesElements(op);
    hides |= mayBecomeFinite(op);
  }
  if (!hides || computing < 2)
    return;
  SmallVector<Value> inputs;
  for (Value input : view.inputs)
    if (input && isa<FloatType>(getElementTypeOrSelf(input)))
      inputs.push_back(input);
  for (Value &output : view.outputs)
    if (output && parts.contains(output.getDefiningOp()) &&
        !output.getDefiningOp<FunctionOp>() &&
        isa<FloatType>(getElementTypeOrSelf(output)) &&
        !known.followsFromConstants(output))
      output = FunctionOp::create(builder, view.loc, output.getType(), output,
                                  inputs, StringAttr(), DictionaryAttr());
}

} // namespace autopar
