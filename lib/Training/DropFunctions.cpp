//===- DropFunctions.cpp - Functions become the ops that compute them -----===//

#include "autopar/Dialect/Dialect.h"
#include "autopar/Training/Passes.h"

namespace autopar {
#define GEN_PASS_DEF_DROPFUNCTIONS
#include "autopar/Training/Passes.h.inc"
} // namespace autopar

using namespace mlir;

namespace autopar {

/// The ONNX name of a function's result is that of the op that computes it.
static void moveNames(FunctionOp function) {
  Attribute names = function->getAttr(AutoparDialect::kNames);
  Operation *op = function.getValue().getDefiningOp();
  if (names && op && op->getNumResults() == 1 &&
      !op->hasAttr(AutoparDialect::kNames))
    op->setAttr(AutoparDialect::kNames, names);
}

namespace {
struct DropFunctions : impl::DropFunctionsBase<DropFunctions> {
  void runOnOperation() final {
    getOperation().walk([](FunctionOp function) {
      moveNames(function);
      function.getResult().replaceAllUsesWith(function.getValue());
      function.erase();
    });
  }
};
} // namespace

} // namespace autopar
