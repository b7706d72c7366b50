//===- BindAsPlanned.cpp - What a plan file says of the model's ports -----===//

#include "autopar/Pipeline/Compilation.h"
#include "autopar/Support/Names.h"

using namespace mlir;

namespace autopar {

/// The texts under `key` of what was asked of the plan, each given to `add` as
/// `NAME=TEXT`.
static llvm::Error
forEachText(const Plan &plan, StringRef key,
            llvm::function_ref<llvm::Error(StringRef, StringRef)> add) {
  const llvm::json::Value *value = plan.request.get(key);
  if (!value)
    return llvm::Error::success();
  const llvm::json::Object *texts = value->getAsObject();
  if (!texts)
    return llvm::createStringError("'" + key +
                                   "' of 'request' must be an "
                                   "object");
  for (StringRef name : sortedKeys(*texts)) {
    std::optional<StringRef> text = texts->getString(name);
    if (!text)
      return llvm::createStringError("'" + name + "' in '" + key +
                                     "' of 'request' must be a string");
    if (llvm::Error error = add(name, *text))
      return llvm::createStringError("'" + key + "' of 'request': " + name +
                                     "=" + *text + ": " +
                                     llvm::toString(std::move(error)));
  }
  return llvm::Error::success();
}

/// Sizes and states that the plan was made with, and that nobody gives now.
LogicalResult Compilation::bindAsPlanned(const Plan &plan) {
  ImportOptions &import = request.import;
  llvm::Error error = forEachText(
      plan, "bindings", [&](StringRef name, StringRef size) -> llvm::Error {
        return import.bindings.count(name.str())
                   ? llvm::Error::success()
                   : import.bind((name + "=" + size).str());
      });
  if (!error)
    error = forEachText(plan, "states",
                        [&](StringRef in, StringRef out) -> llvm::Error {
                          return import.states.count(in.str())
                                     ? llvm::Error::success()
                                     : import.addState((in + "=" + out).str());
                        });
  return error ? fail(llvm::createStringError("plan file " + request.planFile +
                                              ": " +
                                              llvm::toString(std::move(error))))
               : success();
}

} // namespace autopar
