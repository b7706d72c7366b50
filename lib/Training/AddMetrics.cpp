//===- AddMetrics.cpp - @step of an evaluation returns its metrics --------===//

#include "LossInputs.h"
#include "Metrics.h"
#include "RowIndependence.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "autopar/Training/Passes.h"

namespace autopar {
#define GEN_PASS_DEF_ADDMETRICS
#include "autopar/Training/Passes.h.inc"
} // namespace autopar

using namespace mlir;
namespace json = llvm::json;

namespace autopar {
namespace {

class MetricsBuilder {
public:
  MetricsBuilder(const Recipe &recipe, func::FuncOp function)
      : evaluation(*recipe.evaluation), step(function), inputs(recipe, step),
        module(function->getParentOfType<ModuleOp>()) {}
  LogicalResult run();

private:
  void countRows();
  FailureOr<json::Value> add(TensorBuilder &b, StringRef name);
  std::string addOutput(StringRef metric, size_t number, Value value);

  const EvaluationRecipe &evaluation;
  StepFunction step;
  LossInputs inputs;
  ModuleOp module;
};

} // namespace

/// Rows that pad a batch would change the others of a model in which rows meet:
/// only whole batches of it are evaluated.
void MetricsBuilder::countRows() {
  Operation *meeting = findMeetingRows(step, inputs.output);
  if (!meeting)
    return inputs.addCountedRows();
  meeting->emitWarning()
      << "the evaluation leaves out the last rows of its data that fill no "
         "batch: results of a row depend on other rows here";
}

/// Returns the output's name, which no other output has.
std::string MetricsBuilder::addOutput(StringRef metric, size_t number,
                                      Value value) {
  std::string name = ("metric/" + metric + "/" + Twine(number)).str();
  auto isTaken = [&](const StepFunction::Result &result) {
    auto output = dyn_cast_or_null<OutputAttr>(result.what);
    return output && output.getName() == name;
  };
  while (llvm::any_of(step.results, isTaken))
    name += "'";
  MLIRContext *context = module.getContext();
  step.results.push_back(
      {value, OutputAttr::get(context, StringAttr::get(context, name),
                              OutputRole::Metric)});
  return name;
}

/// Returns the manifest's entry of the metric.
FailureOr<json::Value> MetricsBuilder::add(TensorBuilder &b, StringRef name) {
  Metric metric = *findMetric(name);
  if (const char *why = metric.row->refuses(inputs, metric.k))
    return module.emitError() << "recipe: 'evaluation': the metric '" << name
                              << "' does not go with the loss "
                              << inputs.recipe.loss << ": " << why;
  json::Array outputs;
  for (auto [number, value] :
       llvm::enumerate(metric.row->build(b, inputs, metric.k)))
    outputs.push_back(addOutput(name, number, value));
  return json::Value(
      json::Object{{"name", name},
                   {"kind", metric.row->kind},
                   {"higher_is_better", metric.row->isHigherBetter},
                   {"outputs", std::move(outputs)}});
}

LogicalResult MetricsBuilder::run() {
  if (failed(inputs.find()))
    return failure();
  countRows();
  OpBuilder builder = step.builder();
  TensorBuilder b(builder, NameLoc::get(builder.getStringAttr("metrics")));
  inputs.widen(b);
  inputs.align(b);
  json::Array list;
  for (StringRef name : evaluation.metrics) {
    FailureOr<json::Value> metric = add(b, name);
    if (failed(metric))
      return failure();
    list.push_back(std::move(*metric));
  }
  json::Object described{{"metrics", std::move(list)},
                         {"best", evaluation.best}};
  if (evaluation.every > 0)
    described["every"] = evaluation.every;
  if (evaluation.patience > 0)
    described["patience"] = evaluation.patience;
  if (!evaluation.data.empty())
    described["data"] = evaluation.data;
  module->setAttr(AutoparDialect::kMetrics,
                  attributeFromJSON(module.getContext(), std::move(described)));
  step.finish();
  return success();
}

namespace {
struct AddMetrics : impl::AddMetricsBase<AddMetrics> {
  void runOnOperation() final {
    ModuleOp module = getOperation();
    auto function = module.lookupSymbol<func::FuncOp>("step");
    FailureOr<RecipeAttr> given =
        findRecipe(module, AutoparDialect::kEvaluation);
    if (failed(given))
      return signalPassFailure();
    if (!*given || !function)
      return;
    const Recipe &recipe = given->getRecipe();
    if (recipe.evaluation && failed(MetricsBuilder(recipe, function).run()))
      signalPassFailure();
  }
};
} // namespace

} // namespace autopar
