//===- Recipe.h - How a model is trained ------------------------*- C++ -*-===//
//
// A recipe file, as --train takes it: JSON with the loss, the optimizer, the
// schedule of its learning rate, clipping. One reader turns it into a Recipe,
// which a module has in the attribute `#training.recipe` (RecipeAttr.h).
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRAINING_RECIPE_H
#define AUTOPAR_TRAINING_RECIPE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopar {

/// The numbers that a hyperparameter may be: least <= value < below.
struct NumberRange {
  double least = 0, below = std::numeric_limits<double>::infinity();
  bool isAboveLeast = false; // `least` itself is left out
  bool isInteger = false;
};

/// A hyperparameter of `at_run_time`, or one number of a list of them, such as
/// `lr`, `betas[0]` or `groups[1].weight_decay`. The program begins with
/// `initial`.
struct RunTimeNumber {
  std::string name;
  double initial = 0;
  NumberRange range;
};

/// Returns the name of a number of a hyperparameter that has `count` of them.
std::string elementName(llvm::StringRef name, size_t index, size_t count);
/// Returns the name of a hyperparameter of a group, such as `groups[1].lr`.
std::string groupName(size_t group, llvm::StringRef name);

struct OptimizerRecipe {
  std::string kind;
  /// Every hyperparameter of the kind by its name in torch.optim, with its
  /// default if the recipe does not set it. `betas` has both values; flags are
  /// 0 or 1.
  std::map<std::string, std::vector<double>> values;
  /// The names of the parameters that have weight decay. All have it if there
  /// is no list.
  std::optional<std::vector<std::string>> weightDecayParameters;
  /// The hyperparameters that are set at run time. The keys are those of
  /// elementName; the values are names in Recipe::atRunTime.
  std::map<std::string, std::string> atRunTime;

  double value(llvm::StringRef name, unsigned index = 0) const;
  bool flag(llvm::StringRef name) const { return value(name) != 0; }
};

/// Parameters that have hyperparameters of their own, or are not trained.
struct ParameterGroup {
  /// Names or globs. One after a `!` removes parameters from those selected
  /// before it.
  std::vector<std::string> parameters;
  OptimizerRecipe optimizer; // the recipe's, but for what the group says
  double rateScale = 1;      // of the scheduled learning rate
  bool frozen = false;
};

/// The learning rate of each step. Steps count from 0.
struct ScheduleRecipe {
  std::string kind = "constant";
  int64_t warmupSteps = 0;
  double minimum = 0, gamma = 0.1, power = 1;
  int64_t stepSize = 1;
  std::vector<double> perStep; // not empty: these, after them the last one
};

/// The factor by which the loss is multiplied before its gradients are
/// computed.
struct LossScaleRecipe {
  double initial = 1;
  bool dynamic = false; // changed by what the gradients come to
  bool atRunTime = false;
  bool isOne() const { return initial == 1 && !dynamic && !atRunTime; }
};

/// The evaluation measures how good the model is during training. Steps count
/// from 0.
struct EvaluationRecipe {
  std::vector<std::string> metrics; // names; not empty
  std::string data;                 // where it is; empty: a run says so
  int64_t every = 0;    // steps between evaluations; 0: one, after the last
  std::string best;     // the metric that tells which states are the best
  int64_t patience = 0; // evaluations that are no better end the training; 0:
                        // none do
};

struct Recipe {
  llvm::json::Object given; // the keys of the file, by which it is printed
  std::string loss;
  std::string output; // of the model; empty: the only one
  std::string labels; // the array's name; empty: the loss's default
  OptimizerRecipe optimizer;
  std::vector<ParameterGroup> groups;
  std::optional<double> average; // the decay of an average of the parameters
  ScheduleRecipe schedule;
  std::optional<double> clipGlobalNorm, clipValue;
  std::optional<std::vector<std::string>> trainable; // names of initializers
  std::string precision = "fp32";                    // one of kPrecisions
  LossScaleRecipe lossScale;
  std::optional<double> dropout; // of Dropout nodes; nothing: as each says
  int64_t seed = 0;              // of random numbers
  bool unbiasedVariance = false; // of batch norms' running statistics
  bool padsLastBatch = false;    // of an epoch, with rows that do not count
  int64_t accumulation = 1;      // blocks of a step, one after the other
  /// The loss is the mean over everything that a step counts, rather than the
  /// mean of its blocks' means.
  bool meansOverStep = true;
  /// Devices may add up gradients in the type of the recipe's precision.
  bool narrowGradientSums = false;
  int64_t steps = 0; // for schedules that need the total; 0: not given
  std::vector<RunTimeNumber> atRunTime;
  std::optional<EvaluationRecipe> evaluation;

  /// Returns null if the number is fixed by the recipe.
  const RunTimeNumber *findAtRunTime(llvm::StringRef name) const;
};

/// Parses a recipe. Errors name the key, the problem and the valid
/// alternatives. `file` is used in messages. Keys that describe a reference run
/// are left out.
llvm::Expected<Recipe> recipeFromJSON(const llvm::json::Value &value,
                                      llvm::StringRef file);

} // namespace autopar

#endif // AUTOPAR_TRAINING_RECIPE_H
