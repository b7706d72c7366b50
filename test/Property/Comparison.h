//===- Comparison.h - Runs of one program, against the whole ----*- C++ -*-===//

#ifndef AUTOPAR_TEST_PROPERTY_COMPARISON_H
#define AUTOPAR_TEST_PROPERTY_COMPARISON_H

#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include <optional>
#include <string>

namespace autopar::property {

/// Errors and notes of one run, in place of the terminal.
struct Diagnostics {
  std::string text; // the first error
  llvm::SmallVector<mlir::Location> places;
  mlir::ScopedDiagnosticHandler handler;

  explicit Diagnostics(mlir::MLIRContext *context);
};

/// The value of an input or parameter of this name: the same in every form of a
/// program.
interpreter::Tensor randomValue(llvm::StringRef name,
                                mlir::RankedTensorType type);

/// What a whole program gives, and how other forms of it differ from that.
class WholeResults {
public:
  mlir::LogicalResult run(mlir::ModuleOp whole);
  /// nullopt: they are equal.
  std::optional<std::string>
  differs(llvm::ArrayRef<interpreter::NamedTensor> results) const;
  std::optional<std::string> differs(mlir::ModuleOp module) const;

private:
  std::vector<interpreter::NamedTensor> expected;
};

/// Whether the equality checker passes `module`, which stays as it is.
bool checkerPasses(mlir::ModuleOp module);

} // namespace autopar::property

#endif // AUTOPAR_TEST_PROPERTY_COMPARISON_H
