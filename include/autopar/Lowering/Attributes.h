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
/// Module: per weights file that parameters name a dictionary {name: where it
/// is relative to the executable; size, structure, content: what it was
/// (docs/RuntimeABI.md), if it was there; made: the compiler wrote it}.
inline constexpr llvm::StringLiteral kWeightFiles = "autopar.weight_files";
/// Module: array of {name, offset, size} of the parameters that the compiler
/// writes itself (MadeWeights), after Lowering too.
inline constexpr llvm::StringLiteral kMadeWeights = "autopar.made_weights";
/// Module: the name of the entry (`--entry`) that this program is.
inline constexpr llvm::StringLiteral kEntry = "autopar.entry";
/// Module: CPU features that the code needs.
inline constexpr llvm::StringLiteral kCpuFeatures = "autopar.cpu_features";

/// The kind of device that code is made for.
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
