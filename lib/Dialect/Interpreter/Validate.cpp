//===- Validate.cpp - Checks sharding rules by running them ---------------===//

#include "autopar/Dialect/Interpreter/Validate.h"
#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace autopar::interpreter {

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

static std::vector<Choice> allChoices(const ShardingRule &rule) {
  std::vector<Choice> choices;
  for (unsigned i = 0; i < rule.factors.size(); ++i)
    choices.push_back({Choice::Split, i});
  for (unsigned i = 0; i < rule.passes.size(); ++i)
    choices.push_back({Choice::Pass, i});
  return choices;
}

std::vector<Split> allSplits(const ShardingRule &rule) {
  std::vector<Split> splits;
  std::vector<Choice> choices = allChoices(rule);
  for (int64_t blocks = 2; blocks <= 5; ++blocks) {
    Mesh mesh(MeshAxis{"x", blocks});
    for (Choice choice : choices)
      splits.push_back({mesh, Assignment(mesh.subAxes().size(), choice)});
  }
  Mesh square({MeshAxis{"x", 2}, MeshAxis{"y", 2}});
  for (Choice first : choices)
    for (Choice second : choices)
      splits.push_back({square, Assignment{first, second}});
  return splits;
}

static bool needsDecompose(const ShardingRule &rule,
                           const Assignment &assignment) {
  return llvm::any_of(assignment, [&](Choice choice) {
    return choice.kind == Choice::Split &&
           rule.factors[choice.index].kind == FactorKind::Decompose;
  });
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Random values; integers also negative, and beyond small dimensions.
static Tensor randomOperand(Value operand, std::string name, uint64_t seed) {
  Tensor tensor =
      randomTensor(cast<RankedTensorType>(operand.getType()), name, seed);
  for (int64_t &value : tensor.ints)
    if (!tensor.element().isInteger(1))
      value = wrapTo(tensor.element(), value * 3 - 8);
  return tensor;
}

static std::vector<Tensor> randomOperands(Operation *op, uint64_t seed) {
  std::vector<Tensor> operands;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    operands.push_back(
        randomOperand(operand, "operand" + std::to_string(i), seed));
  return operands;
}

static SmallVector<const Tensor *> pointersTo(ArrayRef<Tensor> tensors) {
  SmallVector<const Tensor *> pointers;
  for (const Tensor &tensor : tensors)
    pointers.push_back(&tensor);
  return pointers;
}

namespace {
/// An operand as its parts along the axes over which it is partial: one part if
/// there are none.
struct Parts {
  std::vector<Tensor> parts;
  SmallVector<unsigned> subAxes;
  Tensor whole;
};
} // namespace

static Parts makeParts(Value operand, unsigned number, const Sharding &sharding,
                       const Mesh &mesh, uint64_t seed) {
  Parts result;
  for (const Partial &partial : sharding.partial)
    result.subAxes.push_back(partial.subAxis);
  SmallVector<const Tensor *> pointers;
  int64_t count = mesh.product(result.subAxes);
  for (int64_t i = 0; i < count; ++i)
    result.parts.push_back(randomOperand(
        operand, "operand" + std::to_string(number) + "." + std::to_string(i),
        seed));
  for (const Tensor &part : result.parts)
    pointers.push_back(&part);
  result.whole = sharding.partial.empty()
                     ? result.parts.front()
                     : reduceTensors(sharding.partial.front().kind, pointers);
  return result;
}

/// Overwrites what is past the extent of split factors that name a mask.
static void applyMasks(Tensor &block, const TensorFactors &factors,
                       const Sharding &sharding, const ShardingRule &rule,
                       ArrayRef<int64_t> wholeShape, const Mesh &mesh,
                       int64_t point) {
  for (size_t d = 0; d < factors.size(); ++d) {
    if (sharding.dims[d].subAxes.empty() || sharding.dims[d].interval)
      continue;
    std::optional<double> mask;
    for (unsigned factor : factors[d].factors)
      if (rule.factors[factor].mask)
        mask = rule.factors[factor].mask;
    if (!mask)
      continue;
    int64_t start =
        mesh.linearIndex(sharding.dims[d].subAxes, point) * block.dim(d);
    forEachIndex(block.shape(), [&](ArrayRef<int64_t> index, int64_t i) {
      if (start + index[d] >= wholeShape[d])
        block.set(i, *mask);
    });
  }
}

static double fillOf(const TensorFactors &factors) {
  for (const DimFactors &dim : factors)
    if (dim.window)
      return dim.window->fill;
  return 0;
}

static Everywhere cutOperand(const Parts &parts, const TensorFactors &factors,
                             const Sharding &sharding, const ShardingRule &rule,
                             const Mesh &mesh) {
  Everywhere blocks;
  for (int64_t point = 0; point < mesh.pointCount(); ++point) {
    const Tensor &part = parts.parts[mesh.linearIndex(parts.subAxes, point)];
    Tensor block = cutBlock(part, sharding, mesh, point, fillOf(factors));
    applyMasks(block, factors, sharding, rule, part.shape(), mesh, point);
    blocks.push_back(std::make_shared<Tensor>(std::move(block)));
  }
  return blocks;
}

//===----------------------------------------------------------------------===//
// Programs around one op
//===----------------------------------------------------------------------===//

static SmallVector<Type>
localTypes(TypeRange types, ArrayRef<Sharding> shardings, const Mesh &mesh) {
  SmallVector<Type> local;
  for (auto [type, sharding] : llvm::zip_equal(types, shardings)) {
    auto tensor = cast<RankedTensorType>(type);
    local.push_back(
        RankedTensorType::get(localShape(tensor.getShape(), sharding, mesh),
                              tensor.getElementType()));
  }
  return local;
}

namespace {
/// A module with a mesh and one function of these arguments.
struct Scratch {
  OwningOpRef<ModuleOp> module;
  func::FuncOp func;
  OpBuilder builder;

  Scratch(Location loc, TypeRange arguments, TypeRange results,
          const Mesh &mesh)
      : module(ModuleOp::create(loc)), builder(module->getBodyRegion()) {
    MeshOp::create(builder, loc, "mesh", MeshAttr::get(loc.getContext(), mesh));
    func = func::FuncOp::create(builder, loc, "split",
                                builder.getFunctionType(arguments, results));
    builder.setInsertionPointToStart(func.addEntryBlock());
  }
  LogicalResult finish(ValueRange results) {
    func::ReturnOp::create(builder, func.getLoc(), results);
    return verify(*module);
  }
};
} // namespace

static FailureOr<std::vector<Everywhere>>
runLocal(Operation *op, const ShardingRule &rule, const Split &split,
         const OpShardings &shardings, ArrayRef<Everywhere> operands) {
  const Mesh &mesh = split.mesh;
  SmallVector<Type> results =
      localTypes(op->getResultTypes(), shardings.results, mesh);
  Scratch scratch(op->getLoc(),
                  localTypes(op->getOperandTypes(), shardings.operands, mesh),
                  results, mesh);
  Localization localization{rule, split.assignment, mesh,
                            FlatSymbolRefAttr::get(op->getContext(), "mesh")};
  Operation *local = cast<ShardingRuleOpInterface>(op).localize(
      scratch.builder, scratch.func.getArguments(), results, localization);
  if (failed(scratch.finish(local->getResults())))
    return failure();
  return Machine(mesh).run(scratch.func.front(), operands);
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// Sums of other order differ by the rounding of the least precise float type.
static double toleranceOf(Operation *op) {
  double tolerance = 1e-9;
  auto widen = [&](TypeRange types) {
    for (Type type : types)
      if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type)))
        tolerance = std::max(tolerance, element.isF64()   ? 1e-9
                                        : element.isF32() ? 1e-5
                                                          : 3e-2);
  };
  widen(op->getOperandTypes());
  widen(op->getResultTypes());
  return tolerance;
}

