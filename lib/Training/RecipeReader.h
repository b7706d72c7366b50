//===- RecipeReader.h - Reads a recipe part by part -------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_RECIPEREADER_H
#define AUTOPAR_LIB_TRAINING_RECIPEREADER_H

#include "autopar/Support/Names.h"
#include "autopar/Support/Text.h"
#include "autopar/Training/Recipe.h"
#include "llvm/ADT/StringExtras.h"

namespace autopar {

struct Hyperparameter;

/// Recipe.cpp has what concerns the whole and its small parts,
/// RecipeOptimizer.cpp the optimizer and its schedule, RecipeGroups.cpp the
/// groups of parameters, RecipeAtRunTime.cpp what of them is set at run time,
/// RecipeEvaluation.cpp how the training is evaluated.
/// Errors name file and key.
class RecipeReader {
public:
  RecipeReader(const llvm::json::Object &object, llvm::StringRef file)
      : object(object), file(file) {}
  llvm::Expected<Recipe> read();
  /// True if a recipe may have the key, outside of its objects.
  static bool isKey(llvm::StringRef key);

private:
  llvm::Error fail(const llvm::Twine &what) const {
    return llvm::createStringError("recipe " + file + ": " + what);
  }
  /// The value of a key that is there and not null.
  static const llvm::json::Value *given(const llvm::json::Object &in,
                                        llvm::StringRef key);
  llvm::Error checkKeys();
  /// The object of the recipe, 'schedule' or 'optimizer', that has such a key;
  /// "": none has.
  static llvm::StringRef ownerOf(llvm::StringRef key);
  llvm::Error readText(llvm::StringRef key, std::string &to) const;
  llvm::Error readChoice(llvm::StringRef key,
                         llvm::ArrayRef<llvm::StringRef> known,
                         std::string &to) const;
  llvm::Error readNames(const llvm::json::Object &in, llvm::StringRef key,
                        std::optional<std::vector<std::string>> &to) const;
  llvm::Error readNumber(const llvm::json::Object &in, llvm::StringRef key,
                         double least, double &to) const;
  llvm::Error readCount(const llvm::json::Object &in, llvm::StringRef key,
                        int64_t least, int64_t &to) const;
  llvm::Error readClip(llvm::StringRef key, std::optional<double> &to) const;
  llvm::Error readLoss();
  llvm::Error readOptimizer();
  llvm::Error readHyperparameter(const llvm::json::Object &in,
                                 const Hyperparameter &what,
                                 const llvm::Twine &where,
                                 std::vector<double> &values) const;
  llvm::Error readHyperparameters(const llvm::json::Object &in,
                                  const llvm::Twine &where,
                                  OptimizerRecipe &to) const;
  llvm::Error checkHyperparameters(const OptimizerRecipe &optimizer,
                                   const llvm::Twine &where) const;
  llvm::Error readGroups();
  llvm::Error readAverage();
  llvm::Error readGroup(const llvm::json::Object &in, const llvm::Twine &where);
  llvm::Error checkGroup(const llvm::json::Object &in,
                         const ParameterGroup &group,
                         const llvm::Twine &where) const;
  llvm::Error readSchedule();
  llvm::Error readRates(const llvm::json::Object &in);
  llvm::Error readPrecision();
  llvm::Error readAccumulation();
  llvm::Error readCommunication();
  llvm::Error readClips();
  llvm::Error readNodes();
  llvm::Error readAtRunTime();
  llvm::Error readEvaluation();
  llvm::Error readMetrics(const llvm::json::Object &in,
                          std::vector<std::string> &metrics) const;
  llvm::Error addAtRunTime(llvm::StringRef name);
  llvm::Error addOfOptimizer(llvm::StringRef name, llvm::StringRef key);
  llvm::Error addOfGroup(llvm::StringRef name);
  llvm::Error checkOfGroup(size_t number, llvm::StringRef key,
                           const llvm::Twine &where) const;
  llvm::Error addOther(llvm::StringRef name, llvm::StringRef key);
  llvm::Error addHyperparameter(OptimizerRecipe &optimizer,
                                const Hyperparameter &what,
                                const llvm::Twine &prefix);
  llvm::Error addNumber(const llvm::Twine &name, double initial,
                        const NumberRange &range);
  llvm::Error refuse(llvm::StringRef name, llvm::StringRef key) const;
  llvm::Error failAtRunTime(llvm::StringRef name,
                            const llvm::Twine &what) const;
  void inheritAtRunTime();
  const llvm::json::Object &groupObject(size_t number) const;

  const llvm::json::Object &object;
  llvm::StringRef file;
  Recipe recipe;
};

/// For a kind that is missing or none of the table's.
template <typename Row>
std::string wrongKind(std::optional<llvm::StringRef> kind,
                      llvm::ArrayRef<Row> rows) {
  llvm::SmallVector<llvm::StringRef> known;
  for (const Row &row : rows)
    known.push_back(row.kind);
  std::string list = llvm::join(known, ", ");
  if (!kind || kind->empty())
    return "is missing; known: " + list;
  return "is '" + kind->str() + "', which is none of " + list +
         didYouMean(*kind, known);
}

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_RECIPEREADER_H
