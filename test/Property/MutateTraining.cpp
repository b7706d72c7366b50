//===- MutateTraining.cpp - Breaks what a training step is made of --------===//

#include "Mutation.h"
#include "autopar/Dialect/TensorBuilder.h"

using namespace mlir;

namespace autopar::property {

/// Float states of rank 1 and above: parameters, what an optimizer keeps.
static bool isState(func::FuncOp func, unsigned argument) {
  auto type = dyn_cast<RankedTensorType>(func.getArgumentTypes()[argument]);
  return type && isa<FloatType>(type.getElementType()) && type.getRank() > 0 &&
         isa_and_nonnull<StateAttr>(
             func.getArgAttr(argument, AutoparDialect::kSource));
}

static llvm::DenseSet<Type> stateTypes(const Mutable &program) {
  llvm::DenseSet<Type> types;
  for (func::FuncOp func : program.functions())
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (isState(func, i))
        types.insert(func.getArgumentTypes()[i]);
  return types;
}

/// A sum over devices of a value that is a part of a parameter's gradient or
/// all of it: of the type of a state.
static Operation *pickReduction(const Mutable &program, bool keepsType) {
  llvm::DenseSet<Type> states = stateTypes(program);
  return program.pickOp([&](Operation *op) {
    auto kind = op->getAttrOfType<ReduceKindAttr>("kind");
    return isa<AllReduceOp, ReduceScatterOp>(op) &&
           (!keepsType || isa<AllReduceOp>(op)) && kind &&
           kind.getValue() == ReduceKind::Sum &&
           states.contains(op->getResult(0).getType());
  });
}

/// Devices keep gradients of their own.
std::optional<Mutation> dropGradientSum(const Mutable &program) {
  Operation *op = pickReduction(program, /*keepsType=*/true);
  if (!op)
    return std::nullopt;
  Mutation mutation = mutationOf(op, "of a gradient dropped");
  op->getResult(0).replaceAllUsesWith(op->getOperand(0));
  op->erase();
  return mutation;
}

/// Readers of a value read what is made of it instead.
static void insertAfter(Operation *op,
                        llvm::function_ref<Value(TensorBuilder &)> make) {
  Value old = op->getResult(0);
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  TensorBuilder b(builder, op->getLoc());
  auto readers = llvm::to_vector(op->getUsers());
  Value made = make(b);
  old.replaceUsesWithIf(made, [&](OpOperand &use) {
    return llvm::is_contained(readers, use.getOwner());
  });
}

/// It is counted twice, as where two layers of a system reduce it.
std::optional<Mutation> doubleGradientSum(const Mutable &program) {
  Operation *op = pickReduction(program, /*keepsType=*/true);
  if (!op)
    return std::nullopt;
  Mutation mutation = mutationOf(op, "of a gradient doubled");
  insertAfter(op, [&](TensorBuilder &b) {
    Operation *second = b.builder.clone(*op);
    second->setOperand(0, op->getResult(0));
    return second->getResult(0);
  });
  return mutation;
}

/// A mean where the gradients are means already.
std::optional<Mutation> averageGradientSum(const Mutable &program) {
  Operation *op = pickReduction(program, /*keepsType=*/false);
  if (!op)
    return std::nullopt;
  Mutation mutation = mutationOf(op, "of a gradient averaged twice");
  insertAfter(op, [&](TensorBuilder &b) {
    double devices = 1;
    for (const MeshAxis &axis : program.mesh.axes())
      devices *= axis.size;
    return b.mul(op->getResult(0), 1 / devices);
  });
  return mutation;
}

/// The norm of all gradients is a sum over a vector: one of its numbers is 0.
std::optional<Mutation> skipInNorm(const Mutable &program) {
  Operation *op = program.pickOp([](Operation *op) {
    auto isNumber = [](Value value) {
      auto type = cast<RankedTensorType>(value.getType());
      return isa<FloatType>(type.getElementType()) &&
             type.getShape() == ArrayRef<int64_t>{1};
    };
    return isa<ConcatOp>(op) && llvm::all_of(op->getOperands(), isNumber);
  });
  if (!op)
    return std::nullopt;
  unsigned skipped = program.random.below(op->getNumOperands());
  OpBuilder builder(op);
  TensorBuilder b(builder, op->getLoc());
  op->setOperand(skipped, b.splatLike(op->getOperand(skipped), 0));
  return mutationOf(op, "of squares without one of them");
}

/// Each device adds something of its own to the next value of a state.
std::optional<Mutation> updateReplicaOtherwise(const Mutable &program) {
  Operation *end = program.pickOp([](Operation *op) {
    return isa<func::ReturnOp>(op) && op->getNumOperands() > 0;
  });
  if (!end)
    return std::nullopt;
  auto func = end->getParentOfType<func::FuncOp>();
  unsigned result = program.random.below(end->getNumOperands());
  auto type = cast<RankedTensorType>(end->getOperand(result).getType());
  if (!isa<FloatType>(type.getElementType()) ||
      !isa_and_nonnull<NextStateAttr>(
          func.getResultAttr(result, AutoparDialect::kResult)))
    return std::nullopt;
  SmallVector<Attribute> axes;
  OpBuilder builder(end);
  for (const MeshAxis &axis : program.mesh.axes())
    axes.push_back(builder.getStringAttr(axis.name));
  ModuleOp module = program.module;
  MeshOp meshOp = *module.getOps<MeshOp>().begin();
  auto mesh = FlatSymbolRefAttr::get(meshOp.getSymNameAttr());
  Value index = BlockOffsetOp::create(
      builder, end->getLoc(), RankedTensorType::get({}, builder.getI64Type()),
      mesh, builder.getArrayAttr(axes), builder.getI64IntegerAttr(1));
  TensorBuilder b(builder, end->getLoc());
  Value own =
      b.broadcast(b.convert(index, type.getElementType()), type.getShape());
  end->setOperand(result, b.add(end->getOperand(result), own));
  return mutationOf(end, "with another state on each device");
}

/// Of a sum of two parts of a gradient one is left out: a block of an
/// accumulation, one use of a tied parameter.
std::optional<Mutation> dropGradientTerm(const Mutable &program) {
  llvm::DenseSet<Type> states = stateTypes(program);
  Operation *op = program.pickOp([&](Operation *op) {
    auto add = dyn_cast<BinaryOp>(op);
    return add && add.getKind() == BinaryKind::Add &&
           states.contains(add.getType()) &&
           llvm::none_of(op->getOperands(), [](Value operand) {
             return isa<BlockArgument>(operand);
           });
  });
  if (!op)
    return std::nullopt;
  Mutation mutation = mutationOf(op, "of a gradient without one of its terms");
  op->getResult(0).replaceAllUsesWith(op->getOperand(program.random.below(2)));
  op->erase();
  return mutation;
}

} // namespace autopar::property
