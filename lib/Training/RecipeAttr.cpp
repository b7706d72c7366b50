//===- RecipeAttr.cpp - The recipe of a training as an attribute ----------===//

#include "autopar/Training/RecipeAttr.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace autopar::detail {

/// The dictionary and what the reader made of it. Two recipes of the same
/// dictionary are the same.
struct RecipeAttrStorage : AttributeStorage {
  using KeyTy = std::pair<DictionaryAttr, const Recipe *>;

  RecipeAttrStorage(DictionaryAttr given, const Recipe &recipe)
      : given(given), recipe(recipe) {}
  bool operator==(const KeyTy &key) const { return key.first == given; }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return hash_value(key.first);
  }
  static RecipeAttrStorage *construct(AttributeStorageAllocator &allocator,
                                      const KeyTy &key) {
    return new (allocator.allocate<RecipeAttrStorage>())
        RecipeAttrStorage(key.first, *key.second);
  }

  DictionaryAttr given;
  Recipe recipe;
};

} // namespace autopar::detail

#define GET_ATTRDEF_CLASSES
#include "autopar/Training/RecipeAttributes.cpp.inc"

#include "autopar/Training/RecipeDialect.cpp.inc"

namespace autopar {

void TrainingDialect::initialize() { addAttributes<RecipeAttr>(); }

RecipeAttr RecipeAttr::get(MLIRContext *context, const Recipe &recipe) {
  Attribute given =
      attributeFromJSON(context, llvm::json::Object(recipe.given));
  return Base::get(context, cast<DictionaryAttr>(given), &recipe);
}

DictionaryAttr RecipeAttr::getGiven() const { return getImpl()->given; }

const Recipe &RecipeAttr::getRecipe() const { return getImpl()->recipe; }

Attribute RecipeAttr::parse(AsmParser &parser, Type) {
  SMLoc at = parser.getCurrentLocation();
  DictionaryAttr given;
  if (parser.parseLess() || parser.parseAttribute(given) ||
      parser.parseGreater())
    return {};
  llvm::Expected<Recipe> recipe =
      recipeFromJSON(toJSON(given), "#training.recipe");
  if (!recipe)
    return parser.emitError(at) << llvm::toString(recipe.takeError()),
           Attribute();
  return get(parser.getContext(), *recipe);
}

void RecipeAttr::print(AsmPrinter &printer) const {
  printer << "<" << getGiven() << ">";
}

FailureOr<RecipeAttr> findRecipe(ModuleOp module, StringRef name) {
  Attribute given = module->getAttr(name);
  auto recipe = dyn_cast_or_null<RecipeAttr>(given);
  if (given && !recipe)
    return module.emitError() << name << " must be #training.recipe";
  return recipe;
}

} // namespace autopar
