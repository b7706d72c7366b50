//===- CudaRanges.cpp - Integers that are never negative ------------------===//

#include "CudaText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace autopar::gpu {

std::optional<APInt> constantOf(Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number;
  return std::nullopt;
}

static bool isPositiveConstant(Value value) {
  auto number = constantOf(value);
  return number && number->isStrictlyPositive();
}

/// Returns whether an argument is never below zero: a loop counts up from its
/// lower bound, and a kernel's scalars are places in the mesh.
static bool isNonNegativeArgument(BlockArgument argument, int depth) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (isa<mlir::gpu::GPUFuncOp>(parent))
    return true;
  auto loop = dyn_cast<scf::ForOp>(parent);
  return loop && argument == loop.getInductionVar() &&
         isNonNegative(loop.getLowerBound(), depth);
}

static bool operandsAreNonNegative(Operation *op, int depth) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return isNonNegative(operand, depth);
  });
}

bool isNonNegative(Value value, int depth) {
  if (depth == 0)
    return false;
  --depth;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isNonNegativeArgument(argument, depth);
  Operation *op = value.getDefiningOp();
  if (auto number = constantOf(value))
    return !number->isNegative();
  if (isa<arith::ExtUIOp, mlir::gpu::ThreadIdOp, mlir::gpu::BlockIdOp,
          mlir::gpu::BlockDimOp, mlir::gpu::GridDimOp, mlir::gpu::LaneIdOp>(op))
    return true;
  if (isa<arith::RemUIOp, arith::DivUIOp>(op) &&
      isPositiveConstant(op->getOperand(1)))
    return isa<arith::RemUIOp>(op) || isNonNegative(op->getOperand(0), depth) ||
           !constantOf(op->getOperand(1))->isOne();
  if (isa<arith::MaxSIOp>(op))
    return isNonNegative(op->getOperand(0), depth) ||
           isNonNegative(op->getOperand(1), depth);
  if (auto chosen = dyn_cast<arith::SelectOp>(op))
    return isNonNegative(chosen.getTrueValue(), depth) &&
           isNonNegative(chosen.getFalseValue(), depth);
  if (auto shifted = dyn_cast<arith::ShRUIOp>(op))
    return isPositiveConstant(shifted.getRhs()) ||
           isNonNegative(shifted.getLhs(), depth);
  // These ops compute positions in buffers, which do not overflow.
  if (isa<arith::AddIOp, arith::MulIOp, arith::MinSIOp, arith::RemSIOp,
          arith::DivSIOp, arith::RemUIOp, arith::DivUIOp, arith::AndIOp,
          arith::OrIOp, arith::IndexCastOp, arith::IndexCastUIOp,
          arith::ExtSIOp>(op))
    return operandsAreNonNegative(op, depth);
  return false;
}

} // namespace autopar::gpu
