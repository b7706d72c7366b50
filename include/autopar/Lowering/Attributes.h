//===- Attributes.h - What earlier phases tell Lowering ---------*- C++ -*-===//

#ifndef AUTOPAR_LOWERING_ATTRIBUTES_H
#define AUTOPAR_LOWERING_ATTRIBUTES_H

#include "autopar/Cost/TargetNames.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Schedule/Names.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

using schedule::kArenaBytes;
using schedule::kArguments;
using schedule::kPersistent;
using schedule::kResults;
/// Attribute of the module: a dictionary for each file of weights that
/// parameters name. `name` is its place relative to the executable; `size`,
/// `structure` and `content` describe it (docs/RuntimeABI.md) if it was there;
/// `made` says that the compiler wrote it.
inline constexpr llvm::StringLiteral kWeightFiles = "autopar.weight_files";
/// Attribute of the module, which stays after Lowering: an array of {name,
/// offset, size} for the parameters that the compiler writes itself
/// (MadeWeights).
inline constexpr llvm::StringLiteral kMadeWeights = "autopar.made_weights";
/// Attribute of the module: the name of the entry (`--entry`) of which this is
/// the program.
inline constexpr llvm::StringLiteral kEntry = "autopar.entry";
/// Attribute of the module: the CPU features that the code needs.
inline constexpr llvm::StringLiteral kCpuFeatures = "autopar.cpu_features";

/// The kind of device for which code is made.
inline llvm::StringRef targetName(mlir::ModuleOp module) {
  auto name = module->getAttrOfType<mlir::StringAttr>(kTarget);
  return name ? name.getValue() : llvm::StringRef(kTargetCpu);
}

/// `@step_<stage>` or `@setup_<stage>`; null if there is none.
inline mlir::func::FuncOp
findStageFunction(mlir::ModuleOp module, llvm::StringRef kind, int64_t stage) {
  return module.lookupSymbol<mlir::func::FuncOp>(
      (kind + "_" + llvm::Twine(stage)).str());
}

} // namespace autopar

#endif // AUTOPAR_LOWERING_ATTRIBUTES_H
