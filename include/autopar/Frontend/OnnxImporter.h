//===- OnnxImporter.h - ONNX graph to the autopar dialect -------*- C++ -*-===//

#ifndef AUTOPAR_FRONTEND_ONNXIMPORTER_H
#define AUTOPAR_FRONTEND_ONNXIMPORTER_H

#include "autopar/Frontend/OnnxReader.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>

namespace autopar {

struct ImportOptions {
  ReadOptions read;
  /// Sizes of symbolic dimensions (`--bind`): by their name, or as `input.i`
  /// for dimension i of an input that has no name.
  std::map<std::string, int64_t> bindings;
};

/// The model as a module with one function `@step` (docs/Architecture.md "After
/// import"; `autopar-move-to-setup` then makes `@setup`). All errors of the
/// model are reported, each naming its node, op and version; null if there
/// was one. The model must outlive nothing: the module holds no weights.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(const OnnxModel &model,
                                             const ImportOptions &options,
                                             mlir::MLIRContext *context);

/// Reads the file, then imports it.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(llvm::StringRef path,
                                             const ImportOptions &options,
                                             mlir::MLIRContext *context);

/// One line per row of the table of ops: name, since-version, inputs,
/// attributes. For tests that compare it with the standard.
void printOnnxOps(llvm::raw_ostream &os);

} // namespace autopar

#endif // AUTOPAR_FRONTEND_ONNXIMPORTER_H
