//===- Derivatives.cpp - Gradients against finite differences -------------===//

#include "Derivatives.h"
#include "Comparison.h"
#include "GraphBuilder.h"
#include "autopar/Dialect/TensorBuilder.h"
#include "autopar/Training/Passes.h"
#include "autopar/Training/RecipeAttr.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace autopar::interpreter;
namespace json = llvm::json;

namespace autopar::property {

//===----------------------------------------------------------------------===//
// A loss
//===----------------------------------------------------------------------===//

static bool isFloat(Value value) {
  return isa<FloatType>(
      cast<RankedTensorType>(value.getType()).getElementType());
}

/// Whether rows that no index means are infinite: what bounds them is a result
/// too.
static bool isUnbounded(Value value) {
  auto scatter = value.getDefiningOp<ScatterOp>();
  return scatter && scatter.getKind() != ReduceKind::Sum;
}

/// The sum of all float results, each element times a weight of its own that
/// the random input `loss/<number>` gives; null if there is none.
static Value addLoss(func::FuncOp step) {
  Operation *end = step.front().getTerminator();
  OpBuilder builder(end);
  TensorBuilder b(builder, NameLoc::get(builder.getStringAttr("loss")));
  Value loss;
  for (auto [index, result] : llvm::enumerate(end->getOperands())) {
    if (!isFloat(result) || isUnbounded(result))
      continue;
    std::string name = "loss/" + std::to_string(index);
    auto source =
        InputAttr::get(builder.getContext(), builder.getStringAttr(name));
    unsigned number = step.getNumArguments();
    auto attributes = builder.getDictionaryAttr(
        builder.getNamedAttr(AutoparDialect::kSource, source));
    if (failed(
            step.insertArgument(number, result.getType(), attributes, b.loc)))
      return {};
    Value term = b.sum(b.mul(result, step.getArgument(number)));
    loss = loss ? b.add(loss, term) : term;
  }
  return loss;
}

static void addResult(func::FuncOp step, Value value, Attribute what) {
  unsigned number = step.getNumResults();
  Builder builder(step.getContext());
  step.front().getTerminator()->insertOperands(number, value);
  (void)step.insertResult(number, value.getType(),
                          builder.getDictionaryAttr(builder.getNamedAttr(
                              AutoparDialect::kResult, what)));
}

/// The names of all float parameters.
static json::Array trainable(func::FuncOp step) {
  json::Array names;
  for (BlockArgument argument : step.getArguments())
    if (auto parameter = step.getArgAttrOfType<ParameterAttr>(
            argument.getArgNumber(), AutoparDialect::kSource))
      if (isFloat(argument))
        names.push_back(parameter.getName().str());
  return names;
}

void nameGradients(ModuleOp module) {
  auto step = module.lookupSymbol<func::FuncOp>("step");
  MLIRContext *context = module.getContext();
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (auto gradient =
            step.getResultAttrOfType<GradientAttr>(i, AutoparDialect::kResult))
      step.setResultAttr(
          i, AutoparDialect::kResult,
          OutputAttr::get(
              context,
              StringAttr::get(context,
                              "gradient/" + gradient.getName().getValue())));
}

/// Parameters without a gradient became states that stay: random plans are of
/// graphs without states.
static void keepAsParameters(ModuleOp module) {
  auto step = module.lookupSymbol<func::FuncOp>("step");
  llvm::BitVector kept(step.getNumResults());
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (step.getResultAttrOfType<NextStateAttr>(i, AutoparDialect::kResult))
      kept.set(i);
  Operation *end = step.front().getTerminator();
  end->eraseOperands(kept);
  (void)step.eraseResults(kept);
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (auto state =
            step.getArgAttrOfType<StateAttr>(i, AutoparDialect::kSource))
      step.setArgAttr(i, AutoparDialect::kSource, state.getInitial());
}

bool differentiateGraph(ModuleOp module) {
  OwningOpRef<ModuleOp> trained = module.clone();
  auto step = trained->lookupSymbol<func::FuncOp>("step");
  json::Array names = trainable(step);
  Value loss = addLoss(step);
  if (names.empty() || !loss)
    return false;
  MLIRContext *context = module.getContext();
  addResult(step, loss, OutputAttr::get(context, OutputRole::Loss));
  Recipe recipe = llvm::cantFail(
      recipeFromJSON(json::Object{{"loss", "mse_mean"},
                                  {"optimizer", json::Object{{"kind", "sgd"}}},
                                  {"trainable", std::move(names)}},
                     "of the test"));
  (*trained)->setAttr(AutoparDialect::kRecipe,
                      RecipeAttr::get(context, recipe));
  PassManager manager(context);
  manager.addPass(createDifferentiate());
  Diagnostics diagnostics(context);
  if (failed(manager.run(*trained)))
    return false;
  nameGradients(*trained);
  keepAsParameters(*trained);
  module.getBodyRegion().takeBody(trained->getBodyRegion());
  return true;
}

//===----------------------------------------------------------------------===//
// Finite differences
//===----------------------------------------------------------------------===//

namespace {

/// One op and the gradients by its parameters.
class GradientTest {
public:
  GradientTest(ModuleOp module, Random &random)
      : module(module), random(random), point(random.below(1 << 30)) {}
  /// What is wrong, or "".
  std::string run();

private:
  Tensor valueOf(StringRef name, RankedTensorType type) const;
  double lossAt(double distance);
  std::string compareAlong(StringRef name, const Tensor &gradient);

