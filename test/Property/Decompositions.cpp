//===- Decompositions.cpp - Composites split along what they reduce -------===//

#include "Decompositions.h"
#include "Comparison.h"
#include "autopar/Dialect/Interpreter/Validate.h"
#include "autopar/Partition/Passes.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>

using namespace mlir;
using namespace autopar::interpreter;

namespace autopar::property {

//===----------------------------------------------------------------------===//
// Composites
//===----------------------------------------------------------------------===//

namespace {
/// A composite on its operand, and the dimensions that it reduces.
struct Composite {
  std::function<Operation *(OpBuilder &, Value)> create;
  SmallVector<int64_t> dims;
};
} // namespace

static std::vector<Composite> softmaxes(int64_t rank) {
  std::vector<Composite> list;
  for (int64_t dim = 0; dim < rank; ++dim)
    for (bool log : {false, true})
      list.push_back({[=](OpBuilder &builder, Value x) -> Operation * {
                        return SoftmaxOp::create(builder, x.getLoc(),
                                                 x.getType(), x, dim, log);
                      },
                      {dim}});
  return list;
}

static std::vector<Composite> norms(int64_t rank) {
  std::vector<Composite> list;
  for (int64_t set = 1; set < (int64_t(1) << rank); ++set)
    for (NormKind kind : {NormKind::Layer, NormKind::Rms}) {
      SmallVector<int64_t> dims;
      for (int64_t dim = 0; dim < rank; ++dim)
        if (set >> dim & 1)
          dims.push_back(dim);
      list.push_back({[=](OpBuilder &builder, Value x) -> Operation * {
                        return NormalizeOp::create(builder, x.getLoc(),
                                                   x.getType(), kind, x, dims,
                                                   llvm::APFloat(0.01));
                      },
                      dims});
    }
  return list;
}

/// One step of one composite.
static OwningOpRef<ModuleOp> makeProgram(RankedTensorType type,
                                         const Composite &composite) {
  MLIRContext *context = type.getContext();
  Location loc = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder(module->getBodyRegion());
  auto func = func::FuncOp::create(builder, loc, "step",
                                   builder.getFunctionType(type, type));
  func.setArgAttr(0, AutoparDialect::kSource,
                  InputAttr::get(context, builder.getStringAttr("x")));
  func.setResultAttr(0, AutoparDialect::kResult,
                     OutputAttr::get(context, builder.getStringAttr("y")));
  builder.setInsertionPointToStart(func.addEntryBlock());
  Operation *op = composite.create(builder, func.getArgument(0));
  func::ReturnOp::create(builder, loc, op->getResults());
  return module;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {
enum class Edge {
  None,
  RowOfMinusInf,
  BlockOfMinusInf,
  PlusInf,
  Nan,
  Equal,
  Large
};
} // namespace

static constexpr Edge kEdges[] = {
    Edge::None,    Edge::RowOfMinusInf, Edge::BlockOfMinusInf,
    Edge::PlusInf, Edge::Nan,           Edge::Equal,
    Edge::Large};

/// Random values; on the edge in the first row, or in the first half of all.
static Tensor makeValues(RankedTensorType type, ArrayRef<int64_t> dims,
                         Edge edge) {
  const double inf = std::numeric_limits<double>::infinity();
  Tensor tensor = randomTensor(type, "x", /*seed=*/0);
  forEachIndex(type.getShape(), [&](ArrayRef<int64_t> index, int64_t i) {
    bool firstRow = true, firstOfRow = true, firstHalf = true;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      bool reduced = llvm::is_contained(dims, dim);
      firstRow &= reduced || index[dim] == 0;
      firstOfRow &= !reduced || index[dim] == 0;
      firstHalf &= !reduced || index[dim] < type.getDimSize(dim) / 2;
    }
    switch (edge) {
    case Edge::None:
      return;
    case Edge::RowOfMinusInf:
      return firstRow ? tensor.set(i, -inf) : void();
    case Edge::BlockOfMinusInf:
      return firstHalf ? tensor.set(i, -inf) : void();
    case Edge::PlusInf:
      return firstRow && firstOfRow ? tensor.set(i, inf) : void();
    case Edge::Nan:
      return firstRow && firstOfRow ? tensor.set(i, NAN) : void();
    case Edge::Equal:
      return tensor.set(i, 0.5);
    case Edge::Large:
      return tensor.set(i, tensor.floats[i] * 1000);
    }
  });
  return tensor;
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

/// The plan that splits the composite so and moves nothing else.
static void setPlan(ModuleOp module, const Split &split,
                    const OpShardings &shardings) {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToStart(module.getBody());
  MeshOp::create(builder, module.getLoc(), "mesh",
                 MeshAttr::get(module.getContext(), split.mesh));
  auto symbol = FlatSymbolRefAttr::get(module.getContext(), "mesh");
  auto wants = ShardingAttr::get(symbol, shardings.operands[0], split.mesh);
  auto gives = ShardingAttr::get(symbol, shardings.results[0], split.mesh);
  auto step = module.lookupSymbol<func::FuncOp>("step");
  step.setArgAttr(0, AutoparDialect::kSharding, wants);
  step.setResultAttr(0, AutoparDialect::kSharding, gives);
  Operation &op = step.front().front();
  op.setAttr(AutoparDialect::kStrategy,
             StrategyAttr::get(symbol, split.assignment, split.mesh));
  op.setAttr(AutoparDialect::kShardings, builder.getArrayAttr(gives));
}

static bool splitsReduced(const ShardingRule &rule, const Split &split) {
  return llvm::any_of(split.assignment, [&](const Choice &choice) {
    return choice.kind == Choice::Split &&
           rule.factors[choice.index].kind == FactorKind::Decompose;
  });
}

namespace {
/// One composite of one type.
class DecompositionTest {
public:
  DecompositionTest(RankedTensorType type, const Composite &composite,
                    DecompositionCounts &counts)
      : type(type), composite(composite), counts(counts),
        whole(makeProgram(type, composite)) {}

  /// The composite's name.
  OperationName run();

private:
  void runSplit(const Split &split, const OpShardings &shardings);
  void fail(const Split &split, const Twine &what);

  RankedTensorType type;
  const Composite &composite;
  DecompositionCounts &counts;
  OwningOpRef<ModuleOp> whole;
};
} // namespace

void DecompositionTest::fail(const Split &split, const Twine &what) {
  ++counts.failed;
  auto symbol = FlatSymbolRefAttr::get(type.getContext(), "mesh");
  llvm::outs() << whole->lookupSymbol<func::FuncOp>("step").front().front()
               << " " << StrategyAttr::get(symbol, split.assignment, split.mesh)
               << " on " << MeshAttr::get(type.getContext(), split.mesh) << ": "
               << what << "\n";
}

void DecompositionTest::runSplit(const Split &split,
                                 const OpShardings &shardings) {
  OwningOpRef<ModuleOp> local = whole->clone();
  setPlan(*local, split, shardings);
  Diagnostics diagnostics(type.getContext());
  PassManager manager(type.getContext());
  buildLocalizePipeline(manager);
  if (failed(manager.run(*local)) || !checkerPasses(*local))
    return fail(split, diagnostics.text);
  ++counts.splits;
  // Parts are computed in 32 bits, and rounded to narrower types once.
  unsigned width = type.getElementTypeBitWidth();
  double tolerance = width == 64 ? 1e-9 : width == 32 ? 1e-4 : 3e-2;
  for (Edge edge : kEdges) {
    auto provide = [&](StringRef, RankedTensorType) {
      return makeValues(type, composite.dims, edge);
    };
    auto expected = runModule(*whole, provide);
    auto actual = runModule(*local, provide);
    if (failed(expected) || failed(actual)) {
      fail(split, "does not run: " + diagnostics.text);
      continue;
    }
    auto difference = compareResults(*expected, *actual, tolerance, 1);
    if (difference)
      fail(split, "edge " + Twine(int(edge)) + ": " + *difference);
    else
      ++counts.equal;
  }
}

OperationName DecompositionTest::run() {
  ++counts.composites;
  auto op = cast<ShardingRuleOpInterface>(
      whole->lookupSymbol<func::FuncOp>("step").front().front());
  ShardingRule rule = op.getShardingRule();
  for (const Split &split : allSplits(rule)) {
    auto shardings = shardingsOf(rule, split.assignment, split.mesh);
    if (shardings && splitsReduced(rule, split))
      runSplit(split, *shardings);
  }
  return op->getName();
}

/// No composite of the dialect is left out.
static bool allTested(MLIRContext &context,
                      const llvm::DenseSet<OperationName> &tested) {
  bool all = true;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (!name.hasInterface<DecomposeOpInterface>() || tested.contains(name))
      continue;
    llvm::outs() << "the decomposition of " << name << " is not tested\n";
    all = false;
  }
  return all;
}

DecompositionCounts testDecompositions(MLIRContext &context) {
  DecompositionCounts counts;
  llvm::DenseSet<OperationName> tested;
  Builder builder(&context);
  Type types[] = {builder.getF64Type(), builder.getF32Type(),
                  builder.getF16Type(), builder.getBF16Type()};
  SmallVector<int64_t> shapes[] = {{5}, {3, 8}, {2, 3, 7}};
  for (Type element : types)
    for (ArrayRef<int64_t> shape : shapes) {
      auto type = RankedTensorType::get(shape, element);
      for (auto make : {softmaxes, norms})
        for (const Composite &composite : make(shape.size()))
          tested.insert(DecompositionTest(type, composite, counts).run());
    }
  counts.failed += !allTested(context, tested);
  return counts;
}

} // namespace autopar::property
