//===- JsonAttributes.cpp - JSON values as attributes ---------------------===//

#include "autopar/Dialect/JsonAttributes.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace json = llvm::json;

namespace autopar {

Attribute attributeFromJSON(MLIRContext *context, const json::Value &value) {
  Builder builder(context);
  if (const json::Object *object = value.getAsObject()) {
    NamedAttrList fields;
    for (const auto &[key, field] : *object)
      fields.append(StringRef(key), attributeFromJSON(context, field));
    return fields.getDictionary(context);
  }
  if (const json::Array *array = value.getAsArray())
    return builder.getArrayAttr(
        llvm::map_to_vector(*array, [&](const json::Value &element) {
          return attributeFromJSON(context, element);
        }));
  if (auto text = value.getAsString())
    return builder.getStringAttr(*text);
  if (auto flag = value.getAsBoolean())
    return builder.getBoolAttr(*flag);
  if (auto integer = value.getAsInteger())
    return builder.getI64IntegerAttr(*integer);
  if (auto number = value.getAsNumber())
    return builder.getF64FloatAttr(*number);
  return builder.getUnitAttr();
}

json::Value toJSON(Attribute attribute) {
  return llvm::TypeSwitch<Attribute, json::Value>(attribute)
      .Case([](DictionaryAttr dictionary) {
        json::Object object;
        for (NamedAttribute field : dictionary)
          object[field.getName().getValue()] = toJSON(field.getValue());
        return object;
      })
      .Case([](ArrayAttr list) {
        json::Array array;
        for (Attribute element : list)
          array.push_back(toJSON(element));
        return array;
      })
      .Case([](StringAttr text) { return text.getValue().str(); })
      .Case([](BoolAttr flag) { return flag.getValue(); })
      .Case([](IntegerAttr integer) { return integer.getInt(); })
      .Case([](FloatAttr number) { return number.getValueAsDouble(); })
      .Default([](Attribute) { return nullptr; });
}

} // namespace autopar
