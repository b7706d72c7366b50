//===- Interpreter.cpp - Which op means what ------------------------------===//

#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "Evaluate.h"

using namespace mlir;

namespace autopar::interpreter {

FailureOr<Tensor> evaluate(Operation *op, ArrayRef<const Tensor *> operands) {
  static const EvaluateTable table = [] {
    EvaluateTable all;
    for (auto *add :
         {addElementwise, addMovement, addContraction, addReduction})
      add(all);
    return all;
  }();
  auto *meaning = table.find(op);
  if (!meaning)
    return op->emitError() << "the interpreter does not know this op; it runs "
                              "the autopar dialect only";
  Tensor result = (*meaning)(op, operands);
  if (!result.type)
    return op->emitError() << "the interpreter has no meaning for this op on "
                              "these element types";
  return result;
}

FailureOr<std::vector<Tensor>> interpret(func::FuncOp func,
                                         ArrayRef<Tensor> arguments) {
  if (func.isExternal() || func.getNumArguments() != arguments.size())
    return func.emitError() << "needs a body and " << func.getNumArguments()
                            << " values, but got " << arguments.size();
  std::vector<Everywhere> everywhere;
  for (const Tensor &argument : arguments)
    everywhere.push_back({std::make_shared<Tensor>(argument)});
  Machine machine((Mesh()));
  auto results = machine.run(func.front(), everywhere);
  if (failed(results))
    return failure();
  std::vector<Tensor> tensors;
  for (const Everywhere &result : *results)
    tensors.push_back(*result.front());
  return tensors;
}

} // namespace autopar::interpreter
