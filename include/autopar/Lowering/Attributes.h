//===- Attributes.h - What earlier phases tell Lowering ---------*- C++ -*-===//

#ifndef AUTOPAR_LOWERING_ATTRIBUTES_H
#define AUTOPAR_LOWERING_ATTRIBUTES_H

#include "autopar/Cost/TargetNames.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// The kind of device for which code is made.
inline llvm::StringRef targetName(mlir::ModuleOp module) {
  auto name = module->getAttrOfType<mlir::StringAttr>(AutoparDialect::kTarget);
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
