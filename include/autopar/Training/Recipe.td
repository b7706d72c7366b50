//===- Recipe.td - The recipe of a training as an attribute -------------------===//

#ifndef AUTOPAR_TRAINING_RECIPE_TD
#define AUTOPAR_TRAINING_RECIPE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

def Training_Dialect : Dialect {
  let name = "training";
  let cppNamespace = "::autopar";
  let summary = "How a model is trained";
  let description = [{
    It has no ops: a training step is made of ops of the dialect `autopar`. Its attribute stands on a module, from import on:

    | attribute | meaning |
    |---|---|
    | `autopar.recipe` | @step is to be trained by this recipe |
    | `autopar.evaluation` | @step evaluates a model that another entry trains by this recipe |
  }];
  let useDefaultAttributePrinterParser = 1;
}

def Training_RecipeAttr : AttrDef<Training_Dialect, "Recipe"> {
  let mnemonic = "recipe";
  let summary = "a recipe: `#training.recipe<{loss = \"mse_mean\", optimizer = {kind = \"sgd\", lr = 0.1}}>`";
  let description = [{
    The dictionary has the keys and values of a recipe file (docs/Training.md), and the reader of such files verifies it: a
    key that none knows, a value of another kind or out of its range, and keys that exclude each other are errors where the
    attribute is made. Passes take what the reader found (`getRecipe`) and never see the dictionary, which is kept to be
    printed and hashed. A null of the file is `unit`.
  }];
  let parameters = (ins "::mlir::DictionaryAttr":$given);
  let genStorageClass = 0;
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static RecipeAttr get(::mlir::MLIRContext *context, const ::autopar::Recipe &recipe);
    const ::autopar::Recipe &getRecipe() const;
  }];
}

#endif // AUTOPAR_TRAINING_RECIPE_TD
