//===- Comparison.cpp - Runs of one program, against the whole ------------===//

#include "Comparison.h"
#include "autopar/Equality/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace autopar::interpreter;

namespace autopar::property {

Diagnostics::Diagnostics(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        if (text.empty())
          text = diagnostic.str();
        places.push_back(diagnostic.getLocation());
        for (Diagnostic &note : diagnostic.getNotes())
          places.push_back(note.getLocation());
        return success();
      }) {}

Tensor randomValue(StringRef name, RankedTensorType type) {
  return randomTensor(type, name, /*seed=*/0);
}

LogicalResult WholeResults::run(ModuleOp whole) {
  auto results = runModule(whole, randomValue);
  if (failed(results))
    return failure();
  expected = std::move(*results);
  return success();
}

std::optional<std::string> WholeResults::differs(ModuleOp module) const {
  Diagnostics diagnostics(module.getContext());
  auto results = runModule(module, randomValue);
  if (failed(results))
    return "does not run: " + diagnostics.text;
  return differs(*results);
}

std::optional<std::string>
WholeResults::differs(ArrayRef<NamedTensor> results) const {
  // Sums of f32 in another order; f64 shows what is wrong by less.
  bool single = llvm::any_of(expected, [](const NamedTensor &result) {
    return result.value.element().isF32();
  });
  return compareResults(expected, results, single ? 1e-3 : 1e-7, /*scale=*/1);
}

bool checkerPasses(ModuleOp module) {
  OwningOpRef<ModuleOp> checked = module.clone();
  PassManager manager(module.getContext());
  manager.addPass(createCheckEquality());
  return succeeded(manager.run(*checked));
}

} // namespace autopar::property