static InFlightDiagnostic ruleError(Operation *op, const Split &split) {
  auto symbol = FlatSymbolRefAttr::get(op->getContext(), "mesh");
  return op->emitError() << "sharding rule is wrong for "
                         << StrategyAttr::get(symbol, split.assignment,
                                              split.mesh)
                         << " on "
                         << MeshAttr::get(op->getContext(), split.mesh) << ": ";
}

static LogicalResult compareResult(Operation *op, const Split &split,
                                   const Everywhere &blocks,
                                   const Tensor &expected,
                                   const Sharding &sharding) {
  Assembled assembled =
      assembleBlocks(blocks, expected.type, sharding, split.mesh);
  if (assembled.conflictAt)
    return ruleError(op, split) << "device " << *assembled.conflictAt
                                << " disagrees with one that holds the same";
  auto difference = compare(expected, assembled.whole, toleranceOf(op));
  if (difference)
    return ruleError(op, split)
           << "element " << difference->position << " is "
           << std::to_string(difference->actual) << ", whole it is "
           << std::to_string(difference->expected);
  return success();
}

static LogicalResult validateSplit(Operation *op, const ShardingRule &rule,
                                   const Split &split,
                                   const OpShardings &shardings,
                                   uint64_t seed) {
  std::vector<Parts> parts;
  std::vector<Everywhere> operands;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    parts.push_back(
        makeParts(operand, i, shardings.operands[i], split.mesh, seed));
    operands.push_back(cutOperand(parts.back(), rule.operands[i],
                                  shardings.operands[i], rule, split.mesh));
  }
  SmallVector<const Tensor *> wholes;
  for (const Parts &part : parts)
    wholes.push_back(&part.whole);
  FailureOr<Tensor> expected = evaluate(op, wholes);
  if (failed(expected))
    return failure();
  auto results = runLocal(op, rule, split, shardings, operands);
  if (failed(results))
    return ruleError(op, split) << "the local op does not run";
  return compareResult(op, split, results->front(), *expected,
                       shardings.results.front());
}

