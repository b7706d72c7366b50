//===- FunctionAttributes.cpp - Attributes of arguments and results -------===//

#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Dialect/Dialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace autopar {

/// The attributes with one more.
static DictionaryAttr with(MLIRContext *context, DictionaryAttr attributes,
                           StringRef name, Attribute attribute) {
  NamedAttrList list(attributes ? attributes : DictionaryAttr::get(context));
  if (attribute)
    list.set(name, attribute);
  return list.getDictionary(context);
}

void setArgAttrs(func::FuncOp function, StringRef name,
                 ArrayRef<Attribute> attributes) {
  SmallVector<DictionaryAttr> all;
  for (auto [index, attribute] : llvm::enumerate(attributes))
    all.push_back(with(function.getContext(), function.getArgAttrDict(index),
                       name, attribute));
  function.setAllArgAttrs(all);
}

void setResultAttrs(func::FuncOp function, StringRef name,
                    ArrayRef<Attribute> attributes) {
  SmallVector<DictionaryAttr> all;
  for (auto [index, attribute] : llvm::enumerate(attributes))
    all.push_back(with(function.getContext(), function.getResultAttrDict(index),
                       name, attribute));
  function.setAllResultAttrs(all);
}

int64_t stageOf(Operation *op) {
  auto stage = op->getAttrOfType<IntegerAttr>(AutoparDialect::kStage);
  return stage ? stage.getInt() : 0;
}

bool isStep(func::FuncOp function) {
  return function.getName() == "step" ||
         function.getName().starts_with("step_");
}

} // namespace autopar
