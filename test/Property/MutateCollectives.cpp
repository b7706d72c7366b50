//===- MutateCollectives.cpp - Breaks collectives and position ops --------===//

#include "Mutation.h"

using namespace mlir;

namespace autopar::property {

static bool keepsType(Operation *op) {
  return moves(op) && op->getOperand(0).getType() == op->getResult(0).getType();
}

/// An op that moves a value and has this attribute.
static Operation *pickWith(const Mutable &program, StringRef name) {
  return program.pickOp(
      [&](Operation *op) { return moves(op) && op->hasAttr(name); });
}

/// Users read the operand.
std::optional<Mutation> dropCollective(const Mutable &program) {
  Operation *op = program.pickOp(keepsType);
  if (!op)
    return std::nullopt;
  Mutation mutation = mutationOf(op, "dropped");
  op->getResult(0).replaceAllUsesWith(op->getOperand(0));
  op->erase();
  return mutation;
}

/// Users read the result of a second one.
std::optional<Mutation> doubleCollective(const Mutable &program) {
  Operation *op = program.pickOp(keepsType);
  if (!op)
    return std::nullopt;
  Mutation mutation = mutationOf(op, "doubled");
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Operation *second = builder.clone(*op);
  op->getResult(0).replaceAllUsesWith(second->getResult(0));
  second->setOperand(0, op->getResult(0));
  return mutation;
}

/// Any list of the mesh's axes.
static ArrayAttr randomAxes(const Mutable &program) {
  SmallVector<unsigned> subAxes;
  for (unsigned subAxis = 0; subAxis < program.mesh.subAxes().size(); ++subAxis)
    if (program.random.chance(60))
      subAxes.push_back(subAxis);
  program.random.shuffle(subAxes);
  Builder builder(program.module->getContext());
  SmallVector<Attribute> names;
  for (const std::string &name : program.mesh.spell(subAxes))
    names.push_back(builder.getStringAttr(name));
  return builder.getArrayAttr(names);
}

std::optional<Mutation> changeAxes(const Mutable &program) {
  Operation *op = program.pickOp(moves);
  ArrayAttr axes = randomAxes(program);
  if (!op || axes == op->getAttr("axes"))
    return std::nullopt;
  op->setAttr("axes", axes);
  return mutationOf(op, "with other axes");
}

std::optional<Mutation> changeReduction(const Mutable &program) {
  Operation *op = pickWith(program, "kind");
  auto other = *symbolizeReduceKind(program.random.below(4));
  if (!op || other == op->getAttrOfType<ReduceKindAttr>("kind").getValue())
    return std::nullopt;
  op->setAttr("kind", ReduceKindAttr::get(op->getContext(), other));
  return mutationOf(op, "of another reduction");
}

std::optional<Mutation> changeDimension(const Mutable &program) {
  static const StringRef names[] = {"dim", "dim", "split_dim", "concat_dim"};
  StringRef name = program.random.pick(ArrayRef<StringRef>(names));
  Operation *op = pickWith(program, name);
  if (!op)
    return std::nullopt;
  int64_t rank = cast<ShapedType>(op->getResult(0).getType()).getRank();
  auto dim = op->getAttrOfType<IntegerAttr>(name);
  int64_t other = program.random.below(rank);
  if (other == dim.getInt())
    return std::nullopt;
  op->setAttr(name, IntegerAttr::get(dim.getType(), other));
  return mutationOf(op, "along another " + name);
}

std::optional<Mutation> changeOffset(const Mutable &program) {
  static const StringRef names[] = {"offset", "step", "size"};
  StringRef name = program.random.pick(ArrayRef<StringRef>(names));
  Operation *op = pickWith(program, name);
  if (!op)
    return std::nullopt;
  auto number = op->getAttrOfType<IntegerAttr>(name);
  int64_t other = number.getInt() + (program.random.chance(50) ? 1 : -1);
  op->setAttr(name, IntegerAttr::get(number.getType(), other));
  return mutationOf(op, "with another " + name);
}

std::optional<Mutation> changeFill(const Mutable &program) {
  StringRef name = program.random.chance(50) ? "fill" : "value";
  Operation *op = pickWith(program, name);
  if (!op)
    return std::nullopt;
  auto value = op->getAttrOfType<FloatAttr>(name);
  static const double others[] = {3.5, 0, 1, -1e30};
  double other = program.random.pick(ArrayRef<double>(others));
  if (other == value.getValueAsDouble())
    return std::nullopt;
  op->setAttr(name, FloatAttr::get(value.getType(), other));
  return mutationOf(op, "with another " + name);
}

/// Another op with the same types and axes; null if there is none.
static Operation *createOther(Operation *op, Random &random) {
  OpBuilder builder(op);
  Value input = op->getOperand(0);
  Type type = op->getResult(0).getType();
  auto mesh = op->getAttrOfType<FlatSymbolRefAttr>("mesh");
  auto axes = op->getAttrOfType<ArrayAttr>("axes");
  auto kind = ReduceKindAttr::get(
      op->getContext(), random.chance(70) ? ReduceKind::Sum : ReduceKind::Max);
  auto number = [&](StringRef name) {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    return attr ? attr : builder.getI64IntegerAttr(0);
  };
  auto create = [&](auto *tag, auto... attributes) -> Operation * {
    using OpTy = std::remove_pointer_t<decltype(tag)>;
    OperationState state(op->getLoc(), OpTy::getOperationName(), input, type);
    state.addAttribute("mesh", mesh);
    state.addAttribute("axes", axes);
    (state.addAttribute(attributes.first, attributes.second), ...);
    return builder.create(state);
  };
  using Named = std::pair<StringRef, Attribute>;
  Named ofKind{"kind", kind}, along{"dim", number("dim")};
  if (isa<SliceBlockOp>(op))
    return create((ReduceScatterOp *)nullptr, along, ofKind);
  if (isa<ReduceScatterOp>(op))
    return create((SliceBlockOp *)nullptr, along);
  if (isa<AllGatherOp>(op)) {
    auto shape = cast<ShapedType>(type).getShape();
    int64_t dim = along.second ? number("dim").getInt() : 0;
    int64_t block = cast<ShapedType>(input.getType()).getDimSize(dim);
    return create(
        (HaloOp *)nullptr, along,
        Named{"size", builder.getI64IntegerAttr(shape[dim])},
        Named{"step", builder.getI64IntegerAttr(random.chance(50) ? block : 0)},
        Named{"offset", builder.getI64IntegerAttr(0)},
        Named{"fill", builder.getF64FloatAttr(0)});
  }
  if (input.getType() != type)
    return nullptr;
  if (isa<AllReduceOp>(op))
    return create((KeepFirstOp *)nullptr, ofKind);
  return create((AllReduceOp *)nullptr, ofKind);
}

std::optional<Mutation> replaceCollective(const Mutable &program) {
  Operation *op = program.pickOp(moves);
  Operation *other = op ? createOther(op, program.random) : nullptr;
  if (!other)
    return std::nullopt;
  Mutation mutation =
      mutationOf(op, "replaced by " + other->getName().getStringRef());
  op->getResult(0).replaceAllUsesWith(other->getResult(0));
  op->erase();
  return mutation;
}

std::optional<Mutation> changeBlockOffset(const Mutable &program) {
  Operation *op =
      program.pickOp([](Operation *op) { return isa<BlockOffsetOp>(op); });
  if (!op)
    return std::nullopt;
  ArrayAttr axes = randomAxes(program);
  auto block = op->getAttrOfType<IntegerAttr>("block");
  if (program.random.chance(50))
    op->setAttr("block", IntegerAttr::get(block.getType(),
                                          block.getInt() +
                                              program.random.between(1, 2)));
  else if (axes != op->getAttr("axes"))
    op->setAttr("axes", axes);
  else
    return std::nullopt;
  return mutationOf(op, "changed");
}

} // namespace autopar::property
