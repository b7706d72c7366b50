//===- RecipeEvaluation.cpp - Reads how a training is evaluated -----------===//

#include "Metrics.h"
#include "RecipeReader.h"

using namespace llvm;

namespace autopar {

/// The metrics that are asked for; without any the loss.
Error RecipeReader::readMetrics(const json::Object &in,
                                std::vector<std::string> &metrics) const {
  const json::Value *value = given(in, "metrics");
  if (!value) {
    metrics.push_back("loss");
    return Error::success();
  }
  const json::Array *list = value->getAsArray();
  for (const json::Value &name : list ? *list : json::Array{nullptr}) {
    std::optional<StringRef> text = name.getAsString();
    if (!text)
      return fail("'evaluation': 'metrics' must be a list of names: " +
                  join(metricNames(), ", "));
    if (!findMetric(*text))
      return fail("'evaluation': 'metrics': '" + *text + "' is none of " +
                  join(metricNames(), ", ") + didYouMean(*text, metricNames()));
    if (is_contained(metrics, text->str()))
      return fail("'evaluation': 'metrics': '" + *text + "' is there twice");
    metrics.push_back(text->str());
  }
  return metrics.empty() ? fail("'evaluation': 'metrics' is empty; leave it "
                                "out for the loss")
                         : Error::success();
}

Error RecipeReader::readEvaluation() {
  std::string last = "drop";
  if (Error error = readChoice("last_batch", {"drop", "pad"}, last))
    return error;
  recipe.padsLastBatch = last == "pad";
  const json::Value *value = given(object, "evaluation");
  if (!value)
    return Error::success();
  const json::Object *in = value->getAsObject();
  if (!in)
    return fail(R"('evaluation' must be an object, as {"every": 100, )"
                R"("metrics": ["loss", "accuracy"]})");
  constexpr StringRef known[] = {"data", "every", "metrics", "best",
                                 "patience"};
  if (std::string unknown = unknownKey(*in, known); !unknown.empty())
    return fail("'evaluation': " + unknown);
  EvaluationRecipe &to = recipe.evaluation.emplace();
  if (Error error = readMetrics(*in, to.metrics))
    return error;
  for (auto [key, number] :
       {std::pair("every", &to.every), {"patience", &to.patience}})
    if (Error error = readCount(*in, key, 1, *number))
      return error;
  if (to.patience > 0 && to.every == 0)
    return fail("'evaluation': 'patience' counts evaluations while the model "
                "trains: add 'every', the steps between them");
  to.best = to.metrics.front();
  for (auto [key, text] : {std::pair("data", &to.data), {"best", &to.best}})
    if (const json::Value *word = given(*in, key)) {
      *text = word->getAsString().value_or("").str();
      if (text->empty())
        return fail("'evaluation': '" + Twine(key) + "' must be a name");
    }
  if (!is_contained(to.metrics, to.best))
    return fail("'evaluation': 'best' is '" + to.best +
                "', which 'metrics' has not: " + join(to.metrics, ", "));
  return Error::success();
}

} // namespace autopar
