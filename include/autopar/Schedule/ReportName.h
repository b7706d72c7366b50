//===- ReportName.h - What reports call scheduled work ----------*- C++ -*-===//

#ifndef AUTOPAR_SCHEDULE_REPORTNAME_H
#define AUTOPAR_SCHEDULE_REPORTNAME_H

#include "autopar/Dialect/Dialect.h"

namespace autopar::schedule {

/// The name of `op` in reports, which is never empty: its ONNX node, or the
/// name that Schedule gives it, or the op's own name.
inline llvm::StringRef reportName(mlir::Operation *op) {
  llvm::StringRef node = nodeName(op->getLoc());
  if (!node.empty())
    return node;
  auto name = op->getAttrOfType<mlir::StringAttr>(AutoparDialect::kOp);
  return name && !name.empty() ? name.getValue() : op->getName().stripDialect();
}

} // namespace autopar::schedule

#endif // AUTOPAR_SCHEDULE_REPORTNAME_H
