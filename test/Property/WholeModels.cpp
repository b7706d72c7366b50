//===- WholeModels.cpp - Derivatives of whole losses ----------------------===//

#include "Comparison.h"
#include "Derivatives.h"
#include "autopar/Training/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace autopar::interpreter;

namespace autopar::property {

/// Everything of f32 becomes f64: differences of a loss need the digits.
static void widen(ModuleOp module) {
  auto wide = Float64Type::get(module.getContext());
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](Float32Type) -> Type { return wide; });
  replacer.addReplacement(
      [&](DenseElementsAttr values) -> std::optional<Attribute> {
        if (!values.getElementType().isF32())
          return std::nullopt;
        return values.mapValues(wide, [](const APFloat &value) {
          return APFloat(value.convertToDouble()).bitcastToAPInt();
        });
      });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

/// @step returns the loss and its gradients; null if that fails.
static OwningOpRef<ModuleOp> differentiate(MLIRContext &context,
                                           StringRef file) {
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
  if (!module)
    return {};
  widen(*module);
  PassManager manager(&context);
  manager.addPass(createAddLoss());
  manager.addPass(createDifferentiate());
  manager.addPass(createAccumulateGradients());
  if (failed(verify(*module)) || failed(manager.run(*module)) ||
      !module->lookupSymbol<func::FuncOp>("step"))
    return {};
  nameGradients(*module);
  return module;
}

namespace {

/// A loss at weights of small random numbers, moved along random numbers.
class LossAlong {
public:
  LossAlong(ModuleOp module, uint64_t seed) : module(module), seed(seed) {}
  /// What is wrong, or "".
  std::string compare();

private:
  FailureOr<std::vector<NamedTensor>> run(double distance) const;
  double lossAt(double distance) const;
  double difference(StringRef parameter);
  bool agree(StringRef parameter, double slope, double size);
  Tensor direction(StringRef name, RankedTensorType type) const {
    return randomTensor(type, name, seed + 1);
  }

  ModuleOp module;
  uint64_t seed;
  llvm::StringSet<> trained; // names of parameters
  std::string moved;         // the only one that moves; empty: all
};

} // namespace

FailureOr<std::vector<NamedTensor>> LossAlong::run(double distance) const {
  constexpr double kSmall = 0.3;
  return runModule(module, [&](StringRef name, RankedTensorType type) {
    Tensor value = randomTensor(type, name, seed);
    // Of a row that a mask of zeros hides, scores vanish in what is added.
    for (int64_t i = 0; i < value.size() && !value.isFloat(); ++i)
      value.setInt(i, std::max<int64_t>(value.getInt(i), 1));
    if (!trained.contains(name))
      return value;
    Tensor along = direction(name, type);
    for (int64_t i = 0; i < value.size(); ++i)
      value.set(i, kSmall * value.getDouble(i) +
                       (moved.empty() || moved == name ? distance : 0) *
                           along.getDouble(i));
    return value;
  });
}

double LossAlong::lossAt(double distance) const {
  auto results = run(distance);
  if (succeeded(results))
    for (const NamedTensor &result : *results)
      if (result.name == "loss")
        return result.value.getDouble(0);
  return NAN;
}

/// Of all parameters, or of one.
double LossAlong::difference(StringRef parameter) {
  constexpr double h = 1e-6;
  moved = parameter.str();
  return (lossAt(h) - lossAt(-h)) / (2 * h);
}

/// `size` is the gradient's, which the slope along something random is like.
bool LossAlong::agree(StringRef parameter, double slope, double size) {
  double found = difference(parameter);
  double error = std::abs(found - slope) / (size + 1e-6);
  bool equal = error < 1e-6;
  if (parameter.empty() || !equal)
    llvm::outs() << llvm::formatv(
        "  {0}: slope {1:f8}, difference {2:f8}, relative error {3:e2}\n",
        parameter.empty() ? "all parameters" : parameter, slope, found, error);
  return equal;
}

std::string LossAlong::compare() {
  auto step = module.lookupSymbol<func::FuncOp>("step");
  StringRef prefix = "gradient/";
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (auto output =
            step.getResultAttrOfType<OutputAttr>(i, AutoparDialect::kResult))
      if (output.getName().getValue().starts_with(prefix))
        trained.insert(output.getName().getValue().drop_front(prefix.size()));
  auto results = run(0);
  if (failed(results) || trained.empty())
    return "it does not run";
  double slope = 0, squares = 0;
  std::map<std::string, std::pair<double, double>> parts;
  for (const NamedTensor &result : *results) {
    StringRef name = result.name;
    if (!name.consume_front(prefix))
      continue;
    auto &[part, size] = parts[name.str()];
    Tensor along = direction(name, result.value.type);
    for (int64_t i = 0; i < along.size(); ++i) {
      part += result.value.getDouble(i) * along.getDouble(i);
      size += std::pow(result.value.getDouble(i), 2);
    }
    slope += part;
    squares += size;
  }
  if (agree("", slope, std::sqrt(squares)))
    return "";
  for (const auto &[name, part] : parts)
    (void)agree(name, part.first, std::sqrt(part.second));
  return "the slope is not the finite difference";
}

DerivativeCounts testWholeModels(MLIRContext &context, uint64_t seed,
                                 ArrayRef<std::string> files) {
  DerivativeCounts counts;
  for (const std::string &file : files) {
    llvm::outs() << file << "\n";
    ++counts.ops;
    OwningOpRef<ModuleOp> module = differentiate(context, file);
    std::string wrong = !module ? "no gradients" : "";
    // A kink between two places is rare: a second place has none.
    for (int place = 0; place < 2 && module; ++place)
      if (wrong = LossAlong(*module, seed + 10 * place).compare();
          wrong.empty())
        break;
    ++(wrong.empty() ? counts.passed : counts.failed);
    if (!wrong.empty())
      llvm::outs() << file << ": " << wrong << "\n";
  }
  return counts;
}

} // namespace autopar::property