//===----------------------------------------------------------------------===//
// Decomposition
//===----------------------------------------------------------------------===//

static LogicalResult validateParts(DecomposeOpInterface op, uint64_t seed,
                                   ValidationCounts &counts) {
  Scratch scratch(op.getLoc(), op->getOperandTypes(), op->getResultTypes(),
                  Mesh());
  Operation *copy = scratch.builder.clone(*op);
  copy->setOperands(scratch.func.getArguments());
  SmallVector<Value> values =
      cast<DecomposeOpInterface>(copy).decompose(scratch.builder);
  copy->erase();
  if (failed(scratch.finish(values)))
    return failure();
  std::vector<Tensor> operands = randomOperands(op, seed);
  SmallVector<const Tensor *> pointers = pointersTo(operands);
  FailureOr<Tensor> expected = evaluate(op, pointers);
  auto actual = interpret(scratch.func, operands);
  if (failed(expected) || failed(actual))
    return failure();
  if (compare(*expected, actual->front(), toleranceOf(op)))
    return op->emitError() << "decomposes into ops that give something else";
  for (Operation &part : scratch.func.front().without_terminator())
    if (failed(validateRule(&part, seed, counts)))
      return failure();
  return success();
}

LogicalResult validateSplits(Operation *op, const ShardingRule &rule,
                             uint64_t seed, ValidationCounts &counts) {
  ++counts.ops;
  for (const Split &split : allSplits(rule)) {
    std::optional<OpShardings> shardings =
        shardingsOf(rule, split.assignment, split.mesh);
    if (!shardings) {
      ++counts.illegal;
      continue;
    }
    if (needsDecompose(rule, split.assignment))
      continue;
    if (failed(validateSplit(op, rule, split, *shardings, seed)))
      return failure();
    ++counts.splits;
  }
  return success();
}

LogicalResult validateRule(Operation *op, uint64_t seed,
                           ValidationCounts &counts) {
  ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  std::vector<Tensor> operands = randomOperands(op, seed);
  if (failed(validateSplits(op, rule, seed, counts)) ||
      failed(validateRole(op, pointersTo(operands))))
    return failure();
  if (auto composite = dyn_cast<DecomposeOpInterface>(op))
    return validateParts(composite, seed, counts);
  return success();
}

} // namespace autopar::interpreter