  ModuleOp module;
  Random &random;
  int64_t point;     // number of the place at which it is differentiated
  std::string moved; // parameter
  std::vector<double> direction; // of it
  double distance = 0;
};

} // namespace

/// Another place has other values.
Tensor GradientTest::valueOf(StringRef name, RankedTensorType type) const {
  bool isIndex = isa<IntegerType>(type.getElementType());
  Tensor value = randomValue(
      isIndex ? name.str() : (name + "@" + Twine(point)).str(), type);
  if (name == moved)
    for (int64_t i = 0; i < value.size(); ++i)
      value.set(i, value.getDouble(i) + distance * direction[i]);
  return value;
}

double GradientTest::lossAt(double at) {
  distance = at;
  auto results = runModule(module, [&](StringRef name, RankedTensorType type) {
    return valueOf(name, type);
  });
  if (failed(results))
    return NAN;
  for (const NamedTensor &result : *results)
    if (result.name == "loss")
      return result.value.getDouble(0);
  return NAN;
}

/// Against the central difference.
std::string GradientTest::compareAlong(StringRef name, const Tensor &gradient) {
  moved = name.str();
  direction.clear();
  double slope = 0, scale = 0;
  for (int64_t i = 0; i < gradient.size(); ++i) {
    direction.push_back(random.between(-1000, 1000) / 1000.0);
    slope += gradient.getDouble(i) * direction[i];
    scale += std::abs(gradient.getDouble(i) * direction[i]);
  }
  constexpr double h = 1e-5;
  double difference = (lossAt(h) - lossAt(-h)) / (2 * h);
  moved.clear();
  if (std::abs(difference - slope) <= 1e-5 * (1 + scale))
    return "";
  return "the slope along " + name.str() + " is " + std::to_string(slope) +
         ", but the finite difference " + std::to_string(difference);
}

std::string GradientTest::run() {
  moved.clear();
  auto results = runModule(module, [&](StringRef name, RankedTensorType type) {
    return valueOf(name, type);
  });
  if (failed(results))
    return "it does not run";
  for (const NamedTensor &result : *results) {
    StringRef name = result.name;
    if (!name.consume_front("gradient/"))
      continue;
    if (std::string wrong = compareAlong(name, result.value); !wrong.empty())
      return wrong;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Every op
//===----------------------------------------------------------------------===//

using Maker = Value (*)(GraphBuilder &);

/// One op on parameters, as a program of its own; null if the values do not
/// suit it.
static OwningOpRef<ModuleOp> makeOne(MLIRContext &context, Random &random,
                                     Maker maker) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  GraphBuilder graph(*module, "step", random, Float64Type::get(&context),
                     /*onlyParameters=*/true);
  // Values of the kinds that makers pick from.
  for (Type type : {Type(graph.floatType()), graph.indexType(),
                    Type(graph.builder.getI1Type())})
    graph.newArgument(graph.type(graph.randomShape(1, 3), type));
  Value made = maker(graph);
  if (!made)
    return {};
  graph.keep(made);
  graph.finish();
  return module;
}

/// Kinks are rare: at one of three places there is none.
static std::string check(ModuleOp module, Random &random) {
  std::string wrong;
  for (int place = 0; place < 3; ++place)
    if (wrong = GradientTest(module, random).run(); wrong.empty())
      return "";
  return wrong;
}

DerivativeCounts testDerivatives(MLIRContext &context, uint64_t seed) {
  static const std::pair<StringLiteral, Maker> makers[] = {
      {"unary", makeUnary},         {"safe unary", makeSafeUnary},
      {"binary", makeBinary},       {"quotient", makeQuotient},
      {"select", makeSelect},       {"broadcast", makeBroadcast},
      {"reshape", makeReshape},     {"transpose", makeTranspose},
      {"slice", makeSlice},         {"pad", makePad},
      {"concat", makeConcat},       {"einsum", makeEinsum},
      {"reduce", makeReduce},       {"scan", makeScan},
      {"softmax", makeSoftmax},     {"normalize", makeNormalize},
      {"movements", makeMovements}, {"gather", makeGather},
      {"scatter", makeScatter},     {"convolution", makeConvolution},
      {"pool", makePool},           {"gather elements", makeGatherElements},
      {"gather nd", makeGatherNd}};
  DerivativeCounts counts;
  for (const auto &[name, maker] : makers) {
    Random random(seed + counts.ops++);
    int64_t tested = 0;
    for (int64_t tries = 0; tested < 20 && tries < 2000; ++tries) {
      OwningOpRef<ModuleOp> module = makeOne(context, random, maker);
      if (!module || !differentiateGraph(*module))
        continue;
      ++tested;
      std::string wrong = check(*module, random);
      ++(wrong.empty() ? counts.passed : counts.failed);
      if (!wrong.empty())
        llvm::outs() << name << ": " << wrong << "\n" << *module << "\n";
    }
    if (tested < 20) {
      llvm::outs() << name << ": only " << tested << " have a derivative\n";
      ++counts.failed;
    }
  }
  return counts;
}

} // namespace autopar::property
